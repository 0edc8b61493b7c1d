// The values around a cut. Each task's threshold is the midpoint of its own two neighbouring
// training values, so tasks with the same cut may have different thresholds.
#pragma once
#include "codes.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// The ranks below and above a cut, for every lane, plus one: 0 stands for "none below" and ~0 for
// "none above".
struct Neighbours {
  alignas(64) u32 below[kLanes];
  alignas(64) u32 above[kLanes];
};

// Searches the rows [begin, end) for one lane.
template <class Rows>
void find_lane_neighbours(const Rows& rows, u32 begin, u32 end, int f, u32 missing_rank, int k,
                          u32 cut, Neighbours& out) {
  u32 low = 0;
  u32 high = ~u32{0};
  for (u32 i = begin; i < end; i++) {
    if (!(rows.mask(i) >> k & 1)) continue;
    const u32 rank = rows.rank(f, i);
    if (rank == missing_rank) continue;
    if (rank <= cut) low = std::max(low, rank + 1);
    else high = std::min(high, rank + 1);
  }
  out.below[k] = low;
  out.above[k] = high;
}

// Searches the rows [begin, end) for several lanes at once.
template <class Rows>
void find_neighbours(const Rows& rows, u32 begin, u32 end, int f, u32 missing_rank, u32 lanes,
                     const u32* cut, Neighbours& out) {
  using V = Vec<u32, kLanes>;
  V cuts{};
  each_bit(lanes, [&](int k) { cuts[k] = cut[k] + 1; });
  V low{};
  V high = ~V{};
  for (u32 i = begin; i < end; i++) {
    const u32 rank = rows.rank(f, i);
    const u32 mask = rows.mask(i) & lanes;
    if (rank == missing_rank || !mask) continue;
    const V v = all<u32, kLanes>(rank + 1);
    const V trains = -ones<u32, kLanes>(mask);  // ~0 in the lanes that the row trains
    const V left = (V)(v <= cuts) & trains & (V)(v > low);
    const V right = (V)(v > cuts) & trains & (V)(v < high);
    low = (v & left) | (low & ~left);
    high = (v & right) | (high & ~right);
  }
  __builtin_memcpy(out.below, &low, sizeof low);
  __builtin_memcpy(out.above, &high, sizeof high);
}

// Searches the rows for neighbours closer to the cuts than those found so far.
template <class Rows>
void find_closer(Worker& w, const Rows& rows, int f, u32 missing_rank, u32 lanes, const u32* cut,
                 u32* below, u32* above) {
  std::mutex mutex;  // protects below and above
  w.share_rows(rows.n, [&](u32 begin, u32 end) {
    Neighbours part;
    const int first = __builtin_ctz(lanes);
    if (lanes == 1u << first)
      find_lane_neighbours(rows, begin, end, f, missing_rank, first, cut[first], part);
    else find_neighbours(rows, begin, end, f, missing_rank, lanes, cut, part);
    const std::scoped_lock lock(mutex);
    each_bit(lanes, [&](int k) {
      if (part.below[k]) below[k] = std::max(below[k], part.below[k] - 1);
      if (part.above[k] != ~u32{0}) above[k] = std::min(above[k], part.above[k] - 1);
    });
  });
}

// For every lane with a cut in column f: the largest rank of its own rows at or below the cut (0 if
// there is none) and the smallest above it (~0 if there is none).
template <class Rows>
void own_neighbours(Worker& w, const Rows& rows, int f, u32 missing_rank, u32 lanes, const u32* cut,
                    u32* below, u32* above) {
  each_bit(lanes, [&](int k) {
    below[k] = 0;
    above[k] = ~u32{0};
  });
  find_closer(w, rows, f, missing_rank, lanes, cut, below, above);
}

// Some rows of a large bundle.
struct SomeRows {
  const LargeRows& all;
  const u32* positions;
  u32 n;
  CC_INLINE u32 mask(u32 i) const { return all.mask(positions[i]); }
  CC_INLINE u32 rank(int f, u32 i) const { return all.rank(f, positions[i]); }
};

// The same from the statistics of a large bundle. A lane's neighbours are in the interval of its
// cut or in the next ones with rows of the lane. Of these, only intervals with several values are
// searched. Searching all rows took a fifth of the time.
inline void own_neighbours(Worker& w, const LargeRows& rows, int f, u32 missing_rank, u32 lanes,
                           const u32* cut, u32* below, u32* above) {
  if (!rows.statistics)
    return own_neighbours<LargeRows>(w, rows, f, missing_rank, lanes, cut, below, above);
  const Column& c = rows.columns[f];
  const char* column = rows.statistics->column(f);
  const auto one_value = [&](u32 bin) {
    return c.coarse_first[bin + 1] - c.coarse_first[bin] == 1;
  };
  ByteSet wanted;
  bool any_wanted = false;
  const auto search = [&](u32 bin) {
    wanted.add(bin);
    any_wanted = true;
  };
  each_bit(lanes, [&](int k) {
    const auto has_rows = [&](u32 bin) { return rows.statistics->has_rows(column, bin, k); };
    const u32 bin = static_cast<u32>(
        std::upper_bound(c.coarse_first, c.coarse_first + c.n_coarse, cut[k]) - c.coarse_first - 1);
    below[k] = 0;
    above[k] = ~u32{0};
    u32 low = bin + 1, high = bin + 1;  // low: plus one
    if (!one_value(bin)) search(--low);
    while (low > 0 && !has_rows(low - 1)) low--;
    while (high < c.n_coarse && !has_rows(high)) high++;
    if (low > 0 && one_value(low - 1)) below[k] = c.coarse_first[low - 1];
    else if (low > 0) search(low - 1);
    if (high < c.n_coarse && one_value(high)) above[k] = c.coarse_first[high];
    else if (high < c.n_coarse) search(high);
  });
  if (!any_wanted) return;
  const auto mark = w.scratch.mark();
  u32* positions = w.scratch.take<u32>(rows.n);
  const SomeRows near{rows, positions, rows.find(f, wanted, positions)};
  find_closer(w, near, f, missing_rank, lanes, cut, below, above);
  w.scratch.release(mark);
}

}  // namespace crosscut::CROSSCUT_LEVEL
