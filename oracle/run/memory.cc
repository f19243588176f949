#include "oracle/run/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>

#include "oracle/answer/answer.h"
#include "oracle/answer/words.h"
#include "oracle/gemm/npy.h"
#include "sim/run/address_map.h"

namespace tcq::oracle::run {
namespace {

using tcq::run::Kernel;
using tcq::run::Launch;
using tcq::run::Parameter;

constexpr std::uint64_t array_alignment = 256;
constexpr std::uint64_t gap_bytes =
    65536;  // between arrays, so that what leaves one is not in the next
constexpr std::uint32_t map_bytes = 128;
constexpr std::uint32_t map_alignment = 64;

struct ElementRow {
  std::string_view name;
  std::string_view dtype;
  std::uint32_t bytes;
  tma::DataType map;
  std::uint64_t nan;  // an element that reads as NaN, or all ones
};

constexpr std::array<ElementRow, 17> element_rows = {{
    {"f64", "<f8", 8, tma::DataType::Float64, 0x7ff8000000000000},
    {"f32", "<f4", 4, tma::DataType::Float32, 0x7fc00000},
    {"tf32", "<f4", 4, tma::DataType::TFloat32, 0x7fc00000},
    {"f16", "<f2", 2, tma::DataType::Float16, 0x7e00},
    {"bf16", "<u2", 2, tma::DataType::BFloat16, 0x7fc0},
    {"e4m3", "|u1", 1, tma::DataType::UInt8, 0x7f},
    {"e5m2", "|u1", 1, tma::DataType::UInt8, 0x7e},
    {"u8", "|u1", 1, tma::DataType::UInt8, 0xff},
    {"s8", "|i1", 1, tma::DataType::UInt8, 0xff},
    {"u16", "<u2", 2, tma::DataType::UInt16, 0xffff},
    {"s16", "<i2", 2, tma::DataType::UInt16, 0xffff},
    {"u32", "<u4", 4, tma::DataType::UInt32, 0xffffffff},
    {"s32", "<i4", 4, tma::DataType::Int32, 0xffffffff},
    {"u64", "<u8", 8, tma::DataType::UInt64, ~std::uint64_t{0}},
    {"s64", "<i8", 8, tma::DataType::Int64, ~std::uint64_t{0}},
    {"b16", "<u2", 2, tma::DataType::UInt16, 0xffff},
    {"b8", "|u1", 1, tma::DataType::UInt8, 0xff},
}};

const ElementRow& row_of(std::string_view type) {
  std::vector<std::string_view> names;
  for (const ElementRow& row : element_rows) {
    if (row.name == type) return row;
    names.push_back(row.name);
  }
  throw_unknown("element type", type, names);
}

std::optional<std::string_view> type_of_dtype(std::string_view dtype) {
  for (const ElementRow& row : element_rows)
    if (row.dtype == dtype)
      return row.name == "bf16" ? "u16" : row.name == "e4m3" ? "u8" : row.name;
  return std::nullopt;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == text.npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::vector<std::int64_t> shape_of(std::string_view text) {
  std::vector<std::int64_t> shape;
  for (const std::string_view part : split(text, 'x')) {
    const std::uint64_t n = parse_number(part, "a size");
    if (n > machine::max_global_bytes)
      throw UsageError(fmt::format("size {}: expected at most 2^30", oracle::quoted(part)));
    shape.push_back(static_cast<std::int64_t>(n));
  }
  return shape;
}

class Placing {
 public:
  Placing(const Request& request, const Kernel& kernel, Launch& launch)
      : request_(request), kernel_(kernel), launch_(launch) {}

  Memory place() {
    memory_.global = kernel_.global_bytes;
    launch_.parameters.assign(kernel_.parameter_bytes, 0);
    const std::vector<Parameter> parameters = parameters_of(kernel_);
    std::size_t next = 0;
    for (const std::string& word : request_.arguments) {
      if (is_definition(word)) {
        define(word);
        continue;
      }
      if (next == parameters.size())
        throw UsageError(fmt::format("argument {}: the kernel has {} parameters",
                                     oracle::quoted(word), parameters.size()));
      pass(word, parameters[next++]);
    }
    if (next != parameters.size())
      throw UsageError(
          fmt::format("{} arguments: the kernel has {} parameters, the next is {} ({} bytes)", next,
                      parameters.size(), parameters[next].name, parameters[next].bytes));
    return std::move(memory_);
  }

 private:
  // Arrays that only maps use: def:NAME=VALUE passes nothing.
  static bool is_definition(std::string_view word) { return word.starts_with("def:"); }
  void define(std::string_view word) {
    word.remove_prefix(4);
    const std::size_t equals = word.find('=');
    if (equals == word.npos)
      throw UsageError(fmt::format("argument {}: expected def:NAME=VALUE", oracle::quoted(word)));
    add_array(word.substr(0, equals), word.substr(equals + 1));
  }

  void pass(std::string_view word, const Parameter& to) {
    if (word.starts_with("map:")) return pass_map(word, to);
    if (word.starts_with("struct:")) return pass_struct(word.substr(7), to);
    std::string_view name;
    std::string_view value = word;
    const std::size_t equals = word.find('=');
    if (equals != word.npos && word.substr(0, equals).find(':') == word.npos) {
      name = word.substr(0, equals);
      value = word.substr(equals + 1);
    }
    const bool is_array = value.ends_with(".npy") || value.find(':') != value.npos;
    if (!is_array) {
      if (const Array* known = find(value)) return pass_pointer(*known, to);
      return pass_scalar(value, to);
    }
    pass_pointer(add_array(name.empty() ? to.name : name, value), to);
  }

  void pass_pointer(const Array& array, const Parameter& to) {
    if (to.bytes != 8)
      throw UsageError(
          fmt::format("parameter {} has {} bytes: no pointer fits", to.name, to.bytes));
    store(to, tcq::run::global_window + array.offset);
  }

  const Array* find(std::string_view name) const {
    for (const Array& array : memory_.arrays)
      if (array.name == name) return &array;
    return nullptr;
  }

  void store(const Parameter& to, std::uint64_t bits) {
    std::memcpy(launch_.parameters.data() + to.offset, &bits, std::min<std::size_t>(8, to.bytes));
  }

  // --- scalars ---------------------------------------------------------------------------------------

  static double float_of(std::string_view word) {
    double value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size())
      throw UsageError(fmt::format("argument {}: expected a number", oracle::quoted(word)));
    return value;
  }

  void pass_scalar(std::string_view word, const Parameter& to) {
    if (to.bytes > 8)
      throw UsageError(
          fmt::format("argument {}: parameter {} has {} bytes; expected struct:... or "
                      "map:...",
                      oracle::quoted(word), to.name, to.bytes));
    if (to.type == ptx::Type::F32)
      return store(to, std::bit_cast<std::uint32_t>(static_cast<float>(float_of(word))));
    if (to.type == ptx::Type::F64) return store(to, std::bit_cast<std::uint64_t>(float_of(word)));
    const bool negative = word.starts_with('-');
    const bool fraction = word.find('.') != word.npos;
    if (fraction && to.bytes == 4)
      return store(to, std::bit_cast<std::uint32_t>(static_cast<float>(float_of(word))));
    const std::uint64_t magnitude = parse_number(negative ? word.substr(1) : word, "an argument");
    const std::uint64_t bits = negative ? 0 - magnitude : magnitude;
    const unsigned width = 8 * to.bytes;
    if (width < 64) {
      const std::uint64_t limit = std::uint64_t{1} << width;
      if (negative ? magnitude > limit / 2 : magnitude >= limit)
        throw UsageError(fmt::format("argument {}: does not fit the {} bits of {}",
                                     oracle::quoted(word), width, to.name));
    }
    store(to, bits);
  }

  // struct:s32=256+f32=1.5+ptr=x+pad=8: members one behind the other, each at its alignment.
  void pass_struct(std::string_view text, const Parameter& to) {
    std::size_t at = 0;
    for (const std::string_view member : split(text, '+')) {
      const std::size_t equals = member.find('=');
      const std::string_view type = member.substr(0, equals);
      const std::string_view value = equals == member.npos ? "" : member.substr(equals + 1);
      if (type == "pad") {
        at += parse_number(value, "pad");
        continue;
      }
      const bool is_map = type == "map";
      Parameter inner{.name = member, .type = is_map ? ptx::Type::B8 : member_type(type)};
      inner.bytes = is_map ? map_bytes : static_cast<std::uint32_t>(ptx::bits(inner.type) / 8);
      const std::uint32_t unit = is_map ? map_alignment : inner.bytes;
      at = (at + unit - 1) / unit * unit;
      if (at + inner.bytes > to.bytes)
        throw UsageError(fmt::format("member {} ends at byte {}: parameter {} has {}",
                                     oracle::quoted(member), at + inner.bytes, to.name, to.bytes));
      inner.offset = static_cast<std::uint32_t>(to.offset + at);
      const Array* array = type == "ptr" ? find(value) : nullptr;
      if (is_map)
        pass_map("map:" + std::string(value), inner);
      else if (array != nullptr)
        pass_pointer(*array, inner);
      else
        pass_scalar(value, inner);
      at += inner.bytes;
    }
    if (at > to.bytes)
      throw UsageError(
          fmt::format("struct of {} bytes: parameter {} has {}", at, to.name, to.bytes));
  }

  static ptx::Type member_type(std::string_view word) {
    if (word == "ptr") return ptx::Type::U64;
    const ptx::Type type = ptx::type_of(word);
    const int bits = ptx::bits(type);
    if (bits == 8 || bits == 16 || bits == 32 || bits == 64) return type;
    throw UsageError(
        fmt::format("member {}: expected TYPE=VALUE, ptr=NAME, map=NAME:... or pad=BYTES",
                    oracle::quoted(word)));
  }

  // --- arrays ----------------------------------------------------------------------------------------

  const Array& add_array(std::string_view name, std::string_view value) {
    if (find(name) != nullptr)
      throw UsageError(fmt::format("two arrays are called {}", oracle::quoted(name)));
    Array array;
    array.name = name;
    std::vector<std::uint8_t> bytes;
    if (value.ends_with(".npy"))
      read_file(std::string(value), array, bytes);
    else
      fill(value, array, bytes);
    array.offset = new_array();
    array.bytes = bytes.size();
    if (memory_.global.size() + bytes.size() > machine::max_global_bytes)
      throw UsageError(fmt::format("array {}: all arrays together exceed {} bytes", array.name,
                                   machine::max_global_bytes));
    memory_.global.insert(memory_.global.end(), bytes.begin(), bytes.end());
    memory_.arrays.push_back(std::move(array));
    return memory_.arrays.back();
  }

  // Where the next array begins.
  std::uint64_t new_array() {
    const std::uint64_t end = memory_.global.size();
    if (end == 0) return 0;
    const std::uint64_t begin =
        (end + array_alignment - 1) / array_alignment * array_alignment + gap_bytes;
    memory_.global.resize(begin);
    launch_.gaps.push_back({static_cast<std::uint32_t>(end), static_cast<std::uint32_t>(begin)});
    return begin;
  }

  // FILE.npy, or TYPE:FILE.npy where the dtype does not say it.
  static void read_file(std::string path, Array& array, std::vector<std::uint8_t>& bytes) {
    std::string_view type;
    const std::size_t colon = path.find(':');
    std::string file = path;
    if (colon != path.npos) {
      type = std::string_view(path).substr(0, colon);
      file = path.substr(colon + 1);
    }
    const npy::Array read = npy::read(file);
    if (read.header.fortran_order)
      throw UsageError(fmt::format("{}: expected C order", shown_path(file)));
    const auto known = type_of_dtype(read.header.dtype);
    if (!known)
      throw UsageError(fmt::format("{}: dtype {} has no type here", shown_path(file),
                                   oracle::quoted(read.header.dtype)));
    array.type = type.empty() ? *known : type;
    const ElementRow& row = row_of(array.type);
    if (row.bytes != npy::item_bytes(read.header.dtype))
      throw UsageError(fmt::format("{}: its elements have {} bytes, those of {} {}",
                                   shown_path(file), npy::item_bytes(read.header.dtype), array.type,
                                   row.bytes));
    array.dtype = read.header.dtype;
    array.shape = read.header.shape;
    const auto* first = static_cast<const std::uint8_t*>(read.data());
    bytes.assign(first, first + (read.bytes.size() - read.first));
  }

  // zeros:f32:64x128, nan:bf16:...
  static void fill(std::string_view value, Array& array, std::vector<std::uint8_t>& bytes) {
    const auto parts = split(value, ':');
    if (parts.size() != 3 || (parts[0] != "zeros" && parts[0] != "nan"))
      throw UsageError(
          fmt::format("argument {}: expected a number, FILE.npy, zeros:TYPE:SHAPE, "
                      "nan:TYPE:SHAPE or map:...",
                      oracle::quoted(value)));
    const ElementRow& row = row_of(parts[1]);
    array.type = row.name;
    array.dtype = row.dtype;
    array.shape = shape_of(parts[2]);
    std::uint64_t count = 1;
    for (const std::int64_t n : array.shape) {
      count *= static_cast<std::uint64_t>(n);
      if (count * row.bytes > machine::max_global_bytes)
        throw UsageError(fmt::format("argument {}: exceeds {} bytes", oracle::quoted(value),
                                     machine::max_global_bytes));
    }
    bytes.assign(count * row.bytes, 0);
    if (parts[0] == "zeros") return;
    for (std::uint64_t i = 0; i < count; ++i)
      std::memcpy(bytes.data() + i * row.bytes, &row.nan, row.bytes);
  }

  // --- tensor maps -----------------------------------------------------------------------------------

  static Swizzle swizzle_of(std::string_view word) {
    std::vector<std::string_view> names;
    for (int i = 0; i < swizzle_count; ++i) {
      const auto s = static_cast<Swizzle>(i);
      if (same_word(word, name(s))) return s;
      names.push_back(name(s));
    }
    throw_unknown("swizzle", word, names);
  }

  // Elements that fill no byte: an array of bytes holds them.
  static tma::DataType packed_type_of(std::string_view word, const Array& array) {
    std::vector<std::string_view> names;
    for (int i = 0; i < tma::data_type_count; ++i) {
      const auto type = static_cast<tma::DataType>(i);
      if (!tma::is_packed(type)) continue;
      if (same_word(word, tma::name(type)) && row_of(array.type).bytes == 1) return type;
      names.push_back(tma::name(type));
    }
    throw_unknown("type of a map over bytes", word, names);
  }

  static std::vector<std::uint64_t> numbers_of(std::string_view text, std::string_view what) {
    std::vector<std::uint64_t> numbers;
    for (const std::string_view part : split(text, ','))
      numbers.push_back(parse_number(part, what));
    return numbers;
  }
  template <class Number>
  static void read_numbers(std::string_view text, Number* to, std::size_t count,
                           std::string_view what) {
    const std::vector<std::uint64_t> numbers = numbers_of(text, what);
    if (numbers.size() != count)
      throw UsageError(
          fmt::format("{} {}: expected {} numbers", what, oracle::quoted(text), count));
    for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<Number>(numbers[i]);
  }

  // Of an im2col map: one for each dimension between channels and images.
  static void read_corners(tma::Im2col& im2col, std::string_view text, bool is_lower,
                           std::size_t rank) {
    const auto parts = split(text, ',');
    if (rank < 3 || parts.size() != rank - 2)
      throw UsageError(fmt::format(
          "corner {}: expected {} numbers, as many as there are dimensions between channels "
          "and images",
          oracle::quoted(text), rank < 3 ? 1 : rank - 2));
    im2col.is_on = true;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const bool is_negative = parts[i].starts_with('-');
      const std::uint64_t size = parse_number(parts[i].substr(is_negative ? 1 : 0), "corner");
      const auto number = static_cast<std::int32_t>(std::min<std::uint64_t>(size, 1u << 20));
      (is_lower ? im2col.lower : im2col.upper)[i] = is_negative ? -number : number;
    }
  }

  // map:NAME:swizzle=128B:box=64,128[:type=...][:strides=...][:interleave=...][:oob=nan][:lower=-1,-1:upper=-1,-1]
  void pass_map(std::string_view word, const Parameter& to) {
    const auto parts = split(word, ':');
    if (parts.size() < 2)
      throw UsageError(fmt::format("argument {}: expected map:NAME:box=...", oracle::quoted(word)));
    const Array* array = find(parts[1]);
    if (array == nullptr)
      throw UsageError(fmt::format("{}: there is no array {} before it", oracle::quoted(word),
                                   oracle::quoted(parts[1])));
    if (to.bytes != map_bytes && to.bytes != 8)
      throw UsageError(fmt::format("parameter {} has {} bytes: a tensor map has 128, its address 8",
                                   to.name, to.bytes));
    tma::TensorMap map;
    const ElementRow& row = row_of(array->type);
    map.type = row.map;
    for (std::size_t i = 2; i < parts.size(); ++i)
      if (parts[i].starts_with("type=")) map.type = packed_type_of(parts[i].substr(5), *array);
    const tma::Grain grain = tma::grain(map.type);
    std::vector<std::uint64_t> dims(array->shape.rbegin(), array->shape.rend());
    if (!dims.empty()) dims[0] = dims[0] * row.bytes / grain.bytes * grain.elements;
    for (std::size_t i = 2; i < parts.size(); ++i)
      if (parts[i].starts_with("dims=")) dims = numbers_of(parts[i].substr(5), "dims");
    const std::size_t rank = dims.size();
    if (rank == 0 || rank > static_cast<std::size_t>(tma::max_rank))
      throw UsageError(
          fmt::format("{}: {} dimensions: a tensor map has 1 to 5", oracle::quoted(word), rank));
    map.rank = static_cast<int>(rank);
    map.address = array->offset;
    std::uint64_t stride = grain.bytes;
    for (std::size_t d = 0; d < rank; ++d) {
      map.dims[d] = dims[d];
      stride *= tma::size(map, static_cast<int>(d));
      if (d + 1 < rank) map.stride_bytes[d] = stride;
    }
    for (std::size_t i = 2; i < parts.size(); ++i) set_key(map, parts[i], rank);
    if (const Fault fault = tma::check(map, tcq::run::capability_of(kernel_)); fault != Fault::None)
      throw UsageError(fmt::format("{}: {}", oracle::quoted(word), info(fault).sentence));
    launch_.map_places.push_back({place_map(to), static_cast<int>(launch_.maps.size())});
    launch_.maps.push_back(map);
    launch_.map_names.push_back(fmt::format("map of {}", array->name));
  }

  // Its generic address: of the parameter, or of 128 bytes of global memory that a parameter points to.
  std::uint64_t place_map(const Parameter& to) {
    if (to.bytes == map_bytes) return tcq::run::param_window + to.offset;
    const std::uint64_t offset = new_array();
    memory_.global.resize(offset + map_bytes);
    store(to, tcq::run::global_window + offset);
    return tcq::run::global_window + offset;
  }

  static void set_key(tma::TensorMap& map, std::string_view text, std::size_t rank) {
    const std::size_t equals = text.find('=');
    const std::string_view key = text.substr(0, equals);
    const std::string_view value = equals == text.npos ? "" : text.substr(equals + 1);
    if (key == "dims" || key == "type") return;
    if (key == "swizzle")
      map.swizzle = swizzle_of(value);
    else if (key == "box")
      read_numbers(value, map.box, rank, "box");
    else if (key == "strides")
      read_numbers(value, map.stride_bytes, rank - 1, "strides");
    else if (key == "elements")
      read_numbers(value, map.element_strides, rank, "elements");
    else if (key == "lower" || key == "upper")
      read_corners(map.im2col, value, key == "lower", rank);
    else if (key == "oob" && (value == "nan" || value == "zero"))
      map.fill = value == "nan" ? tma::Fill::NaN : tma::Fill::Zero;
    else if (key == "interleave" && (value == "none" || value == "16B" || value == "32B"))
      map.interleave = value == "none"  ? tma::Interleave::None
                       : value == "16B" ? tma::Interleave::B16
                                        : tma::Interleave::B32;
    else
      throw_unknown(
          "key of a map", text,
          std::vector<std::string_view>{"swizzle=128B", "box=64,128", "type=16U4_ALIGN8B",
                                        "dims=64,256", "strides=256", "elements=1,1",
                                        "interleave=16B", "oob=nan", "lower=-1,-1", "upper=-1,-1"});
  }

  const Request& request_;
  const Kernel& kernel_;
  Launch& launch_;
  Memory memory_;
};

}  // namespace

Memory place_arguments(const Request& request, const Kernel& kernel, Launch& launch) {
  return Placing(request, kernel, launch).place();
}

const Array& array_named(const Memory& memory, std::string_view name) {
  std::vector<std::string_view> names;
  for (const Array& array : memory.arrays) {
    if (array.name == name) return array;
    names.push_back(array.name);
  }
  throw_unknown("array", name, names);
}

}  // namespace tcq::oracle::run
