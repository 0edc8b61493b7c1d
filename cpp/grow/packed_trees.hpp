// The arrays of finished trees, as crosscut.forest.forest.Packed has them.
#pragma once
#include <memory>
#include <vector>

#include "node.hpp"

namespace crosscut {

// An allocator that does not clear memory, for arrays that are written before they are read.
template <class T> struct Uncleared : std::allocator<T> {
  template <class U> struct rebind {
    using other = Uncleared<U>;
  };
  void construct(T*) noexcept {}
  template <class... From> void construct(T* at, From&&... from) {
    ::new (static_cast<void*>(at)) T(static_cast<From&&>(from)...);
  }
};
template <class T> using Numbers = std::vector<T, Uncleared<T>>;

// If trees share nodes, the arrays contain each node once, as one tree with several roots. A tree
// then names children that an earlier tree contains.
struct PackedTrees {
  std::vector<std::int64_t> node_start{0}, branch_start{0};
  std::vector<std::int32_t> root;  // [tree]; empty if trees share nothing
  Numbers<std::int32_t> size;      // nodes below and including each node, if trees share nodes
  Numbers<std::int64_t> first_child, first_branch, n_rows;
  Numbers<std::int32_t> feature, missing, children, depth;
  Numbers<std::int32_t> branches;  // (category, branch)
  Numbers<double> threshold, weight, value, impurity;
  Numbers<float> low, high;
};

}  // namespace crosscut
