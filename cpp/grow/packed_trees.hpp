// The arrays of finished trees, as crosscut.forest.forest.Packed has them.
#pragma once
#include <cstdlib>
#include <memory>
#include <new>
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

// An allocator whose memory is zero. Pages that nobody writes take no memory.
template <class T> struct Zeroed : Uncleared<T> {
  template <class U> struct rebind {
    using other = Zeroed<U>;
  };
  T* allocate(std::size_t n) {
    void* memory = std::calloc(n, sizeof(T));
    if (!memory) throw std::bad_alloc();
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t) noexcept { std::free(memory); }
};

// If trees share nodes, the arrays contain each node once, as one tree with several roots. A tree
// then names children that an earlier tree contains.
struct PackedTrees {
  std::vector<std::int64_t> node_start{0}, branch_start{0};
  std::vector<std::int32_t> root;  // [tree]; empty if trees share nothing
  Numbers<std::int32_t> size;      // nodes below and including each node, if trees share nodes
  Numbers<std::int64_t> first_child, n_rows;
  std::vector<std::int64_t, Zeroed<std::int64_t>> first_branch;  // stays zero without nominal tests
  Numbers<std::int32_t> feature, missing, children, depth;
  Numbers<std::int32_t> branches;  // (category, branch)
  Numbers<double> threshold, weight, value, impurity;
  Numbers<float> low, high;
};

}  // namespace crosscut
