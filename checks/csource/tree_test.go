package csource

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"uabot/internal/testenv"
)

// The whole of kernel/ and fs/: text that nobody wrote for this package. Nearly
// every line `{` in column 1 that ends a function head must have become a
// function.
func TestKernelFunctions(t *testing.T) {
	tree := testenv.Kernel(t)
	var heads, found, files int
	for _, dir := range []string{"kernel", "fs", "mm", "arch/powerpc/kernel", "net/core", "sound/core"} {
		err := filepath.WalkDir(filepath.Join(tree, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".c") {
				return err
			}
			src, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			files++
			f := Parse(src)
			starts := map[int]bool{}
			for _, fn := range f.Funcs {
				starts[fn.Start] = true
				for l := fn.Start; l <= fn.End; l++ {
					starts[l] = true
				}
			}
			lines := bytes.Split(src, []byte("\n"))
			for i, l := range lines {
				// `x =` and `struct x` open something else
				if i > 0 && !bytes.HasSuffix(bytes.TrimSpace(lines[i-1]), []byte("=")) &&
					(bytes.ContainsAny(lines[i-1], "()")) && string(l) == "{" && !bytes.HasSuffix(bytes.TrimSpace(lines[i-1]), []byte("\\")) {
					heads++
					if starts[i+1] {
						found++
					} else {
						t.Logf("%s:%d: %s", path, i+1, lines[i-1])
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d files, %d of %d function bodies found", files, found, heads)
	if found*1000 < heads*999 {
		t.Errorf("found %d of %d function bodies", found, heads)
	}
}
