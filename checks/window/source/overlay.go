package source

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// overlay holds dump.sh, which makes the dumps, and the headers that it needs.
//
//go:embed overlay
var overlay embed.FS

// WriteOverlay writes into dir, which is made where it does not exist, what a CHECK
// script of kbuild needs to make dumps:
//
//	UABOT_OVERLAY=DIR; . "$UABOT_OVERLAY/dump.sh"
//	uabot_dump OUT C_FLAGS... SOURCE.c
//
// in kbuild's working directory and with $CC in the environment, which kbuild
// exports. C_FLAGS are kbuild's own alone: CHECKFLAGS has to be empty, sparse's
// flags mean nothing to gcc. uabot_dump prints nothing, writes OUT.cfg (Unit.Dump)
// and, where the file uses access primitives, OUT.overlay.cfg (Unit.Overlay) with
// OUT.overlay.log, which has to stay beside it. It returns 1 where the file does not
// compile.
func WriteOverlay(dir string) error {
	root, err := fs.Sub(overlay, "overlay")
	if err != nil {
		return fmt.Errorf("reading the embedded overlay: %w", err)
	}
	err = fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(dir, path)
		if d.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		data, err := fs.ReadFile(root, path)
		if err != nil {
			return err
		}
		return os.WriteFile(to, data, 0o644)
	})
	if err != nil {
		return fmt.Errorf("writing the overlay headers to %s: %w", dir, err)
	}
	return nil
}
