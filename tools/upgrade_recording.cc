// upgrade_recording: rewrites a recording of format 1 in the format that `tcq verify` reads.
//
// It decides nothing and needs no device: the cases stay as they are, byte for byte
// (oracle/recording/container_upgrade.h).
#include <fmt/format.h>

#include <filesystem>

#include "oracle/answer/words.h"
#include "oracle/recording/container.h"
#include "oracle/recording/container_upgrade.h"
#include "oracle/recording/files.h"
#include "tools/tool_main.h"

namespace {

using namespace tcq;

int upgrade(const std::string& in, const std::string& out, bool force) {
  if (std::filesystem::exists(out) && !force)
    throw oracle::UsageError(fmt::format("{} exists; it is replaced with --force only", out));
  try {
    oracle::write_file(out, oracle::upgraded_recording(oracle::read_file(in)));
  } catch (const oracle::BadFile& error) {
    throw oracle::UsageError(fmt::format("{}: {}", in, error.what()));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::string in;
  std::string out;
  bool force = false;
  CLI::App app("Rewrites a recording of format 1 in format 2; the cases stay byte for byte.");
  app.add_option("in", in, "recording of format 1")->required();
  app.add_option("out", out, "file to write")->required();
  app.add_flag("--force", force, "replace an existing file");
  return tools::tool_main(app, "upgrade_recording", argc, argv,
                          [&] { return upgrade(in, out, force); });
}
