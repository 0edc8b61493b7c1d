#include "local_table.hpp"

#include <bit>

namespace crosscut::query {

namespace {

bool contains(std::span<const std::uint64_t> set, std::int32_t position) { return set[static_cast<std::size_t>(position) / 64] >> position % 64 & 1; }

// Copies what `number` gives a number from 0 on, and whether its value is that of the one copied before.
template <class Number>
std::uint32_t* filter(std::span<const std::uint32_t> list, std::uint32_t* to, Number number) {
  std::uint32_t tied = 0;
  for (const std::uint32_t each : list) {
    tied &= each & Attributes::tie;
    const std::int32_t own = number(each & ~Attributes::tie);
    const bool kept = own >= 0;
    *to = static_cast<std::uint32_t>(own) | tied;  // overwritten by the next one if it is not kept
    to += kept;
    tied |= kept ? Attributes::tie : 0;
  }
  return to;
}

}  // namespace

std::size_t LocalTable::bytes() const {
  std::size_t n = sizeof(std::int32_t) * (positions.size() + sorted.size());
  for (const Rows& each : rows) n += sizeof(std::uint64_t) * each.bits.size();
  return n;
}

void LocalTable::start(const Attributes& attributes, std::span<const std::uint64_t> examples) {
  positions.clear();
  sorted.clear();
  ends.clear();
  rows.clear();
  for (std::size_t word = 0; word < examples.size(); word++)
    for (std::uint64_t set = examples[word]; set; set &= set - 1)
      positions.push_back(static_cast<std::int32_t>(word * 64 + static_cast<std::size_t>(std::countr_zero(set))));
  if (attributes.size() == 0) return;
  std::vector<std::int32_t> numbers(examples.size() * 64, -1);
  for (std::size_t i = 0; i < size(); i++) numbers[static_cast<std::size_t>(positions[i])] = static_cast<std::int32_t>(i);
  for (std::size_t a = 0; a < attributes.size(); a++) {
    const std::size_t first = sorted.size();
    sorted.resize(first + size() + 1);  // one more to write what is not kept
    const auto end = filter(attributes.sorted(a), sorted.data() + first, [&](std::uint32_t position) { return numbers[position]; });
    sorted.resize(static_cast<std::size_t>(end - sorted.data()));
    ends.push_back(sorted.size());
  }
}

LocalTable LocalTable::part(std::span<const std::uint64_t> examples) const {
  LocalTable result;
  std::vector<std::int32_t> numbers(size(), -1), kept;
  for (std::size_t i = 0; i < size(); i++) {
    if (!contains(examples, positions[i])) continue;
    numbers[i] = static_cast<std::int32_t>(kept.size());
    kept.push_back(static_cast<std::int32_t>(i));
    result.positions.push_back(positions[i]);
  }
  result.sorted.resize(std::min(sorted.size(), ends.size() * kept.size()) + 1);
  std::uint32_t* end = result.sorted.data();
  for (std::size_t a = 0; a < ends.size(); a++) {
    end = filter(list(a), end, [&](std::uint32_t i) { return numbers[i]; });
    result.ends.push_back(static_cast<std::size_t>(end - result.sorted.data()));
  }
  result.sorted.resize(static_cast<std::size_t>(end - result.sorted.data()));
  for (const Rows& each : rows) {
    const std::size_t width = each.width;
    auto& own = result.rows.emplace_back(Rows{each.component, each.shape, width, std::vector<std::uint64_t>(kept.size() * width), false}).bits;
    for (std::size_t i = 0; i < kept.size(); i++)
      for (std::size_t w = 0; w < width; w++) own[i * width + w] = each.bits[static_cast<std::size_t>(kept[i]) * width + w];
  }
  return result;
}

}  // namespace crosscut::query
