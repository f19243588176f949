// Calls of functions of the module: what they compute, where lanes part, and which calls are not modelled.
#include <algorithm>

#include "sim/run/inline_calls.h"
#include "tests/run/ptx_run.h"

namespace tcq::tests {
namespace {

// twice(a, b) = 2 a + b, but b alone where a is 5.
const char* const twice = R"(
.func (.param .b32 func_retval0) twice(.param .b32 twice_param_0, .param .b32 twice_param_1)
{
  .reg .pred %p<2>; .reg .b32 %r<6>;
  ld.param.u32 %r1, [twice_param_0];
  ld.param.u32 %r2, [twice_param_1];
  setp.ne.u32 %p1, %r1, 5;
  @%p1 bra $L__BB0_1;
  st.param.b32 [func_retval0+0], %r2;
  ret;
$L__BB0_1:
  mad.lo.u32 %r3, %r1, 2, %r2;
  st.param.b32 [func_retval0+0], %r3;
  ret;
}
)";

// Calls it with its own param0 and param1, as compilers do, which hide nothing: around(a) = twice(twice(a, 1), a).
const char* const around = R"(
.func (.param .b32 func_retval0) around(.param .b32 around_param_0)
{
  .reg .b32 %r<6>;
  ld.param.u32 %r1, [around_param_0];
  { .param .b32 param0; st.param.b32 [param0+0], %r1; .param .b32 param1; st.param.b32 [param1+0], 1;
    .param .b32 retval0;
    call.uni (retval0), twice, (param0, param1);
    ld.param.b32 %r2, [retval0+0]; }
  { .param .b32 param0; st.param.b32 [param0+0], %r2;
    ld.param.u32 %r4, [around_param_0];
    .param .b32 param1; st.param.b32 [param1+0], %r4;
    .param .b32 retval0;
    call.uni (retval0), twice, (param0, param1);
    ld.param.b32 %r3, [retval0+0]; }
  st.param.b32 [func_retval0+0], %r3;
}
)";

// %r2 = callee(%r1)
std::string calling(const std::string& callee, const std::string& guard = "") {
  return "{ .param .b32 param0; st.param.b32 [param0+0], %r1; .param .b32 retval0; st.param.b32 "
         "[retval0+0], 77;\n" +
         guard + " call (retval0), " + callee + ", (param0);\n ld.param.b32 %r2, [retval0+0]; }\n";
}

const std::string store = "st.global.u32 [%rd2], %r2;";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

std::vector<std::uint32_t> words_of(const std::string& functions, const std::string& body,
                                    Fault expected = Fault::None) {
  PtxRun run(kernel(body, functions));
  const Pointer out = run.array<std::uint32_t>(64);
  run.pass(out);
  EXPECT_EQ(run.go({.block = {64}}), expected);
  if (expected == Fault::UnmodelledInstruction) {
    EXPECT_NE(run.place().find("call"), std::string::npos) << run.place();
  }
  return run.read<std::uint32_t>(out, 64);
}

std::uint32_t twice_of(std::uint32_t a, std::uint32_t b) { return a == 5 ? b : 2 * a + b; }

TEST(RunCall, AFunctionThatCallsAnother) {
  const auto out = words_of(std::string(twice) + around, calling("around") + store);
  for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], twice_of(twice_of(t, 1), t)) << t;
}

TEST(RunCall, LanesThatDoNotCall) {
  const auto out = words_of(std::string(twice) + around,
                            "setp.gt.u32 %p1, %r1, 40;" + calling("around", "@!%p1") + store);
  for (std::uint32_t t = 0; t < 64; ++t)
    EXPECT_EQ(out[t], t > 40 ? 77 : twice_of(twice_of(t, 1), t)) << t;
}

// Behind a call all lanes are together again, whichever way they came back.
TEST(RunCall, LanesMeetBehindTheCall) {
  const auto out =
      words_of(std::string(twice) + around, calling("around") + "activemask.b32 %r2;" + store);
  for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], 0xffffffffu) << t;
}

TEST(RunCall, InALoop) {
  const auto out = words_of(std::string(twice) + around,
                            "mov.u32 %r9, 0;\nmov.u32 %r8, %r1;\nagain:\n" + calling("around") +
                                "add.u32 %r1, %r2, %r9; add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, "
                                "5; @%p1 bra again;\n" +
                                store);
  for (std::uint32_t t = 0; t < 64; ++t) {
    std::uint32_t a = t;
    std::uint32_t result = 0;
    for (std::uint32_t i = 0; i < 5; ++i) {
      result = twice_of(twice_of(a, 1), a);
      a = result + i;
    }
    EXPECT_EQ(out[t], result) << t;
  }
}

TEST(RunCall, StructsAndMemoryOfItsOwn) {
  const char* const function = R"(
.func (.param .align 8 .b8 func_retval0[16]) swap(.param .align 8 .b8 swap_param_0[16])
{
  .local .align 8 .b8 kept[16];
  .reg .b64 %rd<8>;
  mov.u64 %rd5, kept;
  ld.param.u64 %rd1, [swap_param_0];
  ld.param.u64 %rd2, [swap_param_0+8];
  st.local.u64 [%rd5], %rd2;
  st.local.u64 [%rd5+8], %rd1;
  ld.local.v2.u64 {%rd3, %rd4}, [%rd5];
  st.param.b64 [func_retval0+0], %rd3;
  st.param.b64 [func_retval0+8], %rd4;
  ret;
}
)";
  const auto out = words_of(function, R"(
  cvt.u64.u32 %rd4, %r1;
  mov.u64 %rd5, 1000;
  { .param .align 8 .b8 param0[16]; st.param.b64 [param0+0], %rd4; st.param.b64 [param0+8], %rd5;
    .param .align 8 .b8 retval0[16];
    call.uni (retval0), swap, (param0);
    ld.param.b64 %rd6, [retval0+0]; ld.param.b64 %rd7, [retval0+8]; }
  shl.b64 %rd7, %rd7, 16;
  add.u64 %rd6, %rd6, %rd7;
  cvt.u32.u64 %r2, %rd6;
  st.global.u32 [%rd2], %r2;)");
  for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], 1000 + (t << 16)) << t;
}

// Barriers and shared memory of the module are the caller's, and a finding names the line of the function.
TEST(RunCall, AFunctionThatSynchronises) {
  const auto functions = [](const std::string& barrier) {
    return ".shared .align 4 .b8 turned[256];\n"
           ".func turn(.param .b32 turn_param_0)\n{\n.reg .b32 %r<6>;\n"
           "ld.param.u32 %r1, [turn_param_0];\nmov.u32 %r2, turned;\nmad.lo.u32 %r3, %r1, 4, %r2;\n"
           "st.shared.u32 [%r3], %r1;\n" +
           barrier + "ret;\n}\n";
  };
  const std::string body =
      "{ .param .b32 param0; st.param.b32 [param0+0], %r1; call.uni turn, (param0); }\n"
      "sub.u32 %r4, 63, %r1; mov.u32 %r5, turned; mad.lo.u32 %r5, %r4, 4, %r5;\n"
      "ld.shared.u32 %r2, [%r5];\n" +
      store;
  const auto out = words_of(functions("bar.sync 0;\n"), body);
  for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], 63 - t);
  words_of(functions(""), body, Fault::DataRace);
}

// %r2 = what %rd5 names of %r1
const std::string by_register =
    "{ .param .b32 param0; st.param.b32 [param0], %r1; .param .b32 retval0;\n"
    "p: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
    "call (retval0), %rd5, (param0), p; ld.param.b32 %r2, [retval0]; }\n";

// %r3 += name(%r2)
std::string calling_itself(const std::string& name) {
  return "{ .param .b32 param0; st.param.b32 [param0+0], %r2; .param .b32 retval0;\n"
         "call.uni (retval0), " +
         name + ", (param0); ld.param.b32 %r4, [retval0+0]; add.u32 %r3, %r3, %r4; }\n";
}

// name(0) = 0; else n - 1 and, if it goes deeper, the n that it kept and what `deeper` adds to it in %r3.
std::string one_less(const std::string& name, const std::string& deeper) {
  const std::string result = deeper.empty() ? "%r2" : "%r3";
  return ".func (.param .b32 func_retval0) " + name + "(.param .b32 " + name +
         "_param_0)\n{\n.local .align 4 .b8 kept[4];\n.reg .pred %p<2>;\n.reg .b32 %r<6>;\n"
         "ld.param.u32 %r1, [" +
         name +
         "_param_0];\nst.local.u32 [kept], %r1;\nmov.u32 %r2, 0;\nmov.u32 %r3, 0;\nsetp.eq.u32 "
         "%p1, "
         "%r1, 0;\n"
         "@%p1 bra DONE;\nsub.u32 %r2, %r1, 1;\n" +
         deeper +
         "ld.local.u32 %r5, [kept];\nadd.u32 %r3, %r3, %r5;\nDONE:\nst.param.b32 "
         "[func_retval0+0], " +
         result + ";\nret;\n}\n";
}

TEST(RunCall, WhatStaysACallIsNotModelled) {
  const auto unmodelled = [](const std::string& functions, const std::string& body) {
    words_of(functions, body, Fault::UnmodelledInstruction);
  };
  const auto function = [](const std::string& body, const char* type = ".b32") {
    return std::string(".func (.param .b32 func_retval0) f(.param ") + type + " f_param_0)\n{\n" +
           ".reg .b32 %r<9>;\n" + body + "\nret;\n}\n";
  };
  words_of(function(""), calling("f") + store);  // which is modelled
  // Recursion without an end, by itself and around a corner.
  unmodelled(".func (.param .b32 r) f(.param .b32 a);\n" + function(calling("f")),
             calling("f") + store);
  unmodelled(
      ".func (.param .b32 r) f(.param .b32 a);\n"
      ".func (.param .b32 r) g(.param .b32 a)\n{\n.reg .b32 %r<9>;\nmov.u32 %r1, 1;" +
          calling("f") + "ret;\n}\n" + function("mov.u32 %r1, 1;" + calling("g")),
      calling("f") + store);
  // Another size, memory of its own that all calls share, a body elsewhere.
  unmodelled(function("", ".b64"), calling("f") + store);
  unmodelled(function("", ".b16"), calling("f") + store);
  unmodelled(function(".shared .b32 own;"), calling("f") + store);
  unmodelled(".extern .func (.param .b32 r) f(.param .b32 a);\n", calling("f") + store);
  // `words` of the module, where the caller has one, too.
  unmodelled(".global .align 4 .b32 words = 3;\n" + function("ld.global.u32 %r1, [words];"),
             "{ .shared .align 4 .b32 words;\n" + calling("f") + "}\n" + store);
  // Through a register that holds no function's address.
  unmodelled(function(""), "mov.u64 %rd6, f;\nmov.u64 %rd5, 64;\n" + by_register + store);
}

// Odd lanes call f(n) = n - 1, the others g(n) = 2 n.
TEST(RunCall, ThroughARegister) {
  const std::string functions = one_less("f", "") + R"(
.func (.param .b32 func_retval0) g(.param .b32 g_param_0)
{
  .reg .b32 %r<4>;
  ld.param.u32 %r1, [g_param_0];
  shl.b32 %r2, %r1, 1;
  st.param.b32 [func_retval0+0], %r2;
  ret;
}
.global .align 8 .u64 table[2] = {g, f};
)";
  const std::string body =
      "and.b32 %r3, %r1, 1; mul.wide.u32 %rd3, %r3, 8; mov.u64 %rd4, table;\n"
      "add.u64 %rd4, %rd4, %rd3; ld.global.u64 %rd5, [%rd4];\n" +
      by_register + store;
  const auto out = words_of(functions, body);
  for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], t % 2 != 0 ? t - 1 : 2 * t) << t;
}

// Lanes from 40 on alone, then the others alone.
TEST(RunCall, ThroughARegisterByAGuard) {
  const std::string taken = "mov.u64 %rd5, f;\nsetp.ge.u32 %p1, %r1, 40;\n";
  for (const bool negated : {false, true}) {
    const std::string guard = negated ? "@!%p1 call (" : "@%p1 call (";
    const auto out = words_of(
        one_less("f", ""),
        taken + replaced(by_register, "call (", "st.param.b32 [retval0], 77;\n" + guard) + store);
    for (std::uint32_t t = 0; t < 64; ++t)
      EXPECT_EQ(out[t], (t < 40) != negated ? 77 : std::max(t, 1u) - 1) << t;
  }
}

TEST(RunCall, ARegisterOrALabelOfTheCallerHidesNothing) {
  const std::string reads_it =
      ".global .align 4 .b32 words = 3;\n.func (.param .b32 func_retval0) f(.param .b32 "
      "f_param_0)\n{\n.reg .b32 %r<4>;\n.reg .b64 %rd<2>;\nmov.u64 %rd1, words;\n"
      "ld.global.u32 %r1, [%rd1];\nst.param.b32 [func_retval0+0], %r1;\nret;\n}\n";
  EXPECT_EQ(words_of(reads_it, calling("f") + store)[9], 3u);
  words_of(reads_it, ".reg .b64 words;\nmov.u64 words, 77;\n" + calling("f") + store,
           Fault::UnmodelledInstruction);
  const std::string ranged = replaced(reads_it, "words", "words7");
  words_of(ranged, ".reg .b64 words<9>;\nmov.u64 words7, 77;\n" + calling("f") + store,
           Fault::UnmodelledInstruction);
  EXPECT_EQ(words_of(ranged, ".reg .b64 words<7>;\n" + calling("f") + store)[9], 3u);
}

// f(n) = n + f(n - 1), each with its n in local memory while the next one runs.
TEST(RunCall, AFunctionThatCallsItself) {
  const std::string functions =
      ".func (.param .b32 r) f(.param .b32 a);\n" + one_less("f", calling_itself("f"));
  const auto out = words_of(functions, "and.b32 %r1, %r1, 31;" + calling("f") + store);
  for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], t % 32 * (t % 32 + 1) / 2) << t;
}

// Deeper than it may stand within itself, and twice in itself, so that depths double what is put in.
TEST(RunCall, RecursionThatGoesTooDeepIsNotModelled) {
  const std::string declared = ".func (.param .b32 r) f(.param .b32 a);\n";
  words_of(declared + one_less("f", calling_itself("f")),
           "add.u32 %r1, %r1, 1000;" + calling("f") + store, Fault::UnmodelledInstruction);
  const std::string twice_itself = one_less("f", calling_itself("f") + calling_itself("f"));
  const std::string text =
      kernel("and.b32 %r1, %r1, 3;" + calling("f") + store, declared + twice_itself);
  EXPECT_LT(run::load(text).instructions.size(), 200'000u);
  const auto out = words_of(declared + twice_itself, "and.b32 %r1, %r1, 3;" + calling("f") + store);
  const std::uint32_t sums[] = {0, 1, 4, 11};  // n + 2 f(n - 1)
  for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], sums[t % 4]) << t;
}

// Functions that call the next one twice: what would be put in doubles with each of them.
TEST(RunCall, BodiesThatWouldFillMemoryStayCalls) {
  std::string functions = ".func f0()\n{\nret;\n}\n";
  for (int i = 1; i < 60; ++i) {
    const std::string call = "call.uni f" + std::to_string(i - 1) + ";\n";
    functions += ".func f" + std::to_string(i) + "()\n{\n" + call + call + "ret;\n}\n";
  }
  const std::string text = kernel("call.uni f59;", functions);
  EXPECT_LT(run::load(text).instructions.size(), (1u << 18) + 1000);
  // However many entries there are.
  std::string entries = text;
  for (int i = 0; i < 30; ++i)
    entries += ".visible .entry k" + std::to_string(i) + "()\n{\ncall.uni f59;\nret;\n}\n";
  EXPECT_LT(run::load(entries).instructions.size(), (1u << 18) + 2000);
  words_of(functions, "mov.u32 %r2, 1; call.uni f9;\n" + store);
}

// As in the manual's example of an ABI: the caller's registers may have the function's names, constants may be passed, and what
// the function does to its parameters is its own.
TEST(RunCall, ParametersMayBeRegisters) {
  const std::string functions = R"(
.func (.reg .u32 %r1, .reg .pred %p1) step(.reg .u32 %r2, .reg .u32 by)
{
  .reg .u32 %r3;
  add.u32 %r3, %r2, by;
  add.u32 %r2, %r2, 1000;
  mov.u32 %r1, %r3;
  setp.gt.u32 %p1, %r3, 20;
  ret;
}
.func (.reg .u32 sum) twice(.reg .u32 a, .reg .pred q)
{
  .reg .pred %p1; .reg .u32 %r2;
  mov.u32 %r2, a;
  @q call (%r2, %p1), step, (%r2, 4);
  @q call (%r2, %p1), step, (%r2, a);
  mov.u32 sum, %r2;
}
)";
  PtxRun run(kernel(R"(
    setp.lt.u32 %p2, %r1, 16;
    mov.u32 %r2, %r1;
    call (%r3, %p1), step, (%r2, 7);
    @%p1 add.u32 %r3, %r3, 100;
    add.u32 %r3, %r3, %r2;
    call (%r2), twice, (%r2, %p2);
    shl.b32 %r2, %r2, 16;
    add.u32 %r2, %r2, %r3;
    st.global.u32 [%rd2], %r2;)",
                    functions));
  const Pointer out = run.array<std::uint32_t>(32);
  run.pass(out);
  ASSERT_EQ(run.go({}), Fault::None);
  const auto found = run.read<std::uint32_t>(out, 32);
  for (std::uint32_t t = 0; t < 32; ++t) {
    const std::uint32_t low = t + 7 + (t + 7 > 20 ? 100 : 0) + t;
    EXPECT_EQ(found[t], ((t < 16 ? 2 * t + 4 : t) << 16) + low) << t;
  }
}

}  // namespace
}  // namespace tcq::tests
