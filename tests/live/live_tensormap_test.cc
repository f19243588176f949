// tensormap.replace on a real sm_90 GPU: a map that a kernel patches describes what the machine says that it does. Skips
// loudly without one. What it found is what tests/run/run_tensormap_test.cc asks of the machine.
#include <cstring>
#include <string>
#include <vector>

#include "cuda/runtime/jit_kernel.h"
#include "cuda/runtime/tensor_map.h"
#include "sim/isa/copy/tensor_map_object.h"
#include "tests/live/live_device.h"
#include "tests/support/tensormap_kernel.h"

namespace tcq {
namespace {

class LiveTensormap : public Live {
 protected:
  static std::vector<std::uint32_t> rows_1_to_3() {
    return {tests::tensormap_word(24), tests::tensormap_word(48), 0};
  }
  // The three words that the kernel stores; a wait that never ends stores what was there before.
  static std::vector<std::uint32_t> words_of(std::string text) {
    text = tests::with(text, ".reg .pred", ".reg .b32 %n;\n  .reg .pred");
    text = tests::with(text, "waiting:",
                       "mov.u32 %n, 0;\nwaiting:\nadd.u32 %n, %n, 1;\nsetp.gt.u32 %p5, "
                       "%n, 1000;\n@%p5 bra DONE;");
    std::vector<std::uint8_t> memory(tests::tensormap_bytes, 0);
    const std::size_t source = tests::tensormap_data + tests::tensormap_source;
    for (std::uint32_t i = 0; i < 128; ++i) {
      const std::uint32_t word = tests::tensormap_word(i);
      std::memcpy(&memory[source + 4 * i], &word, sizeof word);
    }
    std::memset(&memory[tests::tensormap_data], 0xff, 12);
    const cuda::DeviceBuffer<std::uint8_t> device(memory);
    CUtensorMap encoded = cuda::encode_tensor_map(tests::map_to_be_patched(), device.data());
    const cuda::JitKernel* kernel = cuda::jit_kernel("tensormap", text);
    auto place = reinterpret_cast<std::uint64_t>(device.data());
    std::uint64_t data = place + tests::tensormap_data;
    void* arguments[] = {&encoded, &place, &data};
    CUDA_CHECK(
        cudaLaunchKernel(static_cast<const void*>(kernel->kernel), 1, 32, arguments, 0, nullptr));
    CUDA_CHECK(cudaDeviceSynchronize());
    device.download(memory);
    std::vector<std::uint32_t> words(3);
    std::memcpy(words.data(), &memory[tests::tensormap_data], 12);
    return words;
  }
};

TEST_F(LiveTensormap, SizesStridesAndCoordinates) {
  EXPECT_EQ(words_of(tests::tensormap_kernel), rows_1_to_3());
}

TEST_F(LiveTensormap, EveryElementTypeHasItsSize) {
  for (std::uint32_t code = 0; code < 13; ++code) {
    const std::uint32_t bytes = tma::element_bytes(tma::type_of_code(code));
    EXPECT_EQ(words_of(tests::tensormap_kernel_of(code, bytes)), rows_1_to_3()) << code;
  }
}

}  // namespace
}  // namespace tcq
