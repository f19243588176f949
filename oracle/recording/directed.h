// Directed dot products as text: one line per probe, readable and writable by hand.
//
//   A1.f16.f32.j+1 wgmma.m64n8k16.f32.f16.f16 A=0:5800,1:d800 B=0-1:5800 C=00000000 D=00000000
//
// A and B list the non-zero elements as k:hex or first-last:hex (A.sp: stored elements, and a codes
// key), C is the input of D, D the bits a device returned (`?` before it was recorded). Other keys:
// mnemonic.h. Lines starting with # are the header, with the checksums of container.h; a file of
// questions needs none.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/ptx/mnemonic.h"
#include "oracle/recording/recording.h"

namespace tcq::oracle {

struct Probe {
  std::string id;
  Instruction instruction;
  std::vector<std::uint32_t> a;      // stored_k elements, raw bits
  std::vector<std::uint32_t> b;      // k(form) elements
  std::vector<std::uint32_t> codes;  // sparse: one per chunk
  std::uint32_t c = 0;
  std::uint32_t d = 0;
  bool recorded = false;
};

struct DirectedFile {
  std::map<std::string, std::string> header;
  std::vector<Probe> probes;
};

bool is_directed(std::string_view bytes);
// Throws BadFile, with the line number where there is one.
DirectedFile parse_directed(std::string_view bytes);
std::string serialize(const DirectedFile& file);

// The simulator's answer to one probe.
std::uint32_t simulate(const Probe& probe);

Comparison compare(const DirectedFile& file, std::int64_t only = -1);

}  // namespace tcq::oracle
