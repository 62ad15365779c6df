package isa

import (
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// decoders are all of them, by name.
var decoders = []struct {
	name string
	make func() Decoder
	step uint8 // the smallest step of the instruction set
}{
	{"x86-64", func() Decoder { return X86(64) }, 1},
	{"i386", func() Decoder { return X86(32) }, 1},
	{"ppc64be", func() Decoder { return PowerPC(64, binary.BigEndian) }, 4},
	{"ppc64le", func() Decoder { return PowerPC(64, binary.LittleEndian) }, 4},
	{"ppc32", func() Decoder { return PowerPC(32, binary.BigEndian) }, 4},
	{"arm64", ARM64, 4},
	{"arm", ARM, 4},
	{"thumb", Thumb, 2},
	{"riscv64", RISCV64, 2},
}

// checkContract holds what Decoder promises for any bytes.
func checkContract(t *testing.T, d Decoder, code []byte, step uint8) {
	t.Helper()
	in := Insn{Len: 99, Flow: 99, NumEffects: 99}
	ok := d.Decode(code, &in)
	switch {
	case int(in.Len) > len(code):
		t.Fatalf("% x: length %d is beyond the end", code, in.Len)
	case in.Len > 15, in.Len == 0 && len(code) > 0:
		t.Fatalf("% x: length %d", code, in.Len)
	case ok && in.Len%step != 0:
		t.Fatalf("% x: length %d is not a multiple of %d", code, in.Len, step)
	case in.Flow > Stop || int(in.NumEffects) > len(in.Effects):
		t.Fatalf("% x: %+v", code, in)
	case !ok && (in.Flow != Next || in.Window != NoWindow || in.NumEffects != 0):
		t.Fatalf("% x: invalid, and yet it does something: %s", code, render(&in))
	case in.HasTarget && in.Flow != Jump && in.Flow != Branch && in.Flow != Call:
		t.Fatalf("% x: a target of no branch: %s", code, render(&in))
	case in.Window == Write && in.Control == NoControl:
		t.Fatalf("% x: a write of no register: %s", code, render(&in))
	}
	for _, e := range in.Effects[:in.NumEffects] {
		if e.Dst >= 0 && in.Written>>uint(e.Dst)&1 == 0 && e.Dst != ARMPC {
			t.Fatalf("% x: r%d is set, but not in Written: %s", code, e.Dst, render(&in))
		}
		if e.Dst >= 64 || e.Dst < NoReg {
			t.Fatalf("% x: register %d: %s", code, e.Dst, render(&in))
		}
	}
}

func fuzz(f *testing.F, index int, seeds ...string) {
	for _, s := range seeds {
		code, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(code)
	}
	f.Fuzz(func(t *testing.T, code []byte) {
		d := decoders[index].make()
		for range 8 { // on through the bytes, as a section is read
			checkContract(t, d, code, decoders[index].step)
			var in Insn
			d.Decode(code, &in)
			code = code[in.Len:]
		}
	})
}

func FuzzX86(f *testing.F) {
	fuzz(f, 0, "0f01cb", "f30f1efa", "62f1fe486f00", "c4e37d39c001", "48b88877665544332211", "66", "8fe97812c0")
}
func FuzzX86Short(f *testing.F) {
	fuzz(f, 1, "0f01cb", "6766c7000100", "62f1fe486f00", "c5f877", "ea34120000 1000")
}
func FuzzPowerPC64(f *testing.F) {
	fuzz(f, 2, "7d3d03a6", "0610001238 60d687", "7929 07c6", "42000005")
}
func FuzzPowerPC32(f *testing.F) { fuzz(f, 4, "7d3ac3a6", "7d2051e4", "bfc1fff8") }
func FuzzARM64(f *testing.F)     { fuzz(f, 5, "002018d5", "9f4100d5", "20fc70b3", "e007bfad") }
func FuzzARM(f *testing.F)       { fuzz(f, 6, "103f03ee", "03f18f90", "1080bd08", "000abdf8") }
func FuzzThumb(f *testing.F)     { fuzz(f, 7, "1ebf0430 23f00c037047", "dfe803f0", "2de91041") }
func FuzzRISCV64(f *testing.F)   { fuzz(f, 8, "73a00710", "e5ff", "1f00", "ffff") }

// TestContract holds the promises for random bytes, and for each of them cut short.
func TestContract(t *testing.T) {
	for _, d := range decoders {
		t.Run(d.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(3, 3))
			code := make([]byte, 1<<16)
			for i := range code {
				code[i] = byte(rng.Uint32())
			}
			dec := d.make()
			for at := 0; at+16 < len(code); at += int(d.step) {
				checkContract(t, dec, code[at:], d.step)
				checkContract(t, dec, code[at:at+rng.IntN(16)], d.step)
			}
		})
	}
}

// TestNoAllocation: millions of instructions are decoded in a run.
func TestNoAllocation(t *testing.T) {
	for _, d := range decoders {
		code, dec := benchmarkCode(d.step), d.make()
		var in Insn
		if n := testing.AllocsPerRun(10, func() { decodeAll(dec, code, &in) }); n != 0 {
			t.Errorf("%s: %v allocations", d.name, n)
		}
	}
}

func decodeAll(d Decoder, code []byte, in *Insn) {
	for len(code) > 0 {
		d.Decode(code, in)
		code = code[in.Len:]
	}
}

// benchmarkCode is random bytes: real code is faster to decode, as its rows come first.
func benchmarkCode(step uint8) []byte {
	rng := rand.New(rand.NewPCG(5, uint64(step)))
	code := make([]byte, 1<<16)
	for i := range code {
		code[i] = byte(rng.Uint32())
	}
	return code
}

func BenchmarkDecode(b *testing.B) {
	for _, d := range decoders {
		b.Run(d.name, func(b *testing.B) {
			code, dec := benchmarkCode(d.step), d.make()
			if real := realCode(d.name); real != nil {
				code = real
			}
			var in Insn
			b.SetBytes(int64(len(code)))
			b.ReportAllocs()
			before := cpuTime(b)
			n := 0
			for b.Loop() {
				decodeAll(dec, code, &in)
				n++
			}
			b.ReportMetric(float64(n*len(code))/1e6/(cpuTime(b)-before).Seconds(), "MB/cpu-s")
		})
	}
}

// realCode is the .text of an object of the target below UABOT_OBJECTS, if there is one.
func realCode(name string) []byte {
	dir := os.Getenv("UABOT_OBJECTS")
	for i := range machines {
		if m := &machines[i]; m.name == name && dir != "" {
			objects, err := findObjects(dir)
			if err != nil {
				return nil
			}
			var code []byte
			for _, path := range objects[m.kind()] {
				f, err := elf.Open(path)
				if err != nil {
					continue
				}
				if text := f.Section(".text"); text != nil {
					if data, err := text.Data(); err == nil {
						code = append(code, data...)
					}
				}
				f.Close()
				if len(code) > 1<<20 {
					break
				}
			}
			return code
		}
	}
	return nil
}

// cpuTime is what this process has used: a benchmark on a busy machine needs it.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
