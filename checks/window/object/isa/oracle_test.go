package isa

import (
	"bufio"
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"uabot/internal/testenv"
)

// machine is one instruction set as binutils and gcc know it.
type machine struct {
	name    string
	tools   string // the prefix of gcc and objdump
	cflags  []string
	options []string // of objdump, for objects
	raw     []string // of objdump, for a file of bare instructions; nil: no such test
	thumb   bool     // bare instructions are halfwords
	elf     elf.Machine
	class   elf.Class
	order   binary.ByteOrder
	decoder func() Decoder
	flow    func(mnemonic, operands string) Flow
	reads   func(raw string) []byte // the bytes of a line
	window  *regexp.Regexp          // the instructions that are a Window
	minimum int                     // instructions that have to be compared without kernel objects: about two thirds of what Debian 12's gcc 12 packages give
}

var machines = []machine{
	{name: "x86-64", tools: "x86_64-linux-gnu-", raw: []string{"-m", "i386:x86-64"}, elf: elf.EM_X86_64, class: elf.ELFCLASS64, order: binary.LittleEndian,
		decoder: func() Decoder { return X86(64) }, flow: x86Flow, window: x86Window, reads: byteGroups, minimum: 230_000},
	{name: "i386", tools: "x86_64-linux-gnu-", cflags: []string{"-m32"}, raw: []string{"-m", "i386"}, elf: elf.EM_386, class: elf.ELFCLASS32, order: binary.LittleEndian,
		decoder: func() Decoder { return X86(32) }, flow: x86Flow, window: x86Window, reads: byteGroups, minimum: 90_000},
	{name: "ppc32", tools: "powerpc-linux-gnu-", options: []string{"-Mraw"}, raw: []string{"-m", "powerpc:common", "-EB", "-Mraw"},
		elf: elf.EM_PPC, class: elf.ELFCLASS32, order: binary.BigEndian,
		decoder: func() Decoder { return PowerPC(32, binary.BigEndian) }, flow: powerFlow, window: powerWindow, reads: byteGroups, minimum: 200_000},
	{name: "ppc64le", tools: "powerpc64le-linux-gnu-", options: []string{"-Mraw"}, raw: []string{"-m", "powerpc:common64", "-EL", "-Mraw"},
		elf: elf.EM_PPC64, class: elf.ELFCLASS64, order: binary.LittleEndian,
		decoder: func() Decoder { return PowerPC(64, binary.LittleEndian) }, flow: powerFlow, window: powerWindow, reads: byteGroups, minimum: 230_000},
	{name: "ppc64be", tools: "powerpc64le-linux-gnu-", cflags: []string{"-mbig", "-mabi=elfv1"}, options: []string{"-Mraw"},
		elf: elf.EM_PPC64, class: elf.ELFCLASS64, order: binary.BigEndian,
		decoder: func() Decoder { return PowerPC(64, binary.BigEndian) }, flow: powerFlow, window: powerWindow, reads: byteGroups, minimum: 90_000},
	{name: "arm64", tools: "aarch64-linux-gnu-", raw: []string{"-m", "aarch64"},
		elf: elf.EM_AARCH64, class: elf.ELFCLASS64, order: binary.LittleEndian,
		decoder: ARM64, flow: arm64Flow, window: arm64Window, reads: wordGroups, minimum: 200_000},
	{name: "arm", tools: "arm-linux-gnueabihf-", cflags: []string{"-marm", "-march=armv7-a+fp"}, raw: []string{"-m", "armv8-a"},
		elf: elf.EM_ARM, class: elf.ELFCLASS32, order: binary.LittleEndian,
		decoder: ARM, flow: armFlow, window: armWindow, reads: wordGroups, minimum: 80_000},
	{name: "thumb", tools: "arm-linux-gnueabihf-", cflags: []string{"-mthumb", "-march=armv7-a+fp"}, raw: []string{"-m", "armv8-a", "-Mforce-thumb"}, thumb: true,
		elf: elf.EM_ARM, class: elf.ELFCLASS32, order: binary.LittleEndian,
		decoder: Thumb, flow: armFlow, window: armWindow, reads: wordGroups, minimum: 120_000},
	{name: "riscv64", tools: "riscv64-linux-gnu-", options: []string{"-Mno-aliases"}, raw: []string{"-m", "riscv:rv64", "-Mno-aliases"},
		elf: elf.EM_RISCV, class: elf.ELFCLASS64, order: binary.LittleEndian,
		decoder: RISCV64, flow: riscvFlow, window: riscvWindow, reads: wordGroups, minimum: 250_000},
}

// byteGroups reads "7c 08 02 a6", bytes in the order of memory.
func byteGroups(raw string) []byte {
	var b []byte
	for _, g := range strings.Fields(raw) {
		v, err := strconv.ParseUint(g, 16, 8)
		if err != nil || len(g) != 2 {
			return nil
		}
		b = append(b, byte(v))
	}
	return b
}

// wordGroups reads "d503201f" or "f000 f800": little-endian words or halfwords.
func wordGroups(raw string) []byte {
	var b []byte
	for _, g := range strings.Fields(raw) {
		v, err := strconv.ParseUint(g, 16, 64)
		if err != nil {
			return nil
		}
		for i := 0; i < len(g)/2; i++ {
			b = append(b, byte(v>>(8*i)))
		}
	}
	return b
}

// listed is one instruction as objdump lists it.
type listed struct {
	address            uint64
	offset, size       int // in the run's code
	mnemonic, operands string
	relocated          bool // objdump may have put the relocation's value into the target
}

// run is a stretch of listed instructions, one after the other.
type run struct {
	code  []byte
	insns []listed
}

// list reads a listing, and gives each run of instructions to f. Data in code ends one,
// so does a change between A32 and T32 (but not powerpc's .long, a word of no instruction).
func list(t *testing.T, m *machine, objdump string, args []string, f func(*run)) {
	t.Helper()
	cmd := exec.Command(objdump, args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatalf("running objdump: %v", err)
	}
	r := &run{}
	flush := func() {
		if len(r.insns) > 0 {
			f(r)
		}
		r = &run{}
	}
	s := bufio.NewScanner(out)
	s.Buffer(make([]byte, 1<<20), 1<<20)
	for s.Scan() {
		line := s.Text()
		relocated := false
		if i := strings.Index(line, ": R_"); i > 0 {
			line, relocated = line[:max(strings.LastIndexByte(line[:i], '\t'), 0)], true
		}
		parts := strings.SplitN(line, "\t", 4)
		address, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(parts[0]), ":"), 16, 64)
		if len(parts) < 3 || err != nil || !strings.HasSuffix(parts[0], ":") {
			flush()
			continue
		}
		raw := strings.TrimSpace(parts[1])
		b := m.reads(raw)
		if m.elf == elf.EM_ARM && (strings.IndexByte(raw+" ", ' ') == 4) != m.thumb || strings.HasPrefix(parts[2], ".") && !strings.HasPrefix(parts[2], ".long") || len(b) == 0 {
			flush()
			continue
		}
		i := listed{address: address, offset: len(r.code), size: len(b), mnemonic: parts[2], relocated: relocated}
		i.operands = strings.ReplaceAll(strings.Join(parts[3:], " "), "\t", " ")
		if name, operands, ok := strings.Cut(i.mnemonic, " "); ok {
			i.mnemonic, i.operands = name, strings.TrimSpace(operands)+i.operands
		}
		r.code = append(r.code, b...)
		r.insns = append(r.insns, i)
		if len(r.insns) > 1<<16 {
			flush()
		}
	}
	flush()
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil && !strings.Contains(stderr.String(), "not recognized") {
		t.Fatalf("objdump %v: %v: %s", args, err, stderr.String())
	}
}

// undecoded says that objdump found no instruction in the bytes, or one that the
// architecture leaves open.
func undecoded(i *listed) bool {
	return strings.HasPrefix(i.mnemonic, ".") || strings.HasPrefix(i.mnemonic, "0x") || notInsn.MatchString(i.mnemonic) || notInsn.MatchString(i.operands)
}

var notInsn = regexp.MustCompile(`\(bad\)|(?i)undef|unpredictable|<illegal|<und>|\?\?`)

// loose says that objdump has a way of its own, or names what the architecture leaves open.
func loose(m *machine, i *listed, code []byte) bool {
	switch {
	case m.thumb: // M-profile instructions, and data processing to the program counter
		return mProfile.MatchString(i.mnemonic) || i.size == 4 && armToPC.MatchString(i.mnemonic) && armPCFirst.MatchString(i.operands)
	case m.elf == elf.EM_386 || m.elf == elf.EM_X86_64:
		text := i.mnemonic + " " + i.operands
		flow := x86Flow(i.mnemonic, i.operands)
		switch {
		case strings.Contains(text, "%tr"), x86LoneREX.MatchString(text): // 386 test registers; REX before a prefix
			return true
		case bytes.IndexByte(code[:min(i.size, 3)], 0x9b) >= 0 && i.size > 1: // fwait joined to what follows
			return true
		case bytes.IndexByte(code[:min(i.size, 5)], 0x66) >= 0 && (flow == Jump || flow == Branch || flow == Call):
			return true // a 16-bit branch: Intel and AMD differ in 64-bit mode, and no compiler makes it
		}
	}
	return false
}

var x86LoneREX = regexp.MustCompile(`\brex(\.[WRXB]+)? *$`)

var mProfile = regexp.MustCompile(`^(clrm|bf(l|x|lx|csel)?(eq|ne|cs|cc|mi|pl|vs|vc|hi|ls|ge|lt|gt|le|al)?|wls.*|dls.*|le|letp|lctp.*|blxns.*|bxns.*)$`)

// target is the address that a direct branch is listed with.
func target(operands string) (uint64, bool) {
	operands, _, _ = strings.Cut(operands, " # ")
	operands, _, _ = strings.Cut(operands, "@")
	operands, _, _ = strings.Cut(operands, "//")
	operands, _, _ = strings.Cut(operands, "<")
	operands = strings.TrimSpace(operands)
	if i := strings.LastIndexAny(operands, ", "); i >= 0 {
		operands = operands[i+1:]
	}
	v, err := strconv.ParseUint(strings.TrimPrefix(operands, "0x"), 16, 64)
	return v, err == nil
}

// tally counts what was compared, and complains about what differs.
type tally struct {
	t                   *testing.T
	insns, branches     int
	windows             int
	differ              int
	targets, bytesTotal int
	seen                map[string]int
}

// compare decodes the whole run in order and holds it against the listing.
func (c *tally) compare(m *machine, r *run) {
	d := m.decoder()
	var in Insn
	for k := range r.insns {
		i := &r.insns[k]
		code := r.code[i.offset:]
		ok := d.Decode(code, &in)
		if undecoded(i) || loose(m, i, code) {
			continue
		}
		c.insns++
		c.bytesTotal += i.size
		want := m.flow(i.mnemonic, i.operands)
		window := m.window.MatchString(strings.TrimSpace(i.mnemonic + " " + i.operands))
		if window {
			c.windows++
		}
		if v, ok := target(i.operands); ok && i.mnemonic == "bcl" && v == i.address+4 && want == Call && !in.Conditional {
			want = Next // it asks for its own address
		}
		bad := ""
		switch {
		case !ok:
			bad = "not decoded"
		case int(in.Len) != i.size:
			bad = fmt.Sprintf("length %d, not %d", in.Len, i.size)
		case in.Flow != want:
			bad = fmt.Sprintf("flow %d, not %d", in.Flow, want)
		case window != (in.Window != NoWindow):
			bad = fmt.Sprintf("wind %d", in.Window)
		}
		if bad == "" && want != Next {
			c.branches++
			if i.relocated {
			} else if in.HasTarget {
				c.targets++
				v, ok := target(i.operands)
				got := i.address + uint64(in.Target)
				if m.class == elf.ELFCLASS32 {
					got, v = uint64(uint32(got)), uint64(uint32(v))
				}
				if !ok || got != v {
					bad = fmt.Sprintf("target %x, not %x", got, v)
				}
			} else if (want == Jump || want == Branch || want == Call) && !absolute(m, i.mnemonic, i.operands) {
				bad = "no target"
			}
		}
		if bad != "" {
			c.differ++
			key := i.mnemonic + bad[:4]
			c.seen[key]++
			if c.seen[key] <= 2 && len(c.seen) < 60 {
				c.t.Errorf("%s: %x: % x %s %s: %s", m.name, i.address, code[:i.size], i.mnemonic, i.operands, bad)
			}
		}
	}
}

// absolute says that a branch has no displacement: powerpc's ba, and what changes to A32
// or is far on x86.
func absolute(m *machine, mnemonic, operands string) bool {
	switch m.elf {
	case elf.EM_PPC, elf.EM_PPC64:
		return strings.HasSuffix(strings.TrimRight(mnemonic, "+-"), "a")
	case elf.EM_ARM:
		return m.thumb && strings.HasPrefix(mnemonic, "blx")
	case elf.EM_386, elf.EM_X86_64:
		return x86Far.MatchString(mnemonic + " " + operands)
	}
	return false
}

var x86Far = regexp.MustCompile(`\bl(call|jmp)[wl]? `)

// TestAgainstObjdump decodes the libraries that gcc brings for each target, generated C
// code, and the kernel objects below UABOT_OBJECTS if it is set.
func TestAgainstObjdump(t *testing.T) {
	testenv.NotShort(t)
	total, ran := 0, 0
	kernel := kernelObjects(t)
	for i := range machines {
		m := &machines[i]
		t.Run(m.name, func(t *testing.T) {
			tools := testenv.Tool(t, m.tools+"objdump", m.tools+"gcc", m.tools+"objcopy")
			c := &tally{t: t, seen: map[string]int{}}
			files := append(kernel[m.kind()], generated(t, m, tools[1])...)
			files = append(files, libraries(t, m, tools[1])...)
			if m.elf == elf.EM_RISCV {
				files = stripped(t, tools[2], files)
			}
			for from := 0; from < len(files); from += 50 {
				args := append([]string{"-drwz"}, m.options...)
				args = append(args, files[from:min(from+50, len(files))]...)
				list(t, m, tools[0], args, func(r *run) { c.compare(m, r) })
			}
			total += c.insns
			ran++
			t.Logf("%s: %d files, %d instructions, %d bytes, %d not sequential, %d of them with a target, %d windows: %d differ",
				m.name, len(files), c.insns, c.bytesTotal, c.branches, c.targets, c.windows, c.differ)
			if c.insns < m.minimum {
				t.Errorf("compared %d instructions, fewer than %d", c.insns, m.minimum)
			}
		})
	}
	if ran < len(machines) { // some were not asked for, or have no tools
		return
	}
	t.Logf("all: %d instructions", total)
	if total < 1_500_000 {
		t.Errorf("compared %d instructions, fewer than 1,500,000", total)
	}
}

// kind is what objects of m have in their ELF header.
func (m *machine) kind() string { return fmt.Sprint(m.elf, m.class, m.order) }

// kernelObjects finds the objects below UABOT_OBJECTS, by kind.
func kernelObjects(t *testing.T) map[string][]string {
	t.Helper()
	dir := os.Getenv("UABOT_OBJECTS")
	if dir == "" {
		return map[string][]string{}
	}
	found, err := findObjects(dir)
	if err != nil {
		t.Fatalf("looking for objects below UABOT_OBJECTS: %v", err)
	}
	return found
}

func findObjects(dir string) (map[string][]string, error) {
	found := map[string][]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".o") {
			return err
		}
		f, err := elf.Open(path)
		if err != nil {
			return nil // not an object
		}
		defer f.Close()
		kind := fmt.Sprint(f.Machine, f.Class, f.ByteOrder)
		found[kind] = append(found[kind], path)
		return nil
	})
	return found, err
}

// libraries are the archives beside libgcc.a, where they hold code of m.
func libraries(t *testing.T, m *machine, gcc string) []string {
	t.Helper()
	if len(m.cflags) > 0 && !m.thumb { // these flavours have no libraries of their own
		return nil
	}
	out, err := exec.Command(gcc, "-print-libgcc-file-name").Output()
	if err != nil {
		t.Fatalf("asking gcc for libgcc.a: %v", err)
	}
	archives, err := filepath.Glob(filepath.Join(filepath.Dir(string(out)), "*.a"))
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, path := range archives {
		// The sanitizers would take minutes.
		if info, err := os.Stat(path); err == nil && (info.Size() < 1_200_000 || m.elf == elf.EM_RISCV) {
			found = append(found, path)
		}
	}
	return found
}

// TestAgainstObjdumpRandom decodes random words, which reach encodings that no compiler
// makes: what objdump calls a branch is one here, and nothing else.
func TestAgainstObjdumpRandom(t *testing.T) {
	testenv.NotShort(t)
	for i := range machines {
		m := &machines[i]
		if m.raw == nil {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			objdump := testenv.Tool(t, m.tools+"objdump")[0]
			rng := rand.New(rand.NewPCG(7, uint64(i)))
			words := make([]byte, 0, 4<<18)
			for len(words) < 1<<20 {
				w := rng.Uint32()
				if m.name == "arm" && w&0x0f900000 == 0x01000000 && w&0xb0 != 0xb0 && w&0xf0 != 0xd0 {
					continue // A5.2.12: objdump calls all that is not allocated there tst or cmp
				}
				if m.thumb && (w>>8&0xff == 0xbf || w>>24 == 0xbf) {
					continue // IT before what is no instruction: real code has it properly
				}
				words = binary.LittleEndian.AppendUint32(words, w)
			}
			file := filepath.Join(t.TempDir(), "words")
			if err := os.WriteFile(file, words, 0o666); err != nil {
				t.Fatal(err)
			}
			c := &tally{t: t, seen: map[string]int{}}
			args := append([]string{"-Dwz", "-b", "binary"}, m.raw...)
			list(t, m, objdump, append(args, file), func(r *run) { c.compare(m, r) })
			t.Logf("%s: %d instructions, %d not sequential: %d differ", m.name, c.insns, c.branches, c.differ)
			if c.insns < 50_000 {
				t.Errorf("objdump knew only %d of the random words", c.insns)
			}
		})
	}
}

// stripped takes away symbols and relocations: objdump needs minutes for riscv's many
// local symbols, and without relocations all its targets are those of the bytes.
func stripped(t *testing.T, objcopy string, files []string) []string {
	t.Helper()
	dir := t.TempDir()
	var out []string
	for i, path := range files {
		to := filepath.Join(dir, fmt.Sprintf("%d-%s", i, filepath.Base(path)))
		if msg, err := exec.Command(objcopy, "-S", path, to).CombinedOutput(); err != nil {
			t.Fatalf("stripping %s: %v: %s", path, err, msg)
		}
		out = append(out, to)
	}
	return out
}
