// `tcq gemm` on real files: predictions that come back, device results that differ, damaged input, full
// disks, signals, shards and lists. What the words mean is tests/oracle/gemm_order_test.cc and its
// neighbours.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>  // posix_openpt

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "tests/cli/run_tcq.h"
#include "tests/support/temporary_folder.h"
#include "tests_where.h"

namespace tcq::tests {
namespace {

namespace fs = std::filesystem;

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// Words after `tcq gemm`, separated by blanks; names that begin with @ are files of the folder.
class Gemm_Cli : public testing::Test {
 protected:
  // A job in the background was told to ignore some; so would its children.
  Gemm_Cli() {
    for (const int one : {SIGINT, SIGTERM, SIGHUP}) std::signal(one, SIG_DFL);
  }

  std::string file(const std::string& name) const { return folder_.file(name); }

  std::vector<std::string> words(const std::string& text) const {
    std::vector<std::string> all = {"gemm"};
    std::istringstream in(text);
    for (std::string word; in >> word;) all.push_back(word[0] == '@' ? file(word.substr(1)) : word);
    return all;
  }
  Finished gemm(const std::string& text) const { return run_tcq(words(text)); }
  // The complaint without the folder's name.
  std::string complaint(const std::string& text) const {
    const Finished done = gemm(text);
    EXPECT_EQ(done.status, 2) << text << done.out;
    EXPECT_EQ(done.out, "") << text;
    std::string err = done.err;
    for (std::size_t at = 0; (at = err.find(file(""))) != std::string::npos;)
      err.erase(at, file("").size());
    return err;
  }
  void draw(const std::string& more = "--type bf16") const {
    const Finished done = gemm(
        "--generate 24,40,200 --seed 7 --save-a @a.npy --save-b @b.npy "
        "--order chain --out @d.npy " +
        more);
    ASSERT_EQ(done.status, 0) << done.err;
  }
  // Lines of an answer without "written:" and the like.
  static std::string line_with(const std::string& text, const std::string& part) {
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
      if (line.find(part) != std::string::npos) return line;
    return "";
  }

  TemporaryFolder folder_;
};

TEST_F(Gemm_Cli, APredictionThatIsReadBackHasNoDifference) {
  for (const char* types : {"--type bf16", "--type f16", "--type tf32", "--type s8", "--type u8",
                            "--type bf16 --out-type bf16", "--type s8 --out-type bf16"}) {
    draw(types);
    const Finished done =
        gemm(std::string("@a.npy @b.npy --order chain --compare @d.npy ") + types);
    EXPECT_EQ(done.status, 0) << types << done.err;
    EXPECT_NE(done.out.find("960 outputs, 0 differ"), std::string::npos) << done.out;
  }
}

TEST_F(Gemm_Cli, ADifferenceIsCountedNamedAndExplained) {
  draw();
  const Finished done = gemm("@a.npy @b.npy --type bf16 --order every=64 --compare @d.npy --json");
  EXPECT_EQ(done.status, 1);
  const nlohmann::json answer = nlohmann::json::parse(done.out);
  const nlohmann::json& compared = answer["orders"][0]["compared"];
  EXPECT_GT(compared["differing"], 10);
  EXPECT_GE(compared["worst"]["ulps"], compared["first"]["ulps"]);
  EXPECT_EQ(compared["explained"]["by"], nlohmann::json::array({"chain:wgmma"}));
  // Of several orders one that predicts it is enough.
  const Finished both =
      gemm("@a.npy @b.npy --type bf16 --order every=64 --order chain --compare @d.npy");
  EXPECT_EQ(both.status, 0);
  EXPECT_NE(both.out.find("explained by chain:wgmma (of "), std::string::npos) << both.out;
}

TEST_F(Gemm_Cli, OneFlippedBitIsFoundWhereItIs) {
  draw();
  std::string d = bytes_of(file("d.npy"));
  const std::size_t element = 11 * 40 + 6;
  char& low = d[d.size() - 24 * 40 * 4 + 4 * element];
  low = static_cast<char>(low ^ 1);
  write(file("device.npy"), d);
  const Finished done = gemm("@a.npy @b.npy --type bf16 --order chain --compare @device.npy");
  EXPECT_EQ(done.status, 1);
  EXPECT_NE(done.out.find("960 outputs, 1 differ\n    first: D[11][6] = "), std::string::npos);
  EXPECT_NE(done.out.find("(1 ulp)"), std::string::npos);
  EXPECT_NE(done.out.find("explained by none of "), std::string::npos);
}

TEST_F(Gemm_Cli, TransposesAndFortranOrderMoveBytesOnly) {
  draw();
  // b.npy is in Fortran order; the same bytes are B's transpose in C order.
  std::string b = bytes_of(file("b.npy"));
  const std::string fortran = "'fortran_order': True, 'shape': (200, 40), ";
  ASSERT_NE(b.find(fortran), std::string::npos);
  b.replace(b.find(fortran), fortran.size(), "'fortran_order': False, 'shape': (40, 200),");
  write(file("bt.npy"), b);
  const Finished done =
      gemm("@a.npy @bt.npy --transpose-b --type bf16 --order chain --compare @d.npy");
  EXPECT_EQ(done.status, 0) << done.err << done.out;
  EXPECT_EQ(complaint("@a.npy @bt.npy --type bf16 --order chain"),
            "tcq: A is 24 x 200 and B is 40 x 200: expected A's columns to be B's rows; "
            "--transpose-b reads B as N x K\n");
}

TEST_F(Gemm_Cli, TheEpilogueReadsCAndBias) {
  draw("--type bf16 --out-type f32");
  const std::string d = bytes_of(file("d.npy"));
  write(file("bias.npy"), bytes_of(file("d.npy"))
                              .replace(d.find("(24, 40), "), 10, "(40,),    ")
                              .substr(0, d.size() - 23 * 40 * 4));
  const Finished plain = gemm(
      "@a.npy @b.npy --type bf16 --order chain --c @d.npy --epilogue "
      "alpha=-1 --out @zero.npy");
  EXPECT_EQ(plain.status, 0) << plain.err;
  const std::string zero = bytes_of(file("zero.npy"));
  EXPECT_EQ(zero.substr(d.size() - 960 * 4), std::string(960 * 4, '\0'));  // D - D
  const Finished more = gemm(
      "@a.npy @b.npy --type bf16 --order chain --bias @bias.npy --epilogue "
      "alpha=0,activation=relu --out @relu.npy");
  EXPECT_EQ(more.status, 0) << more.err;
  EXPECT_EQ(complaint("@a.npy @b.npy --type bf16 --order chain --epilogue beta=2"),
            "tcq: beta is not 0 and there is no C: expected --c C.npy\n");
  EXPECT_EQ(complaint("@a.npy @b.npy --type bf16 --order chain --bias @d.npy"),
            "tcq: d.npy: has shape 24 x 40: expected 40 elements, one for each column\n");
}

TEST_F(Gemm_Cli, ShardsJoinToTheWhole) {
  draw();
  const std::string whole = bytes_of(file("d.npy"));
  std::string joined;
  for (int i = 0; i < 5; ++i) {
    const Finished done = gemm(fmt::format(
        "@a.npy @b.npy --type bf16 --order chain --shard {}/5 --out @d{}.npy --compare @d.npy", i,
        i));
    EXPECT_EQ(done.status, 0) << done.err << done.out;
    const std::string part = bytes_of(file(fmt::format("d{}.npy", i)));
    joined += part.substr(part.find('\n') + 1);
  }
  EXPECT_EQ(joined, whole.substr(whole.find('\n') + 1));
}

TEST_F(Gemm_Cli, ListsAnswerEveryLineAndShardsShareThem) {
  write(file("list"), fmt::format("# shapes\n"
                                  "--generate 8,8,64 --type bf16 --order chain --out {0}\n\n"
                                  "--generate 8,8,64 --type bf16 --order chian\n"
                                  "--generate 8,8,32 --type f16 --order chain\n",
                                  file("first.npy")));
  const Finished all = gemm("--list @list");
  EXPECT_EQ(all.status, 2);
  EXPECT_NE(all.err.find("list:4: unknown --order 'chian'"), std::string::npos) << all.err;
  EXPECT_NE(all.out.find("list:2: --generate 8,8,64"), std::string::npos) << all.out;
  EXPECT_NE(all.out.find("list:5: --generate 8,8,32"), std::string::npos) << all.out;
  EXPECT_TRUE(fs::exists(file("first.npy")));
  const Finished mine = gemm("--list @list --shard 2/3 --json");
  EXPECT_EQ(mine.status, 0);
  const nlohmann::json answer = nlohmann::json::parse(mine.out);
  EXPECT_EQ(answer["line"], 5);
  EXPECT_EQ(answer["answer"]["k"], 32);
  EXPECT_EQ(complaint("--list @list --type bf16"),
            "tcq: --type beside --list list: expected it in the list's lines\n");
  write(file("list"), "--generate 8,8,64 --type bf16 --order chain --threads 1\n");
  EXPECT_NE(gemm("--list @list").err.find("--threads in a line of a list"), std::string::npos);
}

// --- batches and scale factors ---------------------------------------------------------------------

TEST_F(Gemm_Cli, ABatchIsComparedProductByProduct) {
  const std::string drawn =
      "--generate 3,24,40,200 --type bf16 --order every=64 --save-a @a.npy --save-b @b.npy --out "
      "@d.npy";
  ASSERT_EQ(gemm(drawn).status, 0);
  const std::string rest = " --type bf16 --order every=64 --compare ";
  const Finished same = gemm("@a.npy @b.npy" + rest + "@d.npy");
  EXPECT_EQ(same.status, 0) << same.err;
  EXPECT_EQ(line_with(same.out, "D "),
            "D 3 x 24 x 40 = A 3 x 24 x 200 * B 3 x 200 x 40, bf16 * bf16 -> f32");
  std::string d = bytes_of(file("d.npy"));
  const std::size_t element = (std::size_t{2} * 24 + 11) * 40 + 6;
  char& low = d[d.size() - 3 * 24 * 40 * 4 + 4 * element];
  low = static_cast<char>(low ^ 1);
  write(file("device.npy"), d);
  const Finished other = gemm("@a.npy @b.npy" + rest + "@device.npy");
  EXPECT_EQ(other.status, 1);
  EXPECT_NE(other.out.find("2880 outputs, 1 differ\n    first: D[2][11][6] = "), std::string::npos)
      << other.out;
  const Finished json = gemm("@a.npy @b.npy" + rest + "@device.npy --json");
  const nlohmann::json answer = nlohmann::json::parse(json.out);
  EXPECT_EQ(answer["batch"], 3);
  EXPECT_EQ(answer["orders"][0]["compared"]["worst"]["entry"], 2);
  EXPECT_EQ(answer["orders"][0]["compared"]["worst"]["row"], 11);
  ASSERT_EQ(gemm("--generate 2,24,40,200 --type bf16 --order chain --save-b @b2.npy").status, 0);
  EXPECT_EQ(
      complaint("@a.npy @b2.npy --type bf16 --order chain"),
      "tcq: A is 3 x 24 x 200 and B is 2 x 200 x 40: expected as many matrices in both, or one\n");
}

TEST_F(Gemm_Cli, DrawnScaleFactorsAreReadBack) {
  for (const char* words :
       {"--type e4m3 --type-b e5m2 --scaling ue8m0_block32 --order chain",
        "--type e2m1 --scaling ue8m0_block32 --order every=64:tcgen05,kind=mxf4",
        "--type e2m1 --scaling ue4m3_block16 --order chain"}) {
    const std::string saves =
        " --save-a @a --save-b @b --save-scale-a @sa --save-scale-b @sb --out @d";
    ASSERT_EQ(gemm(std::string("--generate 2,24,40,200 ") + words + saves).status, 0) << words;
    const std::string files = std::string("@a @b --scale-a @sa --scale-b @sb ") + words;
    const Finished done = gemm(files + " --compare @d");
    EXPECT_EQ(done.status, 0) << words << done.err;
    EXPECT_NE(done.out.find("1920 outputs, 0 differ"), std::string::npos) << done.out;
    EXPECT_NE(done.out.find("note: evidence: "), std::string::npos) << done.out;
    // Another factor is another result.
    std::string factors = bytes_of(file("sa"));
    factors.back() = static_cast<char>(factors.back() + 1);
    write(file("sa"), factors);
    EXPECT_EQ(gemm(files + " --compare @d").status, 1) << words;
  }
  EXPECT_EQ(
      complaint(
          "@a @b --scale-a @sb --scale-b @sb --type e2m1 --scaling ue4m3_block16 --order chain"),
      "tcq: sb: has shape 2 x 13 x 40: expected 24 x 13, the factors of --scaling ue4m3_block16\n");
  const Finished none =
      gemm("@a @b --scale-a @sa --scale-b @sb --type e2m1 --scaling ue4m3_block16 --order float64");
  EXPECT_EQ(none.status, 3);
  EXPECT_EQ(none.err, "tcq: 'float64': factors of 16 of K are operands of tcgen05.mma\n");
}

// --- damage ----------------------------------------------------------------------------------------

TEST_F(Gemm_Cli, DamagedFilesAreSentences) {
  draw();
  const std::string a = bytes_of(file("a.npy"));
  for (std::size_t size = 0; size < a.size(); size += size < 140 ? 1 : 1999) {
    write(file("cut.npy"), a.substr(0, size));
    EXPECT_TRUE(
        complaint("@cut.npy @b.npy --type bf16 --order chain").starts_with("tcq: cut.npy: is "))
        << size;
  }
  const auto with_header = [&](const std::string& from, const std::string& to) {
    std::string damaged = a;
    damaged.replace(damaged.find(from), from.size(), to);
    write(file("cut.npy"), damaged);
    return complaint("@cut.npy @b.npy --type bf16 --order chain");
  };
  EXPECT_EQ(
      with_header("<u2", ">u2"),
      "tcq: cut.npy: its elements are big-endian ('>u2'): expected little-endian ones, as <u2\n");
  EXPECT_EQ(with_header("<u2", "<f2"),
            "tcq: cut.npy: its dtype is '<f2': bf16 is read from <u2, <i2, <V2, |V2\n");
  EXPECT_EQ(with_header("(24, 200), }                    ", "(24, 4611686018427387904000), } "),
            "tcq: cut.npy: its shape is too large\n");
  EXPECT_EQ(with_header("(24, 200), }                    ", "(2400000000000, 4000000000), }  "),
            "tcq: cut.npy: its shape (2400000000000, 4000000000) overflows 2^63 bytes\n");
  EXPECT_EQ(complaint("@none.npy @b.npy --type bf16 --order chain"),
            "tcq: none.npy: No such file or directory\n");
}

TEST_F(Gemm_Cli, NaNsGoThroughAndTheirPayloadsCount) {
  draw();
  std::string a = bytes_of(file("a.npy"));
  a[a.size() - 1] = '\x7f';  // the last element of row 23: NaN
  a[a.size() - 2] = '\xc1';
  write(file("nan.npy"), a);
  EXPECT_EQ(gemm("@nan.npy @b.npy --type bf16 --order chain --out @n.npy").status, 0);
  std::string n = bytes_of(file("n.npy"));
  EXPECT_EQ(n.substr(n.size() - 4), "\xff\xff\xff\x7f");
  n[n.size() - 4] = '\0';
  write(file("device.npy"), n);
  const Finished done = gemm("@nan.npy @b.npy --type bf16 --order chain --compare @device.npy");
  EXPECT_EQ(done.status, 1);
  EXPECT_NE(done.out.find("1 of them are NaN in both, with other payloads"), std::string::npos);
}

TEST_F(Gemm_Cli, NothingIsWrittenWhereNothingCanBe) {
  draw();
  EXPECT_EQ(complaint("@a.npy @b.npy --type bf16 --order chain --out /dev/full"),
            "tcq: /dev/full: cannot be written: it is no regular file\n");
  EXPECT_EQ(complaint("@a.npy @b.npy --type bf16 --order chain --out @no/d.npy"),
            "tcq: no/d.npy: cannot be written: No such file or directory\n");
  EXPECT_EQ(complaint("@a.npy @b.npy --type bf16 --order chain --order fma --out @x.npy"),
            "tcq: 1 --out for 2 --order: expected one for each, in their order\n");
  EXPECT_EQ(
      complaint("@a.npy @b.npy --type bf16 --order chain --order fma --out @x.npy --out @x.npy"),
      "tcq: x.npy is to be written twice: expected another name\n");
  EXPECT_EQ(folder_.files(), 3);
}

// A limit on the size of files stands for a full disk.
TEST_F(Gemm_Cli, AFullDiskIsKnownBeforeAnythingIsComputed) {
  draw();
  const Finished done =
      run("/bin/sh", {"-c", fmt::format("ulimit -f 1; exec '{}' gemm --generate "
                                        "2000,2000,800 --type bf16 --order chain --out '{}'",
                                        TCQ_BINARY, file("full.npy"))});
  EXPECT_EQ(done.status, 2);
  EXPECT_NE(done.err.find("full.npy: no room for it: File too large"), std::string::npos)
      << done.err;
  EXPECT_EQ(folder_.files(), 3);
}

TEST_F(Gemm_Cli, ShapesBeyondMemoryAreRefused) {
  EXPECT_EQ(complaint("--generate 1000000000,1000000000,16 --type bf16 --order chain"),
            "tcq: 1000000000 x 1000000000 elements of f32 do not fit this machine's memory\n");
  EXPECT_EQ(complaint("--generate 1,1099511627776,1099511627776 --type bf16 --order chain"),
            "tcq: 1 x 1099511627776 elements of f32 do not fit this machine's memory\n");
  EXPECT_EQ(complaint("--generate 1099511627777,1,1 --type bf16 --order chain"),
            "tcq: M = '1099511627777': expected at most 2^40\n");
}

// --- signals ---------------------------------------------------------------------------------------

// tcq with these words; `err` becomes its stderr.
pid_t start(std::vector<std::string> words, int err) {
  std::vector<char*> argv = {const_cast<char*>(TCQ_BINARY)};
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    dup2(err, STDERR_FILENO);
    dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
    execv(TCQ_BINARY, argv.data());
    _exit(127);
  }
  return child;
}

// A file that was there before stays what it was.
TEST_F(Gemm_Cli, CtrlCLeavesNoFileAndSaysSo) {
  write(file("long.npy"), "of yesterday");
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    std::FILE* err = temporary_file();
    const pid_t child = start(
        words("--generate 4096,4096,1024 --type bf16 --order chain --threads 1 --out @long.npy"),
        fileno(err));
    while (!fs::exists(file("long.npy.partial"))) {  // it computes
      ASSERT_EQ(waitpid(child, nullptr, WNOHANG), 0);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    kill(child, signal);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 130);
    const std::string sentence = contents(err);
    EXPECT_NE(sentence.find("tcq: interrupted after "), std::string::npos) << sentence;
    EXPECT_NE(sentence.find(" of 4096 rows of 'chain': nothing was written\n"), std::string::npos);
    EXPECT_EQ(folder_.files(), 1);
    // Otherwise 64 MB, which nobody wants to see printed.
    EXPECT_TRUE(bytes_of(file("long.npy")) == "of yesterday");
  }
}

// The first order's D is whole and said to be, the second one's is not there.
TEST_F(Gemm_Cli, CtrlCKeepsTheOrdersThatAreDone) {
  std::FILE* err = temporary_file();
  const pid_t child =
      start(words("--generate 2048,2048,512 --type bf16 --threads 1 --order chain --out @first.npy "
                  "--order every=64 --out @second.npy"),
            fileno(err));
  while (!fs::exists(file("first.npy"))) {
    ASSERT_EQ(waitpid(child, nullptr, WNOHANG), 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  kill(child, SIGINT);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 130);
  const std::string sentence = contents(err);
  EXPECT_NE(sentence.find(" of 2048 rows of 'every=64': D of the order before it is written, "
                          "nothing of this one\n"),
            std::string::npos)
      << sentence;
  EXPECT_EQ(fs::file_size(file("first.npy")), 128 + 2048u * 2048 * 4);
  EXPECT_EQ(folder_.files(), 1);
}

// Also where nothing of the second line has been computed yet.
TEST_F(Gemm_Cli, CtrlCInAListSaysWhereItStopped) {
  std::FILE* err = temporary_file();
  write(file("list"), fmt::format("--generate 8,8,64 --type bf16 --order chain --out {}\n"
                                  "--generate 4096,4096,1024 --type bf16 --order chain --out {}\n",
                                  file("first.npy"), file("second.npy")));
  const pid_t child = start(words("--list @list --threads 1"), fileno(err));
  while (!fs::exists(file("first.npy"))) {
    ASSERT_EQ(waitpid(child, nullptr, WNOHANG), 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  kill(child, SIGTERM);
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  const std::string sentence = contents(err);
  EXPECT_NE(sentence.find("list:2: interrupted"), std::string::npos) << sentence;
  EXPECT_EQ(folder_.files(), 2);
}

// As under nohup, or in the background of a shell.
TEST_F(Gemm_Cli, SignalsThatAreIgnoredStayIgnored) {
  std::FILE* err = temporary_file();
  std::signal(SIGINT, SIG_IGN);
  const pid_t child =
      start(words("--generate 1024,1024,512 --type bf16 --order chain --threads 1 --out @d.npy"),
            fileno(err));
  std::signal(SIGINT, SIG_DFL);
  while (!fs::exists(file("d.npy.partial"))) {
    ASSERT_EQ(waitpid(child, nullptr, WNOHANG), 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  kill(child, SIGINT);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << contents(err);
  EXPECT_TRUE(fs::exists(file("d.npy")));
}

// A terminal of our own: what is computed, how far it is, and a wiped line at the end.
TEST_F(Gemm_Cli, ATerminalIsToldHowFarItIs) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_GE(terminal, 0);
  ASSERT_EQ(grantpt(terminal) + unlockpt(terminal), 0);
  const int err = open(ptsname(terminal), O_WRONLY | O_NOCTTY);
  ASSERT_GE(err, 0);
  const pid_t child =
      start(words("--generate 64,512,2048 --type bf16 --order every=64 --out @d.npy"), err);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  close(err);  // The last end to write: what is still on its way arrives, and then reading fails.
  std::string shown;
  char buffer[4096];
  for (ssize_t count; (count = read(terminal, buffer, sizeof buffer)) > 0;)
    shown.append(buffer, static_cast<std::size_t>(count));
  close(terminal);
  EXPECT_TRUE(shown.starts_with("\r\x1b[Kevery=64: 0 % of 64 rows")) << shown;
  EXPECT_NE(shown.find("every=64: 50 % of 64 rows, "), std::string::npos) << shown;
  EXPECT_NE(shown.find(" s left"), std::string::npos) << shown;
  EXPECT_TRUE(shown.ends_with("every=64: 100 % of 64 rows\r\x1b[K")) << shown;
}

TEST_F(Gemm_Cli, APictureOfErrorsByK) {
  const std::string drawn = "--generate 2,8,300 --type e4m3 --order chain --svg @errors.svg";
  const Finished done = gemm(drawn);
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(line_with(done.out, "errors.svg"), "saved: " + file("errors.svg"));
  EXPECT_NE(bytes_of(file("errors.svg")).find(">256<"), std::string::npos);
  EXPECT_EQ(gemm(drawn + " --json").status, 0);
  draw();
  EXPECT_EQ(complaint("@a.npy @b.npy --type bf16 --order chain --svg @x.svg"),
            "tcq: --svg draws distances from float64 by K: expected --generate M,N,K\n");
  EXPECT_EQ(complaint("--generate 2,8,300 --type e4m3 --order chain --save-a @x --svg @x"),
            "tcq: x is to be written twice: expected another name\n");
  EXPECT_NE(
      complaint("--generate 2,8,300 --type e4m3 --order chain --svg @no/where").find("no/where"),
      std::string::npos);
}

TEST_F(Gemm_Cli, HelpIsReachedFromEverySide) {
  const std::string page = run_tcq({"help", "gemm"}).out;
  EXPECT_EQ(run_tcq({"gemm", "--help"}).out, page);
  EXPECT_NE(page.find("every=128: 2 chains of wgmma f32.e4m3.e4m3"), std::string::npos) << page;
  EXPECT_EQ(
      run_tcq({"--json", "gemm", "--generate", "1,1,16", "--type", "bf16", "--order", "chain"})
          .out[0],
      '{');
}

}  // namespace
}  // namespace tcq::tests
