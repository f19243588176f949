#include "tools/bench_cublas.h"

#if __has_include(<cublasLt.h>)

#include <cublasLt.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <stdexcept>

#include "cuda/gemm/bench.h"
#include "cuda/gemm/check.h"
#include "cuda/gemm/quantize.h"
#include "cuda/runtime/launch.h"

namespace tcq::tools {
namespace {

constexpr std::size_t workspace_bytes = 64 << 20;

// The functions that are used, under their own names.
struct Library {
  decltype(&cublasLtCreate) create;
  decltype(&cublasLtGetVersion) get_version;
  decltype(&cublasLtMatmul) matmul;
  decltype(&cublasLtMatmulDescCreate) desc_create;
  decltype(&cublasLtMatmulDescSetAttribute) desc_set;
  decltype(&cublasLtMatmulDescDestroy) desc_destroy;
  decltype(&cublasLtMatrixLayoutCreate) layout_create;
  decltype(&cublasLtMatrixLayoutSetAttribute) layout_set;
  decltype(&cublasLtMatrixLayoutDestroy) layout_destroy;
  decltype(&cublasLtMatmulPreferenceCreate) preference_create;
  decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set;
  decltype(&cublasLtMatmulPreferenceDestroy) preference_destroy;
  decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic;
};

template <class Function>
void find(void* library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
  if (function == nullptr) throw std::runtime_error(fmt::format("it has no {}", symbol));
}

Library functions_of(void* library) {
  Library f{};
  find(library, "cublasLtCreate", f.create);
  find(library, "cublasLtGetVersion", f.get_version);
  find(library, "cublasLtMatmul", f.matmul);
  find(library, "cublasLtMatmulDescCreate", f.desc_create);
  find(library, "cublasLtMatmulDescSetAttribute", f.desc_set);
  find(library, "cublasLtMatmulDescDestroy", f.desc_destroy);
  find(library, "cublasLtMatrixLayoutCreate", f.layout_create);
  find(library, "cublasLtMatrixLayoutSetAttribute", f.layout_set);
  find(library, "cublasLtMatrixLayoutDestroy", f.layout_destroy);
  find(library, "cublasLtMatmulPreferenceCreate", f.preference_create);
  find(library, "cublasLtMatmulPreferenceSetAttribute", f.preference_set);
  find(library, "cublasLtMatmulPreferenceDestroy", f.preference_destroy);
  find(library, "cublasLtMatmulAlgoGetHeuristic", f.heuristic);
  return f;
}

void require(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error(fmt::format("{}: cuBLASLt status {}", what, static_cast<int>(status)));
}

cudaDataType_t data_type(Type type) {
  switch (type) {
    case Type::f16: return CUDA_R_16F;
    case Type::bf16: return CUDA_R_16BF;
    case Type::s8: return CUDA_R_8I;
    case Type::u8: return CUDA_R_8U;
    case Type::e4m3: return CUDA_R_8F_E4M3;
    case Type::e5m2: return CUDA_R_8F_E5M2;
#if CUDART_VERSION >= 12080
    case Type::e2m1: return CUDA_R_4F_E2M1;
#endif
    case Type::s32: return CUDA_R_32I;
    default: return CUDA_R_32F;
  }
}

#if CUDART_VERSION >= 12080
// How it reads the factors of both operands: ours are in its layout.
cublasLtMatmulMatrixScale_t scale_mode(gemm::BlockScaling scaling) {
  switch (scaling) {
    case gemm::BlockScaling::Ue8m0Block32: return CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0;
    case gemm::BlockScaling::Ue4m3Block16: return CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3;
    default: return CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F;
  }
}
#endif

// What its epilogue can be for our problem; what is left is `behind` it.
struct Fused {
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  Activation behind = Activation::None;
};

Fused fused(const gemm::Problem& p) {
  switch (p.activation) {
    case Activation::Relu:
      return {p.has_bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU};
    case Activation::Gelu:
      return {p.has_bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU};
    default: return {p.has_bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT, p.activation};
  }
}

// Our row-major D is its column-major transpose: its A is our B, its B our A.
struct Matmul {
  const Library& f;
  cublasLtMatmulDesc_t desc = nullptr;
  cublasLtMatrixLayout_t a = nullptr;
  cublasLtMatrixLayout_t b = nullptr;
  cublasLtMatrixLayout_t c = nullptr;  // D's, if C is not read
  cublasLtMatrixLayout_t d = nullptr;
  bool integer = false;
  gemm::Problem problem;  // strides are numbers
  Fused fusion;
  cuda::DeviceBuffer<std::uint8_t>
      product;  // of both columns of a gated activation, or of D before it is quantized
  cuda::DeviceBuffer<std::uint8_t> activated;  // before it is quantized
  std::int64_t behind = 0;                     // elements that an activation alone reads

  Matmul(const Library& functions, const gemm::Problem& of)
      : f(functions), problem(resolved(of)), fusion(fused(of)) {
    const gemm::Problem& p = problem;
    integer = !is_float(p.in);
    const cublasComputeType_t compute = integer              ? CUBLAS_COMPUTE_32I
                                        : p.in == Type::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                                                             : CUBLAS_COMPUTE_32F;
    require(f.desc_create(&desc, compute, integer ? CUDA_R_32I : CUDA_R_32F), "matmul descriptor");
    const cublasOperation_t a_op = p.major_b == Major::K ? CUBLAS_OP_T : CUBLAS_OP_N;
    const cublasOperation_t b_op = p.major_a == Major::K ? CUBLAS_OP_N : CUBLAS_OP_T;
    require(f.desc_set(desc, CUBLASLT_MATMUL_DESC_TRANSA, &a_op, sizeof a_op), "transa");
    require(f.desc_set(desc, CUBLASLT_MATMUL_DESC_TRANSB, &b_op, sizeof b_op), "transb");
    require(
        f.desc_set(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &fusion.epilogue, sizeof fusion.epilogue),
        "epilogue");
    if (is_block_scaled(p)) {
      set_scale_modes(p.block_scaling);
    } else if (is_fp8(p.in)) {  // its fastest: one factor for each operand, no promotion
      constexpr std::int8_t fast = 1;
      require(f.desc_set(desc, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast, sizeof fast),
              "accumulation");
    }
    const bool has_product = is_gated(p.activation) || p.quantized;
    const gemm::View results = {p.out, p.n, p.m};
    const gemm::Strides packed = {p.n, p.m * p.n};
    const std::int64_t elements = p.batch * packed.batch;
    if (has_product) product = buffer(p.out, elements);
    if (fusion.behind != Activation::None && p.quantized) activated = buffer(p.out, elements);
    behind = has_product ? elements : p.batch * p.m * p.d.ld;
    layout(a, view_b(p), p.b);
    layout(b, view_a(p), p.a);
    layout(d, results, has_product ? packed : p.d);
    if (p.beta != 0) layout(c, results, p.c);
  }
  cublasLtMatrixLayout_t layout_c() const { return c != nullptr ? c : d; }
  Matmul(const Matmul&) = delete;
  Matmul& operator=(const Matmul&) = delete;
  ~Matmul() {
    (void)f.layout_destroy(a);
    (void)f.layout_destroy(b);
    if (c != nullptr) (void)f.layout_destroy(c);
    (void)f.layout_destroy(d);
    (void)f.desc_destroy(desc);
  }

 private:
  void set_scale_modes([[maybe_unused]] gemm::BlockScaling scaling) const {
#if CUDART_VERSION >= 12080
    const auto mode = static_cast<std::int32_t>(scale_mode(scaling));
    require(f.desc_set(desc, CUBLASLT_MATMUL_DESC_A_SCALE_MODE, &mode, sizeof mode), "mode of A");
    require(f.desc_set(desc, CUBLASLT_MATMUL_DESC_B_SCALE_MODE, &mode, sizeof mode), "mode of B");
#else
    throw std::runtime_error("this build's cuBLASLt knows no factors of blocks");
#endif
  }
  static cuda::DeviceBuffer<std::uint8_t> buffer(Type type, std::int64_t elements) {
    return cuda::DeviceBuffer<std::uint8_t>(static_cast<std::size_t>(elements * bits(type) / 8));
  }
  // Our lines are its columns.
  void layout(cublasLtMatrixLayout_t& out, const gemm::View& view, const gemm::Strides& s) const {
    require(f.layout_create(&out, data_type(view.type), static_cast<std::uint64_t>(view.inner),
                            static_cast<std::uint64_t>(view.outer), s.ld),
            "matrix layout");
    if (problem.batch == 1) return;
    const auto count = static_cast<std::int32_t>(problem.batch);
    require(f.layout_set(out, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count), "batch");
    require(
        f.layout_set(out, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &s.batch, sizeof s.batch),
        "stride of the batch");
  }
};

class Loaded : public CublasLt {
 public:
  explicit Loaded(void* library) : f_(functions_of(library)), workspace_(workspace_bytes) {
    require(f_.create(&handle_), "cublasLtCreate");
  }

  std::string version() const override {
    const std::size_t v = f_.get_version();
    return fmt::format("{}.{}.{}", v / 10000, v / 100 % 100, v % 100);
  }

  std::vector<Launcher> algorithms(const gemm::Problem& problem,
                                   std::function<gemm::Pointers(std::size_t)> at,
                                   int most) override {
    if (problem.batch > 1 && is_block_scaled(problem)) return {};
    const auto matmul = std::make_shared<Matmul>(f_, problem);
    if (is_block_scaled(problem))
      set_factors(*matmul, at(0));  // none are no problem to offer anything for
    std::vector<Launcher> launchers;
    for (const cublasLtMatmulHeuristicResult_t& result : heuristic(*matmul, most)) {
      launchers.push_back([this, matmul, at, algo = result.algo](std::size_t set,
                                                                 cudaStream_t stream) {
        const gemm::Pointers x = at(set);
        constexpr std::int32_t integer_one = 1;
        constexpr std::int32_t integer_zero = 0;
        const Matmul& m = *matmul;
        const gemm::Problem& p = m.problem;
        const void* alpha = m.integer ? static_cast<const void*>(&integer_one) : &p.alpha;
        const void* beta = m.integer ? static_cast<const void*>(&integer_zero) : &p.beta;
        if (p.has_bias)
          require(f_.desc_set(m.desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &x.bias, sizeof x.bias),
                  "bias");
        set_factors(m, x);
        void* d = m.product.size() > 0 ? m.product.data() : x.d;
        const void* c = p.beta != 0 ? x.c : d;
        require(f_.matmul(handle_, m.desc, alpha, x.b, m.a, x.a, m.b, beta, c, m.layout_c(), d, m.d,
                          &algo, workspace_.data(), workspace_bytes, stream),
                "cublasLtMatmul");
        void* results = m.activated.size() > 0 ? m.activated.data() : p.quantized ? d : x.d;
        if (m.fusion.behind != Activation::None)
          CUDA_CHECK(cuda::launch_activation(p.out, m.fusion.behind, d, results, m.behind, stream));
        if (p.quantized) quantize_alone(p, results, x, stream);
      });
    }
    return launchers;
  }

 private:
  // By a kernel of its own, which cuBLASLt has not.
  static void quantize_alone(const gemm::Problem& p, const void* results, const gemm::Pointers& x,
                             cudaStream_t stream) {
    const gemm::Quantize how{
        .rows = p.batch * p.m, .columns = gemm::d_columns(p), .in = p.out, .out = *p.quantized};
    if (gemm::quantize(how, results, x.d, x.scale_d, stream) != gemm::Status::Ok)
      throw std::runtime_error("D cannot be quantized");
  }
  // Its A is our B.
  void set_factors(const Matmul& m, const gemm::Pointers& x) const {
    const bool blocks = is_block_scaled(m.problem);
    if (!blocks && m.problem.scaling == gemm::Scaling::None) return;
    const void* of_a = blocks ? static_cast<const void*>(x.scale_codes_b) : x.scale_b;
    const void* of_b = blocks ? static_cast<const void*>(x.scale_codes_a) : x.scale_a;
    require(f_.desc_set(m.desc, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, &of_a, sizeof of_a),
            "factors of A");
    require(f_.desc_set(m.desc, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, &of_b, sizeof of_b),
            "factors of B");
  }

  std::vector<cublasLtMatmulHeuristicResult_t> heuristic(const Matmul& m, int most) const {
    std::vector<cublasLtMatmulHeuristicResult_t> results(static_cast<std::size_t>(most));
    cublasLtMatmulPreference_t preference = nullptr;
    require(f_.preference_create(&preference), "preference");
    constexpr std::size_t bytes = workspace_bytes;
    require(f_.preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes,
                              sizeof bytes),
            "workspace preference");
    int found = 0;
    const cublasStatus_t status = f_.heuristic(handle_, m.desc, m.a, m.b, m.layout_c(), m.d,
                                               preference, most, results.data(), &found);
    (void)f_.preference_destroy(preference);
    results.resize(status == CUBLAS_STATUS_SUCCESS ? static_cast<std::size_t>(found) : 0);
    return results;
  }

  Library f_;
  cublasLtHandle_t handle_ = nullptr;
  cuda::DeviceBuffer<std::uint8_t> workspace_;
};

}  // namespace

std::shared_ptr<CublasLt> CublasLt::open(const std::string& path, std::string& reason) {
  const std::string version = std::to_string(CUBLAS_VER_MAJOR);
  std::vector<std::string> names = {path};
  if (path.empty())
    names = {"libcublasLt.so." + version, "/usr/local/cuda/lib64/libcublasLt.so." + version};
  for (const std::string& name : names) {
    void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      const char* error = dlerror();
      reason = error != nullptr ? error : "dlopen failed";
      continue;
    }
    try {
      return std::make_shared<Loaded>(library);
    } catch (const std::exception& error) {
      reason = fmt::format("{}: {}", name, error.what());
    }
  }
  return nullptr;
}

}  // namespace tcq::tools

#else

namespace tcq::tools {

std::shared_ptr<CublasLt> CublasLt::open(const std::string&, std::string& reason) {
  reason = "cublasLt.h was not there when this program was built";
  return nullptr;
}

}  // namespace tcq::tools

#endif
