// The tests that the tasks of a bundle have chosen.
#pragma once
#include "grow/search.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// A test that one or more tasks have chosen. Tasks share it if it sends every row of theirs the
// same way. Each task keeps its own threshold.
struct Test {
  int feature, n_branches;
  bool nominal;
  u64 phase;
  u32 low, high;  // numeric: the neighbours of all tasks are <= low and >= high
  u32 missing_rank;
  u32 lanes;
  std::int32_t* map;  // nominal: [rank] branch, −1 if not present
  Node** child;       // [n_branches][kLanes], null if the task has no such branch
  u32* open;          // [n_branches] lanes whose child needs a test

  CC_INLINE int branch(u32 rank) const {
    if (nominal) return map[rank];
    if (rank == missing_rank) return phase != kMissingLeft;
    return rank > low;
  }
};

// The different tests of a bundle. More than one test makes it a fork, the paper's bifurcation
// point.
struct Fork {
  Test* tests;
  int n_tests;
};

}  // namespace crosscut::CROSSCUT_LEVEL
