// Errors of ptxas without a code, as it prints them, and what explain says of them.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

#include "oracle/explain/explain.h"
#include "tests/support/ask.h"

namespace tcq::oracle {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

// What ptxas says without a code, as it prints it.
TEST(ExplainPtxas, AnErrorWithoutACodeIsFoundByItsWords) {
  const std::pair<const char*, const char*> pasted[] = {
      {"ptxas a.ptx, line 8; error   : Unexpected instruction types specified for 'mma'",
       "TypesUnexpected"},
      {"ptxas a.ptx, line 8; error   : Illegal matrix shape '.m64n8k32' for instruction "
       "'wgmma.mma_async with floating point types'",
       "ShapeIllegal"},
      {"ptxas a.ptx, line 8; error   : Unknown modifier '.m64n264k16'", "ModifierUnknown"},
      {"ptxas a.ptx, line 8; error   : .sync modifier required for instruction 'wgmma.fence'",
       "ModifierRequired"},
      {"error : Arguments mismatch for instruction 'wgmma.wait_group'", "ArgumentsMismatch"},
      {"error : Argument vector size mismatch for instruction 'mma'", "VectorSizeMismatch"},
      {"Argument 0 of instruction 'tcgen05.ld': Argument vector size mismatch",
       "VectorSizeMismatch"},
      {"error : Illegal blayout '.row' for instruction 'mma'", "LayoutIllegal"},
      {"Feature '.block_scale' not supported on .target 'sm_120'", "FeatureLacking"},
      {"Argument 6: value '3' out of range, expected to be in range [0..0]", "ValueOutOfRange"},
      {"Advisory: Modifier '.sp::ordered_metadata' should be used on instruction 'mma' instead of "
       "modifier '.sp' as it is slow",
       "OrderedMetadata"},
      {"error : Feature 'stmatrix' requires .target sm_90 or higher", "TargetTooOld"},
      {"Argument 1 of 'tcgen05.alloc' instruction: value must be power of 2", "PowerOfTwo"},
      {"unexpected value '242', expected to be multiple of 8", "SetmaxnregStep"},
      {"ptxas info : Used 168 registers, 0 bytes spill stores, 0 bytes spill loads",
       "RegistersUsed"},
      {"Modifier '.trans' require for instruction ldmatrix with shape '.m16n16'",
       "ModifierRequired"},
      {"Illegal modifier '.scale_vec::4X' for instruction 'mma' with type '.ue8m0'",
       "ModifierIllegal"},
      {"ptxas fatal : PTX with .target 'sm_90a' cannot be compiled for architecture 'sm_90'",
       "OtherArchitecture"},
      {"ptxas fatal : SM version specified by .target is higher than default SM version assumed",
       "OtherArchitecture"},
      {"nvlink error : Entry function '_Z1kPi' uses too much shared data (0x13880 bytes, 0xc000 "
       "max)",
       "SharedDataTooLarge"},
      {"ptxas warning : Too big maxrregcount value specified 300, will be ignored",
       "MaxregcountIgnored"},
      {"Number of threads participating in barrier must be in multiple of warp size",
       "BarrierCountStep"},
      {"State space incorrect for instruction 'st.async'", "StateSpace"},
      {"nvlink error : Undefined reference to '_Z1gi' in 'und.o'", "SymbolUndefined"},
      {"ptxas fatal : Unresolved extern function '_Z1gi'", "SymbolUndefined"},
      {"(C7600) Register allocation failed with register count of '255'", "RegisterAllocation"},
      {"ptxas error : Entry function 'k' with max regcount of 168 calls function 'f' with regcount "
       "of 254",
       "CalleeRegisters"},
      {"ptxas fatal : Ptx assembly aborted due to errors", "AssemblyAborted"}};
  std::set<std::string> found;
  for (const auto& [message, name] : pasted) {
    EXPECT_TRUE(
        text_of(std::string("explain ") + message).starts_with(std::string(name) + "  ptxas\n"))
        << message << "\n"
        << text_of(std::string("explain ") + message);
    found.insert(name);
  }
  // Neither a line nor a register with the number of a code hides the error; a code that stands there does.
  EXPECT_TRUE(
      text_of("explain ptxas a.ptx, line 7514; error : Unexpected instruction types specified for "
              "'mma'")
          .starts_with("TypesUnexpected "));
  EXPECT_TRUE(text_of("explain ptxas info : (C7510) Potential Performance Loss: serialized\n"
                      "ptxas info : Used 168 registers, 0 bytes spill stores")
                  .starts_with("C7510 "));
  // The Fault names it back.
  EXPECT_TRUE(contains(text_of("explain ShapeK"), "\nptxas: ShapeIllegal refuses the statement: "));
  EXPECT_EQ(found.size() + 1,
            ptxas_errors().size());  // and MulticastAdvised, in tests/cli/asked.txt
  EXPECT_TRUE(contains(text_of("explain Feature 'stmatrix' requires .target sm_90 or higher"),
                       "\n  stmatrix "));
  EXPECT_TRUE(contains(text_of("explain"), "\n  TargetTooOld "));
}

}  // namespace
}  // namespace tcq::oracle
