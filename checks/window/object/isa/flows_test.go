package isa

import (
	"regexp"
	"strings"
)

// What objdump's mnemonics say about the flow: the oracle's side of the comparison, as
// independent of the decoders as a list of names can be.

func x86Flow(mnemonic, operands string) Flow {
	words := strings.Fields(mnemonic + " " + operands)
	for len(words) > 1 && x86Prefix.MatchString(words[0]) {
		words = words[1:]
	}
	m, rest := words[0], ""
	if len(words) > 1 {
		rest = words[1]
	}
	m, _, _ = strings.Cut(m, ",") // branch hints: jne,pn
	indirect := strings.HasPrefix(rest, "*")
	switch {
	case x86Return.MatchString(m):
		return Return
	case x86Jump.MatchString(m):
		if indirect {
			return JumpIndirect
		}
		return Jump
	case x86Call.MatchString(m):
		if indirect {
			return CallIndirect
		}
		return Call
	case m[0] == 'j', strings.HasPrefix(m, "loop"), m == "xbegin":
		return Branch
	case m == "int3", m == "int1", m == "ud0", m == "ud1", m == "ud2", strings.HasPrefix(m, "ud1"), strings.HasPrefix(m, "ud0"):
		return Trap
	case strings.HasPrefix(m, "iret"), strings.HasPrefix(m, "sysret"), strings.HasPrefix(m, "sysexit"), m == "rsm", m == "uiret":
		return Stop
	}
	return Next
}

var (
	x86Prefix = regexp.MustCompile(`^(notrack|bnd|rep|repz|repnz|repe|repne|lock|[cdefgs]s|data16|data32|addr16|addr32|rex(\.[WRXB]+)?|xacquire|xrelease|\{[a-z0-9]+\})$`)
	x86Return = regexp.MustCompile(`^(l?ret|retf)[wlq]?$`)
	x86Jump   = regexp.MustCompile(`^l?jmp[wlq]?$`)
	x86Call   = regexp.MustCompile(`^l?call[wlq]?$`)
)

// powerFlow reads -Mraw names, where each branch shows its BO.
func powerFlow(mnemonic, operands string) Flow {
	m := strings.TrimRight(mnemonic, "+-")
	bo, _, _ := strings.Cut(operands, ",")
	always := powerAlwaysBO[bo]
	switch m {
	case "b", "ba":
		return Jump
	case "bl", "bla":
		return Call
	case "bc", "bca":
		if always {
			return Jump
		}
		return Branch
	case "bcl", "bcla":
		return Call
	case "bclr", "bctar":
		switch {
		case m == "bclr" && always:
			return Return
		case m == "bclr":
			return BranchReturn
		case always:
			return JumpIndirect
		}
		return BranchIndirect
	case "bcctr":
		if always {
			return JumpIndirect
		}
		return BranchIndirect
	case "bclrl", "bcctrl", "bctarl":
		return CallIndirect
	case "tw", "twi", "td", "tdi":
		if bo == "31" {
			return Trap
		}
	case "rfid", "rfi", "rfci", "rfdi", "rfmci", "rfgi", "rfscv", "hrfid", "urfid":
		return Stop
	}
	return Next
}

var powerAlwaysBO = map[string]bool{"20": true, "21": true, "22": true, "23": true, "28": true, "29": true, "30": true, "31": true}

func arm64Flow(mnemonic, operands string) Flow {
	switch m := mnemonic; {
	case m == "b":
		return Jump
	case m == "bl":
		return Call
	case strings.HasPrefix(m, "b."), strings.HasPrefix(m, "bc."), m == "cbz", m == "cbnz", m == "tbz", m == "tbnz":
		return Branch
	case m == "br", m == "braa", m == "braaz", m == "brab", m == "brabz":
		return JumpIndirect
	case m == "blr", m == "blraa", m == "blraaz", m == "blrab", m == "blrabz":
		return CallIndirect
	case m == "ret":
		if operands == "" || operands == "x30" {
			return Return
		}
		return JumpIndirect
	case m == "retaa", m == "retab":
		return Return
	case m == "eret", m == "eretaa", m == "eretab", m == "drps", m == "hlt":
		return Stop
	case m == "brk", m == "udf":
		return Trap
	}
	return Next
}

var (
	armBranch  = regexp.MustCompile(`^(b|bl|bx|blx|bxj)(eq|ne|cs|cc|mi|pl|vs|vc|hi|ls|ge|lt|gt|le|al)?(\.n|\.w)?$`)
	armToPC    = regexp.MustCompile(`^(and|eor|sub|rsb|add|adc|sbc|rsc|orr|orn|mov|bic|mvn|lsl|lsr|asr|ror|rrx|neg)(s)?(eq|ne|cs|cc|mi|pl|vs|vc|hi|ls|ge|lt|gt|le|al)?(\.n|\.w)?$`)
	armLoadPC  = regexp.MustCompile(`^(ldr|pop|ldm|ldmia|ldmib|ldmda|ldmdb|ldmfd|ldmed|ldmea|ldmfa)(eq|ne|cs|cc|mi|pl|vs|vc|hi|ls|ge|lt|gt|le|al)?(\.n|\.w)?$`)
	armPCFirst = regexp.MustCompile(`^pc($|,)`)
)

func armFlow(mnemonic, operands string) Flow {
	sometimes := func(conditional bool, always, under Flow) Flow {
		if conditional {
			return under
		}
		return always
	}
	operands, _, _ = strings.Cut(operands, "@")
	operands = strings.TrimSpace(operands)
	if g := armBranch.FindStringSubmatch(mnemonic); g != nil {
		cond := g[2] != "" && g[2] != "al"
		register := strings.HasPrefix(operands, "r") || operands == "lr" || operands == "pc" || operands == "sp" || operands == "ip" || operands == "fp" || operands == "sl"
		switch g[1] {
		case "b":
			return sometimes(cond, Jump, Branch)
		case "bl":
			return Call
		case "blx":
			return sometimes(register, Call, CallIndirect)
		}
		if operands == "lr" {
			return sometimes(cond, Return, BranchReturn)
		}
		return sometimes(cond, JumpIndirect, BranchIndirect)
	}
	if g := armToPC.FindStringSubmatch(mnemonic); g != nil && armPCFirst.MatchString(operands) {
		cond := g[3] != "" && g[3] != "al"
		switch {
		case g[2] != "":
			return Stop
		case g[1] == "mov" && operands == "pc, lr":
			return sometimes(cond, Return, BranchReturn)
		}
		return sometimes(cond, JumpIndirect, BranchIndirect)
	}
	if g := armLoadPC.FindStringSubmatch(mnemonic); g != nil {
		cond := g[2] != "" && g[2] != "al"
		if g[1] == "ldr" {
			if !armPCFirst.MatchString(operands) {
				return Next
			}
			if strings.Contains(operands, "[sp") {
				return sometimes(cond, Return, BranchReturn)
			}
			return sometimes(cond, JumpIndirect, BranchIndirect)
		}
		list := operands[strings.Index(operands, "{")+1:]
		if strings.Contains(list, "pc}") {
			if strings.HasSuffix(operands, "^") {
				return Stop
			}
			return sometimes(cond, Return, BranchReturn)
		}
		return Next
	}
	switch m := mnemonic; {
	case m == "tbb", m == "tbh":
		return JumpIndirect
	case strings.HasPrefix(m, "cbz"), strings.HasPrefix(m, "cbnz"):
		return Branch
	case m == "udf", m == "udf.w", m == "udfal", m == "bkpt":
		return Trap // in an IT block it is Next
	case strings.HasPrefix(m, "rfe"), strings.HasPrefix(m, "eret"), strings.HasPrefix(m, "hlt"):
		return Stop
	}
	return Next
}

// riscvFlow reads -Mno-aliases names.
func riscvFlow(mnemonic, operands string) Flow {
	ra := func(r string) bool { return r == "ra" || r == "t0" }
	switch m := mnemonic; {
	case m == "jal":
		if strings.HasPrefix(operands, "zero,") {
			return Jump
		}
		return Call
	case m == "c.j":
		return Jump
	case m == "jalr":
		rd, from, _ := strings.Cut(operands, ",")
		switch {
		case rd != "zero":
			return CallIndirect
		case from == "0(ra)", from == "0(t0)":
			return Return
		}
		return JumpIndirect
	case m == "c.jr":
		if ra(operands) {
			return Return
		}
		return JumpIndirect
	case m == "c.jalr":
		return CallIndirect
	case m == "beq", m == "bne", m == "blt", m == "bge", m == "bltu", m == "bgeu", m == "c.beqz", m == "c.bnez":
		return Branch
	case m == "ebreak", m == "c.ebreak", m == "unimp", m == "c.unimp":
		return Trap
	case m == "sret", m == "mret":
		return Stop
	}
	return Next
}

// The instructions that open, close, save or restore a window, as objdump lists them.
var (
	x86Window   = regexp.MustCompile(`(^| )(stac|clac|pushf[wlq]?|popf[wlq]?) *$`)
	powerWindow = regexp.MustCompile(`^(mtspr (29|48|794),|mtsr |mtsrin )`)
	arm64Window = regexp.MustCompile(`^msr (ttbr[01]_el1|pan),`)
	armWindow   = regexp.MustCompile(`^mcr[a-z.]* 15, 0, \w+, (cr3, cr0, \{0\}|cr2, cr0, \{2\})`)
	riscvWindow = regexp.MustCompile(`^csrr([sc] \w+,sstatus,[^z]|[sc]i \w+,sstatus,[1-9]|wi? \w+,sstatus)`)
)
