// Bins of about equal row count in columns of very many rows, without sorting all of them.
//
// `intervals` only compares neighbouring values around the border of each bin. So the rows are
// counted by cells of evenly spaced keys, and the values of a cell are known only if the cell is
// open: its keys are then collected and sorted. A closed cell stands for its values as if they were
// one. If the values on both sides of every border come from open cells, and every cell with more
// than an equal share of the rows is open (it could hold a heavy value), each comparison of
// `intervals` has the numbers that it would have with all values, so the bins are the same.
// Otherwise the cells at those borders are opened, too, and the bins are found again. On one core
// and 5M rows of 28 columns, this takes less than half the time of sorting all keys; below half a
// million rows, sorting is faster.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "keys.hpp"
#include "rank.hpp"

namespace crosscut {

// Finds the cell of a key: its distance to the lowest key, without the last `shift` bits.
struct KeyCells {
  std::uint32_t low = 0;
  int shift = 0;
  std::size_t n_cells = 0;

  KeyCells(std::uint32_t lowest, std::uint32_t highest, int bits)
      : low(lowest),
        shift(std::max(0, static_cast<int>(std::bit_width(highest - lowest)) - bits)),
        n_cells(((highest - lowest) >> shift) + 1) {}

  std::size_t of(std::uint32_t key) const { return (key - low) >> shift; }
};

// The values of a column in ascending order, those of a closed cell joined.
class BinnedValues {
 public:
  BinnedValues(const std::uint32_t* keys, std::size_t n, Scratch& scratch)
      : keys_(keys), n_(n), scratch_(scratch), cells_(range(keys, n)), count_(cells_.n_cells + 1) {
    // missing values are counted behind the last cell
    for (std::size_t i = 0; i < n; i++) count_[std::min(cells_.of(keys[i]), cells_.n_cells)]++;
    open_.resize(cells_.n_cells + 1);
  }

  std::size_t n_present() const { return n_ - count_.back(); }

  // Fills `first` as `intervals` does, as positions in the values and row counts of `scratch`.
  std::size_t bins(const Ranking& ranking, std::size_t max_intervals, std::uint32_t* first) {
    open_shares(max_intervals);
    for (;;) {
      const std::size_t n_values = list_values(ranking);
      const std::size_t n_bins = intervals(scratch_.end.get(), n_values, max_intervals, first);
      bool closed = false;
      for (std::size_t c = 0; c <= n_bins; c++) closed |= open_border(first[c], n_values);
      if (!closed) return n_bins;
    }
  }

 private:
  static constexpr std::size_t sample_rows = 1 << 14;

  static KeyCells range(const std::uint32_t* keys, std::size_t n) {
    std::uint32_t lowest = missing_key, highest = 0;
    for (std::size_t i = 0; i < n; i++) {
      lowest = std::min(lowest, keys[i]);
      highest = std::max(highest, keys[i] == missing_key ? 0 : keys[i]);
    }
    constexpr int rows_per_cell_bits = 4;
    const int bits = static_cast<int>(std::bit_width(n)) - rows_per_cell_bits;
    return {lowest, std::max(lowest, highest), std::clamp(bits, 14, 20)};
  }

  // Opens the cells where the borders are if all rows have different values, and those beside them:
  // every cell with more rows than a share of 1 / max_intervals is among them.
  void open_shares(std::size_t max_intervals) {
    std::size_t before = cells_.n_cells, latest = 0, end = 0, share = 0;
    bool open_next = true;
    for (std::size_t k = 0; k < cells_.n_cells; k++) {
      if (!count_[k]) continue;
      end += count_[k];
      const bool has_border = end > share * n_present() / max_intervals;
      if (has_border) open_[before] = true;
      if (has_border || open_next) open_[k] = true;
      open_next = has_border;
      while (share < max_intervals && end > share * n_present() / max_intervals) share++;
      before = latest = k;
    }
    open_[latest] = true;
    open_[cells_.n_cells] = false;
    sample_crowded(max_intervals);
  }

  // Finds a key of each cell with more than an equal share of the rows. There are fewer of these
  // cells than intervals. If a heavy value fills such a cell, its key is probably found; then its
  // rows need not be collected, because they are the rows of the cell less those collected.
  void sample_crowded(std::size_t max_intervals) {
    for (std::size_t k = 0; k < cells_.n_cells; k++)
      if (count_[k] > n_present() / max_intervals + 1)
        open_[k] = static_cast<std::uint8_t>(1 + ++n_crowded_);
    sampled_key_.fill(missing_key);
    for (std::size_t i = 0; i < n_; i += n_ / sample_rows + 1)
      if (const std::uint8_t open = open_of(keys_[i]); open > 1) sampled_key_[open] = keys_[i];
  }

  // Lists the values of open cells and the closed cells, with the number of rows up to each.
  std::size_t list_values(const Ranking& ranking) {
    collect_keys();
    const std::size_t n_sorted = collected_.size();
    const Key* sorted =
        n_sorted ? sorted_items<Key>(ranking, collected_.data(), n_sorted, scratch_) : nullptr;
    float* values = scratch_.values.get();
    std::uint32_t* end = scratch_.end.get();
    cell_of_.clear();
    std::size_t n_values = 0, below = 0, i = 0;
    for (std::size_t k = 0; k < cells_.n_cells; k++) {
      if (!count_[k]) continue;
      std::size_t stop = open_[k] == 1 ? i + count_[k] : i;
      if (open_[k] > 1)
        while (stop < n_sorted && cells_.of(sorted[stop].key) == k) stop++;
      const std::uint32_t sampled = sampled_key_[open_[k]];
      const std::size_t sampled_rows = count_[k] - (stop - i) + 1;
      for (; i < stop; i++) {
        below += sorted[i].key == sampled ? sampled_rows : 1;
        if (i + 1 < stop && sorted[i + 1].key == sorted[i].key) continue;
        values[n_values] = value_of(sorted[i].key);
        end[n_values++] = static_cast<std::uint32_t>(below);
        cell_of_.push_back(static_cast<std::uint32_t>(k));
      }
      if (open_[k]) continue;
      below += count_[k];
      end[n_values++] = static_cast<std::uint32_t>(below);
      cell_of_.push_back(static_cast<std::uint32_t>(k));
    }
    return n_values;
  }

  // Collects the keys of the open cells, a sampled key once.
  void collect_keys() {
    std::uint32_t* collected = reinterpret_cast<std::uint32_t*>(scratch_.b.get());
    std::size_t n = 0;
    for (const std::uint32_t key : sampled_key_)
      if (key != missing_key) collected[n++] = key;
    const auto collect = [&](auto wanted) {  // without branches, because keys come in any order
      for (std::size_t i = 0; i < n_; i++) {
        collected[n] = keys_[i];
        n += wanted(keys_[i], open_of(keys_[i]));
      }
    };
    if (n_crowded_)
      collect([&](std::uint32_t key, std::uint8_t open) {
        return std::size_t{open != 0} & std::size_t{key != sampled_key_[open]};
      });
    else collect([](std::uint32_t, std::uint8_t open) { return std::size_t{open}; });
    collected_.assign(collected, collected + n);
  }

  std::uint8_t open_of(std::uint32_t key) const {
    return open_[std::min(cells_.of(key), cells_.n_cells)];
  }

  // Opens the cells around a border if the cells at it are not open; returns whether they were not.
  bool open_border(std::size_t border, std::size_t n_values) {
    const auto is_open = [&](std::size_t v) { return v >= n_values || open_[cell_of_[v]]; };
    if (is_open(border) && is_open(border - 1))
      return false;  // position -1 is at or above n_values
    for (std::size_t v = border < 2 ? 0 : border - 2; v < std::min(border + 2, n_values); v++)
      if (!open_[cell_of_[v]]) open_[cell_of_[v]] = 1;
    return true;
  }

  const std::uint32_t* keys_;
  std::size_t n_;
  Scratch& scratch_;
  KeyCells cells_;
  std::vector<std::uint32_t> count_, cell_of_;  // per cell; per value
  std::vector<std::uint32_t> collected_;        // keys of open cells
  std::vector<std::uint8_t> open_;              // per cell: 0 closed, 1 open, 2 to 255 crowded
  int n_crowded_ = 0;                           // cells with more than an equal share of the rows
  std::array<std::uint32_t, 256> sampled_key_;  // of crowded cells; otherwise missing_key
};

// Finds the bin of a key. A table of the bins at evenly spaced keys leaves few borders to compare,
// and the same number of comparisons for all keys, without branches.
struct BinTable {
  std::array<std::uint32_t, 512> border;        // lowest key of each bin, then missing_key
  std::array<std::uint8_t, (1u << 16) + 1> at;  // bin of the first key of each cell
  std::size_t n_bins, cells, first_step = 0;    // a bin is at most 2 first_step - 1 after that bin
  int shift;

  BinTable(std::size_t n, const float* values, const std::uint32_t* first, std::size_t bins)
      : n_bins(bins) {
    border.fill(missing_key);
    for (std::size_t c = 0; c < n_bins; c++) border[c] = key_of(values[first[c]]);
    const std::uint32_t low = border[0], span = n_bins ? border[n_bins - 1] - low : 0;
    const int table_bits = std::clamp(static_cast<int>(std::bit_width(n)), 8, 16);
    shift = std::max(0, static_cast<int>(std::bit_width(span)) - table_bits);
    cells = (span >> shift) + 1;
    std::size_t most = 0;  // borders in a cell
    for (std::size_t k = 0, c = 0; k < cells; k++) {
      at[k] = static_cast<std::uint8_t>(c);
      const std::size_t before = c;
      while (c + 1 < n_bins && (border[c + 1] - low) >> shift == k) c++;
      most = std::max(most, c - before);
    }
    first_step = std::bit_floor(most);
  }

  // The bin of a key; n_bins if it is missing.
  std::size_t of(std::uint32_t key) const {
    std::size_t c = at[std::min<std::size_t>((key - border[0]) >> shift, cells - 1)];
    for (std::size_t step = first_step; step; step /= 2) c += border[c + step] <= key ? step : 0;
    return key == missing_key ? n_bins : c;
  }
};
}  // namespace crosscut
