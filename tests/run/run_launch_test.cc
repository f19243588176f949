// What a kernel's directives decide of its launch.
#include "tests/run/ptx_run.h"

namespace tcq::tests {
namespace {

// As Triton's warp specialization has it: .maxnreg 128, then more for those who compute.
TEST(RunLaunch, ALaunchHasTheRegistersThatItsDirectivesSay) {
  const auto fault_of = [](const std::string& directives, const std::string& statement) {
    std::string text = kernel(statement);
    text.insert(text.find('{', text.find(".entry")), directives + "\n");
    PtxRun run(text);
    run.pass(run.array<std::uint32_t>(32));
    return run.go({.block = {256}});
  };
  EXPECT_EQ(fault_of(".maxnreg 128", "setmaxnreg.inc.sync.aligned.u32 128;"), Fault::None);
  // What ptxas says of a kernel that never asks for more.
  EXPECT_EQ(fault_of(".maxnreg 128", "setmaxnreg.inc.sync.aligned.u32 120;"), Fault::None);
  EXPECT_EQ(fault_of("", "setmaxnreg.inc.sync.aligned.u32 232;"), Fault::None);
  EXPECT_EQ(fault_of("", "setmaxnreg.dec.sync.aligned.u32 232;"), Fault::None);
  const std::string more = "setmaxnreg.inc.sync.aligned.u32 160;";
  EXPECT_EQ(fault_of(".maxnreg 128", "setmaxnreg.inc.sync.aligned.u32 120;" + more),
            Fault::SetmaxnregDirection);
  EXPECT_EQ(fault_of("", "setmaxnreg.inc.sync.aligned.u32 152;" + more),
            Fault::SetmaxnregDirection);
  EXPECT_EQ(fault_of("", "setmaxnreg.dec.sync.aligned.u32 136;" + more), Fault::None);
  EXPECT_EQ(fault_of(".maxnreg 128", "setmaxnreg.dec.sync.aligned.u32 136;" + more),
            Fault::SetmaxnregDirection);
  const std::string two = ".maxntid 256\n.minnctapersm 2";
  EXPECT_EQ(fault_of(two, "setmaxnreg.dec.sync.aligned.u32 128;"), Fault::None);
  EXPECT_EQ(fault_of(two, "setmaxnreg.dec.sync.aligned.u32 136;"), Fault::SetmaxnregDirection);
}

}  // namespace
}  // namespace tcq::tests
