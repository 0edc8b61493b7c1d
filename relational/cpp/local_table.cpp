// Filtering a table: the children's lists are written in one pass over the parent's, without
// branches, so nothing is sorted again.
#include "local_table.hpp"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

namespace crosscut::query {

namespace {

bool contains(std::span<const std::uint64_t> set, std::int32_t position) {
  return set[static_cast<std::size_t>(position) / 64] >> position % 64 & 1;
}

// Copies what `number` gives a number from 0 on, and whether its value is that of the one copied
// before.
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

// Copies what has a number of 0 or more to one list, the rest to another, as `filter` does. Nothing
// depends on guessing which.
std::pair<std::uint32_t*, std::uint32_t*> separate(std::span<const std::uint32_t> list,
                                                   std::uint32_t* out, std::uint32_t* in,
                                                   const std::vector<std::int32_t>& numbers) {
  std::uint32_t tied_out = 0, tied_in = 0;
  for (const std::uint32_t each : list) {
    const std::int32_t number = numbers[each & ~Attributes::tie];
    const std::uint32_t tie = each & Attributes::tie, is_out = number < 0;
    tied_out &= tie;
    tied_in &= tie;
    *out = static_cast<std::uint32_t>(~number) | tied_out;
    *in = static_cast<std::uint32_t>(number) | tied_in;
    out += is_out;
    in += 1 - is_out;
    tied_out |= is_out << 31;
    tied_in |= (1 - is_out) << 31;
  }
  return {out, in};
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
      positions.push_back(
          static_cast<std::int32_t>(word * 64 + static_cast<std::size_t>(std::countr_zero(set))));
  if (attributes.size() == 0) return;
  std::vector<std::int32_t> numbers(examples.size() * 64, -1);
  for (std::size_t i = 0; i < size(); i++)
    numbers[static_cast<std::size_t>(positions[i])] = static_cast<std::int32_t>(i);
  for (std::size_t a = 0; a < attributes.size(); a++) {
    const std::size_t first = sorted.size();
    sorted.resize(first + std::min(size(), attributes.sorted(a).size()) +
                  1);  // one more to write what is not kept
    const auto end = filter(attributes.sorted(a), sorted.data() + first,
                            [&](std::uint32_t position) { return numbers[position]; });
    sorted.resize(static_cast<std::size_t>(end - sorted.data()));
    ends.push_back(sorted.size());
  }
}

void LocalTable::part(std::span<const std::uint64_t> examples, LocalTable* in,
                      LocalTable* out) const {
  std::vector<std::int32_t> numbers(size()),
      kept[2];  // numbers of those in the set; ~ numbers of the others
  for (std::size_t i = 0; i < size(); i++) {
    const bool is_in = contains(examples, positions[i]);
    const auto own = static_cast<std::int32_t>(kept[is_in].size());
    numbers[i] = is_in ? own : ~own;
    kept[is_in].push_back(static_cast<std::int32_t>(i));
  }
  std::uint32_t* end[2] = {};
  for (const bool is_in : {false, true}) {
    LocalTable* to = is_in ? in : out;
    if (to == nullptr) continue;
    const auto& mine = kept[is_in];
    for (std::int32_t i : mine) to->positions.push_back(positions[static_cast<std::size_t>(i)]);
    std::size_t most = 1;  // one to write what is not kept
    for (std::size_t a = 0; a < ends.size(); a++) most += std::min(list(a).size(), mine.size());
    to->sorted.resize(most);
    end[is_in] = to->sorted.data();
    for (const Rows& each : rows) {
      const std::size_t width = each.width;
      auto& own = to->rows
                      .emplace_back(Rows{each.component, each.shape, width,
                                         std::vector<std::uint64_t>(mine.size() * width), false})
                      .bits;
      for (std::size_t i = 0; i < mine.size(); i++)
        for (std::size_t w = 0; w < width; w++)
          own[i * width + w] = each.bits[static_cast<std::size_t>(mine[i]) * width + w];
    }
  }
  for (std::size_t a = 0; a < ends.size(); a++) {
    if (in && out) std::tie(end[0], end[1]) = separate(list(a), end[0], end[1], numbers);
    else
      end[in != nullptr] = filter(list(a), end[in != nullptr],
                                  [&](std::uint32_t i) { return in ? numbers[i] : ~numbers[i]; });
    for (const bool is_in : {false, true})
      if (LocalTable* to = is_in ? in : out)
        to->ends.push_back(static_cast<std::size_t>(end[is_in] - to->sorted.data()));
  }
  for (LocalTable* to : {in, out})
    if (to && !ends.empty()) to->sorted.resize(to->ends.back());
}

}  // namespace crosscut::query
