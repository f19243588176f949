// Products of matrices and whole GEMMs. Arrays come and go as the bytes of .npy files, so that one reader checks
// dtypes, orders and shapes (oracle/gemm/npy.h, elements.h), whoever brings them.
#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "oracle/gemm/elements.h"
#include "oracle/gemm/run.h"
#include "oracle/sum/gemm_epilogue.h"
#include "oracle/sum/mma_matrix.h"
#include "tools/python/module.h"

namespace nb = nanobind;

namespace tcq::python {
namespace {

namespace gemm = oracle::gemm;
namespace npy = oracle::npy;
using oracle::UsageError;
using Arrays = std::map<std::string, std::string>;  // name -> the bytes of an .npy file

Arrays arrays_of(const nb::dict& dict) {
  Arrays arrays;
  for (const auto& [name, bytes] : dict) {
    const auto object = nb::cast<nb::bytes>(bytes);
    arrays.emplace(nb::cast<std::string>(name), std::string(object.c_str(), object.size()));
  }
  return arrays;
}

nb::bytes bytes_of(const npy::Array& array) {
  return nb::bytes(array.bytes.data(), array.bytes.size());
}

// ---- mma ------------------------------------------------------------------------------------------

gemm::Matrix matrix_named(Arrays& arrays, const std::string& name, Type type) {
  gemm::Matrix m = gemm::matrix_of(npy::parse(std::move(arrays.at(name)), name), name, type);
  if (m.has_batch)
    throw UsageError(fmt::format("{}: has shape {}: expected a matrix; tcq.gemm takes batches",
                                 name, shape_text(m)));
  return m;
}

void check_shape(const gemm::Matrix& m, std::string_view name, std::int64_t rows,
                 std::int64_t cols) {
  if (m.rows != rows || m.cols != cols)
    throw UsageError(
        fmt::format("{}: has shape {} x {}: expected {} x {}", name, m.rows, m.cols, rows, cols));
}

std::vector<std::uint32_t> words_of(const gemm::Matrix& m, Type type) {
  std::vector<std::uint32_t> words;
  words.reserve(static_cast<std::size_t>(m.rows * m.cols));
  for (std::int64_t i = 0; i < m.rows; ++i)
    for (std::int64_t j = 0; j < m.cols; ++j)
      words.push_back(oracle::load_element(type, m.array.data(), m.index(i, j)));
  return words;
}

int size_of(std::int64_t size) {
  constexpr std::int64_t most = 1 << 20;
  if (size > most) throw UsageError(fmt::format("{} rows or columns: expected at most 2^20", size));
  return static_cast<int>(size);
}

std::vector<std::uint8_t> scales_of(Arrays& arrays, const oracle::MatrixMma& mma,
                                    const std::string& name, int lines, int k) {
  if (!arrays.contains(name)) {
    if (mma.scales() == 0) return {};
    throw UsageError(fmt::format("{} is missing: expected {} scale factors for each of {} lines",
                                 name, mma.instructions(k) * mma.scales(), lines));
  }
  if (mma.scales() == 0)
    throw UsageError(fmt::format("{}: the instruction has no scale factors", name));
  const gemm::Matrix m = matrix_named(arrays, name, Type::u8);
  check_shape(m, name, lines, mma.instructions(k) * mma.scales());
  const std::vector<std::uint32_t> words = words_of(m, Type::u8);
  std::vector<std::uint8_t> scales;
  for (const std::uint32_t word : words) scales.push_back(static_cast<std::uint8_t>(word));
  return scales;
}

gemm::Matrix product(const oracle::MatrixMma& mma, Arrays& arrays) {
  const DotTypes& types = mma.types();
  const gemm::Matrix a = matrix_named(arrays, "a", types.a);
  const gemm::Matrix b = matrix_named(arrays, "b", types.b);
  if (a.cols != b.rows)
    throw UsageError(
        fmt::format("a is {} x {} and b is {} x {}: expected a's columns to be b's rows", a.rows,
                    a.cols, b.rows, b.cols));
  oracle::MmaMatrices m{size_of(a.rows),
                        size_of(b.cols),
                        size_of(a.cols),
                        words_of(a, types.a),
                        words_of(transposed(b), types.b),
                        {},
                        {},
                        {}};
  m.scales_a = scales_of(arrays, mma, "sfa", m.m, m.k);
  m.scales_b = scales_of(arrays, mma, "sfb", m.n, m.k);
  gemm::Matrix d = gemm::zeros(types.d, m.m, m.n);
  if (arrays.contains("c")) {
    const gemm::Matrix c = matrix_named(arrays, "c", types.d);
    check_shape(c, "c", m.m, m.n);
    m.d = words_of(c, types.d);
  } else {
    m.d.assign(static_cast<std::size_t>(a.rows * b.cols), 0);
  }
  mma.advance(m);
  char* to = d.array.bytes.data() + d.array.first;
  for (std::size_t i = 0; i < m.d.size(); ++i)
    oracle::store_element(types.d, to, static_cast<std::int64_t>(i), m.d[i]);
  return d;
}

nb::tuple mma(const std::vector<std::string>& words, const std::string& arch,
              const nb::dict& operands) {
  Arrays arrays = arrays_of(operands);
  gemm::Matrix d;
  Reply reply;
  {
    const nb::gil_scoped_release released;
    reply = caught([&]() -> Reply {
      oracle::Question question{"mma", {words.begin(), words.end()}, {}};
      question.options.arch = arch;
      d = product(oracle::MatrixMma(question), arrays);
      return {};
    });
  }
  return nb::make_tuple(to_python(reply), bytes_of(d.array));
}

// ---- gemm -----------------------------------------------------------------------------------------

// Ctrl-C is Python's: its handlers run here, in the main thread.
class PythonProgress : public gemm::Progress {
 public:
  PythonProgress() : Progress(nullptr) {}

  bool ended() override {
    const nb::gil_scoped_acquire locked;
    if (!error_ && PyErr_CheckSignals() != 0) error_.emplace();
    return error_.has_value();
  }
  void notice_signals() override {}
  void rethrow() {
    if (error_) throw nb::python_error(std::move(*error_));
  }

 private:
  std::optional<nb::python_error> error_;
};

npy::Array array_named(const Arrays& arrays, const std::string& name) {
  const auto found = arrays.find(name);
  if (found == arrays.end()) throw UsageError(name + ": there is no such array");
  return npy::parse(found->second, name);
}

nb::tuple predict(const std::vector<std::string>& words, const nb::dict& operands) {
  const Arrays arrays = arrays_of(operands);
  std::vector<npy::Array> results;
  PythonProgress progress;
  Reply reply;
  {
    const nb::gil_scoped_release released;
    reply = caught([&]() -> Reply {
      gemm::Request request = gemm::parse_request(words);
      request.read = [&](const std::string& name) { return array_named(arrays, name); };
      request.keep = [&](const npy::Array& d) { results.push_back(d); };
      try {
        const gemm::Report report = run_request(request, progress);
        return {static_cast<int>(report.mismatch() ? oracle::Status::No : oracle::Status::Yes),
                json_text(value_of(report)), ""};
      } catch (const gemm::Interrupted& error) {
        return refused(oracle::Status::Usage, error.what());
      }
    });
  }
  progress.rethrow();
  nb::list list;
  for (const npy::Array& d : results) list.append(bytes_of(d));
  return nb::make_tuple(to_python(reply), list);
}

}  // namespace

void add_sums(nb::module_& m) {
  m.def("mma", mma, nb::arg("words"), nb::arg("arch"), nb::arg("operands"),
        "MNEMONIC key=value ..., {name: bytes of .npy}: (reply, D as bytes of .npy).");
  m.def("gemm", predict, nb::arg("words"), nb::arg("operands"),
        "The words of `tcq gemm`, {name: bytes of .npy}: (reply, D of every order).");
}

}  // namespace tcq::python
