// What a large bundle reads: a byte per row and column, the number of the row's coarse interval or
// category. The table's codes serve until few of their rows are left in a bundle; it then gets a
// copy of its own, so that reading stays dense.
#pragma once
#include <memory>

#include "grow/bundle.hpp"

namespace crosscut::CROSSCUT_LEVEL {

constexpr u32 kSparse = 8;  // a bundle with fewer than one in this many rows copies its codes

struct Codes {
  u32 n;            // rows, numbered from 0
  const u32* rows;  // their rows in the table; null: the same
  // [n_features]; null: a nominal column with more categories than fit into a byte
  const u8** column;
  mutable std::atomic<int> users{0};
  CC_INLINE u32 row(u32 id) const { return rows ? rows[id] : id; }

  // Room for n rows, in one piece of memory with what the pointers lead to.
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

// Every bundle that reads codes holds them; the last one frees them (never the table's, which its
// owner holds).
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

// A bundle's rows as a bit per row of its codes, to look at 64 codes at once.
struct RowBits {
  u32 n_words = 0, n_codes = 0;
  u64* words = nullptr;
  u32* before = nullptr;  // rows in the words before

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

  // The positions in the bundle of its rows whose code is a member of `wanted`, among those of some
  // words.
  u32 find(const u8* codes, const ByteSet& wanted, u32 first, u32 end, u32* found) const {
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
        found[n++] = before[w] + static_cast<u32>(__builtin_ctzll(m));
    }
    return n;
  }
};

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
  u32 find(int f, const ByteSet& wanted, u32* found) const {
    return bits.find(codes->column[f], wanted, 0, bits.n_words, found);
  }
  // Parts of the rows that threads share, each a range of words of `bits`: body(worker, words from,
  // to, positions from, to).
  template <class Body>
  void share(Worker& w, const Body& body) const {
    const auto at = [&](u32 word) { return word < bits.n_words ? bits.before[word] : n; };
    w.share_rows(64 * bits.n_words, w.parts_of(n), [&](Worker& own, u32 begin, u32 end, int) {
      body(own, begin / 64, end / 64, at(begin / 64), at(end / 64));
    });
  }

  // Gives the rows codes of their own, to be copied column by column.
  HeldCodes take_apart(Worker& w) {
    u32* numbers = w.scratch.take<u32>(n);
    const HeldCodes own(*Codes::make(n, *codes, w.run.p.n_features));
    w.share_rows(n, [&](u32 begin, u32 end) {
      for (u32 i = begin; i < end; i++) {
        const_cast<u32*>((*own).rows)[i] = row(i);
        numbers[i] = i;
      }
    });
    source = codes;
    source_ids = ids;
    codes = &*own;
    ids = numbers;
    return own;
  }
  void copy_codes(int f) const {
    if (!source || !codes->column[f]) return;
    u8* to = const_cast<u8*>(codes->column[f]);  // made by take_apart
    const u8* from = source->column[f];
    for (u32 i = 0; i < n; i++) to[i] = from[source_ids[i]];
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL
