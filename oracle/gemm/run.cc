#include "oracle/gemm/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "oracle/answer/answer.h"
#include "oracle/answer/pending_file.h"
#include "oracle/answer/svg.h"
#include "oracle/answer/words.h"
#include "oracle/gemm/error_picture.h"
#include "oracle/recording/container.h"
#include "oracle/sum/tcgen05_mma.h"

namespace tcq::oracle::gemm {
namespace {

// Of a drawn operand or its factors, so that it can be read back without another word: B lies as N x K.
PendingFile saved(const std::string& path, Type type, Matrix m) {
  if (m.has_batch) m = row_major(type, std::move(m));
  npy::Header header{std::string(dtypes_of(type)[0]), m.col_step != 1, {m.rows, m.cols}};
  if (m.has_batch) header = m.array.header;
  const std::string front = npy::header_bytes(header);
  const std::span<const char> elements = std::span(m.array.bytes).subspan(m.array.first);
  PendingFile file(path, front.size() + elements.size());
  file.write(front);
  file.write(elements);
  return file;
}

// How sure the answers of an order are.
void add_notes(const Order& order, const Product& product, std::vector<std::string>& notes) {
  if (order.engine != Engine::Tcgen05) return;
  const std::string evidence = tcgen05_mma_evidence(tcgen05_form_of(order, product));
  for (std::size_t begin = 0; begin < evidence.size();) {
    const std::size_t end = std::min(evidence.find('\n', begin), evidence.size());
    const std::string note = evidence.substr(begin, end - begin);
    if (std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
    begin = end + 1;
  }
}

// A byte is told by its sign alone whether it is s8 or u8.
void add_sign_note(const char* matrix, Type type, const Matrix& read,
                   std::vector<std::string>& notes) {
  const std::string& dtype = read.array.header.dtype;
  if ((type == Type::u8 && dtype == "|i1") || (type == Type::s8 && dtype == "|u1"))
    notes.push_back(fmt::format("{} has dtype {} and is read as {}, bit for bit: {}", matrix, dtype,
                                name(type), type == Type::u8 ? "-1 is 255" : "255 is -1"));
}

class Run {
 public:
  Run(const Request& request, Progress& progress)
      : request_(request), progress_(progress), problem_(load_problem(request)) {
    report_.product = problem_.product;
    report_.out = problem_.out;
    report_.has_batch = problem_.has_batch;
    report_.batch = problem_.batch;
    report_.m = problem_.m;
    report_.n = problem_.n;
    report_.activation = problem_.epilogue.activation;
    report_.shape_a = shape_text(problem_.a);
    report_.shape_b = shape_text(problem_.b);
    report_.rows = rows_of(request_.shard, problem_.rows());
    report_.compared_with = request_.compare;
    add_sign_note("A", problem_.product.a, problem_.a, report_.notes);
    add_sign_note("B", problem_.product.b, problem_.b, report_.notes);
    for (const std::string& spec : request_.orders) {
      orders_.push_back(parse_order(spec, problem_.product));
      add_notes(orders_.back(), problem_.product, report_.notes);
    }
    if (!request_.compare.empty()) device_ = read_result(request_, problem_);
  }

  Report report() {
    progress_.notice_signals();  // until here nothing was begun that would have to be ended
    std::vector<PendingFile> outs = pending_outs();
    save_operands();
    for (std::size_t i = 0; i < orders_.size(); ++i) {
      report_.orders.emplace_back();
      report_.orders.back().spec = orders_[i].spec;
      report_.orders.back().sentence = sentence(orders_[i], problem_.product);
      compute(orders_[i], report_.orders.back(), outs.empty() ? nullptr : &outs[i]);
    }
    if (!request_.svg.empty()) draw_errors();
    return std::move(report_);
  }

 private:
  // All of D has its own dimensions, a shard those of its rows.
  bool is_batch() const { return problem_.has_batch && report_.rows.count() == problem_.rows(); }
  Matrix room() const {
    if (!is_batch()) return zeros(problem_.out, report_.rows.count(), problem_.columns());
    return batch_of_zeros(problem_.out, problem_.batch, problem_.m, problem_.columns());
  }

  std::vector<PendingFile> pending_outs() const {
    const std::size_t front =
        (is_batch() ? batch_of_zeros(problem_.out, 0, problem_.m, problem_.columns())
                    : zeros(problem_.out, 0, problem_.columns()))
            .array.first;
    const std::size_t bytes = front + static_cast<std::size_t>(report_.rows.count()) *
                                          static_cast<std::size_t>(problem_.columns()) *
                                          element_bytes(problem_.out);
    std::vector<PendingFile> outs;
    outs.reserve(request_.outs.size());
    for (const std::string& path : request_.outs) outs.emplace_back(path, bytes);
    return outs;
  }

  void save_operands() {
    std::vector<PendingFile> files;
    if (!request_.save_a.empty()) files.push_back(saved(request_.save_a, request_.a, problem_.a));
    if (!request_.save_b.empty()) files.push_back(saved(request_.save_b, request_.b, problem_.b));
    if (!request_.save_scale_a.empty())
      files.push_back(saved(request_.save_scale_a, Type::u8, problem_.drawn_factors->a));
    if (!request_.save_scale_b.empty())
      files.push_back(
          saved(request_.save_scale_b, Type::u8, transposed(problem_.drawn_factors->b)));
    for (PendingFile& file : files) {
      file.commit();
      report_.saved.push_back(file.path());
    }
  }

  void compute(const Order& order, OrderReport& report, PendingFile* out) {
    Matrix d = room();
    char* elements = d.array.bytes.data() + d.array.first;
    std::int64_t done = 0;
    progress_.begin(printable(order.spec), report_.rows.count());
    if (!predict(problem_, order, report_.rows, request_.threads, elements,
                 [&](std::int64_t rows) { return progress_.at(done = rows); }))
      throw Interrupted(interruption(done));
    report.fingerprint = fnv1a64(std::string_view(d.array.bytes).substr(d.array.first));
    if (out != nullptr) {
      out->write(d.array.bytes);
      out->commit();
      report.out = out->path();
    }
    judge(order, report, elements);
    if (request_.keep) request_.keep(d.array);
    if (!first_) first_ = std::move(d);
  }

  void judge(const Order& order, OrderReport& report, const void* d) {
    const Rows rows = report_.rows;
    if (request_.errors) report.errors = errors_of(problem_, order, rows, d);
    if (first_)
      report.beside_first =
          compare(problem_.out, d, first_->array.data(), {0, rows.count()}, problem_.columns());
    if (!device_) return;
    report.device = compare(problem_.out, d, device_->array.data(), rows, problem_.columns());
    if (report.device->differing == 0) return;
    progress_.begin("rivals of " + printable(order.spec), 0);
    report.explanation = explain(
        problem_, order,
        sample(problem_.out, d, device_->array.data(), rows, problem_.columns(), *report.device),
        [&](std::int64_t) { return !progress_.ended(); });
    if (progress_.ended())
      throw Interrupted(fmt::format("interrupted while rivals of {} were asked: D is whole, {}",
                                    oracle::quoted(order.spec), "its comparison is not"));
  }

  void draw_errors() {
    progress_.begin("errors by K", 0);
    const ErrorPicture picture =
        errors_by_k(request_, [&](std::int64_t) { return !progress_.ended(); });
    if (progress_.ended())
      throw Interrupted("interrupted while errors by K were drawn: there is no picture");
    write_whole_file(request_.svg, svg_text(picture));
    report_.saved.push_back(request_.svg);
  }

  std::string interruption(std::int64_t done) const {
    const std::size_t before = report_.orders.size() - 1;
    const std::string where =
        fmt::format("interrupted after {} of {} rows of {}", done, report_.rows.count(),
                    oracle::quoted(report_.orders.back().spec));
    if (request_.outs.empty()) return where + ": nothing was answered";
    if (before == 0) return where + ": nothing was written";
    return fmt::format("{}: D of the {} before it is written, nothing of this one", where,
                       before == 1 ? "order" : "orders");
  }

  const Request& request_;
  Progress& progress_;
  Problem problem_;
  Report report_;
  std::vector<Order> orders_;
  std::optional<Matrix> device_;
  std::optional<Matrix> first_;  // D of the first order
};

}  // namespace

// Without products that could overflow.
Rows rows_of(const Shard& shard, std::int64_t m) {
  const std::int64_t whole = m / shard.count;
  const std::int64_t rest = m % shard.count;
  const auto begin = [&](std::int64_t i) { return whole * i + std::min(rest, i); };
  return {begin(shard.index), begin(shard.index + 1)};
}

Report run_request(const Request& request, Progress& progress) {
  return Run(request, progress).report();
}

}  // namespace tcq::oracle::gemm
