// The pages of `tcq help`: one per verb, with one example whose answer is asked for when it is
// printed.
#include "oracle/help.h"

#include <fmt/format.h>

#include <array>
#include <span>
#include <vector>

#include "oracle/answer/answer.h"
#include "oracle/answer/words.h"
#include "oracle/gemm/gemm.h"

namespace tcq::oracle {
namespace {

struct Page {
  std::string_view verb;
  std::string_view synopsis;
  std::string_view question;  // what the overview says
  std::string_view text;
  std::string_view example;  // words after "tcq "
  std::string_view line;     // what the example reads from stdin
};

constexpr std::string_view keys_text =
    "Keys: a=smem|regs major_a=K|MN major_b=K|MN accumulate=0|1 negate_a=0|1 negate_b=0|1; .sp:\n"
    "selector=0|1. Matrices: A B C D, and E, the metadata of .sp. Numbers: decimal or 0x.\n"
    "tcgen05.mma: m= n= type_a= type_b= type_d= a=smem|tmem scale_type= scale_a_id= and what else "
    "its\n"
    "instruction descriptor says (tcq help describe). Matrices: A B D E SFA SFB. tcgen05.ld and "
    "st\n"
    "of .16x32bx2: half_split=.\n";

constexpr std::array<Page, 22> pages = {{
    {"list", "[--family F]", "which instruction forms are modelled",
     "One mnemonic per line. Families: wgmma, dense, sparse (wgmma.sp), f16, bf16, tf32, fp8, "
     "int8, b1;\n"
     "tcgen05, tcgen05.mma, .ld, .st, .cp, ..., tcgen05.mma.f16 and so on. Without one the target "
     "decides:\n"
     "--arch b200 lists tcgen05. Status 1 if the target has none.\n",
     "", ""},
    {"describe", "MNEMONIC [keys]", "what is it",
     "Shape, types, places and order of the operands, work, arithmetic, legality per target, and "
     "the\n"
     "evidence of each. tcgen05: what the instruction descriptor says are keys: m= n= k= type_a= "
     "type_b=\n"
     "type_d= major_a= major_b= negate_a= negate_b= selector= saturate= max_shift_b= scale_type=\n"
     "scale_a_id= scale_b_id=, and a=smem|tmem. Fences, barriers, mbarriers, copies and groups, "
     "and a name "
     "alone\n"
     "(wgmma.fence, tcgen05.commit, mbarrier.try_wait, cp.async.bulk.tensor): what it does, what "
     "it orders, "
     "who\n"
     "executes it, what goes wrong with it. --markdown: a page.\n",
     "describe wgmma.m64n8k16.f32.bf16.bf16", ""},
    {"where", "MNEMONIC MATRIX row=R col=C [desc=WORD] [--inputs]",
     "which register of which thread, or which byte, holds this element",
     "A in shared memory and B need desc=WORD and answer with a byte address; A with a=regs, C and "
     "D answer\n"
     "with thread and register, narrow types also with the part (0 = least significant). A of .sp: "
     "col\n"
     "counts stored elements. E: row= and k= (logical). --inputs (D only) adds the sum behind the "
     "element:\n"
     "desc_a=WORD and desc_b=WORD give byte addresses, terms=N writes N products and '...'. "
     "Sparse: every\n"
     "stored element of A with the rows of B that it may meet, B[{0..2}][13]; codes=HEX (one digit "
     "per\n"
     "chunk of the row, chunk 0 first) says which, if PTX defines it.\n"
     "tcgen05.mma: D, A with a=tmem, E (chunk= counts codes, where k= counts elements), SFA and "
     "SFB\n"
     "(col= counts factors) answer with cells of Tensor Memory, from address=WORD on (SFA, SFB:\n"
     "column_step= factors= of a larger buffer); A and B with desc=WORD. tcgen05.ld and st: D "
     "tmem_lane=\n"
     "tmem_column= [half_split=immHalfSplitoff, of .16x32bx2] answers with thread and register, "
     "where address= is that of warp 0. Doubts are "
     "lines\n"
     "that begin with note:. tcgen05.cp: S row= col= desc=WORD is what it reads in shared memory, "
     "D "
     "row=\n"
     "col= [address=WORD] where the same byte (or element to widen) arrives. Scale factors before "
     "they are\n"
     "copied: SFA and SFB row= col=FACTOR (or k=ELEMENT) in=global factors=K/32 counts bytes of "
     "the "
     "whole\n"
     "matrix in blocks of 128 x 4 (blocks=8x4: as libraries have few rows), in=smem [factors= "
     "start=BYTE] those of one instruction. "
     "ldmatrix "
     "and\n"
     "stmatrix (.m8n8.b16, and .m16n16, .m8n16, .m16n8 of bytes): D row= col= [matrix=]; thread\n"
     "ROWS*matrix + row supplies the address of a row. The warp's mma\n"
     "(mma.m16n8k16.f32.bf16.bf16): A, B, C and D row= col=, of m8n8k4 of f16 [product=];\n"
     "with .block_scale SFA and SFB row= col= [byte_id= thread_id=]. C and D of wgmma in a CTA "
     "tile of several\n"
     "warpgroups: bM= bN= atoms=2x1x1, as CuTe's TiledMMA has it; threads count in the CTA.\n"
     "JSON has the same members everywhere: matrix, the element, places and notes.\n",
     "where wgmma.m64n128k16.f32.bf16.bf16 D row=9 col=13 desc_a=0x4000004000010040 "
     "desc_b=0x4000004000010240 terms=2 --inputs",
     ""},
    {"what", "MNEMONIC MATRIX thread=T register=R [part=P] | desc=WORD byte=ADDRESS",
     "which element is here",
     "Without part= a packed register answers with all its parts, lowest first: D[9][12], "
     "D[9][13];\n"
     "without register= with all registers of the thread, with warp= in place of thread= of all "
     "its\n"
     "threads, with warp= lane= of that one.\n"
     "E: thread= and nibble= (without it all eight). Status 1 for threads whose metadata is not "
     "read.\n"
     "tcgen05.mma: tmem_lane= tmem_column= [cta=0|1] [address=WORD], status 1 if nothing of the "
     "matrix "
     "is\n"
     "there; D of tcgen05.cp alike. tcgen05.ld and st: D thread= register=, the thread counted in "
     "its\n"
     "warpgroup. ldmatrix and stmatrix: the same, in its warp. reg= is short for register=. Shared "
     "memory:\n"
     "A and B desc=WORD byte=ADDRESS [cta=] say the element, its core matrix, and the K step if a "
     "later\n"
     "instruction of the tile reads it, with bytes=N all elements of a range; SFA and SFB "
     "in=smem|global\n"
     "byte=. JSON lists elements as where does.\n",
     "what wgmma.m64n128k16.f32.bf16.bf16 D thread=6 register=7", ""},
    {"table", "MNEMONIC MATRIX [desc=WORD] [--by slot] [--svg FILE [marks]]", "the whole map",
     "A grid with the rows and columns of the matrix; cells are thread:register or "
     "thread:register.part\n"
     "(E: thread.nibble), or bytes with desc=. --by slot: threads and registers, cells "
     "[row][col].\n"
     "--csv and --json list thread,register,part,row,col (E: part is the nibble, col is logical k; "
     "bytes:\n"
     "row,col,byte) in the order of rows, with --by slot of threads; --transpose exchanges that "
     "order, and\n"
     "rows and columns of a grid. --markdown, --asciidoc: the grid. --svg FILE: a picture, in "
     "which\n"
     "marks (thread= warp= lane= register= part= row= col= tmem_lane= tmem_column= byte=) outline "
     "the\n"
     "cells that fit them all; D of a tile (bM= bN= atoms=) is drawn in blocks of 8 x 8.\n"
     "tcgen05: cells tmem_lane:tmem_column.bit of the first copy; --csv lists all copies,\n"
     "row,col,cta,tmem_lane,tmem_column,low_bit (cta empty: both); --by slot: lanes and columns, "
     "cells\n"
     "row,col of what is in them. tcgen05.ld and st: lanes and "
     "columns, or\n"
     "--by slot threads and registers; --csv: thread,register,part,tmem_lane,tmem_column. "
     "tcgen05.cp: D, or S\n"
     "with desc=.\n",
     "table wgmma.m64n8k8.f32.tf32.tf32 A a=regs", ""},
    {"equation", "MNEMONIC MATRIX [desc=WORD]", "the closed form",
     "Both directions as C expressions, and the CuTe shape:stride string. With desc=: byte "
     "addresses.\n"
     "tcgen05: matrices as in tcq help where, registers of ld and st, D and S of cp.\n",
     "equation wgmma.m64n128k16.f32.bf16.bf16 D", ""},
    {"decode", "FORMAT WORD [mnemonic=MNEMONIC matrix=A|B keys] [--svg FILE]",
     "what does this descriptor say",
     "FORMAT: wgmma.desc, tcgen05.desc, tcgen05.idesc.KIND, tcgen05.zero_mask, tmem.addr. Hex, one "
     "line\n"
     "per field, set bits of no field, then lints and notes: sentences about what is wrong or "
     "suspicious.\n"
     "wgmma.desc: for the instruction of mnemonic= if it is given. tcgen05.desc: for the operand "
     "of\n"
     "type= [kind= major=K|MN mn=ROWS]. tcgen05.zero_mask: with m= and n=, which columns are "
     "zeroed.\n"
     "tcgen05.idesc.KIND: for the opcode of cta_group=1|2 ws= sparse= a=smem|tmem scale_vec=1X...\n"
     "KIND: f16 tf32 f8f6f4 i8 mxf8f6f4 mxf4 mxf4nvf4, as in .kind::f16. --svg FILE: its bits as a "
     "ruler, too.\n",
     "decode tcgen05.idesc.f16 0x08420490", ""},
    {"encode", "FORMAT key=value ...", "what is the word",
     "The word in hex. wgmma.desc: start_bytes lbo_bytes sbo_bytes base_offset "
     "swizzle=none|32B|64B|128B.\n"
     "tcgen05.desc: the same, swizzle=128B_ATOM_32B, lbo_mode=relative|absolute. "
     "tcgen05.idesc.KIND: m n\n"
     "type_d type_a type_b major_a major_b negate_a negate_b sparse selector saturate max_shift_b, "
     "with\n"
     "scale factors scale_type=ue8m0|ue4m3 scale_a_id scale_b_id k96. tcgen05.zero_mask: "
     "non_zero=1\n"
     "skip_columns (a zeroed run) use_columns start_count_I first_span_I=0|1 (1: zeroed) "
     "column_shift.\n"
     "tmem.addr: tmem_lane tmem_column. The keys by which decode learns of the use may be given, "
     "too.\n"
     "Lints of decode go to stderr, or into JSON; what no instruction takes is refused with the "
     "nearest\n"
     "legal value.\n",
     "encode tcgen05.desc start_bytes=0x400 lbo_bytes=16 sbo_bytes=1024 swizzle=128B", ""},
    {"bytes", "MNEMONIC A|B desc=WORD [--svg FILE [marks]]",
     "which shared-memory byte does each element come from",
     "A table with the header mn,k,byte: absolute shared address of the element's first byte, K "
     "fastest.\n"
     "Styles: --csv --markdown --asciidoc --transpose. tcgen05.mma: the operand of one CTA; "
     "elements "
     "of\n"
     "4 and 6 bits have a column bit as well, and a note on stderr says how they are packed. "
     "tcgen05.cp: S,\n"
     "mn and k are its row and col. --svg FILE: lines of 128 bytes with their 16-byte units and "
     "banks;\n"
     "marks as in tcq help table.\n",
     "", ""},
    {"diff", "LAYOUT LAYOUT [row=R col=C]",
     "where do two layouts of one matrix differ, and what joins them",
     "LAYOUT: MNEMONIC MATRIX [keys], in registers: D and A a=regs of wgmma, A B C D of mma, D of "
     "tcgen05.ld\n"
     "and st (a cell is an element), of ldmatrix and stmatrix, whose 8 x 8 matrices are put down "
     "the "
     "rows first. Says which registers of the "
     "first make\n"
     "those of the second; if elements change threads, how far, and the order of the columns in "
     "which none\n"
     "does. row= and col=: the element of the first where the second begins. Status 1 if elements "
     "change\n"
     "threads.\n",
     "diff wgmma.m64n64k16.f32.bf16.bf16 D wgmma.m64n128k16.f32.bf16.bf16 A a=regs", ""},
    {"banks",
     "ACCESS pitch=BYTES [swizzle=S start=BYTE across=LANES] [MNEMONIC MATRIX [keys] register=R]",
     "which lanes of an access to shared memory collide, and what avoids it",
     "ACCESS: ld.shared or st.shared with .b32, .b64, .b128, .v2, .v4, or ldmatrix, stmatrix with "
     ".x1 .x2 .x4.\n"
     "Rows lie pitch= bytes apart, from start= on, swizzle=none|32B|64B|128B. Each lane has a row "
     "of "
     "its own,\n"
     "with across= so many lie side by side; a fragment in registers says where lanes have theirs: "
     "register\n"
     "R of a warp, and as many elements behind it as the access is wide. Passes of each phase, the "
     "bank where\n"
     "most lanes meet, and which swizzle or pitch takes fewer.\n",
     "banks ldmatrix.x4 pitch=128", ""},
    {"layout",
     "MNEMONIC A|B [rows=MN k=K major=K|MN swizzle=S order=mn-first|k-first start=BYTES] [--svg "
     "FILE]",
     "how do I lay this tile out",
     "Descriptor fields and word, the descriptor of every instruction in the tile, tile bytes, "
     "alignment,\n"
     "the TMA box and swizzle mode that write it, CuTe and canonical layout. type= may name the "
     "type,\n"
     "which the mnemonic decides. --svg FILE [row= col=]: the way of one element, from the TMA "
     "box\n"
     "through shared memory and the descriptor into the instruction.\n"
     "tcgen05.mma: the same for A or B; without either a whole GEMM tile, tcq layout MNEMONIC m=M "
     "n=N "
     "k=K\n"
     "[swizzle= swizzle_a= swizzle_b= order= start=]: shared memory, columns of Tensor Memory and "
     "what "
     "to\n"
     "allocate, tcgen05.cp of the scale factors, and for each step along K descriptors, "
     "instruction\n"
     "descriptor, columns and ids of the scale factors.\n",
     "layout wgmma.m64n128k16.f32.bf16.bf16 A rows=64 k=64 swizzle=128B", ""},
    {"partition", "MNEMONIC bM=M bN=N bK=K [stages=S atoms=MxNxK swizzle=S order=O ldC=LD]",
     "layouts and partitions of a CTA tile in CuTe notation",
     "For a CTA tile: shared-memory layouts, their partitions, descriptor iterators and steps. "
     "swizzle_a=\n"
     "and swizzle_b= differ per operand; atoms=2x1x1 are two warpgroups along M. tcgen05.mma "
     "(dense,\n"
     "without scale factors and .ws): bM bN bK are the tile of the CTA, or of the pair; tCtC is "
     "the\n"
     "accumulators in Tensor Memory. order= as for layout; the default is mn-first, as in CuTe.\n",
     "partition wgmma.m64n64k16.f16.f16.f16 bM=64 bN=64 bK=64", ""},
    {"tmem", "PLAN [--svg FILE]", "does this plan fit Tensor Memory",
     "PLAN in the order of time: NAME=COLUMNS allocates (tcgen05.alloc), NAME=START+COLUMNS is an\n"
     "allocation that the program was given at START, free=NAME deallocates. NAME/PART=COLUMNS "
     "and\n"
     "NAME/PART=START+COLUMNS divide an allocation: START counts from its first column, without it "
     "a\n"
     "part follows the one before. A bar of 512 columns, ranges, free pieces, the largest "
     "allocation\n"
     "that may still follow, and faults with status 1 (3: parts that share columns, as a plan has no "
     "lanes).\n"
     "Without START the first free columns are taken:\n"
     "where the hardware places an allocation is not documented.\n",
     "tmem d=256 d/even=128 d/odd=128 scales=32 scales/a=0+4 scales/b=16+8", ""},
    {"check", "", "is this legal",
     "Reads PTX from stdin: statements of wgmma, tcgen05 and mma, or whole files. A statement ends "
     "at its\n"
     "semicolon, on whatever line; without one, where the next line begins a statement.\n"
     "Inline assembly may be pasted with its quotes: what stands round such a statement there is "
     "passed over,\n"
     "and where a placeholder is an immediate the answer says which values are legal.\n"
     "{%f0..%f63} abbreviates a register vector; registers are what .reg declares them to be.\n"
     "Answers legal, illegal<TAB>reason, undefined<TAB>reason or unmodelled<TAB>reason per "
     "statement,\n"
     "with its line where there is not one statement per line. Other opcodes and directives are\n"
     "unmodelled; labels, braces, comments and blank lines are no statements.\n"
     "Status: 1 if anything is illegal or undefined, else 3 if anything is unmodelled, else 0: a\n"
     "build may fail on 1. An immediate instruction descriptor is read, too. Without --arch the\n"
     "target is that of the last .target, or else sm_90a for wgmma and sm_100a for tcgen05.\n",
     "check --arch sm_90a", "wgmma.fence.sync.aligned;"},
    {"emission", "[--arch A]", "are fence, commit and wait of this PTX stream right",
     "PTX on stdin: a few statements, or whole files. Every path is followed, loops to a fixed "
     "point;\n"
     "a branch may go either way. Per finding: line, kind, fault and cure, separated by tabs, what "
     "is\n"
     "merely slow as well. What is not followed is named, too (kind unmodelled), and nothing is\n"
     "concluded from it: calls, other opcodes, wgmma with a guard, tcgen05, groups in flight at "
     "the\n"
     "end, shared memory that a wgmma in flight may still read. A store that the async proxy reads "
     "with\n"
     "no fence.proxy.async in between is a fault if both name one variable that no bulk copy "
     "fills;\n"
     "where the addresses do not tell, it is not followed.\n"
     "Status: 1 if anything is illegal or undefined, else 3 if anything is not followed, 0 only "
     "if\n"
     "every wgmma was followed and every rule kept.\n",
     "emission",
     "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0..%f3}, %rd1, %rd2, 0, 1, 1, 0, 0;"},
    {"mma",
     "MNEMONIC [a b c] [numbers=hex|decimal] [accumulate=0|1] [negate_a=0|1] [negate_b=0|1] "
     "[--explain]",
     "what are the bits",
     "Reads lines 'a b [c]' from stdin, or one behind the mnemonic: elements of a row of A and a "
     "column of B, comma separated, "
     "and C.\n"
     "Fixed-width hex (8-bit 2 digits, 16-bit 4, tf32 8; b1: one 64-digit number, bit 0 = k 0) or, "
     "with a\n"
     "point or a sign, decimals; numbers=decimal: all are. A row shorter than K ends with zeros, a "
     "longer one\n"
     "is a chain of instructions. --explain: every term, the alignment exponent, what is cut, the "
     "rounding.\n"
     "Sparse lines are 'a b c codes': a holds the stored elements, codes one hex digit per chunk "
     "of K,\n"
     "chunk 0 first, undefined ones included: the answer is the chip's. Answers D per line, or\n"
     "error<TAB>sentence.\n"
     "tcgen05.mma: 4-bit elements have 1 digit, 6-bit ones 2; block-scaled lines are 'a b c sfa "
     "sfb', "
     "the\n"
     "scale factors of the row and of the column, 2 digits each; of .sp, b holds what the stored "
     "elements\n"
     "meet. Also scale_input_d=0..15. How sure the answers are is said on stderr, once.\n"
     "Instructions on registers, ex2.approx.ftz.f32, fma.rn.f32, cvt.rn.satfinite.e4m3x2.f32: a "
     "line is\n"
     "their sources, a register each, of packed types the word or 'low,high'; the answer has words "
     "and\n"
     "decimals, to the bit of an sm_90. lop3: the table comes last; addc: the carry.\n",
     "mma wgmma.m64n8k32.f32.e4m3.e4m3 --explain", "1.0 1.0 1.000244"},
    {"gemm", "A.npy B.npy --type T --order SPEC [--order SPEC ...] [options]",
     "every bit of a whole GEMM, for a stated order of accumulation",
     R"(D = activation(alpha * A * B + beta * C + bias). A is M x K and B is K x N, little-endian .npy in
either order; --transpose-a, --transpose-b: the file holds K x M, N x K. An array of three dimensions,
BATCH x M x K, has a matrix for each product; one of two, or BATCH = 1, serves all. So do C, bias (N, or
BATCH x N) and factors; D is BATCH x M x N. --type (and --type-b): f16 bf16 tf32 e4m3 e5m2 s8 u8 e2m3
e3m2 e2m1. bf16 lies in uint16, fp8 and narrower in uint8, tf32 in float32, an element each; --packed: two
e2m1 to a byte, neighbours along K, the first in the low bits. --out-type f32 f16 bf16 s32: of C, bias and
D; f32 or s32 if not given.
--generate [BATCH,]M,N,K [--seed S --mixture bell|weighted|...] draws A and B; --save-a, --save-b FILE
writes them.
SPEC = PARTS[:INSTRUCTION], how K is summed:
  chain                    one chain over ascending k
  every=128                a chain for each 128 of K, results added in f32: FP8 promotion
  split=3                  three chains, K cut as tcq's kernels do (blocks of 128 bytes)
  segments=0-512,512-4096  chains of these parts, added in this order
  plan:FILE                the order line of a plan, as describe() of cuda/gemm prints it
  float64, fma             no tensor core: float64 rounded once; an f32 fma for each k
INSTRUCTION is wgmma, tcgen05 or a mnemonic, behind it d=f16 if it accumulates in f16, satfinite if
it clamps integers, promoted if a part is a sum of chains of 128 of K, each added by
fma(factors, chain, sum): every=128:tcgen05, chain:wgmma,d=f16, chain:wgmma.m64n64k32.f32.e4m3.e4m3,
chain:wgmma,promoted.
--scaling NAME --scale-a FILE --scale-b FILE: float32 factors, one of A times one of B. tensor: one
each; row_column: M, N; block_128: M x K/128, K/128 x N/128; vector_128: M x K/128, K/128 x N (rounded
up; transposed if the operand is). Those of 128 of K need promoted; the others multiply the sum.
ue8m0_block32, ue8m0_block16, ue4m3_block16: a byte for 32 or 16 of K, M x K/32, K/32 x N, operands of
tcgen05.mma with .block_scale. Its kind is mxf8f6f4, of two e2m1 mxf4, with 16 mxf4nvf4, or kind= says it:
chain:tcgen05,kind=mxf8f6f4. With --generate they are drawn; --save-scale-a, --save-scale-b FILE.
Several --order: how their results differ from the first one's.
--c FILE --bias FILE --epilogue alpha=X,beta=X,activation=none|relu|gelu|gelu_erf|silu|swiglu: every
step rounded to f32. swiglu: D has N/2 columns, silu of an even column by the odd one behind it; no C.
--out FILE for each --order: D, which appears when it is whole. --errors: distance from float64; --svg FILE: drawn for K = 128, 256, ... (--generate).
--compare FILE: a device's D, bit by bit: how many differ, the first, the worst, and which rival
order explains a sample of them. Status 1 if no --order has its bits.
--shard i/n: the i-th of n bands of rows of D, i from 0, through all products. --list FILE: a line of such words for each
GEMM, of which --shard takes every n-th. --threads N. Ctrl-C: status 130, and no half-written file.
)",
     "gemm --generate 64,48,256 --type e4m3 --order chain --order every=128", ""},
    {"run", "FILE.ptx --grid X[,Y,Z] --block X[,Y,Z] [--arg VALUE ...] [options]",
     "a compiled kernel: its bits, and what PTX leaves undefined in it",
     "Executes the PTX that nvcc or Triton wrote on the asynchronous machine, cluster after "
     "cluster;\na grid of 2 to 16 CTAs also with all of them at once.\n"
     "--kernel NAME   the kernel, or a part of its name that no other has; --list: all, with their "
     "parameters\n"
     "--cluster X[,Y,Z] --shared BYTES (dynamic) --registers N (per thread at launch, for "
     "setmaxnreg)\n"
     "--arg VALUE     once per parameter, in the kernel's order:\n"
     "  42 -1 0x10 1.5             a scalar, converted to the parameter's type\n"
     "  FILE.npy, bf16:FILE.npy    an array in device memory; its pointer is passed\n"
     "  zeros:f32:64x128, nan:...  an array that is filled\n"
     "  NAME=VALUE, NAME           an array with a name; the same array once more\n"
     "  map:NAME:swizzle=128B:box=64,128[:dims=...][:strides=...][:interleave=...][:oob=nan]\n"
     "                             [:lower=-1,-1:upper=-1,-1] (im2col; box: channels, pixels, 1, "
     "1)\n"
     "                             a tensor map over it, dimension 0 (the last of the shape) "
     "first\n"
     "  struct:s32=4+f32=1.5+ptr=x+map=x:box=8,8+pad=8  a parameter of bytes, members at their "
     "alignment\n"
     "  def:NAME=VALUE             passes nothing: an array that only maps name\n"
     "--out NAME=FILE.npy  the array afterwards\n"
     "--explore N --seed S  N random orders of all that is asynchronous, beside the first two\n"
     "--sample N      of the grid's clusters, spread over it, instead of all\n"
     "--resident N    so many of them begin, the others may be handed out by try_cancel\n"
     "--limit N       instructions of an execution; --coverage: what of the kernel is not "
     "executed\n"
     "--replay FILE   once more the execution of a finding, from an answer with --json (FILE:2: of "
     "its second)\n"
     "--svg FILE      a picture: who waited for whom, in the execution of the finding or in the "
     "first one\n"
     "--spec FILE.json      the same as one object: file, kernel, grid, block, cluster, shared, "
     "args, out\n"
     "Status 0: nothing undefined (orders that leave other bits are suspect); 1: findings; 2: "
     "usage "
     "or\n"
     "damaged input; 3: something was not modelled.\n",
     "", ""},
    {"verify", "FILES...", "does the simulator equal the recordings",
     "Per file: cases, differing bits, and the first mismatch with a command that reruns it.\n", "",
     ""},
    {"errata", "[KEY | WORDS]", "is this published claim right",
     "The known wrong claims about wgmma and tcgen05, with correction and evidence: all, that of a "
     "key, or\n"
     "those that have the words.\n",
     "errata 14 bits", ""},
    {"explain", "[FAULT | WORDS]", "what does this fault mean, and what cures it",
     "FAULT: a name that check or a diagnosis prints, its beginning if that is unique, or a code "
     "from C7504\n"
     "to C7520 or C7602 of ptxas. Sentence, cause, fix, an example of both, source, and where "
     "there are any "
     "the\n"
     "messages of ptxas about it and public threads. A message of ptxas or an error of "
     "CUDA may be pasted whole. Other words\n"
     "are searched in all of this and in the claims of tcq errata: tcq explain why does it hang. "
     "Without\n"
     "a word: all names, their kinds and sentences.\n",
     "explain PhaseStale", ""},
}};

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t size = std::min(text.find(' '), text.size());
    words.push_back(text.substr(0, size));
    text.remove_prefix(std::min(size + 1, text.size()));
  }
  return words;
}

Question question_of(std::string_view example) {
  Question question{"", {}, {}};
  const std::vector<std::string_view> words = split(example);
  question.verb = words[0];
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "--inputs")
      question.options.inputs = true;
    else if (words[i] == "--explain")
      question.options.explain = true;
    else if (words[i] == "--arch")
      question.options.arch = words[++i];
    else
      question.words.push_back(words[i]);
  }
  return question;
}

// A verb whose words are no Question's.
std::string gemm_example_text(const Page& page) {
  std::vector<std::string> words;
  for (const std::string_view word : split(page.example)) words.emplace_back(word);
  return fmt::format("\n$ tcq {}\n{}\n", page.example, gemm_example(std::span(words).subspan(1)));
}

std::string example_text(const Page& page) {
  if (page.example.empty()) return "";
  if (page.verb == "gemm") return gemm_example_text(page);
  const Question question = question_of(page.example);
  const bool stream = reads_stream(question.verb);
  const bool lines = stream || reads_lines(question.verb);
  const std::string line(page.line);
  const Answer reply = stream  ? answer_stream(question, {&line, 1})
                       : lines ? answer_line(question, line)
                               : answer(question);
  const std::string input = lines ? fmt::format("printf '%s\\n' '{}' | ", page.line) : "";
  return fmt::format("\n$ {}tcq {}\n{}\n", input, page.example,
                     reply.text.empty() ? reply.complaint : reply.text);
}

}  // namespace

std::string overview() {
  std::string text =
      "tcq: questions about tensor-core instructions, answered by a simulator that equals the "
      "hardware\n"
      "(wgmma; nothing of tcgen05 has run on silicon here: answers about it say how sure they are)"
      "\n\n"
      "usage: tcq VERB words... [options]    one question\n"
      "       tcq - [options]                one question per line of stdin, one answer per line\n"
      "       tcq help VERB                  forms and a worked example\n\n";
  for (const Page& page : pages) text += fmt::format("  {:<10} {}\n", page.verb, page.question);
  return text +
         "\nMnemonics are PTX opcodes, .mma_async and .sync.aligned may be left out:\n"
         "wgmma.m64n24k16.f32.bf16.bf16, wgmma.sp.m64n16k32.f32.f16.f16, tcgen05.ld.32x32b.x16. In "
         "their place\n"
         "a statement may be pasted, with its operands or as asm volatile(\"...\"), quoted as one "
         "word;\n"
         "a name of CuTe, SM90_64x128x16_F32BF16BF16_SS or SM100_MMA_F16BF16_SS<...>; a layout of "
         "Triton.\n" +
         std::string(keys_text) +
         "Options: --json; tables: --csv --markdown --asciidoc --transpose --by slot|element --svg "
         "FILE;\n"
         "--arch sm_90a (h100, h200, hopper, b200, ...), --version, --help.\n"
         "Exit status: 0 yes, 1 no or illegal, 2 usage, 3 not modelled. On stdin errors are\n"
         "error<TAB>sentence, answers of several lines are joined by tabs, and the status is the "
         "worst one.\n";
}

std::string help(std::string_view verb) {
  for (const Page& page : pages)
    if (page.verb == verb)
      return fmt::format("tcq {} {}\n{}.\n\n{}{}{}", page.verb, page.synopsis, page.question,
                         page.text, page.synopsis.starts_with("MNEMONIC") ? keys_text : "",
                         example_text(page));
  throw_unknown("verb", verb, verb_names());
}

}  // namespace tcq::oracle
