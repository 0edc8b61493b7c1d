// Opened coarse intervals divided into finer ones: where many might hold the best cut, counting their rows once more is quicker than
// sorting them. The other intervals stay whole, so that the whole column can be gone through in order.
#pragma once
#include "codes.hpp"

namespace crosscut::CROSSCUT_LEVEL {

struct Division {
  u32 bins = 0, shift = 0;  // a divided interval's parts have about 2^shift ranks
  u32* firsts = nullptr;    // [bins + 1] first ranks; inside an interval each 0 to 2^shift − 1 above a multiple of 2^shift from its start
  u8* whole = nullptr;      // [bins] is it an undivided interval?
  u32* base = nullptr;      // [n_coarse] each interval's first bin
  const u32* coarse_first = nullptr;

  CC_INLINE u32 bin(u8 code, u32 rank) const {
    const u32 b = base[code] + ((rank - coarse_first[code]) >> shift);
    return b - (rank < firsts[b]);
  }

  // Into about `most` parts. Their borders are wide gaps, so that every lane's own neighbours there are far enough apart; false if such gaps
  // are too rare, or the parts would be no finer than the intervals.
  static bool of(Arena& arena, const Column& c, const u8* opened, u32 most, Division& out) {
    u32 ranks = 0, n_opened = 0;
    for (u32 b = 0; b < c.n_coarse; b++)
      if (opened[b]) ranks += c.coarse_first[b + 1] - c.coarse_first[b], n_opened++;
    u32 shift = 0;
    while (ranks >> shift > most) shift++;
    if (ranks >> shift < 2 * n_opened) return false;
    const u32 room = c.n_coarse + n_opened + (ranks >> shift);
    out = {0, shift, arena.take<u32>(room + 1), arena.take<u8>(room), arena.take<u32>(c.n_coarse), c.coarse_first};
    for (u32 b = 0; b < c.n_coarse; b++) {
      const u32 first = c.coarse_first[b], end = c.coarse_first[b + 1], part = opened[b] ? u32{1} << shift : end - first;
      out.base[b] = out.bins;
      for (u32 start = first; start < end; start += part) {
        const u32 next = end - start > part ? start + part : end;
        u32 r = start;
        while (r > first && r < next && c.close && !c.edges && !apart(c.values[r - 1], c.values[r])) r++;
        if (r == next) return false;
        out.whole[out.bins] = !opened[b], out.firsts[out.bins++] = r;
      }
    }
    out.firsts[out.bins] = c.n_values;
    return true;
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL
