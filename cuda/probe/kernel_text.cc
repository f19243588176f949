#include "cuda/probe/kernel_text.h"

namespace tcq::cuda {

std::string register_list(const std::string& name, int first, int count) {
  std::string text = "{";
  for (int i = first; i < first + count; ++i) {
    text += (i == first ? "" : ", ") + name + std::to_string(i);
  }
  return text + "}";
}

std::string address_text(const std::string& parameter, const std::string& index,
                         const std::string& bytes) {
  return "  ld.param.u64 at, [" + parameter + "_parameter];\n  cvta.to.global.u64 at, at;\n" +
         "  mul.wide.u32 step, " + index + ", " + bytes + ";\n  add.u64 at, at, step;\n";
}

std::string copy_image_text() {
  return R"(  mov.u32 base, image;
  mul.lo.u32 offset, thread, 16;
copy:
  setp.ge.u32 done, offset, bytes;
  @done bra copied;
  cvt.u64.u32 from, offset;
  add.u64 from, at, from;
  ld.global.v4.b32 {v0, v1, v2, v3}, [from];
  add.u32 to, base, offset;
  st.shared.v4.b32 [to], {v0, v1, v2, v3};
  add.u32 offset, offset, 2048;
  bra copy;
copied:
  bar.warp.sync 0xffffffff;
  fence.proxy.async.shared::cta;
)";
}

}  // namespace tcq::cuda
