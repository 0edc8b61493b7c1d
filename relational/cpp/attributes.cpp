// Attributes: their values in the order of the examples, sorted lists of the examples that have
// one, and bins for attributes with few values. All is computed once per store; a bundle filters
// its own part (local_table.cpp).
#include "attributes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace crosscut::query {

namespace {

// Counting a bundle's examples by bin takes a walk over all bins: few values are few for the
// examples that there are.
constexpr std::size_t most_values = 255, least_share = 16, most_bins = 1 << 16;

}  // namespace

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
    const auto n_values = static_cast<std::size_t>(std::count_if(
        sorted.begin(), sorted.end(), [](std::uint32_t each) { return !(each & tie); }));
    const std::size_t first = bin_values_.size();
    if (n_values > std::min(most_values, n_ / least_share) || first + n_values >= most_bins)
      continue;
    for (std::uint32_t each : sorted)
      if (!(each & tie)) bin_values_.push_back(own[each]);
    coded_.push_back({a, first, bin_values_.size()});
    bin_values_.push_back(std::numeric_limits<double>::quiet_NaN());
  }
  bins_.resize(n_ * coded_.size());
  for (std::size_t c = 0; c < coded_.size(); c++) {
    const auto& [attribute, first, last] = coded_[c];
    for (std::size_t i = 0; i < n_; i++)
      bins_[i * coded_.size() + c] = static_cast<std::uint16_t>(last);
    std::size_t bin = first - 1;
    for (std::uint32_t each : sorted_[attribute]) {
      bin += !(each & tie);
      bins_[(each & ~tie) * coded_.size() + c] = static_cast<std::uint16_t>(bin);
    }
    sorted_[attribute] = {};
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
