#include "attributes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace crosscut::query {

Attributes::Attributes(const Facts& facts, std::span<const std::int64_t> order, std::vector<std::int32_t> variables)
    : n_(order.size()), variables_(std::move(variables)), values_(variables_.size() * n_), ranks_(values_.size(), -1), sorted_(variables_.size()) {
  for (std::size_t a = 0; a < size(); a++) {
    auto& sorted = sorted_[a];
    for (std::size_t i = 0; i < n_; i++) {
      const double v = facts.number(facts.fixed_of(static_cast<std::size_t>(order[i]))[variables_[a]]);
      values_[a * n_ + i] = v;
      if (!std::isnan(v)) sorted.push_back(static_cast<std::int32_t>(i));
    }
    const double* own = values_.data() + a * n_;
    std::sort(sorted.begin(), sorted.end(), [&](std::int32_t x, std::int32_t y) { return own[x] < own[y] || (own[x] == own[y] && x < y); });
    for (std::size_t i = 0; i < sorted.size(); i++) ranks_[a * n_ + static_cast<std::size_t>(sorted[i])] = static_cast<std::int32_t>(i);
  }
}

void Attributes::sort(std::size_t attribute, std::span<const std::int32_t> positions, const std::uint64_t* mask,
                      std::vector<std::int32_t>& result) const {
  result.clear();
  const auto& sorted = sorted_[attribute];
  if (positions.size() > sorted.size() / 16) {  // cheaper to filter all than to sort some
    for (std::int32_t i : sorted)
      if (mask[i / 64] >> i % 64 & 1) result.push_back(i);
    return;
  }
  const std::int32_t* ranks = ranks_.data() + attribute * n_;
  for (std::int32_t i : positions)
    if (ranks[i] >= 0) result.push_back(ranks[i]);
  std::sort(result.begin(), result.end());
  for (std::int32_t& each : result) each = sorted[static_cast<std::size_t>(each)];
}

void Attributes::split(const Cut& cut, double threshold, std::span<const std::uint64_t> own, std::vector<std::uint64_t>& yes,
                       std::vector<std::uint64_t>& no) const {
  yes.assign(own.size(), 0);
  no.assign(own.begin(), own.end());
  for (std::size_t w = 0; w < own.size(); w++) {
    for (std::uint64_t set = own[w]; set; set &= set - 1)
      if (passes(cut, threshold, w * 64 + static_cast<std::size_t>(std::countr_zero(set)))) yes[w] |= set & -set;
    no[w] &= ~yes[w];
  }
}

}  // namespace crosscut::query
