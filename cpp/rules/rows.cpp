// The rows of a bundle: the union of its states' rows, the lanes of each, and their sorted order.
#include <algorithm>
#include <array>
#include <bit>

#include "bundle.hpp"

namespace crosscut::rules {

namespace {

// Transposes a bit matrix in blocks of 8 by 8 bits: bit l of mask j is bit j of word l. `all` is
// the union of the words; empty blocks are skipped.
void transpose(const std::uint64_t* words, std::size_t lanes, std::uint64_t all,
               std::uint64_t* masks) {
  std::fill(masks, masks + 64, std::uint64_t{0});
  for (std::size_t first = 0; first < lanes; first += 8)
    for (unsigned byte = 0; byte < 8; byte++) {
      if (!(all >> (8 * byte) & 0xff)) continue;
      std::uint64_t x = 0, t;
      for (unsigned l = 0; l < 8; l++) x |= (words[first + l] >> (8 * byte) & 0xff) << (8 * l);
      t = (x ^ (x >> 7)) & 0x00aa00aa00aa00aaULL;
      x ^= t ^ (t << 7);
      t = (x ^ (x >> 14)) & 0x0000cccc0000ccccULL;
      x ^= t ^ (t << 14);
      t = (x ^ (x >> 28)) & 0x00000000f0f0f0f0ULL;
      x ^= t ^ (t << 28);
      for (unsigned j = 0; j < 8; j++) masks[8 * byte + j] |= (x >> (8 * j) & 0xff) << first;
    }
}

}  // namespace

// Lists the rows of a bundle and the lanes of each row.
void Refinement::gather(const Bundle& bundle) {
  rows_.resize(table_.n_rows);
  lanes_.resize(table_.n_rows);
  std::size_t n = 0;
  std::array<std::uint64_t, max_lanes> words{};
  std::array<std::uint64_t, 64> lanes{};
  for (std::size_t w = 0; w < table_.words; w++) {
    std::uint64_t all = 0;
    for (std::size_t l = 0; l < bundle.states.size(); l++)
      all |= words[l] = bundle.states[l]->rows[w];
    if (!all) continue;
    transpose(words.data(), bundle.states.size(), all, lanes.data());
    for (; all; all &= all - 1) {
      const auto j = static_cast<std::size_t>(std::countr_zero(all));
      rows_[n] = static_cast<std::int32_t>(w * 64 + j);
      lanes_[n++] = lanes[j];
    }
  }
  rows_.resize(n);
  target_lanes_.assign(table_.n_classes, 0);
  if (any_) return;
  for (std::size_t l = 0; l < bundle.states.size(); l++)
    target_lanes_[static_cast<std::size_t>(bundle.states[l]->target)] |= std::uint64_t{1} << l;
}

// Sorts the bundle's rows by a feature, without missing values, and returns their number; `sorted`
// needs space for 16 more.
std::size_t Refinement::sort_rows(std::size_t f, std::int32_t* sorted) {
  const auto& order = table_.order[f];
  // measured costs: 6 to mark and collect a row of the bundle, 1 to pass over a row of the table, 5
  // to look up a row of the order
  const std::size_t n = 6 * rows_.size() + table_.n_rows < 5 * order.size()
                            ? memory_.sorter.sort(table_, f, rows_, sorted)
                            : CROSSCUT_DISPATCH(keep_members, order.data(), order.size(),
                                                memory_.set_of_row.data(), sorted);
  if (!table_.nominal[f]) return n;
  const std::uint32_t* ranks = table_.column(f);
  auto& ends = ends_[f];
  ends.assign(1, 0);
  for (std::uint32_t v = 0; v < table_.n_values[f]; v++) {
    const auto end = std::partition_point(sorted + ends.back(), sorted + n,
                                          [&](std::int32_t row) { return ranks[row] <= v; });
    ends.push_back(static_cast<std::size_t>(end - sorted));
  }
  return n;
}

}  // namespace crosscut::rules
