// Ranks by least-significant-digit radix sort of (key, row) pairs.
//
// Two cases are faster. For bins of many rows, keys are sorted without their rows (of very many
// rows, only those near the borders of the bins: bins.hpp), and each row is then looked up among
// the borders. Bins are only written as coarse ranks if the caller has no other ranks, so their
// keys are kept for a few columns at a time. Columns with few values are ranked by a hash table and
// a sort of the values. Each thread takes whole columns; when none is left, it takes parts of the
// columns of other threads, because 28 columns do not keep 16 threads busy.
#include "rank.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <numeric>
#include <vector>

#include "base/waiting.hpp"
#include "bins.hpp"
#include "keys.hpp"

namespace crosscut {
namespace {

constexpr std::size_t few_cells = 1u << 15;  // with fewer, one thread is faster
constexpr std::size_t few_rows = 1u << 16;   // with fewer, columns are not divided
// with more, writing to rows in sorted order would miss the cache
constexpr std::size_t many_rows = 1u << 17;
// with more, sorting keys would miss the cache
constexpr std::size_t very_many_rows = 1u << 19;
// with fewer rows per value, sorting values saves little over sorting rows
constexpr std::size_t rows_per_value = 8;
// tiles of a row-major matrix that fit in the cache
constexpr std::size_t tile_rows = 256, tile_columns = 16;

// The keys of neighbouring columns, one column after the other.
struct KeyColumns {
  std::uint32_t* keys;
  std::size_t n_rows, first, end;  // columns
  std::uint32_t* column(std::size_t f) const { return keys + (f - first) * n_rows; }
};

// Writes the keys of a block of rows, column by column; returns whether one is infinite.
template <class T>
bool write_keys(const Strided<T>& m, const KeyColumns& to, std::size_t begin, std::size_t end) {
  bool infinite = false;
  for (std::size_t f0 = to.first; f0 < to.end; f0 += tile_columns)
    for (std::size_t r0 = begin; r0 < end; r0 += tile_rows)
      for (std::size_t f = f0; f < std::min(f0 + tile_columns, to.end); f++) {
        std::uint32_t* keys = to.column(f);
        const T* column = m.data + static_cast<std::ptrdiff_t>(f) * m.column_stride;
        for (std::size_t r = r0; r < std::min(r0 + tile_rows, end); r++) {
          const std::uint32_t key =
              key_of(static_cast<float>(column[static_cast<std::ptrdiff_t>(r) * m.row_stride]));
          infinite |= (key == plus_infinity_key) | (key == minus_infinity_key);
          keys[r] = key;
        }
      }
  return infinite;
}

Cell first_infinite(const KeyColumns& columns) {
  for (std::size_t f = columns.first; f < columns.end; f++) {
    const std::uint32_t* keys = columns.column(f);
    for (std::size_t r = 0; r < columns.n_rows; r++)
      if (keys[r] == plus_infinity_key || keys[r] == minus_infinity_key)
        return {static_cast<std::ptrdiff_t>(f), static_cast<std::ptrdiff_t>(r)};
  }
  return {};
}

// Writes the distinct values of sorted items and the number of rows up to each; returns the number
// of values.
template <class Item>
std::size_t distinct(const Item* sorted, std::size_t present, float* values, std::uint32_t* end) {
  // written for every row and kept for the last row of a value, which avoids a branch
  std::size_t n_values = 0;
  for (std::size_t i = 0; i < present; i++) {
    values[n_values] = value_of(sorted[i].key);
    end[n_values] = static_cast<std::uint32_t>(i + 1);
    n_values += i + 1 == present || sorted[i + 1].key != sorted[i].key;
  }
  return n_values;
}

template <class Item> std::size_t present_items(const Item* sorted, std::size_t n) {
  return static_cast<std::size_t>(
      std::partition_point(sorted, sorted + n, [](const Item& i) { return i.key != missing_key; }) -
      sorted);
}

// Writes the numbers of the keys' bins, also in place of the keys if they are wanted as ranks.
void number_bins(std::uint32_t* keys, std::size_t n, const BinTable& table, bool with_ranks,
                 std::uint8_t* coarse) {
  for (std::size_t r = 0; r < n; r++) {
    const std::size_t c = table.of(keys[r]);
    if (with_ranks) keys[r] = static_cast<std::uint32_t>(c);
    coarse[r] = static_cast<std::uint8_t>(c);
  }
}

bool too_close(float a, float b) { return a + 1e-7f >= b; }  // scikit-learn's gap rule

// Moves each border between values that are too close up to the next possible cut, or drops it.
std::size_t move_borders(const float* values, std::size_t n_values, std::size_t n_coarse,
                         std::uint32_t* first) {
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

// Writes ranks (or bins) and intervals of the rows of sorted pairs, for the intervals c..n_coarse.
// ranks: null if they are not wanted.
void number_ranks(const Pair* sorted, const std::uint32_t* end, const std::uint32_t* first,
                  std::size_t c, std::size_t n_coarse, bool bins, std::uint32_t* ranks,
                  std::uint8_t* coarse) {
  for (; c < n_coarse; c++) {
    std::size_t i = first[c] ? end[first[c] - 1] : 0;
    for (std::uint32_t r = first[c]; r < first[c + 1]; r++)
      for (; i < end[r]; i++) {
        if (ranks) ranks[sorted[i].row] = bins ? static_cast<std::uint32_t>(c) : r;
        coarse[sorted[i].row] = static_cast<std::uint8_t>(c);
      }
  }
}

// Ranks a column with at most `most` values, including the missing one, by sorting the values
// instead of the rows. Returns false if there are more values.
bool rank_few(std::uint32_t* keys, std::size_t n, std::size_t most, float* values,
              std::uint8_t* coarse, std::size_t& n_values, std::size_t& present) {
  // three quarters of the hash table stay empty; if the first `look` rows all differ, give up
  constexpr std::size_t slots = 1024, look = 32;
  // number of the value in a slot, from 1 in order of appearance; 0: empty
  std::array<std::uint8_t, slots> number{};
  std::array<std::uint32_t, slots> key_at;
  std::array<Pair, max_coarse> items;  // by number
  std::size_t n_distinct = 0;
  for (std::size_t r = 0; r < n; r++) {
    std::size_t slot = keys[r] * 0x9E3779B1u >> 22;
    while (number[slot] && key_at[slot] != keys[r]) slot = (slot + 1) % slots;
    if (!number[slot]) {
      if (n_distinct == most || (n_distinct == look && r == look)) return false;
      key_at[slot] = keys[r];
      items[n_distinct] = Pair::of(keys[r], n_distinct);
      number[slot] = static_cast<std::uint8_t>(++n_distinct);
    }
    coarse[r] = number[slot];
  }
  std::sort(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(n_distinct),
            [](Pair a, Pair b) { return a.key < b.key; });
  std::array<std::uint8_t, max_coarse + 1> rank;  // by number
  for (std::size_t v = 0; v < n_distinct; v++) {
    rank[items[v].row + 1] = static_cast<std::uint8_t>(v);
    values[v] = value_of(items[v].key);
  }
  n_values = n_distinct - (items[n_distinct - 1].key == missing_key);
  present = 0;
  for (std::size_t r = 0; r < n; r++) {
    keys[r] = coarse[r] = rank[coarse[r]];
    present += coarse[r] < n_values;
  }
  return true;
}

// Codes of categories are their ranks. They are counted only if there are more categories than
// coarse intervals.
void rank_codes(std::uint32_t* ranks, std::size_t n, std::size_t f, const RankedColumns& out) {
  std::uint32_t* first = out.coarse_first + f * (max_coarse + 1);
  const auto n_categories = static_cast<std::size_t>(out.n_categories[f]);
  const auto missing = static_cast<float>(n_categories);
  std::size_t n_missing = 0;
  for (std::size_t r = 0; r < n; r++) {
    const float code = value_of(ranks[r]);
    ranks[r] = static_cast<std::uint32_t>(
        static_cast<std::int32_t>(code >= 0 && code < missing ? code : missing));
    n_missing += ranks[r] == n_categories;
  }
  std::vector<std::uint32_t> end(n_categories > max_coarse ? n_categories + 1 : 0);
  if (!end.empty()) {
    for (std::size_t r = 0; r < n; r++) end[ranks[r]]++;
    for (std::size_t c = 1; c < n_categories; c++) end[c] += end[c - 1];
  }
  const std::size_t n_coarse = intervals(end.data(), n_categories, max_coarse, first);
  // interval of each category
  std::vector<std::uint8_t> coarse(n_categories + 1, static_cast<std::uint8_t>(n_coarse));
  for (std::size_t b = 0; b < n_coarse; b++)
    std::fill(coarse.begin() + first[b], coarse.begin() + first[b + 1],
              static_cast<std::uint8_t>(b));
  for (std::size_t r = 0; r < n; r++)
    out.coarse[f * n + r] =
        n_coarse == n_categories ? static_cast<std::uint8_t>(ranks[r]) : coarse[ranks[r]];
  out.close[f] = 0;
  out.n_missing[f] = static_cast<std::int64_t>(n_missing);
  out.n_values[f] = out.n_categories[f];
  out.n_coarse[f] = static_cast<std::int32_t>(n_coarse);
}

void rank_column(const Ranking& ranking, std::uint32_t* keys, std::size_t n, std::size_t f,
                 std::size_t max_intervals, bool bins, const RankedColumns& out, Scratch& scratch) {
  if (out.n_categories[f] >= 0) return rank_codes(keys, n, f, out);
  std::uint32_t* ranks = out.ranks ? keys : nullptr;  // written in place
  std::uint8_t* coarse = out.coarse + f * n;
  float* values = bins ? scratch.values.get() : out.values + f * n;
  std::uint32_t* first = out.coarse_first + f * (max_coarse + 1);
  std::uint32_t* end = scratch.end.get();

  std::size_t present, n_values = 0, n_coarse;
  const auto ranked = [&](const auto* sorted) {
    present = present_items(sorted, n);
    n_values = distinct(sorted, present, values, end);
    n_coarse = intervals(end, n_values, max_intervals, first);
  };
  if (rank_few(keys, n, std::min(max_intervals, n / rows_per_value), values, coarse, n_values,
               present)) {
    n_coarse = intervals(end, n_values, max_intervals, first);
  } else if (bins && n >= many_rows) {
    if (n >= very_many_rows) {
      BinnedValues binned(keys, n, scratch);
      present = binned.n_present();
      n_coarse = binned.bins(ranking, max_intervals, first);
    } else {
      ranked(sorted_items<Key>(ranking, keys, n, scratch));
    }
    const BinTable table(n, values, first, n_coarse);
    ranking.share(n, ranking.n_parts(n), [&](std::size_t, std::size_t begin, std::size_t stop) {
      number_bins(keys + begin, stop - begin, table, ranks != nullptr, coarse + begin);
    });
  } else {
    const Pair* sorted = sorted_items<Pair>(ranking, keys, n, scratch);
    ranked(sorted);
    if (!bins && n_coarse < n_values) n_coarse = move_borders(values, n_values, n_coarse, first);
    ranking.share(n_coarse, std::min(ranking.n_parts(n), n_coarse),
                  [&](std::size_t, std::size_t begin, std::size_t stop) {
                    number_ranks(sorted, end, first, begin, stop, bins, ranks, coarse);
                  });
    for (std::size_t i = present; i < n; i++) {
      if (ranks) ranks[sorted[i].row] = static_cast<std::uint32_t>(bins ? n_coarse : n_values);
      coarse[sorted[i].row] = static_cast<std::uint8_t>(n_coarse);
    }
  }
  std::uint32_t close = 0;
  if (bins) {
    float* ends = out.values + f * 2 * max_coarse;
    for (std::size_t c = 0; c < n_coarse; c++) {
      ends[2 * c] = values[first[c]];
      ends[2 * c + 1] = values[first[c + 1] - 1];
    }
    std::iota(first, first + n_coarse + 1, 0u);
    n_values = n_coarse;
  } else {
    for (std::size_t r = 1; r < n_values; r++)
      while (close < r && too_close(values[r - close - 1], values[r])) close++;
  }
  out.close[f] = close;
  out.n_missing[f] = static_cast<std::int64_t>(n - present);
  out.n_values[f] = static_cast<std::int32_t>(n_values);
  out.n_coarse[f] = static_cast<std::int32_t>(n_coarse);
}

struct WaitingColumn {
  std::size_t f;
  WaitingColumn *older = nullptr, *newer = nullptr;
  using Pointer = std::unique_ptr<WaitingColumn>;
};

}  // namespace

template <class T>
Cell rank_columns(const Strided<T>& m, std::size_t max_intervals, bool bins,
                  const RankedColumns& out, int n_threads) {
  const std::size_t n = m.n_rows, n_columns = m.n_columns;
  if (!n_columns) return {};
  if (n * n_columns < few_cells) n_threads = 1;
  Team team(n < few_rows
                ? static_cast<int>(std::min(static_cast<std::size_t>(n_threads), n_columns))
                : n_threads);
  std::vector<std::unique_ptr<Scratch>> scratch(static_cast<std::size_t>(team.size()));
  // threads wait for each other after a group, so it has columns for all of them
  const std::size_t width = std::max(tile_columns, 2 * static_cast<std::size_t>(team.size()));
  const std::size_t n_groups = out.ranks ? 1 : (n_columns + width - 1) / width;
  const auto first_of = [&](std::size_t group) { return group * n_columns / n_groups; };
  const std::unique_ptr<std::uint32_t[]> room =
      out.ranks ? nullptr : new_array<std::uint32_t>(n * ((n_columns + n_groups - 1) / n_groups));
  for (std::size_t group = 0; group < n_groups; group++) {
    const KeyColumns keys{room ? room.get() : out.ranks, n, first_of(group), first_of(group + 1)};
    std::atomic<bool> infinite{false};
    parallel_for(
        static_cast<std::int64_t>(n), 16 * tile_rows, team,
        [&](std::int64_t begin, std::int64_t end) {
          if (write_keys(m, keys, static_cast<std::size_t>(begin), static_cast<std::size_t>(end)))
            infinite = true;
        });
    if (infinite) return first_infinite(keys);
    WaitingLists<WaitingColumn> waiting(team.size());
    for (std::size_t f = keys.first; f < keys.end; f++)
      waiting.add(0, WaitingColumn::Pointer(new WaitingColumn{f}));
    Failure failure;
    team.run(team.size(), [&](int thread) {
      failure.guard([&] {
        auto& own = scratch[static_cast<std::size_t>(thread)];
        if (!own) own = std::make_unique<Scratch>(n, bins ? n : 0);
        while (const auto column = waiting.next(thread)) {
          rank_column({waiting, thread}, keys.column(column->f), n, column->f, max_intervals, bins,
                      out, *own);
          waiting.finished();
        }
      });
      if (failure.any()) waiting.stop();
    });
    failure.rethrow();
  }
  return {};
}

template Cell rank_columns(const Strided<float>&, std::size_t, bool, const RankedColumns&, int);
template Cell rank_columns(const Strided<double>&, std::size_t, bool, const RankedColumns&, int);
template Cell rank_columns(const Strided<std::int64_t>&, std::size_t, bool, const RankedColumns&,
                           int);
template Cell rank_columns(const Strided<std::uint8_t>&, std::size_t, bool, const RankedColumns&,
                           int);

}  // namespace crosscut
