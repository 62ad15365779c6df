package kbuild

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"

	"uabot/checks/kbuild/sandbox"
)

// checkScript is what make calls for each C unit (CHECK=).
//
//go:embed check.sh
var checkScript []byte

// kit is the directory with what compilations need of ours: the wrapper check.sh
// and what the dump tool writes.
type kit struct {
	dir    string
	hash   string // of its contents and the version of sparse
	sparse string // path of sparse; empty when it is not installed
}

// tools returns the kit, written into the cache when it is not there.
func (b *Builder) tools(ctx context.Context) (*kit, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.kit != nil {
		return b.kit, nil
	}
	k, err := b.writeKit(ctx)
	if err != nil {
		return nil, fmt.Errorf("laying out the tools of builds: %w", err)
	}
	b.kit = k
	return k, nil
}

func (b *Builder) writeKit(ctx context.Context) (*kit, error) {
	k, version := &kit{}, "none"
	if path, err := b.Runner.LookPath("sparse"); err == nil {
		k.sparse = path
		res, err := b.run(ctx, "asking sparse for its version", sandbox.Command{Args: []string{path, "--version"}, Merge: true})
		if err != nil {
			return nil, err
		}
		version = string(res.Stdout)
	}
	if err := os.MkdirAll(b.Cache, 0o755); err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp(b.Cache, "kit-*.tmp")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	if err := os.WriteFile(filepath.Join(tmp, "check.sh"), checkScript, 0o755); err != nil {
		return nil, err
	}
	if b.Dump != nil {
		if err := b.Dump.Write(tmp); err != nil {
			return nil, err
		}
	}
	sum := sha256.New()
	if err := hashTree(sum, tmp); err != nil {
		return nil, err
	}
	k.dir = filepath.Join(b.Cache, "kit-"+hex.EncodeToString(sum.Sum(nil)[:6]))
	fmt.Fprintf(sum, "sparse %s", version)
	k.hash = hex.EncodeToString(sum.Sum(nil)[:6])
	if err := os.Chmod(tmp, 0o755); err != nil {
		return nil, err
	}
	if err := os.Rename(tmp, k.dir); err != nil && !exists(k.dir) {
		return nil, err
	}
	return k, nil
}

func hashTree(sum hash.Hash, dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		fmt.Fprintf(sum, "%s %d\n%s", rel, len(data), data)
		return err
	})
}

// env is what check.sh reads; inside is where the kit is for the command.
func (k *kit) env(inside, cc string) []string {
	return []string{"UABOT_SPARSE=" + k.sparse, "UABOT_CC=" + cc, "UABOT_KIT=" + inside}
}
