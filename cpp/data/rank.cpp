// Ranks by least-significant-digit radix sort of (key, row) pairs. Each thread takes whole columns: dividing the rows
// of one column would need nine barriers per column, which cost more than they gain.
//
// A float's bits, with the sign bit flipped (all bits if negative), order like the float. NaN gets the highest key,
// so missing values come last. -0.0 becomes 0.0 first.
#include "rank.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <memory>
#include <utility>
#include <vector>

#include "../threads.hpp"

namespace crosscut {
namespace {

constexpr std::uint32_t missing_key = 0xFFFFFFFFu;
constexpr std::uint32_t plus_infinity_key = 0xFF800000u, minus_infinity_key = 0x007FFFFFu;
constexpr std::size_t few_cells = 1u << 15;    // not worth waking threads for
constexpr std::size_t tile_rows = 256, tile_columns = 16;  // of a row-major matrix; a tile stays in the cache

std::uint32_t key_of(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x + 0.0f);
  const std::uint32_t key = bits ^ (static_cast<std::uint32_t>(static_cast<std::int32_t>(bits) >> 31) | 0x80000000u);
  return x == x ? key : missing_key;
}

float value_of(std::uint32_t key) {
  return std::bit_cast<float>(key & 0x80000000u ? key ^ 0x80000000u : ~key);
}

// Writes the keys of a block of rows, column by column; true if one of them is infinite.
template <class T>
bool write_keys(const Strided<T>& m, const RankedColumns& out, std::size_t begin, std::size_t end) {
  bool infinite = false;
  for (std::size_t f0 = 0; f0 < m.n_columns; f0 += tile_columns)
    for (std::size_t r0 = begin; r0 < end; r0 += tile_rows)
      for (std::size_t f = f0; f < std::min(f0 + tile_columns, m.n_columns); f++) {
        if (out.row[f] < 0) continue;
        std::uint32_t* keys = out.ranks + static_cast<std::size_t>(out.row[f]) * m.n_rows;
        const T* column = m.data + static_cast<std::ptrdiff_t>(f) * m.column_stride;
        for (std::size_t r = r0; r < std::min(r0 + tile_rows, end); r++) {
          const std::uint32_t key = key_of(static_cast<float>(column[static_cast<std::ptrdiff_t>(r) * m.row_stride]));
          infinite |= (key == plus_infinity_key) | (key == minus_infinity_key);
          keys[r] = key;
        }
      }
  return infinite;
}

Cell first_infinite(const RankedColumns& out, std::size_t n_rows, std::size_t n_columns) {
  for (std::size_t f = 0; f < n_columns; f++) {
    if (out.row[f] < 0) continue;
    const std::uint32_t* keys = out.ranks + static_cast<std::size_t>(out.row[f]) * n_rows;
    for (std::size_t r = 0; r < n_rows; r++)
      if (keys[r] == plus_infinity_key || keys[r] == minus_infinity_key)
        return {static_cast<std::ptrdiff_t>(f), static_cast<std::ptrdiff_t>(r)};
  }
  return {};
}

struct Scratch {
  explicit Scratch(std::size_t n)
      : a(new std::uint64_t[n]), b(new std::uint64_t[n]), end(new std::uint32_t[n + 1]) {}
  std::unique_ptr<std::uint64_t[]> a, b;   // (key, row) pairs, key in the upper half
  std::unique_ptr<std::uint32_t[]> end;    // rows up to and including each rank
};

std::uint64_t pair_of(std::uint32_t key, std::size_t row) { return static_cast<std::uint64_t>(key) << 32 | row; }

// Sorts by `Passes` digits of `Bits` bits. Their counts do not change between passes, so all are counted at once.
template <unsigned Bits, unsigned Passes>
const std::uint64_t* sort_by_digits(const std::uint32_t* keys, std::size_t n, Scratch& scratch) {
  constexpr std::uint32_t digit = (1u << Bits) - 1;
  std::array<std::array<std::uint32_t, digit + 1>, Passes> at{};
  for (std::size_t i = 0; i < n; i++)
    for (unsigned p = 0; p < Passes; p++) at[p][keys[i] >> (p * Bits) & digit]++;
  std::uint64_t *from = scratch.a.get(), *to = scratch.b.get();
  bool paired = false;
  for (unsigned p = 0; p < Passes; p++) {
    if (at[p][keys[0] >> (p * Bits) & digit] == n) continue;  // all keys share this digit
    std::uint32_t sum = 0;
    for (std::uint32_t& count : at[p]) sum += std::exchange(count, sum);
    if (paired) {
      for (std::size_t i = 0; i < n; i++) to[at[p][from[i] >> (32 + p * Bits) & digit]++] = from[i];
    } else {
      for (std::size_t i = 0; i < n; i++) to[at[p][keys[i] >> (p * Bits) & digit]++] = pair_of(keys[i], i);
    }
    paired = true;
    std::swap(from, to);
  }
  if (!paired)
    for (std::size_t i = 0; i < n; i++) from[i] = pair_of(keys[i], i);
  return from;
}

// Wide digits need fewer passes. But few rows do not fill their buckets, and with many rows the buckets do not fit in
// the cache.
const std::uint64_t* sort_pairs(const std::uint32_t* keys, std::size_t n, Scratch& scratch) {
  const bool wide = n >= (1u << 13) && n < (1u << 18);
  return wide ? sort_by_digits<11, 3>(keys, n, scratch) : sort_by_digits<8, 4>(keys, n, scratch);
}

bool too_close(float a, float b) { return a + 1e-7f >= b; }  // scikit-learn's gap rule

// A border between values that are too close is not a cut: moves it up to the next cut, or drops it.
std::size_t move_borders(const float* values, std::size_t n_values, std::size_t n_coarse, std::uint32_t* first) {
  std::size_t kept = 1;
  for (std::size_t c = 1; c < n_coarse; c++) {
    std::uint32_t r = std::max(first[c], first[kept - 1] + 1);
    while (r < n_values && too_close(values[r - 1], values[r])) r++;
    if (r >= n_values) break;
    first[kept++] = r;
  }
  first[kept] = static_cast<std::uint32_t>(n_values);
  return kept;
}

void rank_column(std::size_t n, std::size_t f, std::size_t max_intervals, bool bins, const RankedColumns& out,
                 Scratch& scratch) {
  if (out.row[f] < 0) return;
  const auto row = static_cast<std::size_t>(out.row[f]);
  std::uint32_t* ranks = out.ranks + row * n;
  std::uint8_t* coarse = out.coarse + row * n;
  float* values = out.values + row * n;
  std::uint32_t* first = out.coarse_first + row * (max_intervals + 1);
  std::uint32_t* end = scratch.end.get();

  const std::uint64_t* sorted = sort_pairs(ranks, n, scratch);
  const auto present = static_cast<std::size_t>(
      std::lower_bound(sorted, sorted + n, static_cast<std::uint64_t>(missing_key) << 32) - sorted);
  // written for every row and kept for the last row of each value, to avoid a branch
  std::size_t n_values = 0;
  for (std::size_t i = 0; i < present; i++) {
    const auto key = static_cast<std::uint32_t>(sorted[i] >> 32);
    values[n_values] = value_of(key);
    end[n_values] = static_cast<std::uint32_t>(i + 1);
    n_values += i + 1 == present || static_cast<std::uint32_t>(sorted[i + 1] >> 32) != key;
  }
  std::size_t n_coarse = intervals(end, n_values, max_intervals, first);
  if (!bins && n_coarse < n_values) n_coarse = move_borders(values, n_values, n_coarse, first);

  for (std::size_t c = 0; c < n_coarse; c++) {
    std::size_t i = first[c] ? end[first[c] - 1] : 0;
    for (std::uint32_t r = first[c]; r < first[c + 1]; r++)
      for (; i < end[r]; i++) {
        const auto at = static_cast<std::uint32_t>(sorted[i]);
        ranks[at] = bins ? static_cast<std::uint32_t>(c) : r;
        coarse[at] = static_cast<std::uint8_t>(c);
      }
  }
  for (std::size_t i = present; i < n; i++) {
    const auto at = static_cast<std::uint32_t>(sorted[i]);
    ranks[at] = static_cast<std::uint32_t>(bins ? n_coarse : n_values);
    coarse[at] = static_cast<std::uint8_t>(n_coarse);
  }
  bool close = false;
  for (std::size_t r = 1; r < n_values; r++) close |= too_close(values[r - 1], values[r]);
  out.close[row] = close;
  out.n_missing[row] = static_cast<std::int64_t>(n - present);
  out.n_values[row] = static_cast<std::int32_t>(n_values);
  out.n_coarse[row] = static_cast<std::int32_t>(n_coarse);
}

}  // namespace

// A rank with more than two equal shares of the rows is heavy and gets its own interval. These are fewer than half of
// the intervals, so each run of ranks between heavy ones can have an interval, too. Within a run, an interval ends
// where its row count is nearest to an equal share of the remaining light rows.
std::size_t intervals(const std::uint32_t* end, std::size_t n, std::size_t max_intervals, std::uint32_t* first) {
  if (n <= max_intervals) {
    for (std::size_t r = 0; r <= n; r++) first[r] = static_cast<std::uint32_t>(r);
    return n;
  }
  const auto below = [end](std::size_t r) { return static_cast<std::uint64_t>(r ? end[r - 1] : 0); };
  const std::uint64_t all = end[n - 1], two_shares = 2 * all / max_intervals;
  const auto heavy = [&](std::size_t r) { return end[r] - below(r) > two_shares; };
  std::uint32_t largest = end[0];
  for (std::size_t r = 1; r < n; r++) largest = std::max(largest, end[r] - end[r - 1]);
  std::size_t n_heavy = 0, runs = largest > two_shares ? 0 : 1;
  std::uint64_t left = all;
  bool in_run = false;
  for (std::size_t r = 0; r < n && largest > two_shares; r++) {
    const bool stands_alone = heavy(r);
    n_heavy += stands_alone;
    left -= stands_alone ? end[r] - below(r) : 0;
    runs += !stands_alone && !in_run;
    in_run = !stands_alone;
  }

  std::size_t count = 0, begin = 0, shares = max_intervals - n_heavy;
  while (begin < n) {
    if (heavy(begin)) {
      first[count++] = static_cast<std::uint32_t>(begin++);
      continue;
    }
    std::size_t run_end = n_heavy ? begin + 1 : n;
    while (run_end < n && !heavy(run_end)) run_end++;
    runs--;
    while (begin < run_end) {
      first[count++] = static_cast<std::uint32_t>(begin);
      // find the first rank that belongs to the next interval: in growing steps, then by bisection
      const std::uint64_t most = 2 * left / shares, twice_below = 2 * below(begin);
      const auto too_many = [&](std::size_t r) { return below(r) + end[r] - twice_below > most; };
      std::size_t low = begin + 1, high = low, step = 1;
      if (shares == runs + 1) low = high = run_end;  // the following runs need the rest
      while (high < run_end && !too_many(high)) {
        low = high + 1;
        high = std::min(high + step, run_end);
        step *= 2;
      }
      while (low < high) {
        const std::size_t middle = low + (high - low) / 2;
        if (too_many(middle)) high = middle;
        else low = middle + 1;
      }
      left -= below(low) - below(begin);
      shares--;
      begin = low;
    }
  }
  first[count] = static_cast<std::uint32_t>(n);
  return count;
}

template <class T>
Cell rank_columns(const Strided<T>& m, std::size_t max_intervals, bool bins, const RankedColumns& out, int n_threads) {
  const std::size_t n = m.n_rows, n_columns = m.n_columns;
  if (n * n_columns < few_cells) n_threads = 1;
  std::atomic<bool> infinite{false};
  parallel_for(static_cast<std::int64_t>(n), 16 * tile_rows, n_threads, [&](std::int64_t begin, std::int64_t end) {
    if (write_keys(m, out, static_cast<std::size_t>(begin), static_cast<std::size_t>(end))) infinite = true;
  });
  if (infinite) return first_infinite(out, n, n_columns);
  Team team(static_cast<int>(std::min(static_cast<std::size_t>(n_threads), n_columns)));
  std::vector<Scratch> scratch;
  for (int t = 0; t < team.size(); t++) scratch.emplace_back(n);
  std::atomic<std::size_t> next{0};
  team.run(team.size(), [&](int me) {
    for (std::size_t f; (f = next.fetch_add(1)) < n_columns;) rank_column(n, f, max_intervals, bins, out, scratch[static_cast<std::size_t>(me)]);
  });
  return {};
}

template Cell rank_columns(const Strided<float>&, std::size_t, bool, const RankedColumns&, int);
template Cell rank_columns(const Strided<double>&, std::size_t, bool, const RankedColumns&, int);
template Cell rank_columns(const Strided<std::int64_t>&, std::size_t, bool, const RankedColumns&, int);
template Cell rank_columns(const Strided<std::uint8_t>&, std::size_t, bool, const RankedColumns&, int);

}  // namespace crosscut
