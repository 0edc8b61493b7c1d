// What refining a bundle reads of its examples, side by side: which they are, the order of their
// values, and the truth of tests. A child's table is filtered from its parent's, so that nothing is
// sorted and little evaluated again.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "attributes.hpp"

namespace crosscut::query {

struct Shape;

struct LocalTable {
  // of the examples, ascending. All else numbers them from 0 in this order
  std::vector<std::int32_t> positions;
  // Per attribute, the examples that have a number, by ascending value and marked
  // as by Attributes::sorted.
  std::vector<std::uint32_t> sorted;
  std::vector<std::size_t> ends;
  // The truth of what a shape's entries add to a component: words of bits per example.
  struct Rows {
    std::int32_t component;
    std::shared_ptr<const Shape> shape;
    std::size_t width;
    std::vector<std::uint64_t> bits;
    bool used = true;  // by the bundle at hand
  };
  std::vector<Rows> rows;

  std::size_t size() const { return positions.size(); }
  std::size_t bytes() const;
  std::span<const std::uint32_t> list(std::size_t attribute) const {
    const std::size_t begin = attribute == 0 ? 0 : ends[attribute - 1];
    return std::span(sorted).subspan(begin, ends[attribute] - begin);
  }
  // The table of a set of examples, without rows.
  void start(const Attributes& attributes, std::span<const std::uint64_t> examples);
  // The tables of those of its examples that are in a set, and of the others; null where it is not
  // wanted.
  void part(std::span<const std::uint64_t> examples, LocalTable* in, LocalTable* out) const;
};

}  // namespace crosscut::query
