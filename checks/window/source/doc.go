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
//
// A helper is judged in its callers, a macro by its own lines: a mistake that lies
// wholly in a macro's body is one finding, however often the macro is used. Its
// Function is the macro then, its Uses are the functions that compiled code names,
// and checks.Finding.Covers joins what was found in those.
//
// What can still be wrong. Said where it is not: two reads of memory are taken to
// agree until something is called or stored that may change it, and a helper whose
// result is unknown where the window is open is taken not to return the constants
// that it returns where it is closed; so a bug may be missed there. A helper that
// tells its caller about the window in a way that is not followed (a bit of a result,
// a structure two pointers away) may be called wrong without being so; functions with
// too many states are named in a note instead of being judged. Not looked at:
// that accesses use the pointer that a masked begin returns; that the range of a begin
// is that of its accesses; copies of structures, of which gcc makes calls later.
package source
