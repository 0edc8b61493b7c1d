// The codes that a large bundle reads: one byte per row and column, the number of the row's coarse
// interval or category.
// A bundle starts with the codes of the table. When few of their rows are left in a bundle, it
// copies its codes so that they are contiguous again. This makes large tables 1.3 times faster.
#pragma once
#include <memory>

#include "held_statistics.hpp"

namespace crosscut::CROSSCUT_LEVEL {

constexpr u32 kSparse = 8;  // a bundle with fewer than one in this many rows copies its codes

struct Codes {
  u32 n;            // number of rows
  const u32* rows;  // the table row of each; null: the same number
  // [n_features]; null for a nominal column with too many categories for a byte
  const u8** column;
  mutable std::atomic<int> users{0};
  CC_INLINE u32 row(u32 id) const { return rows ? rows[id] : id; }

  // Allocates the codes of n rows and all they point to as one block.
  static Codes* make(u32 n, const Codes& like, int n_features) {
    const auto F = static_cast<std::size_t>(n_features);
    char* raw =
        static_cast<char*>(std::malloc(sizeof(Codes) + F * (sizeof(u8*) + n) + n * sizeof(u32)));
    if (!raw) throw std::bad_alloc();
    const u8** column = reinterpret_cast<const u8**>(raw + sizeof(Codes));
    u32* rows = reinterpret_cast<u32*>(column + F);
    u8* codes = reinterpret_cast<u8*>(rows + n);
    for (std::size_t f = 0; f < F; f++) column[f] = like.column[f] ? codes + f * n : nullptr;
    return new (raw) Codes{n, rows, column};
  }
};

// Reference to shared codes. The last reference frees them, except the codes of the table, which
// have an additional user.
class HeldCodes {
  const Codes* codes_;

 public:
  explicit HeldCodes(const Codes& codes) : codes_(&codes) {
    codes.users.fetch_add(1, std::memory_order_relaxed);
  }
  HeldCodes(const HeldCodes& other) : HeldCodes(*other) {}
  HeldCodes& operator=(const HeldCodes&) = delete;
  ~HeldCodes() {
    if (codes_->users.fetch_sub(1, std::memory_order_acq_rel) == 1)
      std::free(const_cast<Codes*>(codes_));
  }
  const Codes& operator*() const { return *codes_; }
};

inline Codes codes_of_table(Arena& arena, const Problem& p) {
  const auto F = static_cast<std::size_t>(p.n_features);
  const u8** column = arena.take<const u8*>(F);
  for (std::size_t f = 0; f < F; f++) column[f] = p.columns[f].coarse;
  return Codes{static_cast<u32>(p.n_rows), nullptr, column, {1}};
}

// The rows of a bundle as one bit per row of its codes, so that 64 codes are examined at once.
struct RowBits {
  u32 n_words = 0, n_codes = 0;
  u64* words = nullptr;
  u32* before = nullptr;  // number of rows in all words before

  static RowBits of(Worker& w, u32 n_codes, const u32* ids, u32 n) {
    const u32 n_words = (n_codes + 63) / 64;
    RowBits s{n_words, n_codes, w.scratch.take<u64>(n_words), w.scratch.take<u32>(n_words)};
    w.share_rows(64 * n_words, [&](u32 begin, u32 end) {
      u32 i = begin ? static_cast<u32>(std::lower_bound(ids, ids + n, begin) - ids) : 0;
      for (u32 word = begin / 64; word < end / 64; word++) {
        s.before[word] = i;
        u64 bits = 0;
        for (; i < n && ids[i] >> 6 == word; i++) bits |= u64{1} << (ids[i] & 63);
        s.words[word] = bits;
      }
    });
    return s;
  }

  // Finds the rows whose code is in `wanted`, in the words [first, end). Writes their positions in
  // the bundle and returns how many there are.
  u32 find(const u8* codes, const ByteSet& wanted, u32 first, u32 end, u32* positions) const {
    u32 n = 0;
    for (u32 w = first; w < end; w++) {
      if (!words[w]) continue;
      alignas(64) u8 last[64] = {};
      const u8* at = codes + std::size_t{64} * w;
      if (n_codes - 64 * w < 64) {
        for (u32 i = 0; i < n_codes - 64 * w; i++) last[i] = at[i];
        at = last;
      }
      for (u64 m = pack_bits(wanted.members(at), words[w]); m; m &= m - 1)
        positions[n++] = before[w] + static_cast<u32>(__builtin_ctzll(m));
    }
    return n;
  }
};

// The rows of a large bundle, in ascending order.
struct LargeRows {
  u32 n;
  const u32* ids;  // row numbers in the codes
  const u16* masks;
  const Column* columns;
  const Codes* codes;
  RowBits bits = {};
  const Codes* source = nullptr;  // where copy_codes copies from; null: nothing to copy
  const u32* source_ids = nullptr;
  const ColumnStatistics* statistics = nullptr;  // null: not held

  CC_INLINE u32 mask(u32 i) const { return masks[i]; }
  CC_INLINE u32 row(u32 i) const { return codes->row(ids[i]); }
  CC_INLINE u32 rank(int f, u32 i) const { return columns[f].ranks[row(i)]; }
  u32 value_rank(int, u32 r) const { return r; }
  u32 missing_rank(int f) const { return columns[f].has_missing ? columns[f].n_values : ~u32{0}; }
  u32 n_ranks(int f) const { return columns[f].n_values + 1; }
  CC_INLINE u8 code(int f, u32 i) const { return codes->column[f][ids[i]]; }
  u32 find(int f, const ByteSet& wanted, u32* positions) const {
    return bits.find(codes->column[f], wanted, 0, bits.n_words, positions);
  }
  // Shares the rows between threads in ranges of words of `bits`: body(worker, first word, end
  // word, first position, end position).
  template <class Body> void share(Worker& w, const Body& body) const {
    const auto at = [&](u32 word) { return word < bits.n_words ? bits.before[word] : n; };
    w.share_rows(64 * bits.n_words, w.parts_of(n), [&](Worker& worker, u32 begin, u32 end, int) {
      body(worker, begin / 64, end / 64, at(begin / 64), at(end / 64));
    });
  }

  // Switches to codes of these rows only. copy_codes() fills them column by column, when a column
  // is needed.
  HeldCodes use_own_codes(Worker& w) {
    u32* numbers = w.scratch.take<u32>(n);
    const HeldCodes copied(*Codes::make(n, *codes, w.run.p.n_features));
    w.share_rows(n, [&](u32 begin, u32 end) {
      for (u32 i = begin; i < end; i++) {
        const_cast<u32*>((*copied).rows)[i] = row(i);
        numbers[i] = i;
      }
    });
    source = codes;
    source_ids = ids;
    codes = &*copied;
    ids = numbers;
    return copied;
  }
  void copy_codes(int f) const {
    if (!source || !codes->column[f]) return;
    u8* to = const_cast<u8*>(codes->column[f]);  // allocated by use_own_codes
    const u8* from = source->column[f];
    for (u32 i = 0; i < n; i++) to[i] = from[source_ids[i]];
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL
