// Tensor copies in im2col mode: which pixel is in which row, beside nested loops over images, lines and pixels; offsets, padding,
// strides between pixels; a map of the other mode.
#include <gtest/gtest.h>

#include "tests/run/kernel_run.h"

namespace tcq::run {
namespace {

constexpr int channels = 8, width = 5, height = 4, images = 3, pixels = 24;
constexpr std::uint32_t map_place = 2048, result_place = 4096;

// Lane 0 executes `copy`, all lanes write the 768 bytes of the tile once the mbarrier says so.
std::string kernel(const std::string& copy, int bytes = 4 * channels * pixels) {
  return R"(
.version 8.0
.target sm_90a
.address_size 64
.visible .entry kernel(.param .u64 map, .param .u64 result)
{
  .shared .align 128 .b8 tile[1024];
  .shared .align 8 .b64 full;
  .reg .pred %p<8>;
  .reg .b16 %h<4>;
  .reg .b32 %r<16>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [map];
  ld.param.u64 %rd2, [result];
  mov.u32 %r1, %tid.x;
  mov.u32 %r3, full;
  mov.u32 %r4, tile;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra WAIT_ALL;
  mbarrier.init.shared::cta.b64 [%r3], 1;
  fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], )" +
         std::to_string(bytes) + ";\n" + copy + R"(
WAIT_ALL:
  bar.sync 0;
waiting:
  mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r3], 0;
  @!%p4 bra waiting;
  shl.b32 %r5, %r1, 2;
  add.u32 %r6, %r4, %r5;
  cvt.u64.u32 %rd3, %r5;
  add.u64 %rd4, %rd2, %rd3;
  mov.u32 %r7, 0;
LOOP:
  ld.shared.u32 %r8, [%r6];
  st.global.u32 [%rd4], %r8;
  add.u32 %r6, %r6, 128;
  add.u64 %rd4, %rd4, 128;
  add.u32 %r7, %r7, 1;
  setp.lt.u32 %p5, %r7, 6;
  @%p5 bra LOOP;
  ret;
}
)";
}

tma::TensorMap column(int lower_w, int lower_h, int upper_w, int upper_h,
                      std::uint32_t stride = 1) {
  tma::TensorMap map{tma::DataType::UInt32,
                     4,
                     0,
                     {channels, width, height, images},
                     {4 * channels, 4 * channels * width, 4 * channels * width * height},
                     {channels, pixels, 1, 1},
                     {1, stride, stride, 1}};
  map.im2col = {true, {lower_w, lower_h}, {upper_w, upper_h}};
  return map;
}

std::uint32_t value(int n, int h, int w, int c) {
  return static_cast<std::uint32_t>(1 + ((n * height + h) * width + w) * channels + c);
}

KernelRun run_column(const std::string& ptx, const tma::TensorMap& map) {
  Launch launch;
  launch.block = {32, 1, 1};
  launch.maps = {map};
  launch.map_places = {{global_window + map_place, 0}};
  Bytes global{std::vector<std::uint8_t>(result_place + 1024)};
  for (std::uint32_t i = 0; i < channels * width * height * images; ++i) global.put(4 * i, 1 + i);
  return KernelRun(ptx, launch, {map_place, result_place}, global);
}

const std::string load =
    "mov.b16 %h1, 2;\nmov.b16 %h2, 1;\n"
    "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
    "[%r4], [%rd1, {0, 2, 1, 0}], [%r3], {%h1, %h2};\n";

// The pixels of a column from (2, 1) of image 0 on, each moved by an offset of (2, 1).
void expect_column(const KernelRun& r, int first_w, int first_h, int last_w, int last_h,
                   int stride) {
  int pixel = 0;
  for (int n = 0; pixel < pixels; ++n)
    for (int h = n == 0 ? 1 : first_h; h <= last_h; h += stride)
      for (int w = n == 0 && h == 1 ? 2 : first_w; w <= last_w && pixel < pixels; w += stride) {
        const int x = w + 2;
        const int y = h + 1;
        const bool inside = x >= 0 && x < width && y >= 0 && y < height && n < images;
        for (int c = 0; c < channels; ++c)
          ASSERT_EQ(r.global().at<std::uint32_t>(
                        static_cast<std::size_t>(result_place + 4 * (pixel * channels + c))),
                    inside ? value(n, y, x, c) : 0u)
              << "pixel " << pixel << ": image " << n << ", line " << h << ", " << w;
        ++pixel;
      }
}

TEST(Im2col, PixelsFillLinesAndImages) {
  const KernelRun padded = run_column(kernel(load), column(-1, -1, -1, -1));
  ASSERT_EQ(padded.fault(), Fault::None) << padded.what();
  expect_column(padded, -1, -1, width - 2, height - 2, 1);
  const KernelRun inner = run_column(kernel(load), column(0, 0, -2, -2));
  ASSERT_EQ(inner.fault(), Fault::None) << inner.what();
  expect_column(inner, 0, 0, width - 3, height - 3, 1);
}

TEST(Im2col, StridesLieBetweenPixels) {
  const KernelRun r = run_column(kernel(load), column(0, -1, 0, 0, 2));
  ASSERT_EQ(r.fault(), Fault::None) << r.what();
  expect_column(r, 0, -1, width - 1, height - 1, 2);
}

TEST(Im2col, BytesAreCountedAndModesAgree) {
  EXPECT_EQ(run_column(kernel(load, 4 * channels * pixels + 16), column(-1, -1, -1, -1)).fault(),
            Fault::Deadlock);
  const std::string tiled = replaced(replaced(load, ".im2col", ""), ", {%h1, %h2};", ";");
  EXPECT_EQ(run_column(kernel(tiled), column(-1, -1, -1, -1)).fault(), Fault::TensorMapMode);
  tma::TensorMap map = column(0, 0, 0, 0);
  map.im2col = {};
  EXPECT_EQ(run_column(kernel(load), map).fault(), Fault::TensorMapMode);
  map.rank = 3;
  EXPECT_EQ(run_column(kernel(tiled), map).fault(), Fault::TensorMapRankDiffers);
}

TEST(Im2col, CornersHaveTheirBits) {
  EXPECT_EQ(check(column(-128, 0, 127, 0)), Fault::None);
  EXPECT_EQ(check(column(-129, 0, 127, 0)), Fault::TensorMapCorners);
  EXPECT_EQ(check(column(0, 0, 0, 128)), Fault::TensorMapCorners);
  EXPECT_EQ(check(column(0, 0, -width, 0)), Fault::TensorMapCorners);
  EXPECT_EQ(check(column(width - 1, 0, 0, 0)), Fault::None);
  tma::TensorMap flat = column(0, 0, 0, 0);
  flat.rank = 2;
  EXPECT_EQ(check(flat), Fault::TensorMapRank);
  tma::TensorMap long_column = column(0, 0, 0, 0);
  long_column.box[1] = tma::max_pixels + 1;
  EXPECT_EQ(check(long_column), Fault::TensorMapBox);
}

// A store writes the pixels of its column, those beside the tensor nowhere.
TEST(Im2col, StoresPutPixelsBack) {
  const std::string store = R"(
  mov.u32 %r5, 0;
FILL:
  shl.b32 %r6, %r5, 2;
  add.u32 %r7, %r4, %r6;
  st.shared.u32 [%r7], 7;
  add.u32 %r5, %r5, 1;
  setp.lt.u32 %p2, %r5, 192;
  @%p2 bra FILL;
  fence.proxy.async.shared::cta;
  cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group [%rd1, {0, 2, 1, 0}], [%r4];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
  mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r3], 768;
)";
  const KernelRun r = run_column(kernel(store), column(0, 0, -2, -2));
  ASSERT_EQ(r.fault(), Fault::None) << r.what();
  int pixel = -(1 * 3 + 2);  // lines have 3 pixels, images 2 lines
  for (int n = 0; n < images; ++n)
    for (int h = 0; h < height; ++h)
      for (int w = 0; w < width; ++w) {
        const bool in_box = h < 2 && w < 3;
        const bool written = in_box && pixel >= 0 && pixel < pixels;
        if (in_box) ++pixel;
        ASSERT_EQ(
            r.global().at<std::uint32_t>(static_cast<std::size_t>(4 * (value(n, h, w, 0) - 1))),
            written ? 7u : value(n, h, w, 0))
            << n << " " << h << " " << w;
      }
}

}  // namespace
}  // namespace tcq::run
