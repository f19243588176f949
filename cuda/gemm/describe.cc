// A plan in words.
#include <string>

#include "cuda/gemm/check.h"
#include "cuda/gemm/gemm.h"
#include "cuda/gemm/kernels.h"
#include "cuda/gemm/path.h"
#include "cuda/gemm/tensor_scales.h"
#include "sim/isa/wgmma/shape.h"

namespace tcq::gemm {
namespace {

std::string number(std::int64_t value) { return std::to_string(value); }

const char* major_name(Major major) { return major == Major::K ? "K-major" : "MN-major"; }

std::string decimal(float value) {
  std::string text = std::to_string(value);
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text;
}

const char* name(BlockScaling scaling) {
  switch (scaling) {
    case BlockScaling::None: return "none";
    case BlockScaling::Ue8m0Block32: return "ue8m0 of 32";
    case BlockScaling::Ue4m3Block16: return "ue4m3 of 16";
  }
  return "?";
}

std::string problem_text(const Problem& p) {
  std::string text = "problem: " + number(p.m) + "x" + number(p.n) + "x" + number(p.k);
  if (p.batch != 1) text += ", batch " + number(p.batch);
  text += ", " + std::string(name(p.in)) +
          (type_b(p) == p.in ? "" : std::string(" * ") + name(type_b(p))) + " -> " + name(p.out) +
          ", A " + major_name(p.major_a) + ", B " + major_name(p.major_b);
  if (has_codes_d(p))
    text += std::string(", then ") + name(*p.quantized) + " with factors, " +
            name(p.block_scaling_d) + " columns of a row";
  else if (p.quantized)
    text += std::string(", then ") + name(*p.quantized) +
            " with a factor for 128 columns of a row" +
            (p.scale_d_power_of_two ? ", a power of two" : "");
  return text + "\n";
}

std::string epilogue_text(const Problem& p) {
  if (is_plain(p)) return "epilogue: none\n";
  std::string text = "epilogue: " + decimal(p.alpha) + " * sum";
  if (p.beta != 0) text += " + " + decimal(p.beta) + " * C";
  if (p.has_bias) text += " + bias";
  if (p.activation != Activation::None) text += std::string(", ") + name(p.activation);
  return text + "; every step rounded to f32\n";
}

const char* name(Scaling scaling) {
  switch (scaling) {
    case Scaling::None: return "none";
    case Scaling::Tensor: return "one of A, one of B";
    case Scaling::RowColumn: return "of each row of A and each column of B";
    case Scaling::Block128: return "of 128 of K, of each row of A and of 128 columns of B";
    case Scaling::Vector128: return "of 128 of K, of each row of A and each column of B";
  }
  return "?";
}

std::string scaling_text(const Problem& p, bool on_tcgen05) {
  const std::string text =
      p.scaling == Scaling::None ? "" : std::string("factors: ") + name(p.scaling) + "\n";
  if (is_block_scaled(p))
    return std::string("factors: ") + name(p.block_scaling) +
           " of K, of each row of A and each column of B\n" + text;
  if (!is_fp8(p.in)) return "";
  if (is_promoted(p))
    return text + "promotion: chains of 128 of K are added in f32, fma(factors, chain, sum)\n";
  return text + (on_tcgen05 ? "promotion: none\n" : "promotion: none, sums keep 13 bits\n");
}

const char* name(Grouping grouping) {
  switch (grouping) {
    case Grouping::None: return "none";
    case Grouping::Ends: return "one behind the other in A, by their ends";
    case Grouping::Counts: return "each with rows of its own, by their counts";
    case Grouping::RowIds: return "of 128 rows or multiples, by each row's number";
    case Grouping::KEnds: return "one behind the other along K, by their ends";
  }
  return "?";
}

std::string usage_text(const Problem& p) {
  std::string text;
  if (has_sizes(p))
    text += "groups: " + number(p.batch) + ", " + name(p.grouping) + "; sizes are the device's\n";
  if (p.dynamic_schedule)
    text +=
        "schedule: dynamic, clusters that run take over those that have not begun; never timed\n";
  if (p.sm_limit > 0) text += "limit: " + number(p.sm_limit) + " SMs\n";
  if (!p.programmatic_launch) text += "launches: not before the kernel ahead has ended\n";
  return text;
}

std::string kernel_text(const Kernel& k) {
  return name(k) + ", loads by " + (k.loader == Loader::Tma ? "TMA" : "threads") + ", " +
         number(k.shared_bytes) + " bytes of shared memory";
}

std::string launch_text(const char* title, const Launch& l) {
  const Schedule& s = l.schedule;
  return std::string(title) + ": " + kernel_text(*l.kernel) + "; " +
         number(l.clusters * cluster_size(*l.kernel)) + " CTAs of " + number(l.kernel->threads) +
         " threads, " + number(s.rows) + " x " + number(s.cols) + " x " + number(s.batch) +
         " tiles of clusters in groups of " + number(s.group) + " rows" +
         (l.overlaps ? ", overlaps its neighbours in the stream" : "") +
         (l.runs.tiles > 0 ? ", the last " + number(l.runs.tiles) + " dealt by " +
                                 number(l.runs.blocks) + " blocks of K\n"
                           : "\n");
}

// Where the parts of K begin whose sums are added.
std::string parts_text(const std::vector<KSegment>& segments) {
  std::string text = ", from k =";
  for (const KSegment& s : segments) text += " " + number(s.first);
  return text + "; their results added in this order, each step rounded to f32";
}

// A plan that no device has confirmed says so.
std::string tcgen05_text(const Plan& plan) {
  const Kernel& k = *plan.aligned.kernel;
  const auto segments = k_segments(plan, Path::Aligned);
  const bool depends = segments.size() > 1;
  const std::string count = depends ? number(static_cast<std::int64_t>(segments.size())) + " chains"
                                    : std::string("one chain");
  const std::string chains =
      k.promotion == Promotion::None ? count + " of tcgen05.mma" : "chains of 128 of tcgen05.mma";
  const std::string order = plan.problem.k == 0
                                ? "the sum is 0"
                                : chains + " over ascending k, " + number(k.instruction_k) +
                                      " at a time" + (depends ? parts_text(segments) : "");
  return "order: " + order + "\nbits: depend on " +
         (depends ? "the split, which depends on M" : "neither M, tile nor alignment") +
         "; the arithmetic's model is documented and inferred\n"
         "tcgen05: " +
         number(k.tensor_columns) +
         " columns of Tensor Memory; this kernel has not run on silicon; on paper " +
         decimal(static_cast<float>(plan.aligned.microseconds)) +
         " microseconds\n"
         "workspace: " +
         number(static_cast<std::int64_t>(plan.workspace_bytes)) +
         (plan.workspace_bytes > 0 ? " bytes, without which it does not run; device "
                                   : " bytes; A and B at multiples of 16; device ") +
         number(plan.device) + "\n";
}

std::string order_text(const Plan& plan, Path path) {
  const Problem& p = plan.problem;
  if (p.k == 0) return "the sum is 0";
  const std::string step = number(wgmma::stored_k(p.in));
  const auto segments = k_segments(plan, path);
  if (segments.size() == 1)
    return (is_promoted(p) ? "chains of 128 over ascending k, "
                           : "one chain of wgmmas over ascending k, ") +
           step + " at a time";
  return number(static_cast<std::int64_t>(segments.size())) +
         (is_promoted(p) ? " sums of chains of 128" : " chains of wgmmas") +
         ", each over ascending k, " + step + " at a time" + parts_text(segments);
}

// Do the bits depend on how K is split? Integers are added modulo 2^32, in any order.
bool splits(const Plan& plan, Path path) { return k_segments(plan, path).size() > 1; }

std::string realigned_text(const Plan& plan) {
  if (plan.realigned.kernel == nullptr) return "";
  const Copies copied = copies_of(plan, {});
  std::string what = copied.a && copied.b ? "A and B are copied"
                     : copied.a           ? "A is copied"
                     : copied.b           ? "B is copied"
                                          : "unaligned operands are copied";
  if (copied.turns_a || copied.turns_b) {
    const bool all = copied.turns_a == copied.a && copied.turns_b == copied.b;
    what += all ? " K-major" : copied.turns_a ? ", A K-major" : ", B K-major";
  }
  return launch_text(("realigned, " + what).c_str(), plan.realigned);
}

}  // namespace

std::string name(const Kernel& k) {
  std::string text = number(k.block_m) + "x" + number(k.block_n) + "x" + number(k.block_k);
  if (k.skinny != Skinny::No)
    text += k.skinny == Skinny::Rows ? " few rows" : " few columns";
  else
    text += k.tensor_columns > 0 ? "" : k.turns == Turns::PingPong ? " ping-pong" : " together";
  if (k.split > 1) text += " split " + number(k.split);
  if (k.cluster_m * k.cluster_n > 1)
    text += " cluster " + number(k.cluster_m) + "x" + number(k.cluster_n);
  text += " " + number(k.stages) + " stages";
  if (k.grouped) text += " grouped";
  if (k.groups_k) text += " grouped along K";
  if (k.promotion == Promotion::ColumnBlocks) text += " promoting";
  if (k.stages_factors) text += " staged";
  if (k.promotion == Promotion::EachColumn) text += " promoting each column";
  if (k.quantized_columns > 0) text += " quantizing";
  if (k.quantized_vec != tcgen05::ScaleVec::Default)
    text += " blocks of " + number(tcgen05::scale_block(k.quantized_vec));
  if (k.dynamic) text += " dynamic";
  if (k.loader == Loader::Copy) text += " copying";
  if (k.tensor_columns > 0) text += " tcgen05";
  return text;
}

namespace {

std::string whole_text(const Plan& plan) {
  std::string text = problem_text(plan.problem) + scaling_text(plan.problem, is_on_tcgen05(plan)) +
                     epilogue_text(plan.problem) + usage_text(plan.problem);
  if (plan.empty) return text + "nothing to do\n";
  if (is_on_tcgen05(plan))
    return text +
           (plan.workspace_bytes > 0 ? realigned_text(plan)
                                     : launch_text("aligned", plan.aligned)) +
           tcgen05_text(plan);
  text += launch_text("aligned", plan.aligned);
  if (plan.whole.kernel != nullptr) text += launch_text("without a workspace", plan.whole);
  if (plan.any_factors.kernel != nullptr) text += launch_text("any factors", plan.any_factors);
  text += launch_text("unaligned", plan.unaligned) + realigned_text(plan);
  text += "order: " + order_text(plan, Path::Aligned) + "\n";
  const bool depends = splits(plan, Path::Aligned) || splits(plan, Path::Realigned);
  if (depends) text += "order if unaligned: " + order_text(plan, Path::Unaligned) + "\n";
  if (depends && plan.realigned.kernel != nullptr)
    text += "order if realigned: " + order_text(plan, Path::Realigned) + "\n";
  text += depends ? plan.problem.sm_limit > 0
                        ? "bits: depend on the split, which depends on M and the limit of SMs\n"
                        : "bits: depend on the split, which depends on M\n"
                  : "bits: depend on neither M, tile nor alignment\n";
  return text + "workspace: " + number(static_cast<std::int64_t>(workspace_bytes(plan))) +
         " bytes; device " + number(plan.device) + "\n";
}

}  // namespace

// Short texts need no memory.
std::string describe(const Plan& plan) noexcept {
  if (!is_whole(plan)) return "no plan\n";
  try {
    return whole_text(plan);
  } catch (...) {
    return "no memory\n";
  }
}

}  // namespace tcq::gemm
