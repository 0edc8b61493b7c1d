// One task's node in a local table. Columns with many values have sorted lists of the node's rows.
// Columns with few values have a code: BitCode (row_bits.hpp) for classes, SumCode (value_sums.hpp)
// for regression, or NoCode if they have lists, too. All nodes of a local table have the same kind
// of code, so it is a template parameter.
#pragma once
#include "local_table.hpp"

namespace crosscut::CROSSCUT_LEVEL {

CC_INLINE u32 count_bits(u64 bits) { return static_cast<u32>(__builtin_popcountll(bits)); }

template <class F> CC_INLINE void each_bit_of(const u64* bits, u32 words, F f) {
  for (u32 i = 0; i < words; i++)
    for (u64 m = bits[i]; m; m &= m - 1) f(i * 64 + static_cast<u32>(__builtin_ctzll(m)));
}

// A code: the columns of a node without lists that are not known to be constant. It also has
// Search<P>, whose run() finds the best test with the running statistics P, and Split, whose take()
// splits the rows of the node by its test.
template <class Code>
concept NodeCode = requires(Code code, const Code& same, u32 place, u32 n, int f) {
  { code.n } -> std::same_as<int&>;  // number of columns
  // their places among the coded columns of the table
  { code.places[0] } -> std::same_as<u16&>;
  { same.most() } -> std::same_as<int>;           // number of coded columns of the table
  { same.feature(place) } -> std::same_as<int>;   // the column at a place
  { same.n_values(place) } -> std::same_as<u32>;  // the most values it may have
  { same.sparse(n) } -> std::same_as<bool>;       // is another code faster for n rows?
};

// Lists and code belong to the node and are split in place.
template <class Code> struct SingleNode {
  Node* node;
  u32 n;
  RowSet set;  // key of its rows
  Code code;
  int n_columns = 0;
  int* columns = nullptr;  // columns with lists that are not constant here
  u32** lists = nullptr;

  bool constant() const { return !n_columns && !code.n; }
  const u32* any_list() const {
    if constexpr (Code::kEntries) return code.entries;
    else return n_columns ? lists[0] : nullptr;
  }
  // Entries with its rows.
  const u32* listed_rows(Worker& w) const {
    if constexpr (Code::kEachRow) {
      u32 *entries = w.scratch.take<u32>(n), at = 0;
      typename Code::Rows{code.rows, code.all}.each([&](u32 row) { entries[at++] = row; });
      return entries;
    } else {
      return any_list();
    }
  }
  // A node without columns, with room for them.
  static SingleNode empty(Worker& w, Node* node, u32 n, const RowSet& set, const Code& like,
                          int most_columns, int most_coded) {
    SingleNode x{node, n, set, like.without_columns(w, most_coded)};
    const auto most = static_cast<std::size_t>(most_columns + (Code::kEntries ? most_coded : 0));
    x.columns = w.scratch.take<int>(most);
    x.lists = w.scratch.take<u32*>(most);
    return x;
  }
};

template <class Code> bool is_narrow(const LocalTable& table, const SingleNode<Code>& x) {
  return is_narrow(table, x.n, [list = x.any_list()](u32 i) { return list[i] & kRowMask; });
}

// The rows of a branch: list entries, or whatever the code has instead.
template <class Code> struct Branch {
  u32 n;
  const u32* entries;  // null if the code has the rows
  typename Code::Rows rows;
  template <class F> CC_INLINE void each(F f) const {
    if constexpr (Code::kEachRow) {
      rows.each(f);
    } else {
      const u32* const from = entries;  // a copy, because what f writes might alias the members
      for (u32 i = 0, end = n; i < end; i++) f(from[i] & kRowMask);
    }
  }
};

// The branches of a node and its children.
template <class Code> struct NodeSplit {
  u32 n;
  Branch<Code>* branch;
  Node* child;
};

template <class P> struct SingleSearch;
template <class Code> struct SingleSplit;

// The code of tables in which all columns have lists.
struct NoCode {
  template <class P> using Search = SingleSearch<P>;
  using Split = SingleSplit<NoCode>;
  template <class P> static constexpr bool kServes = true;
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
