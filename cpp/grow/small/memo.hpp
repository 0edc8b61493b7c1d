// Subtrees that need not be grown again. What is below a node depends on its rows, its depth and
// the task's limits only, so tasks with the very same rows at a node share one subtree: inside a
// bundle, and between blocks. Leave-one-out lives on this: a row's own task differs from the others
// only along the row's path. (With min_impurity_decrease it also depends on the weight of all the
// task's rows: nothing is shared then.)
#pragma once
#include <algorithm>

#include "grow/arena.hpp"
#include "grow/node.hpp"

namespace crosscut::CROSSCUT_LEVEL {

CC_INLINE u64 scrambled(u64 x) {  // splitmix64
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

// Two independent sums of keys of the rows; sets that are not equal agree in both with probability
// 2^-128.
struct RowSet {
  u64 a = 0, b = 0;
  CC_INLINE void add(u64 row) {
    const u64 key = scrambled(row);
    a += key;
    b += scrambled(key ^ 0xd1b54a32d192ed03u);
  }
  CC_INLINE void add(const RowSet& o) {
    a += o.a;
    b += o.b;
  }
  CC_INLINE void take(const RowSet& o) {
    a -= o.a;
    b -= o.b;
  }
};

class Memo {
  struct Entry {
    RowSet set;
    const Node* node = nullptr;
  };
  Entry* table_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
  u64 lookups_ = 0, hits_ = 0;  // rows of nodes

  Entry& place(const RowSet& set) const {
    std::size_t i = set.a & (capacity_ - 1);
    while (table_[i].node && (table_[i].set.a != set.a || table_[i].set.b != set.b))
      i = (i + 1) & (capacity_ - 1);
    return table_[i];
  }

 public:
  // 24 MB; what comes later is grown again
  static constexpr std::size_t kMost = std::size_t{1} << 20;

  Memo() = default;
  Memo(const Memo&) = delete;
  Memo& operator=(const Memo&) = delete;
  ~Memo() { std::free(table_); }

  void forget() {
    if (capacity_ > 1024 && capacity_ > 16 * size_) {
      std::free(table_);
      table_ = nullptr;
      capacity_ = 0;
    } else if (size_) std::fill_n(table_, capacity_, Entry{});
    size_ = 0;
  }

  void prepare(const RowSet& set) const {
    __builtin_prefetch(table_ + (capacity_ ? set.a & (capacity_ - 1) : 0));
  }

  const Node* find(const RowSet& set, u64 n_rows) {
    const Node* known = capacity_ ? place(set).node : nullptr;
    lookups_ += n_rows;
    hits_ += known ? n_rows : 0;
    return known;
  }

  // Keys cost time for every row: a memo that hardly ever knows a node is not asked any more. The
  // first few tasks have few others to share with.
  bool pays(u64 n_rows) const { return lookups_ < 40 * n_rows || hits_ * 200 > lookups_; }

  void remember(const RowSet& set, const Node* node) {
    if (size_ * 2 >= capacity_) {
      if (capacity_ >= kMost) return;
      Entry* old = table_;
      const std::size_t n = capacity_;
      capacity_ = n ? 2 * n : 1024;
      table_ = static_cast<Entry*>(std::calloc(capacity_, sizeof(Entry)));
      if (!table_) {
        table_ = old;
        capacity_ = n;
        throw std::bad_alloc();
      }
      for (std::size_t i = 0; i < n; i++)
        if (old[i].node) place(old[i].set) = old[i];
      std::free(old);
    }
    Entry& entry = place(set);
    size_ += !entry.node;
    entry = {set, node};
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL
