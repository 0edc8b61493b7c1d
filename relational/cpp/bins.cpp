// Coded attributes have few values. Their examples are counted by value, or sorted by counting, so
// nothing has to be kept sorted from node to node.
#include <numeric>

#include "choice.hpp"

namespace crosscut::query {

// How many examples are in each bin of the coded attributes, and how many of them are of the second
// class.
void Choice::count_bins(const Demand& demand) {
  bin_counts_.assign(attributes_.bin_values().size(), 0);
  const std::size_t n = attributes_.coded().size();
  const auto& positions = demand.table.positions;
  std::uint64_t* const counts = bin_counts_.data();
  constexpr std::size_t ahead = 12;
  for (std::size_t i = 0; i < positions.size(); i++) {
    if (i + ahead < positions.size())
      __builtin_prefetch(attributes_.bins(static_cast<std::size_t>(positions[i + ahead])));
    const std::uint16_t* bins = attributes_.bins(static_cast<std::size_t>(positions[i]));
    const std::uint64_t one = 1 + (static_cast<std::uint64_t>(slots_[i]) << 32);
    for (std::size_t c = 0; c < n; c++) counts[bins[c]] += one;
  }
}

// The examples that have a value of a coded attribute, as a table lists those of others.
std::span<const std::uint32_t> Choice::sort_coded(std::size_t number, const Demand& demand) {
  const auto& [attribute, first, last] = attributes_.coded()[number];
  const auto bin = [&](std::size_t i) {
    return attributes_.bins(static_cast<std::size_t>(demand.table.positions[i]))[number] - first;
  };
  bin_ends_.assign(last - first + 1, 0);
  for (std::size_t i = 0; i < demand.table.size(); i++) bin_ends_[bin(i)]++;
  std::exclusive_scan(bin_ends_.begin(), bin_ends_.end(), bin_ends_.begin(), std::uint32_t{0});
  const std::size_t n = bin_ends_.back();
  listed_.resize(demand.table.size());
  for (std::size_t i = 0; i < listed_.size(); i++)
    listed_[bin_ends_[bin(i)]++] = static_cast<std::uint32_t>(i) | Attributes::tie;
  if (n > 0) listed_[0] &= ~Attributes::tie;
  for (std::size_t b = 0; b + 1 < bin_ends_.size(); b++)
    if (bin_ends_[b] < n) listed_[bin_ends_[b]] &= ~Attributes::tie;
  return std::span(listed_).first(n);
}

// Cuts of a coded attribute, from the counts of its bins; false if some examples miss it.
bool Choice::scan_bins(std::size_t number) {
  const auto& [attribute, first, last] = attributes_.coded()[number];
  if (bin_counts_[last] > 0) return false;
  const std::size_t stride = cut_at_.size();
  std::int32_t *zeros = cut_counts_.data(), *ones = zeros + stride;
  std::uint64_t below = 0;
  std::size_t n = 0;
  for (std::size_t bin = first; bin < last; bin++) {
    below += bin_counts_[bin];
    // a cut is written at every value, and stays where some example has it
    ones[n] = static_cast<std::int32_t>(below >> 32);
    zeros[n] = static_cast<std::int32_t>(below & 0xFFFFFFFF) - ones[n];
    cut_at_[n] = bin;
    n += bin_counts_[bin] > 0;
  }
  const auto n_values = static_cast<double>(n);
  rate_cuts_of(attribute, false, false, {&n_values, 1}, n - 1,
               [&](std::size_t at) { return attributes_.bin_values()[at]; });  // the last is no cut
  return true;
}

}  // namespace crosscut::query
