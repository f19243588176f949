// The sweep kernels (sweep_sm90.h). One kernel, for all forms, draws tiles and computes what they
// must give; one small kernel per form executes them and compares. Layouts, fragments and
// arithmetic are the headers of sim/; the instruction is wgmma.cuh.
#include <stdexcept>
#include <utility>

#include "cuda/probe/sweep_sm90.h"
#include "cuda/ptx/basic.cuh"
#include "cuda/ptx/wgmma.cuh"
#include "cuda/runtime/launch.h"
#include "sim/isa/wgmma/operand.h"
#include "sim/isa/wgmma/place.h"
#include "sim/isa/wgmma/sparse.h"

namespace tcq::cuda {
namespace {

using wgmma::Form;
using wgmma::Place;

constexpr int n = 64;
constexpr int threads = wgmma::threads_per_warpgroup;
constexpr int max_words = 32;          // stored elements per row, b1 counted in words
constexpr int padded = max_words + 1;  // keeps rows in different banks
constexpr int raw_b_stride = 2 * max_words + 1;
constexpr int max_registers = n / 2;
constexpr int operand_bytes = 64 * 128;      // 64 rows of the widest pitch
constexpr std::uint64_t sweep_stride = 128;  // more than there are forms

// One drawn tile in global memory: what the instruction reads, and what it must return.
struct alignas(16) SweepTile {
  std::uint8_t a[operand_bytes];
  std::uint8_t b[operand_bytes];
  std::uint32_t a_registers[wgmma::a_registers * threads];
  std::uint32_t metadata[threads];
  std::uint32_t c[max_registers * threads];
  std::uint32_t want[max_registers * threads];
  std::uint64_t desc_a;  // start 0: moved to where the operand is copied, a multiple of 1024
  std::uint64_t desc_b;
  MixtureClass mixture;
  bool accumulate;
};

// The operands of one tile while its outputs are computed.
struct DrawShared {
  Decoded decoded_a[wgmma::m * padded];
  Decoded decoded_b[n * padded];
  std::uint32_t raw_a[wgmma::m * padded];
  std::uint32_t raw_b[n * raw_b_stride];
  std::uint32_t codes[wgmma::m * 16];
};

struct alignas(1024) ExecuteShared {
  std::uint8_t a[operand_bytes];
  std::uint8_t b[operand_bytes];
};

struct SweepResult {
  unsigned long long outputs[mixture_class_count];
  unsigned long long differing_bits[mixture_class_count];
  unsigned int mismatch_taken;
  SweepMismatch mismatch;
};

// Elements are drawn, stored and decoded in carriers: a word of 32 elements for b1, else one
// element.
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
  std::uint8_t* to = operand + offset;
  if (width == 32) *reinterpret_cast<std::uint32_t*>(to) = value;
  if (width == 16) *reinterpret_cast<std::uint16_t*>(to) = static_cast<std::uint16_t>(value);
  if (width == 8) *to = static_cast<std::uint8_t>(value);
}

// Element k of a carrier of an operand, k counted in elements.
HOST_DEVICE constexpr std::uint32_t first_k(Type type, int word) {
  return static_cast<std::uint32_t>(type == Type::b1 ? 32 * word : word);
}

// The compact tile of an operand, with a swizzle that changes from tile to tile.
__device__ wgmma::MatrixDescriptor descriptor_of(Major major, std::uint32_t k_bytes,
                                                 std::uint32_t k, int pick) {
  const auto swizzle = wgmma::SwizzleMode::mode(static_cast<std::uint64_t>(pick));
  const std::uint32_t pitch = pitch_bytes(swizzle);
  const Tile tile = major == Major::K
                        ? Tile{major, pitch, AtomOrder::KFirst, max(k_bytes, pitch), 64}
                        : Tile{major, pitch, AtomOrder::MnFirst, 128, k};
  const CanonicalLayout layout = canonical_layout(tile, k_bytes);
  return {0, layout.lbo_bytes, layout.sbo_bytes, 0, swizzle};
}

__device__ void draw_a(DrawShared& s, SweepTile& tile, const Form& f, const Mixture& mixture) {
  const wgmma::MatrixDescriptor desc = wgmma::decode(tile.desc_a);
  for (int i = static_cast<int>(threadIdx.x); i < wgmma::m * words_a(f); i += threads) {
    const int row = i / words_a(f);
    const int word = i % words_a(f);
    const std::uint32_t value = draw_carrier(f.a, word, [&](int k) { return mixture.a(row, k); });
    s.raw_a[row * padded + word] = value;
    if (is_float(f.a)) s.decoded_a[row * padded + word] = decode_float(f.a, value, f.negate_a);
    store_carrier(tile.a,
                  wgmma::element_address(desc, f.major_a, f.a,
                                         {static_cast<std::uint32_t>(row), first_k(f.a, word)}),
                  f.a, value);
  }
}

__device__ void draw_b(DrawShared& s, SweepTile& tile, const Form& f, const Mixture& mixture) {
  const wgmma::MatrixDescriptor desc = wgmma::decode(tile.desc_b);
  for (int i = static_cast<int>(threadIdx.x); i < n * words_b(f); i += threads) {
    const int col = i / words_b(f);
    const int word = i % words_b(f);
    const std::uint32_t value = draw_carrier(
        f.b, word, [&](int k) { return f.sparse ? mixture.sparse_b(col, k) : mixture.b(col, k); });
    s.raw_b[col * raw_b_stride + word] = value;
    if (is_float(f.b) && !f.sparse)
      s.decoded_b[col * padded + word] = decode_float(f.b, value, f.negate_b);
    store_carrier(tile.b,
                  wgmma::element_address(desc, f.major_b, f.b,
                                         {static_cast<std::uint32_t>(col), first_k(f.b, word)}),
                  f.b, value);
  }
}

__device__ void draw_codes(DrawShared& s, const Form& f, const Mixture& mixture) {
  const int chunks = wgmma::chunks_per_row(f.a);
  for (int i = static_cast<int>(threadIdx.x); i < wgmma::m * chunks; i += threads)
    s.codes[i] = mixture.metadata_code(i / chunks, i % chunks);
}

// Thread t's registers of A.
__device__ void fill_a_registers(const DrawShared& s, SweepTile& tile, const Form& f, int thread) {
  const int parts = f.a == Type::b1 ? 1 : parts_per_register(f.a);
#pragma unroll 1
  for (int reg = 0; reg < wgmma::a_registers; ++reg) {
    std::uint32_t word = 0;
#pragma unroll 1
    for (int part = 0; part < parts; ++part) {
      const wgmma::Element e = wgmma::a_element(f.a, {thread, reg, part});
      const int carrier = f.a == Type::b1 ? e.col / 32 : e.col;
      word |= in_register_part(f.a, s.raw_a[e.row * padded + carrier], part);
    }
    tile.a_registers[reg * threads + thread] = word;
  }
}

__device__ std::uint32_t metadata_of(const DrawShared& s, const Form& f, int thread) {
  std::uint32_t word = 0;
  if (!f.sparse || !wgmma::metadata_is_read(f.a, 0, thread)) return word;
  for (int nibble = 0; nibble < wgmma::metadata_nibbles; ++nibble) {
    const wgmma::MetadataChunk at = wgmma::metadata_chunk(f.a, {thread, nibble});
    const std::uint32_t code = s.codes[at.row * wgmma::chunks_per_row(f.a) + at.chunk];
    for (int bit = 0; bit < wgmma::metadata_code_bits; ++bit)
      word |= in_register_part(Type::b1, register_part(Type::b1, code, bit),
                               wgmma::metadata_low_bit(nibble) + bit);
  }
  return word;
}

// Carrier i of column `col` of B as row `row` of A meets it.
__device__ std::uint32_t met_b(const DrawShared& s, const Form& f, int row, int col, int i) {
  const std::uint32_t* column = &s.raw_b[col * raw_b_stride];
  if (!f.sparse) return column[i];
  const int chunk = wgmma::stored_chunk(f.a, i);
  return wgmma::selected_b(f.a, chunk, s.codes[row * wgmma::chunks_per_row(f.a) + chunk],
                           wgmma::stored_index(f.a, i), column);
}

// What the model says one output is.
__device__ std::uint32_t model(const DrawShared& s, const Form& f, int row, int col,
                               std::uint32_t c, bool accumulate) {
  const int count = words_a(f);
  if (is_float(f.a)) {
    Decoded selected[max_words];
    const Decoded* b = &s.decoded_b[col * padded];
    if (f.sparse) {
      for (int i = 0; i < count; ++i)
        selected[i] = decode_float(f.b, met_b(s, f, row, col, i), f.negate_b);
      b = selected;
    }
    return fused_sum(wgmma_dot_traits(f.d, f.a), f.d, f.a, f.b, &s.decoded_a[row * padded], b,
                     count, decode_c(f.d, c, accumulate));
  }
  std::int64_t sum = accumulate ? decode_integer(Type::s32, c) : 0;
  for (int i = 0; i < count; ++i) {
    const std::uint32_t a = s.raw_a[row * padded + i];
    const std::uint32_t b = met_b(s, f, row, col, i);
    sum += f.a == Type::b1 ? __popc(a & b) : decode_integer(f.a, a) * decode_integer(f.b, b);
  }
  return finish_integer(sum, f.satfinite);
}

// Fills c and want: thread t owns its own registers of D.
__device__ void expect(const DrawShared& s, SweepTile& tile, const Form& f, const Mixture& mixture,
                       int thread) {
  const int parts = parts_per_register(f.d);
#pragma unroll 1
  for (int reg = 0; reg < wgmma::accumulator_registers(f.d, n); ++reg) {
    std::uint32_t c_word = 0;
    std::uint32_t want_word = 0;
#pragma unroll 1
    for (int part = 0; part < parts; ++part) {
      const wgmma::Element e = wgmma::accumulator_element(f.d, {thread, reg, part});
      const std::uint32_t c = mixture.c(e.row, e.col);
      c_word |= in_register_part(f.d, c, part);
      want_word |= in_register_part(f.d, model(s, f, e.row, e.col, c, tile.accumulate), part);
    }
    tile.c[reg * threads + thread] = c_word;
    tile.want[reg * threads + thread] = want_word;
  }
}

// One block draws one tile.
__global__ void __launch_bounds__(threads)
    draw_kernel(int form_index, std::uint64_t seed, std::uint64_t first_tile, SweepTile* tiles) {
  extern __shared__ DrawShared draw_shared[];
  DrawShared& s = draw_shared[0];
  SweepTile& tile = tiles[blockIdx.x];
  const int thread = static_cast<int>(threadIdx.x);
  const Form f = form_of(form_index);
  const std::uint64_t number = (first_tile + blockIdx.x) * sweep_stride;
  const std::uint64_t tile_seed = mix(seed ^ mix(number + static_cast<std::uint64_t>(form_index)));
  const Mixture mixture({f.d, f.a, f.b}, wgmma::stored_k(f.a), mixture_class(tile_seed), tile_seed);
  if (thread == 0) {
    Draw draw(tile_seed + 1);
    const std::uint32_t wide = f.sparse ? 2 : 1;
    const auto k = static_cast<std::uint32_t>(wgmma::stored_k(f.a));
    tile.mixture = mixture_class(tile_seed);
    tile.accumulate = !draw.one_in(8);
    tile.desc_a = encode(descriptor_of(f.major_a, wgmma::stored_k_bytes, k, draw.below(4)));
    tile.desc_b =
        encode(descriptor_of(f.major_b, wgmma::stored_k_bytes * wide, k * wide, draw.below(4)));
  }
  __syncthreads();
  draw_a(s, tile, f, mixture);
  draw_b(s, tile, f, mixture);
  if (f.sparse) draw_codes(s, f, mixture);
  __syncthreads();
  fill_a_registers(s, tile, f, thread);
  tile.metadata[thread] = metadata_of(s, f, thread);
  expect(s, tile, f, mixture, thread);
}

// A register of this thread that differs.
struct Wrong {
  int reg;
  std::uint32_t got;
  std::uint32_t want;
};

__device__ void report(SweepResult& result, const Form& f, std::uint64_t tile, const Wrong& wrong) {
  if (atomicExch(&result.mismatch_taken, 1u) != 0) return;
  const int part = register_part(f.d, wrong.got ^ wrong.want, 0) != 0 ? 0 : 1;
  const wgmma::Element e =
      wgmma::accumulator_element(f.d, {static_cast<int>(threadIdx.x), wrong.reg, part});
  result.mismatch = {tile, e.row, e.col, register_part(f.d, wrong.got, part),
                     register_part(f.d, wrong.want, part)};
}

__device__ void copy_operand(std::uint8_t* to, const std::uint8_t* from) {
  for (int i = static_cast<int>(threadIdx.x); i < operand_bytes / 16; i += threads)
    reinterpret_cast<uint4*>(to)[i] = reinterpret_cast<const uint4*>(from)[i];
}

// One block executes one tile and compares.
template <int Index>
__global__ void __launch_bounds__(threads)
    execute_kernel(std::uint64_t first_tile, const SweepTile* tiles, SweepResult* result) {
  constexpr Form f = form_of(Index);
  constexpr int registers = wgmma::accumulator_registers(f.d, n);
  __shared__ ExecuteShared s;
  const SweepTile& tile = tiles[blockIdx.x];
  const int thread = static_cast<int>(threadIdx.x);
  copy_operand(s.a, tile.a);
  copy_operand(s.b, tile.b);
  ptx::fence_proxy_async_shared();
  __syncthreads();

  const std::uint64_t desc_a = advance(tile.desc_a, ptx::shared_address(s.a));
  const std::uint64_t desc_b = advance(tile.desc_b, ptx::shared_address(s.b));
  const std::uint32_t metadata = tile.metadata[thread];
  std::uint32_t a[wgmma::a_registers];
  std::uint32_t d[registers];
#pragma unroll
  for (int reg = 0; reg < wgmma::a_registers; ++reg)
    a[reg] = tile.a_registers[reg * threads + thread];
#pragma unroll
  for (int reg = 0; reg < registers; ++reg) d[reg] = tile.c[reg * threads + thread];
  ptx::wgmma_fence();
  if constexpr (f.sparse && f.a_place == Place::Smem)
    ptx::mma<f>(d, desc_a, desc_b, metadata, tile.accumulate);
  else if constexpr (f.sparse)
    ptx::mma<f>(d, a, desc_b, metadata, tile.accumulate);
  else if constexpr (f.a_place == Place::Smem)
    ptx::mma<f>(d, desc_a, desc_b, tile.accumulate);
  else
    ptx::mma<f>(d, a, desc_b, tile.accumulate);
  ptx::wgmma_commit_group();
  ptx::wgmma_wait_group<0>();
  ptx::pin(d);

  unsigned int wrong_bits = 0;
  Wrong wrong{};
#pragma unroll
  for (int reg = 0; reg < registers; ++reg) {
    const std::uint32_t want = tile.want[reg * threads + thread];
    wrong_bits += static_cast<unsigned int>(__popc(d[reg] ^ want));
    if (d[reg] != want) wrong = {reg, d[reg], want};
  }
  const int slot = static_cast<int>(tile.mixture);
  if (wrong_bits != 0) {
    report(*result, f, first_tile + blockIdx.x, wrong);
    atomicAdd(&result->differing_bits[slot], wrong_bits);
  }
  if (thread == 0) atomicAdd(&result->outputs[slot], wgmma::m * n);
}

using ExecuteKernel = void (*)(std::uint64_t, const SweepTile*, SweepResult*);

template <int... Index>
ExecuteKernel execute_kernel_of(int index, std::integer_sequence<int, Index...>) {
  ExecuteKernel found = nullptr;
  ((index == Index ? void(found = execute_kernel<Index>) : void()), ...);
  return found;
}

constexpr int form_count = 2 * combination_count;

}  // namespace

int sweep_form_count() { return form_count; }

wgmma::Form sweep_form(int index) { return form_of(index); }

SweepCounts run_sweep(int form_index, std::uint64_t seed, std::uint64_t first_tile,
                      std::uint32_t tiles) {
  const ExecuteKernel execute =
      execute_kernel_of(form_index, std::make_integer_sequence<int, form_count>{});
  if (execute == nullptr) throw std::runtime_error("no such form of the sweep");
  CUDA_CHECK(cudaFuncSetAttribute(draw_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  sizeof(DrawShared)));
  DeviceBuffer<SweepTile> drawn(tiles);
  const std::array<SweepResult, 1> zero{};
  DeviceBuffer<SweepResult> result(zero);
  draw_kernel<<<tiles, threads, sizeof(DrawShared)>>>(form_index, seed, first_tile, drawn.data());
  CUDA_CHECK(cudaGetLastError());
  execute<<<tiles, threads>>>(first_tile, drawn.data(), result.data());
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());

  std::array<SweepResult, 1> host{};
  result.download(host);
  SweepCounts counts;
  for (std::size_t i = 0; i < mixture_class_count; ++i) {
    counts.outputs[i] = host[0].outputs[i];
    counts.differing_bits[i] = host[0].differing_bits[i];
  }
  counts.has_mismatch = host[0].mismatch_taken != 0;
  counts.first = host[0].mismatch;
  return counts;
}

}  // namespace tcq::cuda
