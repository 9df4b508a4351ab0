#include "go_asm.h"
#include "textflag.h"

// One of four blocks of 32 in pairScan: hit gets a byte of ones wherever both
// bytes of the pair are. Y0, Y1 hold the values, Y2, Y3 the loose bits, BX, DI
// the text at the two places.
#define PAIR(offset, hit, other) \
	VPOR     offset(BX)(AX*1), Y2, hit   \
	VPOR     offset(DI)(AX*1), Y3, other \
	VPCMPEQB Y0, hit, hit                \
	VPCMPEQB Y1, other, other            \
	VPAND    other, hit, hit

// FOUND leaves if the block has a hit.
#define FOUND(hit) \
	VPMOVMSKB hit, R9 \
	TESTL     R9, R9  \
	JNZ       done

// func pairScan(p *pair, text *byte, at, last int) (int, uint32)
TEXT ·pairScan(SB), NOSPLIT, $0-44
	MOVQ p+0(FP), DX
	MOVQ text+8(FP), SI
	MOVQ at+16(FP), AX
	MOVQ last+24(FP), CX
	VPBROADCASTB pair_value+0(DX), Y0
	VPBROADCASTB pair_value+1(DX), Y1
	VPBROADCASTB pair_loose+0(DX), Y2
	VPBROADCASTB pair_loose+1(DX), Y3
	MOVQ pair_at+0(DX), BX
	MOVQ pair_at+8(DX), DI
	ADDQ SI, BX
	ADDQ SI, DI
	LEAQ -96(CX), R8

four:
	CMPQ AX, R8
	JGT  one
	PAIR(0, Y4, Y8)
	PAIR(32, Y5, Y9)
	PAIR(64, Y6, Y10)
	PAIR(96, Y7, Y11)
	VPOR   Y4, Y5, Y12
	VPOR   Y6, Y7, Y13
	VPOR   Y12, Y13, Y12
	VPTEST Y12, Y12
	JNZ    which
	ADDQ   $128, AX
	JMP    four

which:
	FOUND(Y4)
	ADDQ $32, AX
	FOUND(Y5)
	ADDQ $32, AX
	FOUND(Y6)
	ADDQ $32, AX
	FOUND(Y7)

one:
	CMPQ AX, CX
	JGT  none
	PAIR(0, Y4, Y8)
	FOUND(Y4)
	ADDQ $32, AX
	JMP  one

none:
	XORL R9, R9

done:
	VZEROUPPER
	MOVQ AX, ret+32(FP)
	MOVL R9, ret1+40(FP)
	RET

// PLACE looks 32 bytes up by their two halves: out gets the buckets that are
// content. Y6 holds the mask of a half.
#define PLACE(base, offset, low, high, out, t) \
	VMOVDQU offset(base)(AX*1), t \
	VPSRLW  $4, t, out            \
	VPAND   Y6, t, t              \
	VPAND   Y6, out, out          \
	VPSHUFB t, low, t             \
	VPSHUFB out, high, out        \
	VPAND   t, out, out

#define TEDDY(offset, out, second, third, t) \
	PLACE(BX, offset, Y0, Y1, out, t)    \
	PLACE(DI, offset, Y2, Y3, second, t) \
	PLACE(SI, offset, Y4, Y5, third, t)  \
	VPAND second, out, out               \
	VPAND third, out, out

// BUCKETS leaves if a byte of the block has a bucket.
#define BUCKETS(out) \
	VPCMPEQB  Y7, out, out \
	VPMOVMSKB out, R9      \
	XORL      $-1, R9      \
	JNZ       done

// func teddyScan(t *teddy, text *byte, at, last int) (int, uint32)
TEXT ·teddyScan(SB), NOSPLIT, $0-44
	MOVQ t+0(FP), DX
	MOVQ text+8(FP), SI
	MOVQ at+16(FP), AX
	MOVQ last+24(FP), CX
	VBROADCASTI128 teddy_low+0(DX), Y0
	VBROADCASTI128 teddy_high+0(DX), Y1
	VBROADCASTI128 teddy_low+16(DX), Y2
	VBROADCASTI128 teddy_high+16(DX), Y3
	VBROADCASTI128 teddy_low+32(DX), Y4
	VBROADCASTI128 teddy_high+32(DX), Y5
	MOVL $15, R9
	VMOVQ R9, X6
	VPBROADCASTB X6, Y6
	VPXOR Y7, Y7, Y7
	MOVQ teddy_at+0(DX), BX
	MOVQ teddy_at+8(DX), DI
	ADDQ SI, BX
	ADDQ SI, DI
	ADDQ teddy_at+16(DX), SI
	LEAQ -32(CX), R8

two:
	CMPQ AX, R8
	JGT  one
	TEDDY(0, Y8, Y9, Y10, Y11)
	TEDDY(32, Y12, Y13, Y14, Y15)
	VPOR   Y8, Y12, Y9
	VPTEST Y9, Y9
	JNZ    which
	ADDQ   $64, AX
	JMP    two

which:
	BUCKETS(Y8)
	ADDQ $32, AX
	BUCKETS(Y12)

one:
	CMPQ AX, CX
	JGT  none
	TEDDY(0, Y8, Y9, Y10, Y11)
	BUCKETS(Y8)
	ADDQ $32, AX
	JMP  one

none:
	XORL R9, R9

done:
	VZEROUPPER
	MOVQ AX, ret+32(FP)
	MOVL R9, ret1+40(FP)
	RET
