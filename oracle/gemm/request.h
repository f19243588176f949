// The words after `tcq gemm`: what is multiplied, in which orders, and where answers go.
//
// Decides options and what may stand beside what; files are opened elsewhere (problem.h). Example:
// `A.npy B.npy --type bf16 --order chain --order every=64 --compare device.npy`.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "oracle/gemm/npy.h"
#include "oracle/gemm/scaling.h"
#include "sim/isa/base/element.h"
#include "sim/num/activation.h"

namespace tcq::oracle::gemm {

struct Sizes {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::optional<std::int64_t> batch = {};  // none: matrices, not arrays of three dimensions
};

// The part of the rows of D, or of the lines of a list, that is this job's.
struct Shard {
  std::int64_t index = 0;
  std::int64_t count = 1;
};

struct EpilogueWords {
  float alpha = 1;
  float beta = 0;
  Activation activation = Activation::None;

  // Of D, from N columns of the product: a gated activation makes one of two.
  std::int64_t columns(std::int64_t n) const { return is_gated(activation) ? n / 2 : n; }
};

struct Request {
  std::string list;  // the file of requests; then nothing below but shard, threads and json
  std::vector<std::string> operands;  // A.npy, B.npy; none if they are generated
  bool generated = false;
  Sizes sizes;  // of generated operands
  std::uint64_t seed = 1;
  std::string mixture = "bell";
  std::string save_a;
  std::string save_b;
  std::string save_scale_a;  // of drawn factors
  std::string save_scale_b;
  bool transpose_a = false;  // the file holds A's transpose
  bool transpose_b = false;
  bool packed = false;  // files hold two e2m1 to a byte
  Type a = Type::bf16;
  Type b = Type::bf16;
  bool has_out_type = false;
  Type out_type = Type::f32;
  std::string c;
  std::string bias;
  Scaling scaling = Scaling::None;
  std::string scale_a;  // with a scaling, both; none: drawn
  std::string scale_b;
  EpilogueWords epilogue;
  std::vector<std::string> orders;  // at least one
  std::vector<std::string> outs;    // none, or one for each order
  std::string compare;
  bool errors = false;  // also the distance from float64
  std::string svg;      // a picture of it by K, of generated operands
  Shard shard;
  int threads = 0;  // 0: all cores
  bool json = false;

  bool draws_factors() const { return generated && is_block_scaled(scaling) && scale_a.empty(); }

  // Where names lead: to files, unless the caller has the arrays in memory; and who gets the D of every order.
  std::function<npy::Array(const std::string& name)> read = npy::read;
  std::function<void(const npy::Array& d)> keep = {};
};

// Throws UsageError: a sentence that names the word and what was expected.
Request parse_request(std::span<const std::string> words);

// A line of a list, words separated by blanks: a request of its own without --list, --shard, --threads
// and --json, which are the whole list's.
Request parse_list_line(const std::string& line, const Request& whole);

}  // namespace tcq::oracle::gemm
