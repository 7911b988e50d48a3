//go:build !purego

#include "textflag.h"

// The processor's SHA instructions, after Intel's "Intel SHA Extensions" (2013), on two messages at once: SHA256RNDS2 does
// two rounds, takes four cycles, and can start every two.
//
// Registers: X0 the words and constants of the next rounds, as the instruction wants it; X1, X2 the state of the first
// message (abef, cdgh) and X3 to X6 its last sixteen words; X7, X8 and X9 to X12 the same of the second; X13 for sums;
// X15 the order of bytes.

// Four rounds.
#define ROUNDS(abef, cdgh) \
	SHA256RNDS2 X0, abef, cdgh \
	PSHUFD      $0x0e, X0, X0  \
	SHA256RNDS2 X0, cdgh, abef

// Four rounds with the words w, which are number t and on.
#define ROUNDS_WITH(abef, cdgh, w, t) \
	MOVO  w, X0         \
	PADDD (t*4)(AX), X0 \
	ROUNDS(abef, cdgh)

// The next four words, from the sixteen before: they replace the oldest.
#define SCHEDULE(w16, w12, w8, w4) \
	SHA256MSG1 w12, w16     \
	MOVO       w4, X13      \
	PALIGNR    $4, w8, X13  \
	PADDD      X13, w16     \
	SHA256MSG2 w4, w16

// Words t to t+3 straight from the message.
#define FIRST(t, w, v) \
	MOVOU  (t*4)(SI), w \
	PSHUFB X15, w       \
	ROUNDS_WITH(X1, X2, w, t) \
	MOVOU  (t*4)(DX), v \
	PSHUFB X15, v       \
	ROUNDS_WITH(X7, X8, v, t)

#define NEXT(t, w16, w12, w8, w4, v16, v12, v8, v4) \
	SCHEDULE(w16, w12, w8, w4) \
	ROUNDS_WITH(X1, X2, w16, t) \
	SCHEDULE(v16, v12, v8, v4) \
	ROUNDS_WITH(X7, X8, v16, t)

#define NEXT16(t) \
	NEXT((t), X3, X4, X5, X6, X9, X10, X11, X12) \
	NEXT((t+4), X4, X5, X6, X3, X10, X11, X12, X9) \
	NEXT((t+8), X5, X6, X3, X4, X11, X12, X9, X10) \
	NEXT((t+12), X6, X3, X4, X5, X12, X9, X10, X11)

#define LOAD_STATE \
	MOVOU (DI), X1   \
	MOVOU 16(DI), X2 \
	MOVOU 32(DI), X7 \
	MOVOU 48(DI), X8

// Adds the state before the block, and keeps the sum.
#define ADD_STATE(at, x) \
	MOVOU at(DI), X13 \
	PADDD X13, x      \
	MOVOU x, at(DI)

#define ADD_STATES \
	ADD_STATE(0, X1)  \
	ADD_STATE(16, X2) \
	ADD_STATE(32, X7) \
	ADD_STATE(48, X8)

// func blocks(state *pairState, first, second *byte, count int)
TEXT ·blocks(SB), NOSPLIT, $0-32
	MOVQ  state+0(FP), DI
	MOVQ  first+8(FP), SI
	MOVQ  second+16(FP), DX
	MOVQ  count+24(FP), CX
	LEAQ  constants<>(SB), AX
	MOVOU order<>(SB), X15
	LOAD_STATE

next:
	TESTQ CX, CX
	JZ    done
	FIRST(0, X3, X9)
	FIRST(4, X4, X10)
	FIRST(8, X5, X11)
	FIRST(12, X6, X12)
	NEXT16(16)
	NEXT16(32)
	NEXT16(48)
	ADD_STATES
	ADDQ $64, SI
	ADDQ $64, DX
	DECQ CX
	JMP  next

done:
	RET

#define PADDING(t) \
	MOVOU (t*4)(AX), X0 \
	MOVO  X0, X13       \
	ROUNDS(X1, X2)      \
	MOVO  X13, X0       \
	ROUNDS(X7, X8)

#define PADDING16(t) \
	PADDING((t)) \
	PADDING((t+4)) \
	PADDING((t+8)) \
	PADDING((t+12))

// func after64(state *pairState)
TEXT ·after64(SB), NOSPLIT, $0-8
	MOVQ state+0(FP), DI
	LEAQ padding<>(SB), AX
	LOAD_STATE
	PADDING16(0)
	PADDING16(16)
	PADDING16(32)
	PADDING16(48)
	ADD_STATES
	RET

// func cpuHasSHA() bool
TEXT ·cpuHasSHA(SB), NOSPLIT, $0-1
	MOVB $0, ret+0(FP)
	XORL AX, AX
	CPUID
	CMPL AX, $7
	JB   no
	MOVL $1, AX
	CPUID
	ANDL $0x80200, CX // SSE4.1, SSSE3
	CMPL CX, $0x80200
	JNE  no
	MOVL $7, AX
	XORL CX, CX
	CPUID
	SHRL $29, BX
	ANDL $1, BX
	MOVB BX, ret+0(FP)

no:
	RET

// Each word of a message is big-endian.
DATA order<>+0(SB)/8, $0x0405060700010203
DATA order<>+8(SB)/8, $0x0c0d0e0f08090a0b
GLOBL order<>(SB), RODATA|NOPTR, $16

// The constants of FIPS 180-4, 4.2.2.
DATA constants<>+0(SB)/8, $0x71374491428a2f98
DATA constants<>+8(SB)/8, $0xe9b5dba5b5c0fbcf
DATA constants<>+16(SB)/8, $0x59f111f13956c25b
DATA constants<>+24(SB)/8, $0xab1c5ed5923f82a4
DATA constants<>+32(SB)/8, $0x12835b01d807aa98
DATA constants<>+40(SB)/8, $0x550c7dc3243185be
DATA constants<>+48(SB)/8, $0x80deb1fe72be5d74
DATA constants<>+56(SB)/8, $0xc19bf1749bdc06a7
DATA constants<>+64(SB)/8, $0xefbe4786e49b69c1
DATA constants<>+72(SB)/8, $0x240ca1cc0fc19dc6
DATA constants<>+80(SB)/8, $0x4a7484aa2de92c6f
DATA constants<>+88(SB)/8, $0x76f988da5cb0a9dc
DATA constants<>+96(SB)/8, $0xa831c66d983e5152
DATA constants<>+104(SB)/8, $0xbf597fc7b00327c8
DATA constants<>+112(SB)/8, $0xd5a79147c6e00bf3
DATA constants<>+120(SB)/8, $0x1429296706ca6351
DATA constants<>+128(SB)/8, $0x2e1b213827b70a85
DATA constants<>+136(SB)/8, $0x53380d134d2c6dfc
DATA constants<>+144(SB)/8, $0x766a0abb650a7354
DATA constants<>+152(SB)/8, $0x92722c8581c2c92e
DATA constants<>+160(SB)/8, $0xa81a664ba2bfe8a1
DATA constants<>+168(SB)/8, $0xc76c51a3c24b8b70
DATA constants<>+176(SB)/8, $0xd6990624d192e819
DATA constants<>+184(SB)/8, $0x106aa070f40e3585
DATA constants<>+192(SB)/8, $0x1e376c0819a4c116
DATA constants<>+200(SB)/8, $0x34b0bcb52748774c
DATA constants<>+208(SB)/8, $0x4ed8aa4a391c0cb3
DATA constants<>+216(SB)/8, $0x682e6ff35b9cca4f
DATA constants<>+224(SB)/8, $0x78a5636f748f82ee
DATA constants<>+232(SB)/8, $0x8cc7020884c87814
DATA constants<>+240(SB)/8, $0xa4506ceb90befffa
DATA constants<>+248(SB)/8, $0xc67178f2bef9a3f7
GLOBL constants<>(SB), RODATA|NOPTR, $256

// The same plus the words of the block 80 00 … 00 02 00.
DATA padding<>+0(SB)/8, $0x71374491c28a2f98
DATA padding<>+8(SB)/8, $0xe9b5dba5b5c0fbcf
DATA padding<>+16(SB)/8, $0x59f111f13956c25b
DATA padding<>+24(SB)/8, $0xab1c5ed5923f82a4
DATA padding<>+32(SB)/8, $0x12835b01d807aa98
DATA padding<>+40(SB)/8, $0x550c7dc3243185be
DATA padding<>+48(SB)/8, $0x80deb1fe72be5d74
DATA padding<>+56(SB)/8, $0xc19bf3749bdc06a7
DATA padding<>+64(SB)/8, $0xf0fe4786649b69c1
DATA padding<>+72(SB)/8, $0x240cf2540fe1edc6
DATA padding<>+80(SB)/8, $0x6cc984be4fe9346f
DATA padding<>+88(SB)/8, $0x16f988fa61b9411e
DATA padding<>+96(SB)/8, $0xa88e5a6df2c65152
DATA padding<>+104(SB)/8, $0xb9d99ec7b019fc65
DATA padding<>+112(SB)/8, $0xe70eeaa09a1231c3
DATA padding<>+120(SB)/8, $0xc7353eb0fdb1232b
DATA padding<>+128(SB)/8, $0xcb976d5f3069bad5
DATA padding<>+136(SB)/8, $0xdc1eeefd5a0f118f
DATA padding<>+144(SB)/8, $0xde0b7a040a35b689
DATA padding<>+152(SB)/8, $0xe15d5b1658f4ca9d
DATA padding<>+160(SB)/8, $0x37088980007f3e86
DATA padding<>+168(SB)/8, $0x6fab9537a507ea32
DATA padding<>+176(SB)/8, $0x0d8cd6f117406110
DATA padding<>+184(SB)/8, $0xc0bbbe37cdaa3b6d
DATA padding<>+192(SB)/8, $0xdb48a36383613bda
DATA padding<>+200(SB)/8, $0x6fd15ca70b02e931
DATA padding<>+208(SB)/8, $0x31338431521afaca
DATA padding<>+216(SB)/8, $0x6d4378906ed41a95
DATA padding<>+224(SB)/8, $0x9eccabbdc39c91f2
DATA padding<>+232(SB)/8, $0x532fb63cb5c9a0e6
DATA padding<>+240(SB)/8, $0x07237ea3d2c741c6
DATA padding<>+248(SB)/8, $0x4c191d76a4954b68
GLOBL padding<>(SB), RODATA|NOPTR, $256
