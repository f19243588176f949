// Where all elements of a matrix lie, as one array: what numpy answers any number of questions from.
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "oracle/map/asked.h"
#include "tools/python/module.h"

namespace nb = nanobind;

namespace tcq::python {
namespace {

using oracle::Axis;
using oracle::Coords;
using oracle::Map;

struct Table {
  Map map;
  std::size_t copies = 0;           // the most places that an element has
  std::vector<std::int32_t> at;     // [element][copies][axes of a place]; -1 where there is none
  std::vector<std::int32_t> count;  // [element]
};

std::size_t elements_of(const Map& map) {
  std::size_t count = 1;
  for (const Axis& axis : map.element) count *= static_cast<std::size_t>(axis.extent);
  return count;
}

void fill(Table& table) {
  const Map& map = table.map;
  constexpr std::size_t most = std::size_t{1} << 24;
  if (!is_known(map)) throw oracle::UnmodelledError("no source says where " + map.matrix + " lies");
  if (elements_of(map) > most)
    throw oracle::UsageError(map.matrix + " has more than 2^24 elements: expected a smaller one");
  std::vector<std::vector<Coords>> all;
  all.reserve(elements_of(map));
  for_each(map.element, false, [&](const Coords& element) {
    all.push_back(map.places(element));
    table.copies = std::max(table.copies, all.back().size());
  });
  const std::size_t axes = map.place.size();
  table.at.assign(all.size() * table.copies * axes, -1);
  for (std::size_t e = 0; e < all.size(); ++e) {
    table.count.push_back(static_cast<std::int32_t>(all[e].size()));
    for (std::size_t c = 0; c < all[e].size(); ++c)
      for (std::size_t i = 0; i < axes; ++i)
        table.at[(e * table.copies + c) * axes + i] =
            all[e][c][i] == oracle::both_ctas ? -1 : value(map.place[i], all[e][c][i]);
  }
}

nb::object array_of(std::vector<std::int32_t> words, const std::vector<std::size_t>& shape) {
  auto owner = std::make_unique<std::vector<std::int32_t>>(std::move(words));
  std::int32_t* data = owner->data();
  const nb::capsule keeper(
      owner.get(), [](void* p) noexcept { delete static_cast<std::vector<std::int32_t>*>(p); });
  owner.release();
  return nb::cast(nb::ndarray<nb::numpy, std::int32_t>(data, shape.size(), shape.data(), keeper));
}

nb::list axes_of(const std::vector<Axis>& axes) {
  nb::list list;
  for (const Axis& axis : axes)
    list.append(nb::make_tuple(std::string(axis.name), axis.extent, axis.first, axis.step));
  return list;
}

nb::dict to_dict(Table table) {
  std::vector<std::size_t> shape;
  for (const Axis& axis : table.map.element) shape.push_back(static_cast<std::size_t>(axis.extent));
  nb::dict dict;
  dict["matrix"] = table.map.matrix;
  dict["bits"] = table.map.bits;
  dict["notes"] = nb::cast(table.map.notes);
  dict["element"] = axes_of(table.map.element);
  dict["place"] = axes_of(table.map.place);
  dict["count"] = array_of(std::move(table.count), shape);
  shape.push_back(table.copies);
  shape.push_back(table.map.place.size());
  dict["at"] = array_of(std::move(table.at), shape);
  return dict;
}

nb::tuple map_table(const std::vector<std::string>& words, const std::string& arch) {
  Table table;
  Reply reply;
  {
    const nb::gil_scoped_release released;
    reply = caught([&]() -> Reply {
      oracle::Question question{"table", {words.begin(), words.end()}, {}};
      question.options.arch = arch;
      table.map = read_map(question, oracle::Ask::Whole).map;
      fill(table);
      return {};
    });
  }
  if (!reply.complaint.empty()) return nb::make_tuple(to_python(reply), nb::none());
  return nb::make_tuple(to_python(reply), to_dict(std::move(table)));
}

}  // namespace

void add_maps(nb::module_& m) {
  m.def("map_table", map_table, nb::arg("words"), nb::arg("arch"),
        "MNEMONIC MATRIX key=value ...: (reply, axes and arrays).");
}

}  // namespace tcq::python
