// What the module in the page leaves to the command: files, and threads to sum whole GEMMs with.
//
// Stands in for oracle/gemm, oracle/run, oracle/answer/svg.cc and oracle/recording; everything else in the module is the
// command's own source.
#include <cstdio>
#include <fstream>
#include <span>
#include <string>

#include "oracle/answer/answer.h"
#include "oracle/answer/svg.h"
#include "oracle/gemm/gemm.h"
#include "oracle/recording/recording.h"
#include "oracle/run/run.h"

// CLI11 names them for configuration files, which tcq has none of; zig's library leaves them out.
template class std::basic_filebuf<char>;
template class std::basic_ifstream<char>;

// Of a module that ends with its question nothing needs to be torn down.
extern "C" int __cxa_thread_atexit(void (*)(void*), void*, void*) { return 0; }

namespace tcq::oracle {
namespace {

constexpr const char* no_files =
    "a page reads and writes no files: expected it asked of the command tcq";

}  // namespace

std::string svg_text(const Drawing&) { throw UsageError(no_files); }

void write_whole_file(const std::string&, const std::string&) { throw UsageError(no_files); }

int answer_gemm(std::span<const std::string>, std::FILE*, std::FILE* err) {
  std::fprintf(err, "tcq: %s\n", no_files);
  return static_cast<int>(Status::Usage);
}

int answer_run(std::span<const std::string>, std::FILE*, std::FILE* err) {
  std::fprintf(err, "tcq: %s\n", no_files);
  return static_cast<int>(Status::Usage);
}

std::string gemm_example(std::span<const std::string>) { return no_files; }

Status verify(std::span<const std::string>, const Options&, std::FILE*, std::FILE* err) {
  std::fprintf(err, "tcq: %s\n", no_files);
  return Status::Usage;
}

}  // namespace tcq::oracle
