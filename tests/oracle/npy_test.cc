// The reader of .npy files: what it takes, and that every damage is a sentence.
#include "oracle/gemm/npy.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "oracle/answer/answer.h"
#include "oracle/gemm/elements.h"
#include "oracle/recording/files.h"
#include "tests/support/temporary_folder.h"

namespace tcq::oracle::npy {
namespace {

constexpr std::string_view plain = "{'descr': '<u2', 'fortran_order': False, 'shape': (2, 3), }";

// A file around a header's literal, its length written by the version's rule.
std::string file_of(std::string_view literal, int version = 1, std::size_t data = 12) {
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  std::size_t length = literal.size() + 1;
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i, length /= 256)
    bytes += static_cast<char>(length % 256);
  return bytes + std::string(literal) + "\n" + std::string(data, 'x');
}

std::string refusal(const std::string& bytes) {
  try {
    parse(bytes, "x.npy");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Npy, WhatIsWrittenIsRead) {
  for (const Header& header :
       {Header{"<f4", false, {3, 5}}, Header{"|u1", true, {7, 1}}, Header{"<u2", false, {9}},
        Header{"<i4", false, {0, 4}}, Header{"<u2", false, {123456789, 0}}}) {
    std::string bytes = header_bytes(header);
    EXPECT_EQ(bytes.size() % 64, 0u);
    std::size_t elements = item_bytes(header.dtype);
    for (const std::int64_t size : header.shape) elements *= static_cast<std::size_t>(size);
    bytes.append(elements, 'e');
    const Array array = parse(bytes, "x.npy");
    EXPECT_EQ(array.header, header);
    EXPECT_EQ(array.first + elements, bytes.size());
  }
}

// Source: the example of numpy.lib.format, and what numpy.save writes of np.zeros((2, 3), "u2").
TEST(Npy, TheBytesAreThoseOfNumpy) {
  const std::string want = std::string("\x93NUMPY\x01\x00v\x00", 10) + std::string(plain) +
                           std::string(128 - 10 - plain.size() - 1, ' ') + "\n";
  EXPECT_EQ(header_bytes({"<u2", false, {2, 3}}), want);
}

TEST(Npy, AllVersionsKeysInAnyOrderAndOtherBlanks) {
  const Header want{"<u2", false, {2, 3}};
  for (const int version : {1, 2, 3}) EXPECT_EQ(parse(file_of(plain, version), "x").header, want);
  for (const char* literal :
       {"{'shape': (2, 3), 'fortran_order': False, 'descr': '<u2'}",
        "{\"descr\":\"<u2\",\"fortran_order\":False,\"shape\":(2,3,)}",
        "{ 'fortran_order' : False , 'shape' : ( 2L , 3L ) , 'descr':'<u2', }   "})
    EXPECT_EQ(parse(file_of(literal), "x").header, want) << literal;
}

TEST(Npy, ACutAnywhereIsASentence) {
  for (const int version : {1, 2}) {
    const std::string whole = file_of(plain, version);
    EXPECT_EQ(refusal(whole), "");
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const std::string sentence = refusal(whole.substr(0, size));
      EXPECT_TRUE(sentence.starts_with("x.npy: is ")) << size << ": " << sentence;
    }
    EXPECT_EQ(refusal(whole + "y"), "x.npy: has 1 bytes behind its last element");
  }
}

// Whatever one byte of the front becomes: a sentence, or an array of exactly the bytes that are there.
TEST(Npy, AnyOtherByteAnywhereIsASentenceOrAnotherArray) {
  const std::string whole = file_of(plain);
  for (std::size_t at = 0; at + 12 < whole.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(byte);
      try {
        const Array array = parse(damaged, "x.npy");
        std::size_t elements = item_bytes(array.header.dtype);
        for (const std::int64_t size : array.header.shape)
          elements *= static_cast<std::size_t>(size);
        EXPECT_EQ(array.first + elements, whole.size()) << at << " " << byte;
      } catch (const UsageError& error) {
        EXPECT_TRUE(std::string_view(error.what()).starts_with("x.npy: ")) << error.what();
      }
    }
  }
}

TEST(Npy, EveryDamageHasItsSentence) {
  const auto of = [](std::string_view literal) { return refusal(file_of(literal)); };
  EXPECT_EQ(refusal(""), "x.npy: is empty: expected a .npy file");
  EXPECT_EQ(refusal("PK\x03\x04 an archive of numpy.savez"),
            "x.npy: is no .npy file: it does not begin with \\x93NUMPY");
  EXPECT_EQ(refusal(file_of(plain, 4)), "x.npy: is .npy of version 4.0: expected 1.0, 2.0 or 3.0");
  EXPECT_EQ(of("{'descr': '<u2', 'shape': (2, 3)}"),
            "x.npy: its header lacks a key: expected descr, fortran_order and shape");
  EXPECT_EQ(of("{'descr': '<u2', 'descr': '<u2', 'shape': (2, 3)}"),
            "x.npy: its header has the key 'descr' twice");
  EXPECT_EQ(of("{'descr': '<u2', 'fortran_order': False, 'shape': (2, 3)} more"),
            "x.npy: its header is damaged at character 58: expected its end");
  EXPECT_EQ(of("{'descr': '<u2', 'fortran_order': False, 'shape': (2, 3), 'more': 1}"),
            "x.npy: its header has a key 'more': expected descr, fortran_order and shape");
  EXPECT_EQ(of("{'descr': [('a', '<u2')], 'fortran_order': False, 'shape': (6,)}"),
            "x.npy: its elements are records: expected plain numbers");
  EXPECT_EQ(of("{'descr': '<u2', 'fortran_order': 0, 'shape': (2, 3)}"),
            "x.npy: its header is damaged at character 34: expected True or False");
  EXPECT_EQ(of("{'descr': '<u2', 'fortran_order': False, 'shape': (-2, 3)}"),
            "x.npy: its header is damaged at character 51: expected a size");
  EXPECT_EQ(of("{'descr': '<u2', 'fortran_order': False, 'shape': ()}"),
            "x.npy: has 0 dimensions: expected 1 to 5");
  EXPECT_EQ(of("{'descr': '<u2', 'fortran_order': False, 'shape': (1, 1, 1, 1, 2, 3)}"),
            "x.npy: has 6 dimensions: expected 1 to 5");
  EXPECT_EQ(of("{'descr': '|O', 'fortran_order': False, 'shape': (2, 3)}"),
            "x.npy: its dtype '|O' is no number of a fixed width");
}

// A tensor map has up to five dimensions, a matrix and its batch three.
TEST(Npy, AMatrixHasAtMostThreeDimensions) {
  const Array array =
      parse(file_of("{'descr': '<u2', 'fortran_order': False, 'shape': (1, 1, 2, 3)}"), "x.npy");
  EXPECT_EQ(array.header.shape.size(), 4u);
  try {
    gemm::matrix_of(array, "x.npy", Type::bf16);
    ADD_FAILURE();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "x.npy: has 4 dimensions: expected 1 to 3");
  }
}

TEST(Npy, ShapesThatOverflowAskForNoMemory) {
  const auto of_shape = [](const char* shape) {
    return refusal(
        file_of(fmt::format("{{'descr': '<u2', 'fortran_order': False, 'shape': {}}}", shape)));
  };
  EXPECT_EQ(of_shape("(4611686018427387904, 1)"),
            "x.npy: its shape (4611686018427387904, 1) overflows 2^63 bytes");
  EXPECT_EQ(of_shape("(4294967296, 4294967296)"),
            "x.npy: its shape (4294967296, 4294967296) overflows 2^63 bytes");
  EXPECT_EQ(of_shape("(99999999999999999999, 1)"), "x.npy: its shape is too large");
  EXPECT_EQ(
      of_shape("(1099511627776, 1024)"),
      "x.npy: is truncated: its shape needs 2251799813685248 bytes of elements and it has 12");
}

TEST(Npy, FilesAreReadAsTheirBytesAre) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.npy");
  const auto refusal_of = [&](const std::string& bytes) -> std::string {
    write_file(path, bytes);
    try {
      read(path);
    } catch (const UsageError& error) {
      return std::string(error.what()).substr(path.size());
    }
    return "";
  };
  const std::string whole = file_of(plain);
  EXPECT_EQ(refusal_of(whole), "");
  EXPECT_EQ(read(path).bytes, whole);
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_TRUE(refusal_of(whole.substr(0, size)).starts_with(": is ")) << size;
  EXPECT_EQ(refusal_of(whole + "yz"), ": has 2 bytes behind its last element");
  EXPECT_EQ(
      refusal_of(file_of("{'descr': '<u2', 'fortran_order': False, 'shape': (1099511627776, 8)}")),
      ": is truncated: its shape needs 17592186044416 bytes of elements and it has 12");
  EXPECT_THROW(read(folder.file("missing.npy")), UsageError);
  EXPECT_THROW(read(folder.file("")), UsageError);
}

// A file with a hole stands for one that is larger than memory.
TEST(Npy, AFileBeyondMemoryIsRefusedBeforeItIsRead) {
  const TemporaryFolder folder;
  const std::string path = folder.file("large.npy");
  const auto rows = static_cast<std::int64_t>(memory_bytes() / 64);  // 16 times as much
  const std::string front = header_bytes({"|u1", false, {rows, 1024}});
  write_file(path, front);
  std::error_code no_holes;
  std::filesystem::resize_file(path, front.size() + static_cast<std::uintmax_t>(rows) * 1024,
                               no_holes);
  if (no_holes) GTEST_SKIP() << no_holes.message();
  try {
    read(path);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()).substr(path.size()),
              fmt::format(": its {} bytes do not fit this machine's memory", rows * 1024));
  }
}

// --- elements --------------------------------------------------------------------------------------

std::string element_refusal(const char* dtype, Type type) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.npy");
  const Header header{dtype, false, {2, 2}};
  write_file(path, header_bytes(header) + std::string(4 * item_bytes(dtype), '\x10'));
  try {
    gemm::read_matrix(path, type);
  } catch (const UsageError& error) {
    return std::string(error.what()).substr(path.size());
  }
  return "";
}

TEST(Npy, ADtypeHoldsItsTypes) {
  for (const auto& [dtype, type] : {std::pair{"<f2", Type::f16},
                                    {"<u2", Type::f16},
                                    {"<u2", Type::bf16},
                                    {"<V2", Type::bf16},
                                    {"<f4", Type::tf32},
                                    {"<u4", Type::f32},
                                    {"|u1", Type::e4m3},
                                    {"|V1", Type::e5m2},
                                    {"|i1", Type::s8},
                                    {"|u1", Type::u8},
                                    {"|u1", Type::e3m2},
                                    {"<i4", Type::s32}})
    EXPECT_EQ(element_refusal(dtype, type), "") << dtype << " " << name(type);
  EXPECT_EQ(element_refusal("<f2", Type::bf16),
            ": its dtype is '<f2': bf16 is read from <u2, <i2, <V2, |V2");
  EXPECT_EQ(element_refusal("<f8", Type::f32),
            ": its dtype is '<f8': f32 is read from <f4, <u4, <i4");
  EXPECT_EQ(element_refusal("|b1", Type::u8), ": its dtype is '|b1': u8 is read from |u1, |i1");
  EXPECT_EQ(element_refusal(">u2", Type::bf16),
            ": its elements are big-endian ('>u2'): expected little-endian ones, as <u2");
  EXPECT_EQ(element_refusal("|u1", Type::e2m1), ": element 0 is 0x10: e2m1 has 4 bits");
}

TEST(Npy, FortranOrderMovesBytesOnly) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.npy");
  write_file(path,
             header_bytes({"|u1", true, {2, 3}}) + std::string("\x01\x02\x03\x04\x05\x06", 6));
  const gemm::Matrix m = gemm::read_matrix(path, Type::u8);
  EXPECT_EQ(m.index(1, 2), 5);
  EXPECT_EQ(m.index(0, 1), 2);
  const gemm::Matrix rows = gemm::row_major(Type::u8, m);
  EXPECT_EQ(rows.array.bytes.substr(rows.array.first), "\x01\x03\x05\x02\x04\x06");
  const gemm::Matrix turned = gemm::transposed(m);
  EXPECT_EQ(turned.rows, 3);
  EXPECT_EQ(turned.index(2, 1), m.index(1, 2));
}

}  // namespace
}  // namespace tcq::oracle::npy
