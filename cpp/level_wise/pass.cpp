// Two phases per group of chunks. First each chunk of rows walks down the bundles, which lists the
// rows that reach each frontier bundle. Then each thread adds these lists to the statistics of
// whole columns, so that no two threads write to the same cells.
#include "pass.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <type_traits>

#include "base/threads.hpp"

namespace crosscut {
namespace {

using u8 = std::uint8_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;

constexpr std::size_t kChunk = 1 << 15;  // rows per chunk, whose codes and masks fit in the cache
constexpr i64 kChunksAtOnce = 8;         // bounds the memory of row lists

// Rows of one chunk that reached a counted bundle, ready to be added column by column.
struct Arrived {
  std::int32_t bundle;
  std::vector<u32> fold, cell;   // rows that miss at most one task, and their cells within a bin
  std::vector<u32> mixed;        // other rows
  std::vector<u64> mixed_lanes;  // bit k: the row trains the k-th task of the bundle
};

class Walk {
  const BundleForest& forest;
  const BatchRows& rows;
  std::vector<std::unique_ptr<u32[]>> ids_of;  // scratch memory per depth
  std::vector<std::unique_ptr<u64[]>> masks_of;

 public:
  std::vector<Arrived> counted;
  std::vector<GatheredRows> gathered;

  Walk(const BundleForest& f, const BatchRows& r) : forest(f), rows(r) {}

  void start(std::size_t begin, std::size_t end) {
    need_depth(0);
    u32 n = 0;
    const u64 lanes = forest.lanes[0];
    for (std::size_t i = begin; i < end; i++) {
      ids_of[0][n] = static_cast<u32>(i);
      masks_of[0][n] = rows.masks[i] & lanes;
      n += masks_of[0][n] != 0;
    }
    visit(0, 0, n);
    ids_of.clear();
    masks_of.clear();
  }

 private:
  void need_depth(std::size_t depth) {
    if (ids_of.size() > depth) return;
    ids_of.emplace_back(new u32[kChunk + 1]);
    masks_of.emplace_back(new u64[kChunk + 1]);
  }
  void visit(std::int32_t bundle, std::size_t depth, u32 n) {
    if (!n) return;
    const std::size_t b = static_cast<std::size_t>(bundle);
    if (forest.place[b] == Place::counted) return arrive(bundle, depth, n);
    if (forest.place[b] == Place::gathered) {
      gathered.push_back({bundle,
                          {ids_of[depth].get(), ids_of[depth].get() + n},
                          {masks_of[depth].get(), masks_of[depth].get() + n}});
      return;
    }
    if (forest.place[b] != Place::inner) return;
    need_depth(depth + 1);
    for (i64 s = forest.split_start[b]; s < forest.split_start[b + 1]; s++) {
      const u8* codes = rows.codes + static_cast<std::size_t>(forest.feature[s]) * rows.n_rows;
      for (i64 c = forest.child_start[s]; c < forest.child_start[s + 1]; c++) {
        if (forest.place[forest.child[c]] == Place::done) continue;
        const u64* table = forest.table + c * kCodes;
        const u32* ids = ids_of[depth].get();
        const u64* masks = masks_of[depth].get();
        u32* to_ids = ids_of[depth + 1].get();
        u64* to_masks = masks_of[depth + 1].get();
        u32 m = 0;
        for (u32 i = 0; i < n; i++) {
          const u64 mask = masks[i] & table[codes[ids[i]]];
          to_ids[m] = ids[i];
          to_masks[m] = mask;
          m += mask != 0;
        }
        visit(forest.child[c], depth + 1, m);
      }
    }
  }
  void arrive(std::int32_t bundle, std::size_t depth, u32 n) {
    const u64 lanes = forest.lanes[bundle];
    const int L = std::popcount(lanes);
    const u32 cells = static_cast<u32>(n_cells(L));
    u8 lane_of[64] = {};
    int k = 0;
    for (u64 left = lanes; left; left &= left - 1)
      lane_of[std::countr_zero(left)] = static_cast<u8>(k++);
    Arrived a;
    a.bundle = bundle;
    a.fold.resize(n);
    a.cell.resize(n);
    u32 n_fold = 0;
    for (u32 i = 0; i < n; i++) {
      const u32 id = ids_of[depth][i];
      const u64 without = lanes & ~masks_of[depth][i];
      if ((without & (without - 1)) == 0) {
        const u32 channel = rows.amounts ? 0 : static_cast<u32>(rows.slot[id]);
        a.fold[n_fold] = id;
        a.cell[n_fold++] =
            channel * cells + (without ? lane_of[std::countr_zero(without)] : static_cast<u32>(L));
      } else {
        u64 bits = 0;
        for (u64 left = masks_of[depth][i]; left; left &= left - 1)
          bits |= u64{1} << lane_of[std::countr_zero(left)];
        a.mixed.push_back(id);
        a.mixed_lanes.push_back(bits);
      }
    }
    a.fold.resize(n_fold);
    a.cell.resize(n_fold);
    counted.push_back(std::move(a));
  }
};

// Sums of a valid fit do not overflow; others wrap, which is defined for unsigned integers.
template <class T> void add(T& cell, u64 amount) {
  using Bits = std::make_unsigned_t<T>;
  cell = static_cast<T>(static_cast<Bits>(cell) + static_cast<Bits>(amount));
}

// Adds the rows that arrived at a bundle to the statistics of one column.
template <class T>
void add_column(const BundleForest& forest, const BatchRows& rows, const StatisticsShape& shape,
                const Arrived& a, int f, T* statistics) {
  const std::size_t b = static_cast<std::size_t>(a.bundle);
  if (f < forest.first_column[b] || f >= forest.end_column[b]) return;
  const std::size_t L = static_cast<std::size_t>(std::popcount(forest.lanes[b]));
  const std::size_t cells = L + 1;
  const std::size_t bin = cells * static_cast<std::size_t>(shape.n_channels);
  T* to =
      statistics + forest.offset[b] +
      static_cast<std::size_t>(shape.first_bin[f] - shape.first_bin[forest.first_column[b]]) * bin;
  const u8* codes = rows.codes + static_cast<std::size_t>(f) * rows.n_rows;
  const std::size_t A = static_cast<std::size_t>(rows.n_amounts);
  for (std::size_t i = 0; i < a.fold.size(); i++) {
    T* cell = to + codes[a.fold[i]] * bin + a.cell[i];
    add(*cell, 1);
    if (!rows.amounts) continue;
    const i64* amounts = rows.amounts + a.fold[i] * A;
    cell += (1 + static_cast<std::size_t>(rows.slot[a.fold[i]]) * A) * cells;
    for (std::size_t j = 0; j < A; j++) add(cell[j * cells], static_cast<u64>(amounts[j]));
  }
  const u64 all = ~u64{0} >> (64 - L);
  for (std::size_t i = 0; i < a.mixed.size(); i++) {
    const u32 id = a.mixed[i];
    const std::size_t slot = static_cast<std::size_t>(rows.slot[id]);
    T* at = to + codes[id] * bin;
    const u64 trained = a.mixed_lanes[i], missed = all & ~trained;
    const u64 n_trained = static_cast<u64>(std::popcount(trained));
    const u64 n_missed = L - n_trained;
    const bool subtract = n_trained < n_missed;
    const u64 changed = subtract ? trained : missed;
    const u64 sign = subtract ? ~u64{0} : 1, rest = subtract ? n_trained : 1 - n_missed;
    const auto add_lanes = [&](T* cell, u64 amount) {
      for (u64 left = changed; left; left &= left - 1)
        add(cell[std::countr_zero(left)], sign * amount);
      add(cell[L], rest * amount);
    };
    if (!rows.amounts) {
      add_lanes(at + slot * cells, 1);
      continue;
    }
    add_lanes(at, 1);
    at += (1 + slot * A) * cells;
    for (std::size_t j = 0; j < A; j++)
      add_lanes(at + j * cells, static_cast<u64>(rows.amounts[id * A + j]));
  }
}

// Updates the lowest and highest target per cell: a task whose rows have the same target is pure.
void add_ranges(const BundleForest& forest, const BatchRows& rows, const Arrived& a,
                double* ranges) {
  const std::size_t b = static_cast<std::size_t>(a.bundle);
  const std::size_t L = static_cast<std::size_t>(std::popcount(forest.lanes[b]));
  double* to = ranges + forest.range_offset[b];
  const auto add = [&](std::size_t cell, double y) {
    if (y < to[2 * cell]) to[2 * cell] = y;
    if (y > to[2 * cell + 1]) to[2 * cell + 1] = y;
  };
  for (std::size_t i = 0; i < a.fold.size(); i++) add(a.cell[i], rows.target[a.fold[i]]);
  for (std::size_t i = 0; i < a.mixed.size(); i++)
    for (u64 left = a.mixed_lanes[i]; left; left &= left - 1)
      add(L + 1 + static_cast<std::size_t>(std::countr_zero(left)), rows.target[a.mixed[i]]);
}

}  // namespace

template <class T>
void add_batch(const BundleForest& forest, const BatchRows& rows, const StatisticsShape& shape,
               T* statistics, double* ranges, int n_threads, std::vector<GatheredRows>& gathered) {
  const i64 n_chunks = static_cast<i64>((rows.n_rows + kChunk - 1) / kChunk);
  if (rows.n_rows < kChunk / 2) n_threads = 1;  // one thread is faster
  for (i64 first = 0; first < n_chunks; first += kChunksAtOnce) {
    const i64 end = std::min(first + kChunksAtOnce, n_chunks);
    std::vector<Walk> walks;
    for (i64 c = first; c < end; c++) walks.emplace_back(forest, rows);
    parallel_for(end - first, 1, n_threads, [&](i64 c, i64 c_end) {
      for (; c < c_end; c++) {
        const std::size_t begin = static_cast<std::size_t>(first + c) * kChunk;
        walks[static_cast<std::size_t>(c)].start(begin, std::min(begin + kChunk, rows.n_rows));
      }
    });
    parallel_for(rows.n_columns, 1, n_threads, [&](i64 f, i64 f_end) {
      for (; f < f_end; f++)
        for (const Walk& walk : walks)
          for (const Arrived& a : walk.counted)
            add_column(forest, rows, shape, a, static_cast<int>(f), statistics);
    });
    for (Walk& walk : walks) {
      if (ranges)
        for (const Arrived& a : walk.counted)
          if (forest.first_column[a.bundle] == 0) add_ranges(forest, rows, a, ranges);
      for (GatheredRows& g : walk.gathered) gathered.push_back(std::move(g));
    }
  }
}

template <class T> void cells_to_lanes(T* statistics, std::size_t n_statistics, int L) {
  using Bits = std::make_unsigned_t<T>;
  const std::size_t lanes = static_cast<std::size_t>(L);
  T* to = statistics;
  for (const T* from = statistics; from < statistics + n_statistics; from += lanes + 1) {
    Bits sum = 0;
    for (std::size_t k = 0; k <= lanes; k++) sum += static_cast<Bits>(from[k]);
    for (std::size_t k = 0; k < lanes; k++)
      *to++ = static_cast<T>(sum - static_cast<Bits>(from[k]));
  }
}

template void cells_to_lanes(std::int32_t*, std::size_t, int);
template void cells_to_lanes(std::int64_t*, std::size_t, int);
template void add_batch(const BundleForest&, const BatchRows&, const StatisticsShape&,
                        std::int32_t*, double*, int, std::vector<GatheredRows>&);
template void add_batch(const BundleForest&, const BatchRows&, const StatisticsShape&,
                        std::int64_t*, double*, int, std::vector<GatheredRows>&);

}  // namespace crosscut
