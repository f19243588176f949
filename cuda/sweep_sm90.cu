// The sweep kernels (sweep_sm90.h): one per form, all of one shape. Layouts, fragments and arithmetic
// are the headers of sim/; the instruction is wgmma.cuh.
#include <stdexcept>
#include <utility>

#include "cuda/launch.h"
#include "cuda/ptx.cuh"
#include "cuda/sweep_sm90.h"
#include "cuda/wgmma.cuh"
#include "sim/isa/wgmma_operand.h"
#include "sim/isa/wgmma_sparse.h"

namespace tcq::cuda {
namespace {

using wgmma::Form;
using wgmma::Place;

constexpr int n = 64;
constexpr int threads = wgmma::threads_per_warpgroup;
constexpr int max_words = 32;           // stored elements per row, b1 counted in words
constexpr int padded = max_words + 1;   // keeps rows in different banks
constexpr int max_registers = n / 2;
constexpr int operand_bytes = 64 * 128;  // 64 rows of the widest pitch
constexpr std::uint64_t sweep_stride = 128;  // more than there are forms

struct alignas(1024) SweepShared {
  std::uint8_t a[operand_bytes];
  std::uint8_t b[operand_bytes];
  Decoded decoded_a[wgmma::m * padded];
  Decoded decoded_b[n * padded];
  std::uint32_t raw_a[wgmma::m * padded];
  std::uint32_t raw_b[n * (2 * max_words + 1)];
  std::uint32_t codes[wgmma::m * 16];
  std::uint32_t c[max_registers * threads];
  std::uint32_t want[max_registers * threads];
};

struct SweepArguments {
  std::uint64_t seed;
  std::uint64_t first_tile;
  std::uint32_t tiles;
  unsigned long long* outputs;         // per class
  unsigned long long* differing_bits;  // per class
  unsigned int* mismatch_taken;
  SweepMismatch* mismatch;
};

// Elements are drawn, stored and decoded in carriers: a word of 32 elements for b1, else one element.
constexpr int raw_b_stride = 2 * max_words + 1;
HOST_DEVICE constexpr int words_a(const Form& f) {
  return f.a == Type::b1 ? wgmma::stored_k(f.a) / 32 : wgmma::stored_k(f.a);
}
HOST_DEVICE constexpr int words_b(const Form& f) { return words_a(f) * (f.sparse ? 2 : 1); }

// The combinations in order of types, dense before sparse; two places each.
constexpr int combination_count = 33;
HOST_DEVICE constexpr Form combination(int wanted) {
  int index = 0;
  for (int sparse = 0; sparse < 2; ++sparse) {
    for (int types = 0; types < type_count * type_count * type_count; ++types) {
      Form f{static_cast<Type>(types % type_count),
             static_cast<Type>(types / type_count % type_count),
             static_cast<Type>(types / (type_count * type_count)), n, sparse != 0};
      if (check(f) == Fault::None && index++ == wanted) return f;
    }
  }
  return {};
}

// A in registers also brings the modifiers: negation, MN-major B, satfinite.
HOST_DEVICE constexpr Form form_of(int index) {
  Form f = combination(index / 2);
  if (index % 2 == 0) return f;
  f.a_place = Place::Registers;
  f.negate_a = wgmma::has_negate(f.a);
  f.major_b = wgmma::has_major(f.a) ? Major::MN : Major::K;
  f.satfinite = wgmma::has_satfinite(f.a);
  return f;
}
static_assert(check(form_of(2 * combination_count - 1)) == Fault::None);
static_assert(form_of(2 * combination_count) == Form{});

template <class Draw>
__device__ std::uint32_t draw_carrier(Type type, int word, Draw draw) {
  if (type != Type::b1) return draw(word);
  std::uint32_t bits = 0;
  for (int i = 0; i < 32; ++i) bits |= in_register_part(type, draw(32 * word + i), i);
  return bits;
}

__device__ void store_carrier(std::uint8_t* operand, std::uint32_t offset, Type type,
                              std::uint32_t value) {
  const int width = type == Type::b1 ? 32 : bits(type);
  if (width == 32) *reinterpret_cast<std::uint32_t*>(operand + offset) = value;
  if (width == 16) *reinterpret_cast<std::uint16_t*>(operand + offset) = static_cast<std::uint16_t>(value);
  if (width == 8) operand[offset] = static_cast<std::uint8_t>(value);
}

// The compact tile of an operand at `start`, with a swizzle that changes from tile to tile.
__device__ wgmma::MatrixDescriptor descriptor_of(Major major, std::uint32_t start,
                                                 std::uint32_t k_bytes, std::uint32_t k, int pick) {
  const auto swizzle = static_cast<wgmma::Swizzle>(pick);
  const std::uint32_t pitch = wgmma::pitch_bytes(swizzle);
  const Tile tile = major == Major::K
                        ? Tile{major, pitch, AtomOrder::KFirst, max(k_bytes, pitch), 64}
                        : Tile{major, pitch, AtomOrder::MnFirst, 128, k};
  const CanonicalLayout layout = canonical_layout(tile, k_bytes);
  return {start, layout.lbo_bytes, layout.sbo_bytes, 0, swizzle};
}

template <int Index>
__device__ void draw_a(SweepShared& s, const Mixture& mixture, const wgmma::MatrixDescriptor& desc) {
  constexpr Form f = form_of(Index);
  for (int i = static_cast<int>(threadIdx.x); i < wgmma::m * words_a(f); i += threads) {
    const int row = i / words_a(f);
    const int word = i % words_a(f);
    const std::uint32_t value =
        draw_carrier(f.a, word, [&](int k) { return mixture.a(row, k); });
    s.raw_a[row * padded + word] = value;
    if (is_float(f.a)) s.decoded_a[row * padded + word] = decode_float(f.a, value, f.negate_a);
    const auto k = static_cast<std::uint32_t>(f.a == Type::b1 ? 32 * word : word);
    const std::uint32_t address =
        wgmma::element_address(desc, f.major_a, f.a, {static_cast<std::uint32_t>(row), k});
    store_carrier(s.a, address - desc.start_bytes, f.a, value);
  }
}

template <int Index>
__device__ void draw_b(SweepShared& s, const Mixture& mixture, const wgmma::MatrixDescriptor& desc) {
  constexpr Form f = form_of(Index);
  for (int i = static_cast<int>(threadIdx.x); i < n * words_b(f); i += threads) {
    const int col = i / words_b(f);
    const int word = i % words_b(f);
    const std::uint32_t value = draw_carrier(f.b, word, [&](int k) {
      return f.sparse ? mixture.sparse_b(col, k) : mixture.b(col, k);
    });
    s.raw_b[col * raw_b_stride + word] = value;
    if (is_float(f.b) && !f.sparse)
      s.decoded_b[col * padded + word] = decode_float(f.b, value, f.negate_b);
    const auto k = static_cast<std::uint32_t>(f.b == Type::b1 ? 32 * word : word);
    const std::uint32_t address =
        wgmma::element_address(desc, f.major_b, f.b, {static_cast<std::uint32_t>(col), k});
    store_carrier(s.b, address - desc.start_bytes, f.b, value);
  }
}

template <int Index>
__device__ void draw_codes(SweepShared& s, const Mixture& mixture) {
  constexpr Form f = form_of(Index);
  constexpr int chunks = wgmma::chunks_per_row(f.a);
  for (int i = static_cast<int>(threadIdx.x); i < wgmma::m * chunks; i += threads)
    s.codes[i] = mixture.metadata_code(i / chunks, i % chunks);
}

template <int Index>
__device__ std::uint32_t metadata_of(const SweepShared& s, int thread) {
  constexpr Form f = form_of(Index);
  std::uint32_t word = 0;
  if (!wgmma::metadata_is_read(f.a, 0, thread)) return word;
  for (int nibble = 0; nibble < 8; ++nibble) {
    const wgmma::MetadataChunk at = wgmma::metadata_chunk(f.a, {thread, nibble});
    const std::uint32_t code = s.codes[at.row * wgmma::chunks_per_row(f.a) + at.chunk];
    for (int bit = 0; bit < 4; ++bit)
      word |= in_register_part(Type::b1, register_part(Type::b1, code, bit), 4 * nibble + bit);
  }
  return word;
}

// What the model says one output is.
template <int Index>
__device__ std::uint32_t model(const SweepShared& s, int row, int col, std::uint32_t c,
                               bool accumulate) {
  constexpr Form f = form_of(Index);
  constexpr int count = words_a(f);
  constexpr int per_chunk = wgmma::stored_per_chunk(f.a);
  const std::uint32_t* raw_a = &s.raw_a[row * padded];
  const std::uint32_t* raw_b = &s.raw_b[col * raw_b_stride];
  const auto b_at = [&](int i) {
    if (!f.sparse) return raw_b[i];
    const std::uint32_t code = s.codes[row * wgmma::chunks_per_row(f.a) + i / per_chunk];
    return wgmma::selected_b(f.a, i / per_chunk, code, i % per_chunk, raw_b);
  };
  if constexpr (is_float(f.a)) {
    constexpr DotTraits traits = wgmma_dot_traits(f.d, f.a);
    const Decoded* b = &s.decoded_b[col * padded];
    Decoded selected[f.sparse ? count : 1];
    if constexpr (f.sparse) {
      for (int i = 0; i < count; ++i) selected[i] = decode_float(f.b, b_at(i), f.negate_b);
      b = selected;
    }
    return fused_sum(traits, f.d, f.a, f.b, &s.decoded_a[row * padded], b, count,
                     decode_c(f.d, c, accumulate));
  } else {
    std::int64_t sum = accumulate ? decode_integer(Type::s32, c) : 0;
    for (int i = 0; i < count; ++i)
      sum += f.a == Type::b1 ? __popc(raw_a[i] & b_at(i))
                             : decode_integer(f.a, raw_a[i]) * decode_integer(f.b, b_at(i));
    return finish_integer(sum, f.satfinite);
  }
}

// Fills c and want: thread t owns its own registers of D.
template <int Index>
__device__ void expect(SweepShared& s, const Mixture& mixture, bool accumulate) {
  constexpr Form f = form_of(Index);
  constexpr int parts = parts_per_register(f.d);
  const int thread = static_cast<int>(threadIdx.x);
  for (int reg = 0; reg < wgmma::accumulator_registers(f.d, n); ++reg) {
    std::uint32_t c_word = 0;
    std::uint32_t want_word = 0;
    for (int part = 0; part < parts; ++part) {
      const wgmma::Element e = wgmma::accumulator_element(f.d, {thread, reg, part});
      const std::uint32_t c = mixture.c(e.row, e.col);
      c_word |= in_register_part(f.d, c, part);
      want_word |= in_register_part(f.d, model<Index>(s, e.row, e.col, c, accumulate), part);
    }
    s.c[reg * threads + thread] = c_word;
    s.want[reg * threads + thread] = want_word;
  }
}

template <int Index, int R>
__device__ void execute(const SweepShared& s, std::uint32_t (&d)[R], std::uint64_t desc_a,
                        std::uint64_t desc_b, bool accumulate) {
  constexpr Form f = form_of(Index);
  const int thread = static_cast<int>(threadIdx.x);
  std::uint32_t a[wgmma::a_registers] = {};
  std::uint32_t metadata = 0;
  if constexpr (f.a_place == Place::Registers) {
    constexpr int parts = f.a == Type::b1 ? 1 : parts_per_register(f.a);
    for (int reg = 0; reg < wgmma::a_registers; ++reg) {
      for (int part = 0; part < parts; ++part) {
        const wgmma::Element e = wgmma::a_element(f.a, {thread, reg, part});
        const int word = f.a == Type::b1 ? e.col / 32 : e.col;
        a[reg] |= in_register_part(f.a, s.raw_a[e.row * padded + word], part);
      }
    }
  }
  if constexpr (f.sparse) metadata = metadata_of<Index>(s, thread);
#pragma unroll
  for (int reg = 0; reg < R; ++reg) d[reg] = s.c[reg * threads + thread];
  ptx::wgmma_fence();
  if constexpr (f.sparse && f.a_place == Place::Smem)
    ptx::mma<f>(d, desc_a, desc_b, metadata, accumulate);
  else if constexpr (f.sparse) ptx::mma<f>(d, a, desc_b, metadata, accumulate);
  else if constexpr (f.a_place == Place::Smem) ptx::mma<f>(d, desc_a, desc_b, accumulate);
  else ptx::mma<f>(d, a, desc_b, accumulate);
  ptx::wgmma_commit_group();
  ptx::wgmma_wait_group<0>();
  ptx::pin(d);
}

template <int Index>
__device__ void report(const SweepArguments& args, std::uint64_t tile, int reg, std::uint32_t got,
                       std::uint32_t want) {
  constexpr Form f = form_of(Index);
  if (atomicExch(args.mismatch_taken, 1u) != 0) return;
  const int part = register_part(f.d, got ^ want, 0) != 0 ? 0 : 1;
  const wgmma::Element e =
      wgmma::accumulator_element(f.d, {static_cast<int>(threadIdx.x), reg, part});
  *args.mismatch = {tile, e.row, e.col, register_part(f.d, got, part),
                    register_part(f.d, want, part)};
}

template <int Index>
__global__ void __launch_bounds__(threads) sweep_kernel(SweepArguments args) {
  constexpr Form f = form_of(Index);
  constexpr int registers = wgmma::accumulator_registers(f.d, n);
  extern __shared__ SweepShared shared[];
  SweepShared& s = shared[0];
  const std::uint32_t start_a = ptx::shared_address(s.a);
  const std::uint32_t start_b = ptx::shared_address(s.b);

  for (std::uint32_t i = blockIdx.x; i < args.tiles; i += gridDim.x) {
    const std::uint64_t tile = args.first_tile + i;
    const std::uint64_t tile_seed = mix(args.seed ^ mix(tile * sweep_stride + Index));
    const MixtureClass mixture_class_of_tile = mixture_class(tile_seed);
    const Mixture mixture({f.d, f.a, f.b}, wgmma::stored_k(f.a), mixture_class_of_tile, tile_seed);
    Draw draw(tile_seed + 1);
    const bool accumulate = !draw.one_in(8);
    const auto stored_k = static_cast<std::uint32_t>(wgmma::stored_k(f.a));
    const wgmma::MatrixDescriptor desc_a =
        descriptor_of(f.major_a, start_a, wgmma::stored_k_bytes, stored_k, draw.below(4));
    const wgmma::MatrixDescriptor desc_b =
        descriptor_of(f.major_b, start_b, wgmma::stored_k_bytes * (f.sparse ? 2 : 1),
                      stored_k * (f.sparse ? 2 : 1), draw.below(4));
    draw_a<Index>(s, mixture, desc_a);
    draw_b<Index>(s, mixture, desc_b);
    if constexpr (f.sparse) draw_codes<Index>(s, mixture);
    ptx::fence_proxy_async_shared();
    __syncthreads();

    expect<Index>(s, mixture, accumulate);
    std::uint32_t d[registers];
    execute<Index>(s, d, encode(desc_a), encode(desc_b), accumulate);

    unsigned int wrong_bits = 0;
#pragma unroll
    for (int reg = 0; reg < registers; ++reg) {
      const std::uint32_t want = s.want[reg * threads + static_cast<int>(threadIdx.x)];
      if (d[reg] != want) {
        wrong_bits += static_cast<unsigned int>(__popc(d[reg] ^ want));
        report<Index>(args, tile, reg, d[reg], want);
      }
    }
    const int slot = static_cast<int>(mixture_class_of_tile);
    if (wrong_bits != 0) atomicAdd(&args.differing_bits[slot], wrong_bits);
    if (threadIdx.x == 0) atomicAdd(&args.outputs[slot], wgmma::m * n);
    __syncthreads();
  }
}

using Kernel = void (*)(SweepArguments);

template <int... Index>
Kernel kernel_of(int index, std::integer_sequence<int, Index...>) {
  Kernel found = nullptr;
  ((index == Index ? void(found = sweep_kernel<Index>) : void()), ...);
  return found;
}

constexpr int form_count = 2 * combination_count;

int resident_blocks(Kernel kernel) {
  int per_sm = 0;
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, threads,
                                                           sizeof(SweepShared)));
  if (per_sm == 0) throw std::runtime_error("the sweep kernel does not fit this device");
  return per_sm * device_attribute(cudaDevAttrMultiProcessorCount, current_device());
}

}  // namespace

int sweep_form_count() { return form_count; }

wgmma::Form sweep_form(int index) { return form_of(index); }

SweepCounts run_sweep(int form_index, std::uint64_t seed, std::uint64_t first_tile,
                      std::uint32_t tiles) {
  const Kernel kernel = kernel_of(form_index, std::make_integer_sequence<int, form_count>{});
  if (kernel == nullptr) throw std::runtime_error("no such form of the sweep");
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  sizeof(SweepShared)));
  const std::array<unsigned long long, 2 * mixture_class_count> zeros{};
  DeviceBuffer<unsigned long long> counts(zeros);
  const std::array<unsigned int, 1> free_slot{};
  DeviceBuffer<unsigned int> taken(free_slot);
  DeviceBuffer<SweepMismatch> mismatch(1);
  const SweepArguments args{seed,          first_tile,   tiles, counts.data(),
                            counts.data() + mixture_class_count, taken.data(), mismatch.data()};
  kernel<<<resident_blocks(kernel), threads, sizeof(SweepShared)>>>(args);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());

  SweepCounts result;
  std::array<unsigned long long, 2 * mixture_class_count> host{};
  counts.download(host);
  for (std::size_t i = 0; i < mixture_class_count; ++i) {
    result.outputs[i] = host[i];
    result.differing_bits[i] = host[i + mixture_class_count];
  }
  std::array<unsigned int, 1> was_taken{};
  taken.download(was_taken);
  result.has_mismatch = was_taken[0] != 0;
  if (result.has_mismatch) mismatch.download({&result.first, 1});
  return result;
}

}  // namespace tcq::cuda
