package isa

import "testing"

// TestThumb holds T32 encodings against what DDI 0406 says they are.
func TestThumb(t *testing.T) {
	checkEncodings(t, Thumb(), []encoding{
		{"03 ee 10 3f", "mcr p15, 0, r3, c3, c0, 0", "4 write DACR r3"},
		{"13 ee 10 3f", "mrc p15, 0, r3, c3, c0, 0", "4 DACR [r3 = control]"},
		{"22 f0 0c 03", "bic r3, r2, #12", "4 [r3 = r2 & 0xfffffff3]"},
		{"43 f0 04 03", "orr r3, r3, #4", "4 [r3 = r3 | 0x4]"},
		{"22 ea 04 03", "bic.w r3, r2, r4", "4 [r3 = r2 &^ r4]"},
		{"04 20", "movs r0, #4", "2 [r0 = 0x4]"},
		{"4f f0 ff 10", "mov.w r0, #0x00ff00ff", "4 [r0 = 0xff00ff]"},
		{"6f f0 03 00", "mvn r0, #3", "4 [r0 = 0xfffffffc]"},
		{"41 f2 34 20", "movw r0, #0x1234", "4 [r0 = 0x1234]"},
		{"c5 f2 78 60", "movt r0, #0x5678", "4 [r0 = r0 with 0x5678 at bit 16]"},
		{"40 46", "mov r0, r8", "2 [r0 = r8]"},
		{"08 00", "movs r0, r1", "2 [r0 = r1]"},
		{"88 18", "adds r0, r1, r2", "2 [r0 = r1 + r2]"},
		{"04 38", "subs r0, #4", "2 [r0 = r0-4]"},
		{"04 b0", "add sp, #16", "2 [r13 = r13+16]"},
		{"84 b0", "sub sp, #16", "2 [r13 = r13-16]"},
		{"02 af", "add r7, sp, #8", "2 [r7 = r13+8]"},
		{"a1 f2 04 00", "subw r0, r1, #4", "4 [r0 = r1-4]"},
		{"01 a0", "adr r0, .+8", "2 [r0 = address of r15+4]"},
		{"61 f3 0b 10", "bfi r0, r1, #4, #8", "4 [r0 = r0 with r1<<4 under 0xff0]"},
		{"c1 f3 07 10", "ubfx r0, r1, #4, #8", "4 [r0 = rotl32(r1, 28) & 0xff]"},
		{"09 28", "cmp r0, #9", "2 [r0 ? 0x9]"},
		{"b8 f1 09 0f", "cmp.w r8, #9", "4 [r8 ? 0x9]"},
		{"01 98", "ldr r0, [sp, #4]", "2 reads [r0 = slot+4]"},
		{"01 90", "str r0, [sp, #4]", "2 writes [slot+4 = r0]"},
		{"4d f8 04 0d", "str r0, [sp, #-4]!", "4 writes [slot-4 = r0] [r13 = r13-4]"},
		{"5d f8 04 0b", "ldr r0, [sp], #4", "4 reads [r0 = slot+0] [r13 = r13+4]"},
		{"dd f8 04 80", "ldr.w r8, [sp, #4]", "4 reads [r8 = slot+4]"},
		{"cd e9 02 23", "strd r2, r3, [sp, #8]", "4 writes [slot+8 = r2] [slot+12 = r3]"},
		{"02 48", "ldr r0, [pc, #8]", "2 reads [r0 = mem(r15+8), 4 bytes]"},
		{"48 68", "ldr r0, [r1, #4]", "2 reads [r0 = mem(r1+4), 4 bytes]"},
		{"47 f8 04 0c", "str.w r0, [r7, #-4]", "4 writes [mem(r7-4) = r0]"},
		{"51 f8 22 00", "ldr.w r0, [r1, r2, lsl #2]", "4 reads [r0 = mem(r1 + r2<<2), 4 bytes]"},
		{"51 f8 04 0e", "ldrt r0, [r1, #4]", "4 reads [r0 = mem(r1+4), 4 bytes]"},
		{"10 b5", "push {r4, lr}", "2 writes [slot-8 = r4] [slot-4 = r14] [r13 = r13-8]"},
		{"f8 b5", "push {r3, r4, r5, r6, r7, lr}", "2 writes [slot-24 lost, 24 bytes] [r13 = r13-24]"},
		{"2d e9 10 41", "push.w {r4, r8, lr}", "4 writes [slot-12 lost, 12 bytes] [r13 = r13-12]"},
		{"10 bd", "pop {r4, pc}", "2 return reads [r13 = r13+8] loses r4"},
		{"bd e8 10 81", "pop.w {r4, r8, pc}", "4 return reads [r13 = r13+12] loses r4 r8"},
		{"b0 e8 06 00", "ldmia.w r0!, {r1, r2}", "4 reads [r0 = r0+8] loses r1 r2"},
		{"df e8 03 f0", "tbb [pc, r3]", "4 jump-indirect reads [r15 = mem(r15 + r3<<0), 1 bytes]"},
		{"df e8 13 f0", "tbh [pc, r3, lsl #1]", "4 jump-indirect reads [r15 = mem(r15 + r3<<1), 2 bytes]"},
		{"06 e0", "b .+16", "2 jump +16"},
		{"0f f0 fe bf", "b.w .+0x10000", "4 jump +65536"},
		{"02 d1", "bne .+8", "2 branch +8 if not-equal"},
		{"00 f2 fe 87", "bhi.w .+0x1000", "4 branch +4096 if above"},
		{"ff f7 f6 ff", "bl .-16", "4 call -16 loses r14"},
		{"98 47", "blx r3", "2 call-indirect r3 loses r14"},
		{"70 47", "bx lr", "2 return r14"},
		{"18 47", "bx r3", "2 jump-indirect r3"},
		{"f7 46", "mov pc, lr", "2 return r14"},
		{"10 b1", "cbz r0, .+8", "2 branch +8 if equal [r0 ? 0x0]"},
		{"10 b9", "cbnz r0, .+8", "2 branch +8 if not-equal [r0 ? 0x0]"},
		{"02 de", "udf #2", "2 trap"},
		{"f0 f7 00 a0", "udf.w #0", "4 trap"},
		{"00 be", "bkpt #0", "2 trap"},
		{"00 df", "svc #0", "2"},
		{"de f3 04 8f", "subs pc, lr, #4", "4 stop"},
	})
}

// TestThumbIT walks through an IT block: the two instructions under it are conditional,
// each with its own condition, and the one after them is not.
func TestThumbIT(t *testing.T) {
	code := []byte{
		0x1e, 0xbf, // ittt ne: ne, ne, ne
		0x04, 0x30, // addne r0, #4
		0x23, 0xf0, 0x0c, 0x03, // bicne.w r3, r3, #12
		0x70, 0x47, // bxne lr
		0x0c, 0xbf, // ite eq: eq, ne
		0x03, 0xee, 0x10, 0x3f, // mcreq p15, 0, r3, c3, c0, 0
		0x98, 0x47, // blxne r3
		0x70, 0x47, // bx lr
	}
	want := []string{
		"2",
		"2 conditional if not-equal [r0 = r0+4]",
		"4 conditional if not-equal [r3 = r3 & 0xfffffff3]",
		"2 conditional branch-return if not-equal r14",
		"2",
		"4 conditional if equal write DACR r3",
		"2 conditional call-indirect if not-equal r3 loses r14",
		"2 return r14",
	}
	d := Thumb()
	var in Insn
	for at, i := 0, 0; at < len(code); at, i = at+int(in.Len), i+1 {
		if !d.Decode(code[at:], &in) {
			t.Fatalf("at %d: invalid", at)
		}
		if got := render(&in); got != want[i] {
			t.Errorf("at %d:\n got  %s\n want %s", at, got, want[i])
		}
	}
	// Another slice starts outside of the block.
	d.Decode(code, &in)
	if d.Decode([]byte{0x70, 0x47}, &in); in.Flow != Return {
		t.Errorf("an IT block reached into other code: %s", render(&in))
	}
}
