// Tests that the tasks of a bundle have chosen, and where rows go.
#pragma once
#include "grow/search.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// A test that one or more tasks of a bundle have chosen. Tasks are alike if they send every row of
// theirs the same way; each keeps its own threshold.
struct Test {
  int feature, n_branches;
  bool nominal;
  u64 phase;
  u32 low, high;  // numeric: every task's neighbours are at most low and at least high
  u32 missing_rank;
  u32 lanes;
  std::int32_t* map;  // nominal: branch of every rank, −1 unseen
  Node** child;       // [n_branches][kLanes], null where a task has no such branch
  u32* open;          // [n_branches] lanes whose child wants a test

  CC_INLINE int branch(u32 rank) const {
    if (nominal) return map[rank];
    if (rank == missing_rank) return phase != kMissingLeft;
    return rank > low;
  }
};

// The different tests that the tasks of a bundle have chosen: more than one make it a fork, the
// paper's bifurcation point.
struct Fork {
  Test* tests;
  int n_tests;
};

}  // namespace crosscut::CROSSCUT_LEVEL
