// Attributes: their values in the order of the examples, and sorted lists of the examples that have
// one. All is computed once per store; a bundle filters its own part (local_table.cpp).
#include "attributes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace crosscut::query {

Attributes::Attributes(const Facts& facts, std::span<const std::int64_t> order,
                       std::vector<std::int32_t> variables)
    : n_(order.size()),
      variables_(std::move(variables)),
      values_(variables_.size() * n_),
      sorted_(variables_.size()) {
  for (std::size_t a = 0; a < size(); a++) {
    auto& sorted = sorted_[a];
    for (std::size_t i = 0; i < n_; i++) {
      const double v =
          facts.number(facts.fixed_of(static_cast<std::size_t>(order[i]))[variables_[a]]);
      values_[a * n_ + i] = v;
      if (!std::isnan(v)) sorted.push_back(static_cast<std::uint32_t>(i));
    }
    const double* own = values_.data() + a * n_;
    std::sort(sorted.begin(), sorted.end(), [&](std::uint32_t x, std::uint32_t y) {
      return own[x] < own[y] || (own[x] == own[y] && x < y);
    });
    for (std::size_t i = sorted.size(); i-- > 1;)
      if (own[sorted[i]] == own[sorted[i - 1]]) sorted[i] |= Attributes::tie;
  }
}

void Attributes::split(const Cut& cut, double threshold, std::span<const std::uint64_t> own,
                       std::vector<std::uint64_t>& yes, std::vector<std::uint64_t>& no) const {
  yes.assign(own.size(), 0);
  no.assign(own.begin(), own.end());
  for (std::size_t w = 0; w < own.size(); w++) {
    for (std::uint64_t set = own[w]; set; set &= set - 1)
      if (passes(cut, threshold, w * 64 + static_cast<std::size_t>(std::countr_zero(set))))
        yes[w] |= set & -set;
    no[w] &= ~yes[w];
  }
}

}  // namespace crosscut::query
