// One task's node in a local table. Columns with many values have sorted lists of the node's rows.
// What stands for columns with few values is the node's code: NoCode (they have lists, too),
// BitCode (row_bits.hpp) or SumCode (value_sums.hpp). A local table has one kind of code, so that
// it is a template parameter of all that follows.
#pragma once
#include "local_table.hpp"

namespace crosscut::CROSSCUT_LEVEL {

CC_INLINE u32 count_bits(u64 bits) { return static_cast<u32>(__builtin_popcountll(bits)); }

template <class F>
CC_INLINE void each_bit_of(const u64* bits, u32 words, F f) {
  for (u32 i = 0; i < words; i++)
    for (u64 m = bits[i]; m; m &= m - 1) f(i * 64 + static_cast<u32>(__builtin_ctzll(m)));
}

// The columns of a node that have no lists, and are not known to be constant there. A code also has
// Search<P>, whose run() finds the best test of a node with the running statistics P, and Split,
// whose take() sends the node's rows where its test sends them.
template <class Code>
concept NodeCode = requires(Code code, const Code& same, u32 place, u32 n, int f) {
  { code.n } -> std::same_as<int&>;  // columns...
  // ...and their places among the coded columns of the table
  { code.places[0] } -> std::same_as<u16&>;
  { same.most() } -> std::same_as<int>;           // coded columns of the table
  { same.feature(place) } -> std::same_as<int>;   // the column at a place
  { same.n_values(place) } -> std::same_as<u32>;  // how many values it may have
  { same.sparse(n) } -> std::same_as<bool>;       // does the code no longer pay for n rows?
};

// Its lists and its code are its own: they are split in place.
template <class Code>
struct SingleNode {
  Node* node;
  u32 n;
  RowSet set;  // of its rows
  Code code;
  int n_columns = 0;
  int* columns = nullptr;  // with lists: those that are not constant here
  u32** lists = nullptr;

  bool constant() const { return !n_columns && !code.n; }
  const u32* any_list() const {
    if constexpr (Code::kEntries) return code.entries;
    else return n_columns ? lists[0] : nullptr;
  }
  // Without columns.
  static SingleNode empty(Worker& w, Node* node, u32 n, const RowSet& set, const Code& like,
                          int most_columns, int most_coded) {
    SingleNode x{node, n, set, like.without_columns(w, most_coded)};
    const auto most = static_cast<std::size_t>(most_columns + (Code::kEntries ? most_coded : 0));
    x.columns = w.scratch.take<int>(most);
    x.lists = w.scratch.take<u32*>(most);
    return x;
  }
};

// Rows of a node: entries, or what the code has instead.
template <class Code>
struct Branch {
  u32 n;
  const u32* entries;  // null where the code has the rows
  typename Code::Rows rows;
  template <class F>
  CC_INLINE void each(F f) const {
    if constexpr (Code::kEachRow) {
      rows.each(f);
    } else {
      const u32* const from = entries;  // bytes that f writes might be these members
      for (u32 i = 0, end = n; i < end; i++) f(from[i] & kRowMask);
    }
  }
};

// Where the rows go.
template <class Code>
struct NodeSplit {
  u32 n;
  Branch<Code>* branch;
  Node* child;
};

template <class P>
struct SingleSearch;
template <class Code>
struct SingleSplit;

// All columns have lists.
struct NoCode {
  template <class P>
  using Search = SingleSearch<P>;
  using Split = SingleSplit<NoCode>;
  template <class P>
  static constexpr bool kServes = true;
  static constexpr bool kEntries = false;
  static constexpr bool kEachRow = false;
  static constexpr bool kSums = false;
  struct Rows {};
  int n = 0;
  u16* places = nullptr;

  int most() const { return 0; }
  int feature(u32) const { return -1; }
  u32 n_values(u32) const { return 0; }
  bool sparse(u32) const { return false; }
  NoCode without_columns(Worker&, int) const { return {}; }
};
static_assert(NodeCode<NoCode>);

}  // namespace crosscut::CROSSCUT_LEVEL
