// What a large bundle reads: a byte per row and column, the number of the row's coarse interval or category. The table's codes serve
// until few of their rows are left in a bundle; it then gets a copy of its own, so that reading stays dense.
#pragma once
#include "bundle.hpp"

namespace crosscut::CROSSCUT_LEVEL {

constexpr u32 kSparse = 8;  // a bundle with fewer than one in this many rows copies its codes

struct Codes {
  u32 n;             // rows, numbered from 0
  const u32* rows;   // their rows in the table; null: the same
  const u8** column; // [n_features]; null: a nominal column with more categories than fit into a byte
  CC_INLINE u32 row(u32 id) const { return rows ? rows[id] : id; }
};

inline Codes codes_of_table(Arena& arena, const Problem& p) {
  const auto F = static_cast<std::size_t>(p.n_features);
  Codes out{static_cast<u32>(p.n_rows), nullptr, arena.take<const u8*>(F)};
  for (std::size_t f = 0; f < F; f++) out.column[f] = p.columns[f].coarse;
  return out;
}

// A bundle's rows as a bit per row of its codes, to look at 64 codes at once.
struct RowBits {
  u32 n_words = 0, n_codes = 0;
  u64* words = nullptr;
  u32* before = nullptr;  // rows in the words before

  static RowBits of(Arena& arena, u32 n_codes, const u32* ids, u32 n) {
    const u32 n_words = (n_codes + 63) / 64;
    RowBits s{n_words, n_codes, arena.take<u64>(n_words), arena.take<u32>(n_words)};
    for (u32 w = 0, i = 0; w < n_words; w++) {
      s.before[w] = i;
      u64 bits = 0;
      for (; i < n && ids[i] >> 6 == w; i++) bits |= u64{1} << (ids[i] & 63);
      s.words[w] = bits;
    }
    return s;
  }

  // The positions in the bundle of its rows whose code is a member of `wanted`.
  u32 find(const u8* codes, const ByteSet& wanted, u32* found) const {
    u32 n = 0;
    for (u32 w = 0; w < n_words; w++) {
      if (!words[w]) continue;
      alignas(64) u8 last[64] = {};
      const u8* at = codes + std::size_t{64} * w;
      if (n_codes - 64 * w < 64) {
        for (u32 i = 0; i < n_codes - 64 * w; i++) last[i] = at[i];
        at = last;
      }
      for (u64 m = pack_bits(wanted.members(at), words[w]); m; m &= m - 1) found[n++] = before[w] + static_cast<u32>(__builtin_ctzll(m));
    }
    return n;
  }
};

// The coarse interval of a rank.
inline u32 interval(const Column& c, u32 rank) {
  u32 low = 0, high = c.n_coarse;
  while (low + 1 < high) {
    const u32 middle = (low + high) / 2;
    (c.coarse_first[middle] <= rank ? low : high) = middle;
  }
  return low;
}

// The rows of a large bundle, ascending.
struct LargeRows {
  u32 n;
  const u32* ids;  // rows of the codes
  const u16* masks;
  const Column* columns;
  const Codes* codes;
  RowBits bits = {};
  const Codes* source = nullptr;  // codes still to be copied from there: copy_codes
  const u32* source_ids = nullptr;

  CC_INLINE u32 mask(u32 i) const { return masks[i]; }
  CC_INLINE u32 row(u32 i) const { return codes->row(ids[i]); }
  CC_INLINE u32 rank(int f, u32 i) const { return columns[f].ranks[row(i)]; }
  u32 value_rank(int, u32 r) const { return r; }
  u32 missing_rank(int f) const { return columns[f].has_missing ? columns[f].n_values : ~u32{0}; }
  u32 n_ranks(int f) const { return columns[f].n_values + 1; }
  CC_INLINE u8 code(int f, u32 i) const { return codes->column[f][ids[i]]; }
  u32 find(int f, const ByteSet& wanted, u32* found) const { return bits.find(codes->column[f], wanted, found); }

  // The same rows with codes of their own, to be copied column by column.
  LargeRows apart(Arena& arena, int n_features) const {
    Codes* own = arena.take<Codes>(1);
    u32 *table_rows = arena.take<u32>(n), *numbers = arena.take<u32>(n);
    for (u32 i = 0; i < n; i++) table_rows[i] = row(i), numbers[i] = i;
    *own = {n, table_rows, arena.take<const u8*>(static_cast<std::size_t>(n_features))};
    for (int f = 0; f < n_features; f++) own->column[f] = codes->column[f] ? arena.take<u8>(n) : nullptr;
    return {n, numbers, masks, columns, own, {}, codes, ids};
  }
  void copy_codes(int f) const {
    if (!source || !codes->column[f]) return;
    u8* to = const_cast<u8*>(codes->column[f]);  // taken by apart
    const u8* from = source->column[f];
    for (u32 i = 0; i < n; i++) to[i] = from[source_ids[i]];
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL
