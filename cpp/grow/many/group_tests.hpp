// The different tests of the members of a group. Members have the same test if it splits the rows
// of both alike; see Forking::join_numeric and join_nominal.
#pragma once
#include <deque>
#include <vector>

#include "grow/large/test.hpp"
#include "group.hpp"

namespace crosscut::CROSSCUT_LEVEL {

struct GroupTest : Test {
  bool shared;  // the best test of all rows
  u32 n;        // number of members
};

class GroupTests {
  const Problem& p;
  std::deque<std::vector<std::int32_t>> maps;  // of nominal tests

 public:
  std::vector<GroupTest> list;

  explicit GroupTests(const Problem& problem) : p(problem) {}

  // Returns the number of the test.
  // See Forking::join_numeric and join_nominal.
  int join_numeric(int f, u64 phase, u32 below, u32 above) {
    for (GroupTest& t : list) {
      if (t.feature != f || t.phase != phase) continue;
      const u32 low = std::max(below, t.low), high = std::min(above, t.high);
      if (phase != kPresence && low >= high) continue;
      if (phase != kPresence) {
        t.low = low;
        t.high = high;
      }
      return static_cast<int>(&t - list.data());
    }
    const int added = add(f, 2);
    GroupTest& t = list.back();
    t.phase = phase;
    t.missing_rank = p.columns[f].has_missing ? p.columns[f].n_values : ~u32{0};
    t.low = phase == kPresence ? ~u32{0} - 1 : below;
    t.high = above;
    return added;
  }
  int join_nominal(int f, const Node& node) {
    using Entry = CategoryBranches::Entry;
    const u32 V = p.columns[f].n_values + 1;
    const auto branch = [&](const Entry& e) {
      return static_cast<std::int32_t>(p.multiway ? e.category : e.second);
    };
    const auto add_to = [&](GroupTest& t) {
      for (const Entry& e : *node.branches) t.map[e.category] = branch(e);
      return static_cast<int>(&t - list.data());
    };
    for (GroupTest& t : list)
      if (t.feature == f && std::all_of(node.branches->begin(), node.branches->end(), [&](Entry e) {
            return t.map[e.category] < 0 || t.map[e.category] == branch(e);
          }))
        return add_to(t);
    add(f, p.multiway ? static_cast<int>(V) : 2);
    GroupTest& t = list.back();
    t.nominal = true;
    t.map = maps.emplace_back(V, -1).data();
    return add_to(t);
  }

 private:
  int add(int f, int n_branches) {
    GroupTest test{};
    test.feature = f;
    test.n_branches = n_branches;
    list.push_back(test);
    return static_cast<int>(list.size()) - 1;
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL
