package source

import (
	"strings"

	"uabot/checks/window"
	"uabot/checks/window/source/gimple"
)

// The windows that architectures write as asm, recognised by the template. One with
// both bytes opens and closes by itself.
var (
	asmStac = []string{"0x0f,0x01,0xcb"}  // arch/x86/include/asm/smap.h
	asmClac = []string{"0x0f,0x01,0xca"}  // arch/x86/include/asm/smap.h
	asmCsrs = []string{"csrs", "sstatus"} // arch/riscv/include/asm/uaccess.h, __enable_user_access()
	asmCsrc = []string{"csrc", "sstatus"} // arch/riscv/include/asm/uaccess.h, __disable_user_access()
)

var (
	asmOpens  = &primitive{name: "", effect: opens, kind: window.ReadWrite}
	asmCloses = &primitive{name: "", effect: closes, kind: window.ReadWrite}
)

func holds(template string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(template, w) {
			return false
		}
	}
	return true
}

// asmWindow is what an asm does to the window, nil if nothing.
func asmWindow(arch string, a *gimple.Asm) *primitive {
	on, off := asmStac, asmClac
	switch arch {
	case "x86":
	case "riscv":
		on, off = asmCsrs, asmCsrc
	default:
		return nil
	}
	open, close := holds(a.Template, on), holds(a.Template, off)
	switch {
	case open && !close:
		return asmOpens
	case close && !open:
		return asmCloses
	}
	return nil
}

// asmAccess reports whether an asm touches user memory, and how: it has an entry in
// the exception table and an instruction that loads or stores there. The kind is
// Unknown where the direction is not told.
func asmAccess(arch string, a *gimple.Asm) (window.Kind, bool) {
	t := a.Template
	if !strings.Contains(t, "__ex_table") {
		return 0, false
	}
	if arch == "x86" {
		return x86Access(a)
	}
	var kind window.Kind
	found := false
	for _, op := range mnemonics(t) {
		k, ok := accessKind(arch, op)
		if ok {
			kind |= k
			found = true
		}
	}
	return kind, found
}

// x86Access: EX_TYPE_UACCESS is 3 (arch/x86/include/asm/extable_fixup_types.h), for
// user memory alone. EX_TYPE_EFAULT_REG serves FPU code too: there the instruction
// tells.
func x86Access(a *gimple.Asm) (window.Kind, bool) {
	t := a.Template
	if holds(t, asmStac) {
		return 0, false // opens its own
	}
	mov := false
	ops := mnemonics(t)
	for _, op := range ops {
		mov = mov || strings.HasPrefix(op, "mov") || strings.HasPrefix(op, "lock") || strings.HasPrefix(op, "xchg") || strings.HasPrefix(op, "cmpxchg")
	}
	byType := strings.Contains(t, ".long 3 ")
	if !byType && !(strings.Contains(t, "extable_type_reg") && mov) {
		return 0, false
	}
	into := len(a.Outs) > 0
	memoryIn, memoryOut := false, false
	for _, o := range a.Ins {
		memoryIn = memoryIn || strings.Contains(o, `"m" `)
	}
	for _, o := range a.Outs {
		memoryOut = memoryOut || strings.Contains(o, `m" `)
	}
	for _, op := range ops {
		switch {
		case strings.HasPrefix(op, "lock"), strings.HasPrefix(op, "xchg"):
			return window.ReadWrite, true
		case strings.HasPrefix(op, "rep"), strings.HasPrefix(op, "movs") && !memoryIn, strings.HasPrefix(op, "stos"):
			return 0, true
		}
	}
	switch {
	case memoryOut:
		return window.Write, true
	case memoryIn && into && mov:
		return window.Read, true
	case memoryIn:
		return window.Write, true
	}
	return 0, byType
}

// mnemonics are the first words of a template's statements, after labels.
func mnemonics(template string) []string {
	var ops []string
	for _, line := range strings.FieldsFunc(template, func(r rune) bool { return r == '\n' || r == ';' }) {
		line = strings.TrimSpace(line)
		for {
			label, rest, ok := strings.Cut(line, ":")
			if !ok || label == "" || strings.ContainsAny(label, " \t%\"") {
				break
			}
			line = strings.TrimSpace(rest)
		}
		op, _, _ := strings.Cut(strings.ReplaceAll(line, "\t", " "), " ")
		if op != "" && op[0] >= 'a' && op[0] <= 'z' {
			ops = append(ops, op)
		}
	}
	return ops
}

// accessKind tells loads and stores by mnemonic.
func accessKind(arch, op string) (window.Kind, bool) {
	is := func(prefixes ...string) bool {
		for _, p := range prefixes {
			if strings.HasPrefix(op, p) {
				return true
			}
		}
		return false
	}
	switch arch {
	case "arm64":
		switch {
		case is("ldxr", "ldaxr", "stxr", "stlxr", "cas", "ldadd", "ldset", "ldclr", "ldeor", "swp"):
			return window.ReadWrite, true
		case is("ldtr", "ldr"):
			return window.Read, true
		case is("sttr", "str"):
			return window.Write, true
		}
	case "arm":
		switch {
		case is("ldrex", "strex"):
			return window.ReadWrite, true
		case is("ldr"):
			return window.Read, true
		case is("str"):
			return window.Write, true
		}
	case "powerpc":
		switch {
		case is("lwarx", "ldarx", "stwcx", "stdcx"):
			return window.ReadWrite, true
		case is("lis", "li%", "lwsync") || op == "li":
			return 0, false
		case is("stb", "sth", "stw", "std", "stv", "stx", "stf"):
			return window.Write, true
		case is("lb", "lh", "lw", "ld", "lv", "lx", "lf"):
			return window.Read, true
		}
	case "riscv":
		switch {
		case is("amo", "lr.", "sc."):
			return window.ReadWrite, true
		case op == "sb" || op == "sh" || op == "sw" || op == "sd":
			return window.Write, true
		case op == "lb" || op == "lh" || op == "lw" || op == "ld" || op == "lbu" || op == "lhu" || op == "lwu":
			return window.Read, true
		}
	}
	return 0, false
}

// asmCalls are the symbols that a template calls: x86's "call NAME", "bl NAME" on
// arm, arm64 and powerpc. Operands complete a name: "__put_user_%c4" with "i" 4.
func asmCalls(a *gimple.Asm) []string {
	var names []string
	for _, line := range strings.FieldsFunc(a.Template, func(r rune) bool { return r == '\n' || r == ';' }) {
		words := strings.Fields(line)
		for i, w := range words {
			if (w == "call" || w == "bl") && i+1 < len(words) {
				if name := completed(words[i+1], a); name != "" {
					names = append(names, name)
				}
				break
			}
		}
	}
	return names
}

// completed is the symbol with its operand put in: empty where it is no name.
func completed(symbol string, a *gimple.Asm) string {
	name, operand, hole := strings.Cut(symbol, "%")
	if !hole {
		return strings.TrimRight(name, ",\"")
	}
	n := 0
	for _, c := range operand {
		if c >= '0' && c <= '9' {
			n = n*10 + int(c-'0')
		}
	}
	all := append(append([]string(nil), a.Outs...), a.Ins...)
	if n >= len(all) {
		return name
	}
	value := all[n][strings.LastIndexByte(all[n], ' ')+1:]
	return name + strings.TrimPrefix(gimple.Plain(value), "&")
}
