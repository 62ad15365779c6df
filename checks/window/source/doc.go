// Package source finds access windows in a compiler's control flow: the source as
// one architecture compiles it, before anything is inlined or moved. It sees what
// objects cannot show: windows where begin and end are no instructions (s390x,
// riscv64 before 6.16, arm), and the kind of a window everywhere.
//
// In flow two dumps per translation unit (-fdump-tree-cfg-lineno-blocks-uid of the
// target's own gcc, made by the shell function of WriteOverlay) and the tree's
// source text; out flow findings over the model of checks/window. The plain dump
// shows the architecture's own primitives; the overlay one, compiled through our
// <linux/uaccess.h>, shows the API as its users wrote it.
package source
