// The values around a cut: every task's threshold lies midway between its own neighbours there.
#pragma once
#include "codes.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// Among n rows, row(j) being the position of the j-th. below: ~0 if there is none
template <class Rows, class Row>
void neighbours_among(const Rows& rows, u32 n, Row row, int f, u32 missing_rank, u32 lanes,
                      const u32* cut, u32* below, u32* above) {
  alignas(64) u32 c[kLanes], lo[kLanes], hi[kLanes];
  // ranks are kept plus one, so that 0 can stand for none below
  for (int k = 0; k < kLanes; k++) {
    c[k] = lanes >> k & 1 ? cut[k] + 1 : 0;
    lo[k] = 0;
    hi[k] = ~u32{0};
  }
  if ((lanes & (lanes - 1)) == 0) {
    const int k = __builtin_ctz(lanes);
    const u32 ck = c[k];
    u32 l = 0, h = ~u32{0};
    for (u32 j = 0; j < n; j++) {
      const u32 i = row(j);
      if (!(rows.mask(i) & lanes)) continue;
      const u32 r = rows.rank(f, i);
      if (r == missing_rank) continue;
      if (r + 1 <= ck) l = r + 1 > l ? r + 1 : l;
      else h = r + 1 < h ? r + 1 : h;
    }
    below[k] = l - 1;
    above[k] = h == ~u32{0} ? h : h - 1;
    return;
  }
  Vec<u32, kLanes> vc, vl, vh;
  __builtin_memcpy(&vc, c, sizeof c);
  __builtin_memcpy(&vl, lo, sizeof c);
  __builtin_memcpy(&vh, hi, sizeof c);
  for (u32 j = 0; j < n; j++) {
    const u32 i = row(j), r = rows.rank(f, i), m = rows.mask(i) & lanes;
    if (r == missing_rank || !m) continue;
    // all bits in the row's lanes
    const Vec<u32, kLanes> v = all<u32, kLanes>(r + 1), on = -ones<u32, kLanes>(m);
    const Vec<u32, kLanes> left = (Vec<u32, kLanes>)(v <= vc) & on & (Vec<u32, kLanes>)(v > vl);
    const Vec<u32, kLanes> right = (Vec<u32, kLanes>)(v > vc) & on & (Vec<u32, kLanes>)(v < vh);
    vl = (v & left) | (vl & ~left);
    vh = (v & right) | (vh & ~right);
  }
  __builtin_memcpy(lo, &vl, sizeof c);
  __builtin_memcpy(hi, &vh, sizeof c);
  each_bit(lanes, [&](int k) {
    below[k] = lo[k] - 1;
    above[k] = hi[k] == ~u32{0} ? hi[k] : hi[k] - 1;
  });
}

// Where the coarse intervals are the values themselves.
inline bool neighbours_by_value(Worker& w, const LargeRows& rows, int f, u32 lanes, const u32* cut,
                                u32* below, u32* above) {
  const Column& column = rows.columns[f];
  if (column.n_coarse != column.n_values) return false;
  u32 seen[256] = {};  // lanes that have rows with a value
  std::mutex mutex;
  w.share_rows(rows.n, [&](u32 begin, u32 end) {
    u32 own[256] = {};
    for (u32 i = begin; i < end; i++)
      if (u32& here = own[rows.code(f, i)]; rows.mask(i) & ~here) here |= rows.mask(i);
    const std::scoped_lock lock(mutex);
    for (int v = 0; v < 256; v++) seen[v] |= own[v];
  });
  each_bit(lanes, [&](int k) {
    u32 low = cut[k] + 1, high = low;
    while (low > 0 && !(seen[low - 1] >> k & 1)) low--;
    while (high < column.n_values && !(seen[high] >> k & 1)) high++;
    below[k] = low - 1;
    above[k] = high < column.n_values ? high : ~u32{0};
  });
  return true;
}

// Most neighbours lie in the coarse intervals around the cut: false if some do not.
inline bool near_neighbours(Worker& w, const LargeRows& rows, int f, u32 lanes, const u32* cut,
                            u32* below, u32* above) {
  const Column& column = rows.columns[f];
  ByteSet near;
  u32 window[kLanes][2];  // ranks looked at for each lane
  each_bit(lanes, [&](int k) {
    const u32 low = interval(column, cut[k]);
    const u32 begin = low > 0 ? low - 1 : 0,
              end = low + 2 < column.n_coarse ? low + 2 : column.n_coarse;
    for (u32 b = begin; b < end; b++) near.add(b);
    window[k][0] = column.coarse_first[begin];
    window[k][1] = column.coarse_first[end];
    below[k] = above[k] = ~u32{0};
  });
  std::mutex mutex;
  rows.share(w, [&](Worker& own, u32 first_word, u32 end_word, u32 begin, u32 end) {
    const auto mark = own.scratch.mark();
    u32 *at = own.scratch.take<u32>(end - begin), low[kLanes], high[kLanes];
    const u32 n = rows.bits.find(rows.codes->column[f], near, first_word, end_word, at);
    neighbours_among(
        rows, n, [at](u32 j) { return at[j]; }, f, column.n_values, lanes, cut, low, high);
    own.scratch.release(mark);
    const std::scoped_lock lock(mutex);
    each_bit(lanes, [&](int k) {
      below[k] = low[k] + 1 > below[k] + 1 ? low[k] : below[k];  // ~0: none
      above[k] = high[k] < above[k] ? high[k] : above[k];
    });
  });
  bool found = true;
  each_bit(lanes, [&](int k) {
    found = found && below[k] != ~u32{0} && below[k] >= window[k][0] && above[k] < window[k][1];
  });
  return found;
}

// Neighbours: for every lane with a cut in column f, the largest own rank at or below it and the
// smallest own rank above.
template <class Rows>
void own_neighbours(Worker& w, int depth, const Rows& rows, int f, u32 missing_rank, u32 lanes,
                    const u32* cut, u32* below, u32* above) {
  bool found = false;
  if constexpr (requires { rows.codes; })
    if (!off(Acceleration::code_neighbours))
      found = neighbours_by_value(w, rows, f, lanes, cut, below, above) ||
              near_neighbours(w, rows, f, lanes, cut, below, above);
  if (!found) {
    w.level(depth).neighbour_rows += rows.n;
    neighbours_among(
        rows, rows.n, [](u32 j) { return j; }, f, missing_rank, lanes, cut, below, above);
  }
  each_bit(lanes, [&](int k) { below[k] = below[k] == ~u32{0} ? 0 : below[k]; });
}

}  // namespace crosscut::CROSSCUT_LEVEL
