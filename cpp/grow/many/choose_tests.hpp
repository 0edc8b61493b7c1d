// Chooses the test of every member of a group: finds the cuts that are possible for some member,
// selects those of each, and lets each member take its best test.
#pragma once
#include <cmath>

#include "group_tests.hpp"
#include "member_search.hpp"

namespace crosscut::CROSSCUT_LEVEL {

template <class Bound> class ChooseTests {
  using Removed = typename Bound::Removed;

  Worker& w;
  const Problem& p;
  const Group& group;
  const Bundle& one;  // one lane, at the depth of the group
  u8* held_out;       // [row of the table]; all 0
  GroupTests& tests;
  CutBuffers<Bound>& buffers;
  const std::size_t K;

 public:
  ChooseTests(Worker& worker, const Group& g, const Bundle& like, u8* marks, GroupTests& chosen,
              CutBuffers<Bound>& memory)
      : w(worker),
        p(worker.run.p),
        group(g),
        one(like),
        held_out(marks),
        tests(chosen),
        buffers(memory),
        K(static_cast<std::size_t>(worker.run.K())) {}

  // test: the test of every member, −1 if it stays a leaf
  void choose(int* test) {
    const Bound bound(w, group);
    Removed* removed = w.scratch.take<Removed>(group.n_members);
    Removed most;
    for (u32 i = 0; i < group.n_members; i++) {
      removed[i] = {};
      for (u32 j = 0; j < group.members[i].n_out; j++)
        bound.remove(group.members[i].out[j], removed[i]);
      most.raise(removed[i]);
    }
    GroupCuts<Bound> cuts(w, group, bound, one.min_leaf[0], most, buffers);
    cuts.find();
    PossibleCuts<Bound> possible(w, group, bound, cuts);
    for (u32 i = 0; i < group.n_members; i++)
      possible.compare_with_base(group.members[i], removed[i]);
    std::vector<CategorySums> nominal;
    for (int f = 0; f < p.n_features; f++)
      if (p.columns[f].nominal) nominal.push_back(category_sums(f));
    const auto with = [&]<class P>() {
      MemberSearch<P, Bound> search(w, group, nominal, one, held_out);
      if (group.wanted) {
        possible.select(Removed{}, nullptr, nullptr);
        const Member none{group.shared, nullptr, 0};
        const int best = take(search, none, possible);
        if (best >= 0) tests.list[static_cast<std::size_t>(best)].shared = true;
      }
      each_run(removed, group.n_members, [&](const u32* first, const u32* last, const Removed& of) {
        while (first < last)
          for (const u32* end = possible.select(of, first, last); first < end; first++) {
            test[*first] = take(search, group.members[*first], possible);
            if (test[*first] >= 0) tests.list[static_cast<std::size_t>(test[*first])].n++;
          }
      });
    };
    if (p.n_classes) with.template operator()<NoScan<1>>();
    else with.template operator()<Moments<1>>();
  }

 private:
  // Calls body(first, last, most) for members with similar held-out rows.
  template <class Body> void each_run(const Removed* removed, u32 n, const Body& body) {
    u32* order = w.scratch.take<u32>(n);
    double most = 0;
    for (u32 i = 0; i < n; i++) {
      order[i] = i;
      most = std::max(most, removed[i].excess);
    }
    const auto bucket = [&](u32 i) {
      const Removed& r = removed[i];
      return std::pair(std::ilogb(r.a * r.a + 1e-300),
                       r.excess > 0 ? static_cast<int>(8 * r.excess / most) : -1);
    };
    std::vector<std::pair<int, int>> buckets(n);
    for (u32 i = 0; i < n; i++) buckets[i] = bucket(i);
    std::sort(order, order + n, [&](u32 a, u32 b) {
      return buckets[a] < buckets[b] || (buckets[a] == buckets[b] && a < b);
    });
    for (u32 begin = 0, end = 0; begin < n; begin = end) {
      Removed of;
      of.excess = removed[order[begin]].excess;
      for (; end < n && buckets[order[end]] == buckets[order[begin]]; end++)
        of.raise(removed[order[end]]);
      body(order + begin, order + end, of);
    }
  }
  CategorySums category_sums(int f) {
    const Column& column = p.columns[f];
    const std::size_t V = column.n_values + 1;
    CategorySums sums{f, w.scratch.take<double>(V * K), w.scratch.take<i64>(V)};
    std::fill_n(sums.table, V * K, 0.0);
    std::fill_n(sums.n, V, i64{0});
    for (u32 i = 0; i < group.n; i++) {
      const std::size_t v = column.rank(group.rows[i]);
      add_row(p, group.rows[i], 1, sums.table + v * K);
      sums.n[v]++;
    }
    return sums;
  }

  // A member's node takes its best test. Returns the group's test that splits the rows alike.
  template <class P>
  int take(MemberSearch<P, Bound>& search, const Member& member, PossibleCuts<Bound>& possible) {
    int found = -1;
    search.find(member, possible, [&](const Best& best, const Bundle& bundle, const auto& rows) {
      const int f = best.feature[0];
      if (f < 0) return;
      Forking<MemberRows> forking(w, bundle, rows, best);
      if (!forking.enough_decrease(0)) return;
      if (p.columns[f].nominal) {
        const CategorySums sums = search.sums_of(member, f);
        forking.take_nominal(0, p.columns[f].n_values + 1, sums.table, sums.n);
        found = tests.join_nominal(f, *member.node);
        return;
      }
      const u64 phase = phase_of(best.key[0]);
      u32 below, above;
      search.neighbours(f, cut_of(best.key[0]), below, above);
      take_numeric(w, rows, *member.node, f, phase, best.n_left[0], best.left, below, above);
      if (phase == kMissingLeft) member.node->missing = 0;
      else if (phase == kMissingRight && search.has_missing(f)) member.node->missing = 1;
      found = tests.join_numeric(f, phase, below, above);
    });
    return found;
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL
