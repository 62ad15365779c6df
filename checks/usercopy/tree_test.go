package usercopy

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"uabot/internal/testenv"
)

// reviewed is what the rules say of 6.12.117 as if one patch had added it: in the
// directories below, where nearly all user access is. Each was read.
//   - vcpu.c and sys_ia32.c are the known bugs that the rules were made from, and so
//     is compat.h: the macro does not build where unsafe_copy_from_user() is missing.
//   - signal.c of riscv hands on bytes; its callers take any value for a failure.
//   - bpf_trace.c: cnt is bounded by its callers. xen's privcmd is not in here.
//   - the accessors of arm and nios2 have no 64-bit case; nobody uses them so.
//   - uaccess.h itself: its fallbacks have always been guarded by user_access_begin.
//   - double fetches and objects outside of objtool's sight are left out: there are
//     many, and reading a header first and the whole after is what they mostly are.
var reviewed = []string{
	"access-ok-arithmetic kernel/trace/bpf_trace.c copy_user_syms",
	"begin-end-kinds arch/x86/kernel/sys_ia32.c cp_stat64",
	"bytes-returned arch/riscv/kernel/signal.c __restore_v_state",
	"fallback-guard include/linux/uaccess.h copy_from_user_inatomic_nontemporal",
	"fallback-guard include/linux/uaccess.h unsafe_copy_from_user",
	"fallback-guard include/linux/uaccess.h unsafe_copy_to_user",
	"fallback-guard include/linux/uaccess.h unsafe_get_user",
	"fallback-guard include/linux/uaccess.h unsafe_put_user",
	"fallback-guard include/linux/uaccess.h user_access_restore",
	"fallback-guard include/linux/uaccess.h user_access_save",
	"missing-on-arch include/linux/compat.h unsafe_get_compat_sigset",
	"no-64-bit-case arch/arm/include/asm/uaccess.h __get_user_err",
	"no-64-bit-case arch/nios2/include/asm/uaccess.h __put_user_common",
	"unsafe-without-begin arch/loongarch/kvm/vcpu.c kvm_update_stolen_time",
}

func TestWholeTree(t *testing.T) {
	tree := testenv.Kernel(t)
	testenv.Tool(t, "git")
	makefile, err := os.ReadFile(filepath.Join(tree, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(makefile, []byte("VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 117\n")) {
		testenv.Missing(t, "Linux 6.12.117")
	}
	var files []*gitdiff.File
	for _, dir := range []string{"arch", "block", "fs", "include", "io_uring", "ipc", "kernel", "lib", "mm", "net", "security", "sound/core"} {
		err := filepath.WalkDir(filepath.Join(tree, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			name, err := filepath.Rel(tree, path)
			if err != nil || !judged(name) {
				return err
			}
			data, err := os.ReadFile(path)
			if err == nil && (bytes.Contains(data, []byte("user")) || bytes.Contains(data, []byte("access_ok"))) {
				files = append(files, &gitdiff.File{NewName: name})
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	empty := func(string) ([]byte, error) { return nil, fs.ErrNotExist }
	found, err := Check(context.Background(), Change{Base: empty, Patched: Dir(tree), Files: files, Search: Grep(tree)})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range found {
		if f.Rule != "double-fetch" && f.Rule != "objtool-skipped" {
			got = append(got, fmt.Sprintf("%s %s %s", f.Rule, f.File, f.Function))
		}
	}
	slices.Sort(got)
	got = slices.Compact(got)
	if !slices.Equal(got, reviewed) {
		t.Errorf("%d files:\n%s\nwant:\n%s", len(files), strings.Join(got, "\n"), strings.Join(reviewed, "\n"))
	}
}
