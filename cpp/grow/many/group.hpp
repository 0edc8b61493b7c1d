// A group: tasks that chose the same tests on the path to a node. It has one list of rows per
// column, the held-out rows of its members included. A task without held-out rows in the node has
// the tree of the group's own rows there, so it is not a member; it gets a copy of `shared` at the
// end.
#pragma once
#include "grow/bundle.hpp"

namespace crosscut::CROSSCUT_LEVEL {

struct Member {
  Node* node;
  u32* out;  // the rows of the group that the task holds out
  u32 n_out;
};

struct Group {
  u32 n;
  u32* rows;     // rows of the table, in ascending order
  u32** lists;   // [column] the rows sorted by rank; null for nominal columns
  Node* shared;  // the node of tasks without held-out rows here; its statistics are always known
  bool wanted;   // is there such a task?
  Member* members;
  u32 n_members;
};

// The rows of one member, read from those of its group (see large/fork.hpp). Lane 0 is the member.
struct MemberRows {
  u32 n;
  const u32* rows;
  const u8* held_out;  // [row of the table]
  const Column* columns;

  CC_INLINE u32 mask(u32 i) const { return !held_out[rows[i]]; }
  CC_INLINE std::size_t row(u32 i) const { return rows[i]; }
  CC_INLINE u32 rank(int f, u32 i) const { return columns[f].rank(rows[i]); }
  u32 value_rank(int, u32 r) const { return r; }
  u32 missing_rank(int f) const { return columns[f].has_missing ? columns[f].n_values : ~u32{0}; }
  u32 n_ranks(int f) const { return columns[f].n_values + 1; }
};

CC_INLINE double weight_of(const Problem& p, u32 row) { return p.weight ? p.weight[row] : 1; }

// Adds a row of the table, `sign` times, to statistics on the grid.
CC_INLINE void add_row(const Problem& p, u32 row, double sign, double* stats) {
  const double weight = sign * weight_of(p, row);
  if (p.n_classes) {
    stats[p.classes[row]] += weight;
  } else {
    stats[0] += sign * p.product[row];
    stats[1] += weight;
  }
}

}  // namespace crosscut::CROSSCUT_LEVEL
