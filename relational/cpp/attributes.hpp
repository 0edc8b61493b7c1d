// Numeric attributes of the examples: fixed variables such as a column of the example's own row or
// a number of linked rows. Their cuts are tests of their own: every value of a node's examples is
// tried, and the threshold is the midpoint of the task's own neighbouring values.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "relations.hpp"

namespace crosscut::query {

// A test of an attribute, for one task: at most `threshold`, or above it. A missing value passes
// neither.
struct Cut {
  std::int32_t attribute = -1;  // -1 for none
  bool above = false;
  double low = 0, high = 0;  // the neighbouring values between which the threshold lies

  double threshold() const {
    const double middle = low + (high - low) / 2;
    return middle < high ? middle : low;
  }
  bool same_column(const Cut& other) const {
    return attribute == other.attribute && above == other.above;
  }
};

class Attributes {
 public:
  Attributes() = default;
  // Position i of a set of examples is order[i] of the facts.
  Attributes(const Facts& facts, std::span<const std::int64_t> order,
             std::vector<std::int32_t> variables);
  std::size_t size() const { return variables_.size(); }
  const std::vector<std::int32_t>& variables() const { return variables_; }
  double value(std::size_t attribute, std::size_t position) const {
    return values_[attribute * n_ + position];
  }
  bool passes(const Cut& cut, double threshold, std::size_t position) const {
    const double v = value(static_cast<std::size_t>(cut.attribute), position);
    return cut.above ? v > threshold : v <= threshold;
  }
  // The positions that have a number, by ascending value; `tie` marks those whose value is that of
  // the one before.
  static constexpr std::uint32_t tie = std::uint32_t{1} << 31;
  std::span<const std::uint32_t> sorted(std::size_t attribute) const { return sorted_[attribute]; }
  // Splits the examples of `own`.
  void split(const Cut& cut, double threshold, std::span<const std::uint64_t> own,
             std::vector<std::uint64_t>& yes, std::vector<std::uint64_t>& no) const;

 private:
  std::size_t n_ = 0;
  std::vector<std::int32_t> variables_;
  std::vector<double> values_;  // per attribute and position; NaN where missing
  std::vector<std::vector<std::uint32_t>> sorted_;
};

}  // namespace crosscut::query
