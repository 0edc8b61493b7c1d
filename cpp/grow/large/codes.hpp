// The codes that a large bundle reads: one byte per row and column, the number of the row's coarse
// interval or category.
// The codes move with the rows: a bundle copies those of its rows from its parent's, column by
// column and right before a column is counted. So they are contiguous on all levels, and bundles
// that wait hold no codes.
#pragma once
#include <memory>

#include "held_statistics.hpp"

namespace crosscut::CROSSCUT_LEVEL {

struct Codes {
  u32 n;  // number of rows
  // [n_features]; null for a nominal column with too many categories for a byte. The last one has
  // the classes; it is null for regression and for more than 256 classes.
  const u8** column;
  const Codes* table;  // the codes of all rows; null: these
  mutable std::atomic<int> users{0};

  const Codes& of_table() const { return table ? *table : *this; }
  // Allocates the codes of n rows and all they point to as one block; columns are filled in when
  // they are needed. filled: will they be?
  static Codes* make(Run& run, u32 n, const Codes& like, bool filled) {
    const std::size_t columns = static_cast<std::size_t>(run.p.n_features) + 1;
    const std::size_t bytes = sizeof(Codes) + columns * (sizeof(u8*) + (filled ? n : 0));
    char* raw = static_cast<char*>(run.blocks.take(bytes));
    const u8** column = reinterpret_cast<const u8**>(raw + sizeof(Codes));
    u8* codes = reinterpret_cast<u8*>(column + columns);
    for (std::size_t f = 0; f < columns; f++)
      column[f] = filled && like.column[f] ? codes + f * n : nullptr;
    return new (raw) Codes{n, column, &like.of_table()};
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
  HeldCodes& operator=(HeldCodes other) {
    std::swap(codes_, other.codes_);
    return *this;
  }
  ~HeldCodes() {
    if (codes_->users.fetch_sub(1, std::memory_order_acq_rel) == 1)
      Blocks::give_back(const_cast<Codes*>(codes_));
  }
  const Codes& operator*() const { return *codes_; }
};

inline Codes codes_of_table(Arena& arena, const Problem& p) {
  const auto F = static_cast<std::size_t>(p.n_features);
  const u8** column = arena.take<const u8*>(F + 1);
  for (std::size_t f = 0; f < F; f++) column[f] = p.columns[f].coarse;
  column[F] = nullptr;
  if (p.n_classes && p.n_classes <= 256) {
    u8* classes = arena.take<u8>(p.n_rows);
    for (std::size_t i = 0; i < p.n_rows; i++) classes[i] = static_cast<u8>(p.classes[i]);
    column[F] = classes;
  }
  return Codes{static_cast<u32>(p.n_rows), column, nullptr, {1}};
}

// The rows of a large bundle, in ascending order.
struct LargeRows {
  u32 n;
  const u32* rows;  // of the table
  const u16* masks;
  const Column* columns;
  const Codes* codes;
  const double* products = nullptr;              // [row of the table] targets on a grid
  const ColumnStatistics* statistics = nullptr;  // null: not held

  CC_INLINE u32 mask(u32 i) const { return masks[i]; }
  CC_INLINE u32 row(u32 i) const { return rows[i]; }
  CC_INLINE double product(u32 i) const { return products[rows[i]]; }
  bool is_copy(u32 i) const { return i && rows[i] == rows[i - 1]; }
  CC_INLINE u32 class_of(const Problem& p, u32 i) const {
    if (const u8* classes = codes->column[p.n_features]) return classes[i];
    return p.n_classes ? static_cast<u32>(p.classes[row(i)]) : 0;
  }
  CC_INLINE u32 rank(int f, u32 i) const { return columns[f].rank(row(i)); }
  u32 value_rank(int, u32 r) const { return r; }
  u32 missing_rank(int f) const { return columns[f].has_missing ? columns[f].n_values : ~u32{0}; }
  u32 n_ranks(int f) const { return columns[f].n_values + 1; }
  // Finds the rows from `begin`, a multiple of 64, to `end` whose code is in `wanted`. Writes their
  // positions and returns how many there are.
  u32 find(int f, const ByteSet& wanted, u32 begin, u32 end, u32* positions) const {
    const u8* column = codes->column[f];
    u32 n_found = 0;
    for (u32 i = begin; i < end; i += 64) {
      alignas(64) u8 last[64] = {};
      const u8* at = column + i;
      if (end - i < 64) at = std::copy_n(at, end - i, last) - (end - i);
      u64 found = wanted.members(at);
      if (end - i < 64) found &= (u64{1} << (end - i)) - 1;
      for (; found; found &= found - 1)
        positions[n_found++] = i + static_cast<u32>(__builtin_ctzll(found));
    }
    return n_found;
  }
  u32 find(int f, const ByteSet& wanted, u32* positions) const {
    return find(f, wanted, 0, n, positions);
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL
