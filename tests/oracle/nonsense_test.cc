// Nonsense gets no answer: random forms with random keys, most of which contradict each other.
//
// What is legal is read from sim/isa's tables with the members that the test drew itself, not from
// what the oracle understood. Laws: status 0 never for what the tables reject; JSON and text agree
// in status; nothing on stdout without an answer; values are read alike in either case; encode says
// what decode will say about its word.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "oracle/ptx/mnemonic.h"
#include "oracle/ptx/tcgen05_form.h"
#include "sim/isa/tcgen05/operand.h"
#include "sim/isa/tcgen05/shape.h"
#include "sim/isa/tcgen05/zero_mask.h"
#include "sim/isa/tmem/address.h"
#include "sim/isa/wgmma/descriptor.h"
#include "tests/support/ask.h"
#include "tests/support/effort.h"

namespace tcq::oracle {
namespace {

using tcgen05::InstructionDescriptor;
using tcgen05::Kind;
using tcgen05::MmaForm;
using tcgen05::ScaleType;

using Random = std::mt19937_64;

template <class T, std::size_t N>
T pick(Random& random, const std::array<T, N>& values) {
  return values[random() % N];
}

bool one_in(Random& random, int n) { return random() % static_cast<unsigned>(n) == 0; }

bool is_unmodelled(Fault fault) { return info(fault).kind == FaultKind::Unmodelled; }

std::string either_case(std::string question, Random& random) {
  bool value = false;
  for (char& c : question) {
    if (c == ' ') value = false;
    if (value && one_in(random, 2))
      c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    if (c == '=') value = true;
  }
  return question;
}

// Asks in text, as JSON and in another case. Verbs that answer with a table, page or plan have text
// with status 1 as well; none of those is asked here.
Answer ask_thrice(const std::string& question, Random& random) {
  const Answer text = ask(question);
  const Answer json = ask(question, styled(Style::Json));
  const Answer shouted = ask(either_case(question, random));
  EXPECT_EQ(json.status, text.status) << question << "\n" << text.complaint << json.complaint;
  EXPECT_EQ(shouted.status, text.status) << question << "\n" << shouted.complaint;
  EXPECT_EQ(shouted.text, text.text) << question;
  EXPECT_EQ(text.complaint.find("internal error"), std::string::npos) << question << text.complaint;
  if (text.status != Status::Yes) {
    EXPECT_EQ(text.text, "") << question;
    EXPECT_EQ(json.text, "") << question;
    EXPECT_FALSE(text.complaint.empty()) << question;
  } else {
    EXPECT_FALSE(text.text.empty()) << question;
    EXPECT_TRUE(json.text.starts_with("{") || json.text.starts_with("[")) << question;
  }
  return text;
}

// ---- tcgen05.mma --------------------------------------------------------------------------------

struct Drawn {
  MmaForm form;
  InstructionDescriptor d;
  std::string keys;
  bool scales_of_nothing = false;  // keys of scale factors for a kind without
};

constexpr std::array all_types = {Type::f16,  Type::bf16, Type::tf32, Type::e4m3, Type::e5m2,
                                  Type::e2m3, Type::e3m2, Type::e2m1, Type::s8,   Type::u8,
                                  Type::f32,  Type::s32,  Type::b1};

class Draw {
 public:
  Draw(Random& random, const MmaForm& form, InstructionDescriptor d) : random_(random) {
    drawn_.form = form;
    drawn_.d = d;
  }

  Drawn operator()() {
    number("m", drawn_.d.m, {32, 64, 128, 256, 144, 16, 0}, 2);
    number("n", drawn_.d.n, {8, 16, 24, 32, 64, 128, 136, 200, 256, 20, 264, 0}, 2);
    type("type_a", drawn_.d.a);
    type("type_b", drawn_.d.b);
    type("type_d", drawn_.d.d);
    major("major_a", drawn_.d.major_a);
    major("major_b", drawn_.d.major_b);
    flag("negate_a", drawn_.d.negate_a);
    flag("negate_b", drawn_.d.negate_b);
    flag("sparse", drawn_.d.sparse);
    flag("saturate", drawn_.d.saturate);
    flag("k96", drawn_.d.k96);
    number("selector", drawn_.d.selector, {0, 1, 2, 3, 4}, 10);
    number("max_shift_b", drawn_.d.max_shift_b, {0, 8, 16, 32, 24}, 10);
    scales();
    return drawn_;
  }

 private:
  void add(const std::string& key, const std::string& value) {
    drawn_.keys += " " + key + "=" + value;
  }
  void number(const char* key, int& member, std::vector<int> values, int chance) {
    if (!one_in(random_, chance)) return;
    member = values[random_() % values.size()];
    add(key, std::to_string(member));
  }
  void flag(const char* key, bool& member) {
    if (!one_in(random_, 12)) return;
    member = one_in(random_, 2);
    add(key, member ? "1" : "0");
  }
  void type(const char* key, Type& member) {
    if (!one_in(random_, 6)) return;
    member = pick(random_, all_types);
    add(key, name(member));
  }
  void major(const char* key, Major& member) {
    if (!one_in(random_, 5)) return;
    member = one_in(random_, 2) ? Major::MN : Major::K;
    add(key, member == Major::MN ? "MN" : "K");
  }
  void scales() {
    const std::string before = drawn_.keys;
    number("scale_a_id", drawn_.d.scale_a_id, {0, 1, 2, 3, 4}, 12);
    number("scale_b_id", drawn_.d.scale_b_id, {0, 1, 2, 3, 4}, 12);
    if (one_in(random_, 8)) {
      drawn_.d.scale_type = one_in(random_, 2) ? ScaleType::ue4m3 : ScaleType::ue8m0;
      add("scale_type", name(drawn_.d.scale_type));
    }
    drawn_.scales_of_nothing = drawn_.keys != before && !is_block_scaled(drawn_.form.opcode.kind);
  }

  Random& random_;
  Drawn drawn_ = {};
};

// What a mnemonic without keys means, spelt anew.
InstructionDescriptor plain(const tcgen05::MmaOpcode& op) {
  constexpr std::array firsts = {Type::f16,  Type::tf32, Type::e4m3, Type::s8,
                                 Type::e4m3, Type::e2m1, Type::e2m1};
  constexpr std::array kinds = {Kind::f16,      Kind::tf32, Kind::f8f6f4,  Kind::i8,
                                Kind::mxf8f6f4, Kind::mxf4, Kind::mxf4nvf4};
  InstructionDescriptor d;
  for (std::size_t i = 0; i < kinds.size(); ++i)
    if (kinds[i] == op.kind) d.a = d.b = firsts[i];
  d.d = op.kind == Kind::i8 ? Type::s32 : Type::f32;
  d.m = 128 * op.cta_group;
  d.n = 128;
  d.sparse = op.sparse;
  return d;
}

std::vector<MmaForm> mma_forms() {
  std::vector<MmaForm> forms;
  for (const Tcgen05Form& form : all_tcgen05_forms())
    if (const auto* mma = std::get_if<MmaForm>(&form)) forms.push_back(*mma);
  return forms;
}

// Keys with which each verb asks about some part of a legal instruction.
constexpr std::array<const char*, 10> verbs = {"describe", "where",  "what",   "table",
                                               "equation", "layout", "layout", "partition",
                                               "where",    "layout"};
constexpr std::array<const char*, 10> matrices = {"", " D", " D", " D", " D",
                                                  "", " A", "",   " E", " B"};
constexpr std::array<const char*, 10> own_keys = {"",
                                                  " row=0 col=0",
                                                  " tmem_lane=0 tmem_column=0",
                                                  "",
                                                  "",
                                                  "",
                                                  " rows=128",
                                                  " bM=256 bN=256 bK=128",
                                                  " row=0 chunk=0",
                                                  " rows=256 k=64"};

TEST(Nonsense, NoVerbAnswersAnInstructionThatTheTablesReject) {
  Random random(11);
  const std::vector<MmaForm> forms = mma_forms();
  int answered = 0, illegal = 0, unmodelled = 0;
  for (int round = 0; round < tests::effort(4000); ++round) {
    MmaForm form = forms[random() % forms.size()];
    Drawn drawn = Draw(random, form, plain(form.opcode))();
    if (one_in(random, 6)) {
      drawn.form.opcode.a_place = tcgen05::Place::Tmem;
      drawn.keys += " a=tmem";
    }
    const std::size_t verb = random() % verbs.size();
    const std::string question = std::string(verbs[verb]) + " " + short_opcode(form) +
                                 matrices[verb] + drawn.keys + own_keys[verb];
    const Answer reply = ask_thrice(question, random);
    Fault fault = check(drawn.form);
    if (fault == Fault::None) fault = check(drawn.form.opcode, drawn.d);
    if (fault == Fault::None && drawn.scales_of_nothing) fault = Fault::ScaleTypeOfKind;
    if (fault != Fault::None) {
      EXPECT_NE(reply.status, Status::Yes) << question << "\n" << info(fault).name;
      const bool usage = reply.status == Status::Usage;  // a key of another matrix or form
      illegal += is_unmodelled(fault) ? 0 : 1;
      unmodelled += is_unmodelled(fault) ? 1 : 0;
      if (verb == 0) {
        EXPECT_FALSE(usage) << question << "\n" << reply.complaint;
        EXPECT_EQ(reply.status == Status::Unmodelled,
                  is_unmodelled(fault) && !drawn.scales_of_nothing)
            << question << "\n"
            << reply.complaint;
      }
    } else if (verb == 0) {
      EXPECT_EQ(reply.status, Status::Yes) << question << "\n" << reply.complaint;
    }
    const Answer sum = ask("mma " + short_opcode(form) + drawn.keys);  // its words, without a line
    EXPECT_EQ(sum.status == Status::Yes && fault != Fault::None, false) << question;
    answered += reply.status == Status::Yes ? 1 : 0;
    if (HasFailure()) return;
  }
  EXPECT_GT(answered, 300 / tests::effort_share);
  EXPECT_GT(illegal, 1500 / tests::effort_share);
  EXPECT_TRUE(unmodelled > 5 || tests::sanitized) << unmodelled;
}

// The nearest legal values that a refusal names are legal.
TEST(Nonsense, WhatARefusalProposesIsAccepted) {
  Random random(12);
  const std::vector<MmaForm> forms = mma_forms();
  int proposed = 0, refused = 0;
  for (int round = 0; round < tests::effort(3000); ++round) {
    const MmaForm form = forms[random() % forms.size()];
    const Drawn drawn = Draw(random, form, plain(form.opcode))();
    if (drawn.scales_of_nothing) continue;
    const Answer reply = ask("describe " + short_opcode(form) + drawn.keys);
    if (reply.status != Status::No) continue;
    ++refused;
    const std::string marker = "nearest legal: ";
    const std::size_t at = reply.complaint.rfind(marker);
    if (at == std::string::npos) continue;
    ++proposed;
    const std::string rest = reply.complaint.substr(at + marker.size());
    std::string better = drawn.keys;
    for (const std::string& change : split(rest.substr(0, rest.find(" or ")))) {
      const std::string key = " " + change.substr(0, change.find('=')) + "=";
      if (const std::size_t old = better.find(key); old != std::string::npos)
        better.erase(old, better.find(' ', old + 1) - old);
      better += " " + change;
    }
    const Answer again = ask("describe " + short_opcode(form) + better);
    EXPECT_EQ(again.status, Status::Yes) << reply.complaint << "\n" << better << again.complaint;
  }
  EXPECT_GT(refused, 1000 / tests::effort_share);
  EXPECT_GT(proposed, refused / 3);
}

// ---- Other instructions -------------------------------------------------------------------------

TEST(Nonsense, KeysOfMmaDoNotApplyToOtherInstructions) {
  Random random(13);
  for (const Tcgen05Form& form : all_tcgen05_forms()) {
    if (std::holds_alternative<MmaForm>(form)) continue;
    EXPECT_EQ(ask_thrice("describe " + short_opcode(form), random).status, Status::Yes);
    for (const char* key : {"m=128", "n=8", "k=16", "type_a=f16", "major_b=MN", "scale_type=ue8m0",
                            "selector=1", "a=tmem", "sparse=1", "accumulate=1"})
      EXPECT_EQ(ask_thrice("describe " + short_opcode(form) + " " + key, random).status,
                Status::Usage)
          << short_opcode(form) << key;
    for (const char* verb : {"layout ", "partition "})
      EXPECT_EQ(ask_thrice(verb + short_opcode(form) + " m=128", random).status, Status::Usage);
  }
}

TEST(Nonsense, WgmmaWithKeysThatItsTablesRejectIsRefused) {
  Random random(14);
  const std::vector<wgmma::Form> forms = all_forms();
  constexpr std::array<const char*, 5> questions = {"describe ", "where ", "layout ", "table ",
                                                    "partition "};
  constexpr std::array<const char*, 5> rests = {"", " D row=1 col=1", " B rows=256 k=256", " D",
                                                " bM=128 bN=256 bK=256"};
  int refused = 0;
  for (int round = 0; round < tests::effort(4000); ++round) {
    wgmma::Form form = forms[random() % forms.size()];
    const std::string mnemonic = short_mnemonic(form);
    std::string keys;
    const auto draw = [&](const char* key, auto& member, auto yes, auto no, const char* yes_word,
                          const char* no_word) {
      if (!one_in(random, 4)) return;
      member = one_in(random, 2) ? yes : no;
      keys += std::string(" ") + key + "=" + (member == yes ? yes_word : no_word);
    };
    draw("a", form.a_place, wgmma::Place::Registers, wgmma::Place::Smem, "regs", "smem");
    draw("major_a", form.major_a, Major::MN, Major::K, "MN", "K");
    draw("major_b", form.major_b, Major::MN, Major::K, "MN", "K");
    draw("negate_a", form.negate_a, true, false, "1", "0");
    draw("negate_b", form.negate_b, true, false, "1", "0");
    const std::size_t i = random() % questions.size();
    const std::string words = std::string(rests[i]).substr(0, 2);
    const std::string question =
        questions[i] + mnemonic + (i == 2 ? " B" + keys + " rows=256 k=256" : rests[i] + keys);
    const Answer reply = ask_thrice(question, random);
    const bool legal = check(form) == Fault::None;
    refused += legal ? 0 : 1;
    if (!legal) {
      EXPECT_EQ(reply.status, Status::No) << question;
    } else if (i == 0) {
      EXPECT_EQ(reply.status, Status::Yes) << question << reply.complaint;
    }
  }
  EXPECT_GT(refused, 500 / tests::effort_share);
}

// ---- encode -------------------------------------------------------------------------------------

std::vector<std::string> lints_of(const std::string& decoded) {
  std::vector<std::string> lints;
  for (const std::string& line : split(decoded, '\n'))
    if (line.starts_with("lint: ")) lints.push_back(line);
  return lints;
}

// decode(encode(x)) says of the word what encode said.
void expect_same_lints(const std::string& format, const Answer& encoded, const std::string& use) {
  const std::string decoded = text_of("decode " + format + " " + encoded.text + use);
  EXPECT_EQ(lints_of(encoded.complaint), lints_of(decoded)) << format << encoded.text << use;
}

// The best that any opcode of a kind makes of a descriptor.
Status best_of(const InstructionDescriptor& d, Kind kind, std::optional<int> wanted_group,
               std::optional<bool> wanted_ws) {
  bool unmodelled = false;
  for (const int cta_group : {1, 2})
    for (const bool ws : {false, true})
      for (const bool sparse : {false, true})
        for (int i = 0; i < tcgen05::scale_vec_count; ++i) {
          const auto scale_vec = static_cast<tcgen05::ScaleVec>(i);
          if (wanted_group.value_or(cta_group) != cta_group || wanted_ws.value_or(ws) != ws)
            continue;
          const tcgen05::MmaOpcode op = {kind, cta_group, ws, sparse, scale_vec};
          const Fault fault = check(op, d);
          if (fault == Fault::None) return Status::Yes;
          unmodelled = unmodelled || is_unmodelled(fault);
        }
  return unmodelled ? Status::Unmodelled : Status::No;
}

bool format_has(Kind kind, const std::string& key) {
  bool found = false;
  tcgen05::with_idesc_format(kind, [&](auto format) {
    decltype(format)::for_each([&](auto field) { found = found || key == decltype(field)::name; });
    return 0;
  });
  return found;
}

TEST(Nonsense, EncodeGivesAnInstructionDescriptorExactlyIfAnInstructionTakesIt) {
  Random random(15);
  int words = 0, refused = 0, unmodelled = 0;
  for (int round = 0; round < tests::effort(6000); ++round) {
    const auto kind = static_cast<Kind>(random() % tcgen05::kind_count);
    InstructionDescriptor d = plain({kind});
    Drawn drawn = Draw(random, {{kind}}, d)();
    std::string keys;
    bool known = true;
    for (const std::string& pair : split(drawn.keys)) {
      if (pair.empty()) continue;
      known = known && format_has(kind, pair.substr(0, pair.find('=')));
      keys += " " + pair;
    }
    if (keys.find(" m=") == std::string::npos) keys += " m=128";
    if (keys.find(" n=") == std::string::npos) keys += " n=128";
    std::optional<int> cta_group;
    std::optional<bool> ws;
    if (one_in(random, 3)) cta_group = one_in(random, 2) ? 2 : 1;
    if (one_in(random, 6)) ws = one_in(random, 2);
    std::string use;
    if (cta_group) use += " cta_group=" + std::to_string(*cta_group);
    if (ws) use += std::string(" ws=") + (*ws ? "1" : "0");
    const std::string format = std::string("tcgen05.idesc.") + name(kind);
    const Answer reply = ask_thrice("encode " + format + keys + use, random);
    if (!known) {
      EXPECT_EQ(reply.status, Status::Usage) << format << keys;
      continue;
    }
    Status expected =
        check(drawn.d, kind) == Fault::None ? best_of(drawn.d, kind, cta_group, ws) : Status::No;
    EXPECT_EQ(reply.status, expected) << format << keys << use << "\n" << reply.complaint;
    words += reply.status == Status::Yes ? 1 : 0;
    refused += reply.status == Status::No ? 1 : 0;
    unmodelled += reply.status == Status::Unmodelled ? 1 : 0;
    if (reply.status == Status::Yes) expect_same_lints(format, reply, use);
    if (HasFailure()) return;
  }
  EXPECT_GT(words, 300 / tests::effort_share);
  EXPECT_GT(refused, 500 / tests::effort_share);
  EXPECT_TRUE(unmodelled > 2 || tests::sanitized) << unmodelled;
}

std::uint32_t offset(Random& random) {
  constexpr std::array<std::uint32_t, 10> values = {0,    16,   128,     256,     512,
                                                    1024, 4096, 1 << 17, 1 << 18, 1000};
  return pick(random, values);
}

TEST(Nonsense, EncodeOfDescriptorsSaysWhatDecodeSays) {
  Random random(16);
  constexpr std::array<const char*, 5> swizzles = {"none", "32B", "64B", "128B", "128B_ATOM_32B"};
  constexpr std::array codes = {Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128,
                                Swizzle::B128Atom32};
  constexpr std::array uses = {Type::f16, Type::tf32, Type::s8, Type::e4m3, Type::e2m1};
  constexpr std::array kinds = {Kind::f16, Kind::tf32, Kind::i8, Kind::f8f6f4, Kind::mxf4};
  int words = 0, refused = 0, with_lints = 0;
  for (int round = 0; round < tests::effort(6000); ++round) {
    const std::size_t s = random() % swizzles.size();
    tcgen05::SmemDescriptor d = {
        offset(random),    offset(random),
        offset(random),    one_in(random, 6) ? static_cast<std::uint32_t>(random() % 10) : 0,
        one_in(random, 8), codes[s]};
    const std::string numbers =
        " start=" + std::to_string(d.start_bytes) + " lbo=" + std::to_string(d.lbo_bytes) +
        " sbo=" + std::to_string(d.sbo_bytes) + " base_offset=" + std::to_string(d.base_offset) +
        " swizzle=" + swizzles[s];
    std::string use;
    Fault fault = check(d);
    if (one_in(random, 2)) {
      const std::size_t t = random() % uses.size();
      const Major major = one_in(random, 2) ? Major::MN : Major::K;
      use = std::string(" type=") + name(uses[t]) + " kind=" + name(kinds[t]) +
            " major=" + (major == Major::MN ? "MN" : "K") + (one_in(random, 2) ? " mn=128" : "");
      fault = tcgen05::check_operand(d, kinds[t], uses[t], major);
    }
    const Answer reply = ask_thrice(
        "encode tcgen05.desc" + numbers + (d.lbo_absolute ? " lbo_mode=absolute" : "") + use,
        random);
    EXPECT_EQ(reply.status, fault == Fault::None   ? Status::Yes
                            : is_unmodelled(fault) ? Status::Unmodelled
                                                   : Status::No)
        << numbers << use << reply.complaint;
    words += reply.status == Status::Yes ? 1 : 0;
    refused += reply.status == Status::No ? 1 : 0;
    with_lints += reply.status == Status::Yes && !reply.complaint.empty() ? 1 : 0;
    if (reply.status == Status::Yes) expect_same_lints("tcgen05.desc", reply, use);
    if (d.lbo_absolute || s == 4) continue;
    const std::string instruction =
        one_in(random, 2) ? "" : " mnemonic=wgmma.m64n64k16.f32.bf16.bf16 rows=64 k=64";
    const Answer hopper = ask_thrice("encode wgmma.desc" + numbers + instruction, random);
    const wgmma::MatrixDescriptor w = {d.start_bytes, d.lbo_bytes, d.sbo_bytes, d.base_offset, {}};
    EXPECT_EQ(hopper.status, check(w) == Fault::None ? Status::Yes : Status::No) << numbers;
    if (hopper.status == Status::Yes) expect_same_lints("wgmma.desc", hopper, instruction);
    if (HasFailure()) return;
  }
  EXPECT_GT(words, 500 / tests::effort_share);
  EXPECT_GT(refused, 500 / tests::effort_share);
  EXPECT_GT(with_lints, 100 / tests::effort_share);
}

TEST(Nonsense, EncodeOfMasksAndCellsSaysWhatDecodeSays) {
  Random random(17);
  for (int round = 0; round < tests::effort(2000); ++round) {
    constexpr std::array<int, 7> spans = {0, 1, 2, 17, 255, 256, 257};
    constexpr std::array<int, 5> shifts = {0, 8, 16, 32, 33};
    tcgen05::ZeroColumnMask z;
    z.non_zero = true;
    z.skip_columns = static_cast<std::uint32_t>(pick(random, spans));
    z.use_columns = static_cast<std::uint32_t>(pick(random, spans));
    z.column_shift = static_cast<std::uint32_t>(pick(random, shifts));
    const std::string use = one_in(random, 2) ? "" : " m=32 n=64";
    const Fault fault = use.empty() ? check(z) : check(z, 32);
    const Answer reply = ask_thrice(
        "encode tcgen05.zero_mask non_zero=1 skip_columns=" + std::to_string(z.skip_columns) +
            " use_columns=" + std::to_string(z.use_columns) +
            " column_shift=" + std::to_string(z.column_shift) + use,
        random);
    EXPECT_EQ(reply.status, fault == Fault::None   ? Status::Yes
                            : is_unmodelled(fault) ? Status::Unmodelled
                                                   : Status::No);
    if (reply.status == Status::Yes) expect_same_lints("tcgen05.zero_mask", reply, use);
    const tcgen05::TmemAddress cell = {static_cast<int>(random() % 200),
                                       static_cast<int>(random() % 800)};
    const Answer at = ask_thrice("encode tmem.addr tmem_lane=" + std::to_string(cell.tmem_lane) +
                                     " tmem_column=" + std::to_string(cell.tmem_column),
                                 random);
    EXPECT_EQ(at.status, check(cell) == Fault::None ? Status::Yes : Status::No);
    if (at.status == Status::Yes) expect_same_lints("tmem.addr", at, "");
  }
}

// What nobody should get a word for, by hand.
TEST(Nonsense, WorkedRefusalsNameTheNearestLegalValue) {
  struct Refusal {
    std::string question;
    std::string part;
  };
  for (const Refusal& r : std::vector<Refusal>{
           {"encode tcgen05.idesc.f16 m=144 n=24", "nearest legal: m=128"},
           {"encode tcgen05.idesc.f16 m=256 n=8", "nearest legal: n=16 or m=128"},
           {"encode tcgen05.idesc.f16 m=256 n=16 cta_group=1", "nearest legal: m=128"},
           {"encode tcgen05.idesc.f16 m=64 n=8 selector=1", "nearest legal: sparse=1"},
           {"encode tcgen05.desc start=1001", "nearest legal: start_bytes=1008"},
           {"encode wgmma.desc sbo=300000 base_offset=9",
            "nearest legal: sbo_bytes=262128 base_offset=7"},
           {"encode tcgen05.desc swizzle=128B_ATOM_32B type=f16 major=MN",
            "nearest legal: swizzle=none"},
           {"encode tmem.addr tmem_lane=128", "nearest legal: tmem_lane=127"},
           {"encode tcgen05.zero_mask skip_columns=0", "nearest legal: skip_columns=1"},
           {"describe tcgen05.mma.cta_group::2.kind::f16 n=24", "nearest legal: n=16"},
           {"describe tcgen05.mma.cta_group::1.kind::f16 scale_type=ue8m0", "expected no scale"},
           {"describe tcgen05.mma.cta_group::1.kind::i8 scale_a_id=0", "expected no scale_a_id"},
           {"layout tcgen05.mma.cta_group::1.kind::i8 n=40", "nearest legal: n=32"}}) {
    const Answer reply = ask(r.question);
    EXPECT_EQ(reply.status, Status::No) << r.question;
    EXPECT_NE(reply.complaint.find(r.part), std::string::npos) << reply.complaint;
  }
}

}  // namespace
}  // namespace tcq::oracle
