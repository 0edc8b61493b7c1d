// The values around a cut: every task's threshold lies midway between its own neighbours there.
#pragma once
#include "run.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// below: ~0 if there is none
template <class Rows, class Wanted>
void neighbours_among(const Rows& rows, int f, u32 missing_rank, u32 lanes, const u32* cut, u32* below, u32* above, Wanted wanted) {
  alignas(64) u32 c[kLanes], lo[kLanes], hi[kLanes];
  // ranks are kept plus one, so that 0 can stand for none below
  for (int k = 0; k < kLanes; k++) c[k] = lanes >> k & 1 ? cut[k] + 1 : 0, lo[k] = 0, hi[k] = ~u32{0};
  if ((lanes & (lanes - 1)) == 0) {
    const int k = __builtin_ctz(lanes);
    const u32 ck = c[k];
    u32 l = 0, h = ~u32{0};
    for (u32 i = 0; i < rows.n; i++)
      if (wanted(i) && rows.mask(i) & lanes) {
        const u32 r = rows.rank(f, i);
        if (r == missing_rank) continue;
        if (r + 1 <= ck) l = r + 1 > l ? r + 1 : l;
        else h = r + 1 < h ? r + 1 : h;
      }
    below[k] = l - 1, above[k] = h == ~u32{0} ? h : h - 1;
    return;
  }
  Vec<u32, kLanes> vc, vl, vh;
  __builtin_memcpy(&vc, c, sizeof c), __builtin_memcpy(&vl, lo, sizeof c), __builtin_memcpy(&vh, hi, sizeof c);
  for (u32 i = 0; i < rows.n; i++) {
    if (!wanted(i)) continue;
    const u32 r = rows.rank(f, i), m = rows.mask(i) & lanes;
    if (r == missing_rank || !m) continue;
    const Vec<u32, kLanes> v = all<u32, kLanes>(r + 1), on = -ones<u32, kLanes>(m);  // all bits in the row's lanes
    const Vec<u32, kLanes> left = (Vec<u32, kLanes>)(v <= vc) & on & (Vec<u32, kLanes>)(v > vl);
    const Vec<u32, kLanes> right = (Vec<u32, kLanes>)(v > vc) & on & (Vec<u32, kLanes>)(v < vh);
    vl = (v & left) | (vl & ~left), vh = (v & right) | (vh & ~right);
  }
  __builtin_memcpy(lo, &vl, sizeof c), __builtin_memcpy(hi, &vh, sizeof c);
  each_bit(lanes, [&](int k) { below[k] = lo[k] - 1, above[k] = hi[k] == ~u32{0} ? hi[k] : hi[k] - 1; });
}

// Neighbours: for every lane with a cut in column f, the largest own rank at or below it and the smallest own rank above.
template <class Rows>
void own_neighbours(const Rows& rows, int f, u32 missing_rank, u32 lanes, const u32* cut, u32* below, u32* above) {
  if constexpr (requires { rows.sorted(f); }) {
    if (const u32* list = rows.sorted(f)) {
      each_bit(lanes, [&](int k) {
        u32 low = 0, high = rows.n;  // first entry above the cut
        while (low < high) {
          const u32 middle = (low + high) / 2;
          if (list[middle] >> 16 <= cut[k]) low = middle + 1;
          else high = middle;
        }
        u32 a = low;
        while (a > 1 && !(rows.mask_of(list[a - 1]) >> k & 1)) a--;
        while (high + 1 < rows.n && !(rows.mask_of(list[high]) >> k & 1)) high++;
        below[k] = a ? list[a - 1] >> 16 : 0;
        above[k] = high < rows.n ? list[high] >> 16 : ~u32{0};
      });
      return;
    }
  }
  // Most neighbours lie in the coarse intervals around the cut: look only there first.
  bool near[256];
  u32 window[kLanes][2];  // ranks looked at for each lane
  const u8* coarse = nullptr;
  if constexpr (requires { rows.columns; }) {
    const Column& column = rows.columns[f];
    coarse = column.coarse;
    for (bool& x : near) x = false;
    each_bit(lanes, [&](int k) {
      u32 low = 0, high = column.n_coarse;  // the interval of the cut
      while (low + 1 < high) {
        const u32 middle = (low + high) / 2;
        if (column.coarse_first[middle] <= cut[k]) low = middle;
        else high = middle;
      }
      const u32 begin = low > 0 ? low - 1 : 0, end = low + 2 < column.n_coarse ? low + 2 : column.n_coarse;
      for (u32 b = begin; b < end; b++) near[b] = true;
      window[k][0] = column.coarse_first[begin], window[k][1] = column.coarse_first[end];
    });
  }
  for (const bool narrow : {true, false}) {
    if (narrow && !coarse) continue;
    neighbours_among(rows, f, missing_rank, lanes, cut, below, above, [&](u32 i) {
      if constexpr (requires { rows.columns; }) return !narrow || near[coarse[rows.ids[i]]];
      else return true;
    });
    bool found = narrow;
    each_bit(lanes, [&](int k) {
      found = found && below[k] != ~u32{0} && below[k] >= window[k][0] && above[k] < window[k][1];
    });
    if (found) break;
  }
  each_bit(lanes, [&](int k) { below[k] = below[k] == ~u32{0} ? 0 : below[k]; });
}

}  // namespace crosscut::CROSSCUT_LEVEL
