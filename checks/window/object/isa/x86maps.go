package isa

// The opcode maps of Intel's SDM volume 2, appendix A, 16 opcodes to a line. What
// follows an opcode is
//
//	.  nothing                    M  ModRM
//	b  imm8    d  rel8            B  ModRM, imm8
//	z  imm16/32  D  rel16/32      Z  ModRM, imm16/32
//	v  imm16/32/64                G  ModRM, imm8 for /0 and /1 (test)
//	w  imm16   A  imm16, imm8     H  ModRM, imm16/32 for /0 and /1 (test)
//	o  an address                 R  ModRM, both operands registers whatever mod is
//	f  a far pointer              x  a further opcode byte, or a prefix
//	!  not an instruction
//
// (E: ModRM and two imm8, Q: ModRM and imm32 are named in the code.)

// x86Forms is table A-2, one-byte opcodes. Prefixes and the opcodes that 64-bit mode
// gives another meaning are dealt with before.
const x86Forms = "" +
	"MMMMbz..MMMMbz.x" + // 00 add, or
	"MMMMbz..MMMMbz.." + // 10 adc, sbb
	"MMMMbzx.MMMMbzx." + // 20 and, sub
	"MMMMbzx.MMMMbzx." + // 30 xor, cmp
	"................" + // 40 inc, dec (32-bit)
	"................" + // 50 push, pop
	"..MMxxxxzZbB...." + // 60 pusha, popa, bound, movsxd/arpl; push, imul, ins, outs
	"dddddddddddddddd" + // 70 jcc
	"BZBBMMMMMMMMMMMM" + // 80 group 1, test, xchg, mov, lea, pop
	"..........f....." + // 90 xchg, cbw, cwd, callf, fwait, pushf, popf, sahf, lahf
	"oooo....bz......" + // a0 mov, movs, cmps, test, stos, lods, scas
	"bbbbbbbbvvvvvvvv" + // b0 mov
	"BBw.MMBZA.w..b.." + // c0 group 2, ret, les, lds, group 11, enter, leave, retf, int3, int, into, iret
	"MMMMbb..MMMMMMMM" + // d0 group 2, aam, aad, salc, xlat, x87
	"ddddbbbbDDfd...." + // e0 loop, jcxz, in, out, call, jmp, jmpf, jmp, in, out
	"x.xx..GH......MM" //   f0 lock, int1, rep, hlt, cmc, group 3, clc ..., group 4, group 5

// x86Forms0F is table A-3, two-byte opcodes.
const x86Forms0F = "" +
	"MMMM!.....!.!M.B" + // 00 group 6, group 7, lar, lsl, syscall, clts, sysret, invd, wbinvd, ud2, prefetchw, femms, 3dnow
	"MMMMMMMMMMMMMMMM" + // 10 mov*ps, prefetch, nop, endbr
	"RRRR!!!!MMMMMMMM" + // 20 mov of control and debug registers, mov*ps, cvt, comis
	"......!.x!x!!!!!" + // 30 wrmsr, rdtsc, rdmsr, rdpmc, sysenter, sysexit, getsec, the maps 38 and 3a
	"MMMMMMMMMMMMMMMM" + // 40 cmovcc
	"MMMMMMMMMMMMMMMM" + // 50
	"MMMMMMMMMMMMMMMM" + // 60
	"BBBBMMM.MM!!MMMM" + // 70 pshuf, groups 12 to 14, pcmpeq, emms, vmread, vmwrite, hadd, movd, movq
	"DDDDDDDDDDDDDDDD" + // 80 jcc
	"MMMMMMMMMMMMMMMM" + // 90 setcc
	"...MBMMM...MBMMM" + // a0 push, pop, cpuid, bt, shld, (VIA), push, pop, rsm, bts, shrd, group 15, imul
	"MMMMMMMMMMBMMMMM" + // b0 cmpxchg, lss, btr, lfs, lgs, movz, popcnt, ud1, group 8, btc, bsf, bsr, movs
	"MMBMBBBM........" + // c0 xadd, cmpps, movnti, pinsrw, pextrw, shufps, group 9, bswap
	"MMMMMMMMMMMMMMMM" + // d0
	"MMMMMMMMMMMMMMMM" + // e0
	"MMMMMMMMMMMMMMMM" //   f0, ff is ud0

// How an operand in memory is used: r read, w written, m both, . neither.
const x86Memory = "" +
	"mmrr....mmrr...." + // 00
	"mmrr....mmrr...." + // 10
	"mmrr....mmrr...." + // 20
	"mmrr....rrrr...." + // 30
	"................" + // 40
	"................" + // 50
	"..rr.....r.rwwrr" + // 60
	"................" + // 70
	"mmmmrrmmwwrrw.rw" + // 80
	"................" + // 90
	"rrwwmmrr..wwrrrr" + // a0
	"................" + // b0
	"mm..rrww........" + // c0
	"mmmm...rrmrmrmrm" + // d0
	"................" + // e0
	"......mm......mm" //   f0

const x86Memory0F = "" +
	"rrrr............" + // 00
	"rwrwrrrw........" + // 10
	"........rwrwrrrr" + // 20
	"................" + // 30
	"rrrrrrrrrrrrrrrr" + // 40
	"rrrrrrrrrrrrrrrr" + // 50
	"rrrrrrrrrrrrrrrr" + // 60
	"rrrrrrr.rrrrrrww" + // 70
	"................" + // 80
	"wwwwwwwwwwwwwwww" + // 90
	"...rmm.....mmmmr" + // a0
	"mmrmrrrrrrmmrrrr" + // b0
	"mmrwr.rm........" + // c0
	"rrrrrrwrrrrrrrrr" + // d0
	"rrrrrrrwrrrrrrrr" + // e0
	"rrrrrrrrrrrrrrr." //   f0

// x86Invalid64 are the one-byte opcodes that table A-2 marks i64, a bit each: 06 07 0e
// 16 17 1e 1f, 27 2f 37 3f, 60 61 (62 is EVEX), 82 9a, ce, d4 d5 d6, ea.
var x86Invalid64 = [8]uint32{
	0: 1<<0x06 | 1<<0x07 | 1<<0x0e | 1<<0x16 | 1<<0x17 | 1<<0x1e | 1<<0x1f,
	1: 1<<0x07 | 1<<0x0f | 1<<0x17 | 1<<0x1f,
	3: 1<<0x00 | 1<<0x01,
	4: 1<<0x02 | 1<<0x1a,
	6: 1<<0x0e | 1<<0x14 | 1<<0x15 | 1<<0x16,
	7: 1 << 0x0a,
}

// x86When are the conditions of jcc: appendix B.1.4.2, tttn.
var x86When = [16]Condition{2: Below, 3: AboveEqual, 4: Equal, 5: NotEqual, 6: BelowEqual, 7: Above}
