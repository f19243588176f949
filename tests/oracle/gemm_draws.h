// A drawn request of `tcq gemm`, its arrays and the words that say what they are: any option beside any other one.
#pragma once

#include <fmt/format.h>

#include "sim/num/inputs/draw.h"
#include "tests/oracle/gemm_loops.h"

namespace tcq::oracle::gemm::loops {

class Drawn {
 public:
  explicit Drawn(std::uint64_t seed) : draw_(seed) {
    types();
    instruction();
    x_.batch = draw_.one_in(2) ? draw_.in(1, 3) : 0;
    x_.m = draw_.in(1, 7);
    x_.n = draw_.one_in(5) ? draw_.in(129, 140) : draw_.in(1, 40);
    x_.k = draw_.one_in(2) ? 32 * draw_.in(1, 9) : draw_.in(1, 300);
    if (x_.n > 40) x_.k = std::min<std::int64_t>(x_.k, 150);
    scaling();
    packing();
    order();
    x_.in_a = filled(x_.a, three_dimensions("A"), x_.m, x_.k);
    x_.in_b = filled(x_.b, three_dimensions("B"), x_.k, x_.n);
    put("a", operand(x_.in_a, false));
    put("b", operand(x_.in_b, true));
    factors();
    epilogue();
    if (draw_.one_in(3)) {
      shard_ = draw_.in(1, 4);
      index_ = draw_.below(static_cast<int>(shard_));
      say("shard", {"--shard", fmt::format("{}/{}", index_, shard_)});
    }
    say("", {"--threads", draw_.one_in(2) ? "1" : "3"});
    // No array of three dimensions was drawn: then D has two.
    if (!has_batch_) x_.batch = 0;
    if (entries_ == 1 && x_.batch > 0) x_.batch = 1;
  }

  const Case& get() const { return x_; }
  // Rows of D that are this shard's, even bands of all of them.
  Part rows() const {
    const std::int64_t all = std::max<std::int64_t>(1, x_.batch) * x_.m;
    std::int64_t first = 0;
    for (std::int64_t i = 0; i < index_; ++i) first += all / shard_ + (i < all % shard_ ? 1 : 0);
    return {first, all / shard_ + (index_ < all % shard_ ? 1 : 0)};
  }

 private:
  bool chosen(const std::string& trait, int of = 2) {
    if (!draw_.one_in(of)) return false;
    x_.traits.insert(trait);
    return true;
  }
  void say(const std::string& trait, const std::vector<std::string>& words) {
    if (!trait.empty()) x_.traits.insert(trait);
    x_.words.insert(x_.words.end(), words.begin(), words.end());
  }
  template <class T>
  T one_of(const std::vector<T>& all) {
    return all[static_cast<std::size_t>(draw_.below(static_cast<int>(all.size())))];
  }

  void types() {
    const std::vector<Type> narrow = {Type::e4m3, Type::e5m2, Type::e2m3, Type::e3m2, Type::e2m1};
    const std::vector<Type> wide = {Type::f16, Type::bf16, Type::tf32};
    const std::vector<Type> integers = {Type::s8, Type::u8};
    const int group = draw_.below(8);
    const bool mixes = draw_.one_in(2);
    const std::vector<Type>& from = group < 5 ? narrow : group < 7 ? wide : integers;
    x_.a = group < 3 && draw_.one_in(2) ? Type::e2m1 : one_of(from);
    x_.b = mixes && group != 5 && group != 6 ? one_of(from) : x_.a;
    say(group < 5   ? "narrow"
        : group < 7 ? "wide"
                    : "integers",
        {"--type", std::string(name(x_.a)), "--type-b", std::string(name(x_.b))});
  }

  void instruction() {
    const bool has_wgmma = wgmma::types_exist(wgmma::widest_d(x_.a), x_.a, x_.b);
    x_.accumulator = wgmma::widest_d(x_.a);
    if (has_wgmma && chosen("wgmma")) {
      if (wgmma::types_exist(Type::f16, x_.a, x_.b) && chosen("d=f16", 3))
        x_.accumulator = Type::f16;
      return;
    }
    x_.traits.insert("tcgen05");
    x_.kind = !is_float(x_.a)      ? Kind::i8
              : x_.a == Type::tf32 ? Kind::tf32
              : bits(x_.a) == 16   ? Kind::f16
                                   : Kind::f8f6f4;
    if (tcgen05::types_exist(*x_.kind, Type::f16, x_.a, x_.b) && chosen("d=f16", 3))
      x_.accumulator = Type::f16;
  }

  void scaling() {
    if (x_.kind == Kind::f8f6f4 && chosen("block-scaled")) {
      x_.accumulator = Type::f32;
      x_.traits.erase("d=f16");
      x_.kind = Kind::mxf8f6f4;
      x_.scaling = Scaling::Ue8m0Block32;
      if (x_.a == Type::e2m1 && x_.b == Type::e2m1) {
        x_.kind = one_of<Kind>({Kind::mxf8f6f4, Kind::mxf4, Kind::mxf4nvf4, Kind::mxf4nvf4});
        if (x_.kind == Kind::mxf4nvf4)
          x_.scaling = one_of<Scaling>(
              {Scaling::Ue8m0Block32, Scaling::Ue8m0Block16, Scaling::Ue4m3Block16});
      }
    } else if (chosen("factors")) {
      std::vector<Scaling> some = {Scaling::Tensor, Scaling::RowColumn};
      if (is_float(x_.a) && x_.accumulator == Type::f32)
        some = {Scaling::Tensor, Scaling::RowColumn, Scaling::Block128, Scaling::Vector128};
      x_.scaling = one_of(some);
    }
    if (x_.scaling != Scaling::None) say("", {"--scaling", std::string(name(x_.scaling))});
  }

  void packing() {
    if ((x_.a != Type::e2m1 && x_.b != Type::e2m1) || !chosen("packed")) return;
    packed_ = true;
    x_.k += x_.k % 2;
    say("", {"--packed"});
  }

  void order() {
    const bool float_sum = is_float(x_.a) && x_.accumulator == Type::f32;
    x_.promotes = scales_blocks(x_.scaling) || (float_sum && draw_.one_in(4));
    if (x_.promotes) x_.traits.insert("promoted");
    if (!is_float(x_.a)) x_.saturates = chosen("satfinite", 3);
    std::string spec = parts();
    spec += x_.kind ? ":tcgen05" : ":wgmma";
    if (is_block_scaled(x_.scaling)) spec += fmt::format(",kind={}", tcgen05::name(*x_.kind));
    if (x_.accumulator == Type::f16) spec += ",d=f16";
    if (x_.saturates) spec += ",satfinite";
    if (x_.promotes) spec += ",promoted";
    say("", {"--order", spec});
  }

  std::string parts() {
    x_.parts = {{0, x_.k}};
    if (x_.saturates) return "chain";
    const std::int64_t unit = x_.promotes ? 128 : products_of(x_);
    if (chosen("every", 3)) {
      const std::int64_t length = unit * draw_.in(1, 3);
      x_.parts.clear();
      for (std::int64_t k = 0; k < x_.k; k += length)
        x_.parts.push_back({k, std::min(length, x_.k - k)});
      return fmt::format("every={}", length);
    }
    // Parts begin anywhere, but where a factor or a chain has to.
    const std::int64_t begin = x_.promotes                   ? 128
                               : is_block_scaled(x_.scaling) ? scale_block(x_.scaling)
                                                             : 1;
    if (x_.k <= begin || !chosen("segments")) return "chain";
    const std::int64_t at = begin * draw_.in(1, static_cast<int>((x_.k - 1) / begin));
    x_.parts = {{at, x_.k - at}, {0, at}};
    return fmt::format("segments={}-{},0-{}", at, x_.k, at);
  }

  std::int64_t three_dimensions(const std::string& what) {
    if (x_.batch == 0 || !chosen("batch of " + what)) return 0;
    const std::int64_t entries = draw_.one_in(3) ? 1 : x_.batch;
    has_batch_ = true;
    entries_ = std::max(entries_, entries);
    return entries;
  }

  std::uint32_t element(Type type, bool any) {
    const auto width = type == Type::tf32 || type == Type::f32 ? 32 : bits(type);
    if (any && draw_.one_in(30)) return draw_.word() >> (32 - width);
    if (type == Type::s32) return static_cast<std::uint32_t>(draw_.in(-1000, 1000));
    return bell(type, draw_);
  }
  Tensor filled(Type type, std::int64_t batch, std::int64_t rows, std::int64_t cols) {
    Tensor t = shaped(type, batch, rows, cols);
    const bool any = draw_.one_in(4);
    for (std::uint32_t& word : t.words) word = element(type, any);
    return t;
  }

  Tensor operand(Tensor t, bool is_b) {
    const std::string which = is_b ? "b" : "a";
    if (packed_ && t.type == Type::e2m1) t = is_b ? turned(packed(turned(t))) : packed(t);
    if (!chosen("--transpose-" + which)) return t;
    (is_b ? turned_b_ : turned_a_) = true;
    say("", {"--transpose-" + which});
    return turned(t);
  }
  void put(const std::string& name, const Tensor& t) {
    x_.files.emplace(name, file_of(t, chosen("fortran " + name)));
  }

  void factors() {
    if (x_.scaling == Scaling::None) return;
    const bool codes = is_block_scaled(x_.scaling);
    const int block = codes ? scale_block(x_.scaling) : 128;
    const bool by_k = codes || scales_blocks(x_.scaling);
    const std::int64_t blocks = by_k ? (x_.k + block - 1) / block : 1;
    const bool one = x_.scaling == Scaling::Tensor;
    const std::int64_t of_b = x_.scaling == Scaling::Block128 ? (x_.n + 127) / 128 : x_.n;
    const Type type = codes ? Type::u8 : Type::f32;
    x_.scale_a = filled(type, three_dimensions("SFA"), one ? 1 : x_.m, blocks);
    x_.scale_b = filled(type, three_dimensions("SFB"), blocks, one ? 1 : of_b);
    if (codes)
      for (Tensor* t : {&*x_.scale_a, &*x_.scale_b})
        for (std::uint32_t& word : t->words) word = code();
    put("sa", turned_a_ ? turned(*x_.scale_a) : *x_.scale_a);
    put("sb", turned_b_ ? turned(*x_.scale_b) : *x_.scale_b);
    say("", {"--scale-a", "sa", "--scale-b", "sb"});
  }
  std::uint32_t code() {
    if (draw_.one_in(200)) return draw_.word() >> 24;  // NaN now and then
    if (x_.scaling == Scaling::Ue4m3Block16)
      return make_float(Type::e4m3, draw_.in(-6, 6), Fraction::Uniform, draw_.one_in(4), draw_);
    return static_cast<std::uint32_t>(127 + draw_.in(-9, 9));
  }

  void epilogue() {
    x_.out = is_float(x_.a) ? Type::f32 : Type::s32;
    if (chosen("out type")) {
      x_.out = one_of<Type>({Type::f32, Type::f16, Type::bf16});
      say("", {"--out-type", std::string(name(x_.out))});
    }
    if (x_.out == Type::s32 && x_.scaling != Scaling::None) {
      x_.out = Type::f32;
      say("", {"--out-type", "f32"});
    }
    if (x_.out == Type::s32) return;
    if (chosen("alpha", 3)) x_.alpha = -0.37f;
    if (chosen("C", 3)) {
      x_.c = filled(x_.out, three_dimensions("C"), x_.m, x_.n);
      x_.beta = 1.25f;
      put("c", *x_.c);
      say("", {"--c", "c"});
    }
    if (chosen("bias", 3)) {
      x_.bias = filled(x_.out, three_dimensions("bias"), 1, x_.n);
      put("bias", draw_.one_in(2) ? turned(*x_.bias) : *x_.bias);
      say("", {"--bias", "bias"});
    }
    x_.relu = chosen("relu", 4);
    say("", {"--epilogue", fmt::format("alpha={},beta={},activation={}", x_.alpha, x_.beta,
                                       x_.relu ? "relu" : "none")});
  }

  Draw draw_;
  Case x_;
  bool packed_ = false, turned_a_ = false, turned_b_ = false, has_batch_ = false;
  std::int64_t entries_ = 1;
  std::int64_t shard_ = 1, index_ = 0;
};

}  // namespace tcq::oracle::gemm::loops
