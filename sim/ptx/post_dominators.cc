// Lengauer and Tarjan; see post_dominators.h.
#include "sim/ptx/post_dominators.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tcq::ptx {
namespace {

using Node = std::uint32_t;
using Lists = std::vector<std::vector<Node>>;

// Nodes by their number in a depth-first walk from the end, which is node n; semi, label and ancestor are by
// that number, too.
class Dominators {
 public:
  explicit Dominators(std::span<const std::span<const Node>> next)
      : end_(static_cast<Node>(next.size())), before_(next.size() + 1), behind_(next.size() + 1) {
    for (Node node = 0; node < end_; ++node) {
      for (const Node to : next[node]) add_edge(node, to);
      if (next[node].empty()) add_edge(node, end_);
    }
  }

  std::vector<Node> immediate() {
    walk();
    const auto count = static_cast<Node>(order_.size());
    semi_.resize(count);
    std::iota(semi_.begin(), semi_.end(), Node{0});
    label_ = semi_;
    ancestor_.assign(count, no_node);
    dominator_.assign(count, no_node);
    Lists buckets(count);
    for (Node w = count; w-- > 1;) {
      for (const Node to : behind_[order_[w]])
        if (number_[to] != no_node) semi_[w] = std::min(semi_[w], semi_[evaluate(number_[to])]);
      buckets[semi_[w]].push_back(w);
      ancestor_[w] = parent_[w];
      for (const Node v : std::exchange(buckets[parent_[w]], {})) {
        const Node u = evaluate(v);
        dominator_[v] = semi_[u] < semi_[v] ? u : parent_[w];
      }
    }
    for (Node w = 1; w < count; ++w)
      if (dominator_[w] != semi_[w]) dominator_[w] = dominator_[dominator_[w]];
    return by_node();
  }

 private:
  // Turned round: the walk goes from a node to those before it.
  void add_edge(Node from, Node to) {
    before_[to].push_back(from);
    behind_[from].push_back(to);
  }

  void walk() {
    number_.assign(before_.size(), no_node);
    std::vector<std::pair<Node, std::size_t>> stack;
    const auto visit = [&](Node node, Node parent) {
      number_[node] = static_cast<Node>(order_.size());
      order_.push_back(node);
      parent_.push_back(parent);
      stack.emplace_back(node, 0);
    };
    visit(end_, no_node);
    while (!stack.empty()) {
      const Node node = stack.back().first;
      if (stack.back().second == before_[node].size()) {
        stack.pop_back();
        continue;
      }
      const Node to = before_[node][stack.back().second++];
      if (number_[to] == no_node) visit(to, number_[node]);
    }
  }

  // The node with the least semi on the way to the root of v's tree, which becomes shorter.
  Node evaluate(Node v) {
    if (ancestor_[v] == no_node) return v;
    path_.clear();
    for (Node u = v; ancestor_[ancestor_[u]] != no_node; u = ancestor_[u]) path_.push_back(u);
    while (!path_.empty()) {
      const Node u = path_.back();
      path_.pop_back();
      const Node up = ancestor_[u];
      if (semi_[label_[up]] < semi_[label_[u]]) label_[u] = label_[up];
      ancestor_[u] = ancestor_[up];
    }
    return label_[v];
  }

  std::vector<Node> by_node() const {
    std::vector<Node> result(end_, no_node);
    for (Node w = 1; w < order_.size(); ++w) {
      const Node dominator = order_[dominator_[w]];
      if (dominator != end_) result[order_[w]] = dominator;
    }
    return result;
  }

  Node end_;
  Lists before_, behind_;
  std::vector<Node> number_, order_, parent_;
  std::vector<Node> semi_, label_, ancestor_, dominator_;
  std::vector<Node> path_;
};

}  // namespace

std::vector<Node> post_dominators(std::span<const std::span<const Node>> next) {
  return Dominators(next).immediate();
}

}  // namespace tcq::ptx
