// The best test of one member of a group, by the same rules and formulas as everywhere else. Only
// cuts whose bound (possible_cuts.hpp) is not below the best test are evaluated; nominal columns
// are evaluated from the group's statistics per category, less those of the held-out rows.
#pragma once
#include "possible_cuts.hpp"
#include "grow/criteria/moments.hpp"
#include "grow/large/fork.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// Search<P> without running statistics: no scan follows.
template <int W> struct NoScan {
  using T = double;
  using V = Vec<T, W>;
  NoScan(const Run&, const Bundle&, const Best&, double*) {}
  void lower(const Best&, int) {}
};

// Statistics of a nominal column per category of the table.
struct CategorySums {
  int f;
  double* table;  // [V][K]
  i64* n;         // [V]
};

template <class P, class Bound> class MemberSearch {
  Worker& w;
  const Problem& p;
  const Group& group;
  const std::vector<CategorySums>& nominal;
  const MemberRows rows;
  Bundle bundle;
  u8* held_out;  // [row of the table]; all 0 between searches

 public:
  MemberSearch(Worker& worker, const Group& g, const std::vector<CategorySums>& categories,
               const Bundle& like, u8* marks)
      : w(worker),
        p(worker.run.p),
        group(g),
        nominal(categories),
        rows{g.n, g.rows, marks, p.columns},
        bundle(like),
        held_out(marks) {}

  // Calls use(best, bundle, rows) with the best test of a member, given its possible cuts.
  template <class Use>
  void find(const Member& member, PossibleCuts<Bound>& possible, const Use& use) {
    const auto mark = w.scratch.mark();
    for (u32 i = 0; i < member.n_out; i++) held_out[member.out[i]] = 1;
    bundle.node[0] = member.node;
    Best best(w, bundle);
    Search<P> search(w, bundle, best);
    search.bundle_rows = &rows;
    search.same_split = &split_alike<MemberRows>;
    for (const CategorySums& sums : nominal) evaluate_categories(member, sums, search);
    possible.find_bounds(member);
    const SelectedCuts<Bound>& cuts = possible.selected;
    const double* bound = possible.bound;
    const auto first = static_cast<std::size_t>(std::max_element(bound, bound + cuts.n) - bound);
    if (cuts.n) evaluate(member, *cuts.selected[first], search, best);
    for (std::size_t j = 0; j < cuts.n; j++)
      if (bound[j] >= best.lowest[0] && j != first)
        evaluate(member, *cuts.selected[j], search, best);
    decide_contested(w, bundle, rows, best);
    use(best, bundle, rows);
    for (u32 i = 0; i < member.n_out; i++) held_out[member.out[i]] = 0;
    w.scratch.release(mark);
  }

  // The ranks next to a cut among the rows of the member that `find` is at.
  void neighbours(int f, u32 cut, u32& below, u32& above) const {
    const Column& column = p.columns[f];
    const u32 *list = group.lists[f], *end = list + group.n;
    const u32* at =
        std::partition_point(list, end, [&](u32 row) { return column.rank(row) <= cut; });
    const u32* low = at;
    while (low > list && held_out[low[-1]]) low--;
    while (at < end && held_out[*at]) at++;
    below = low > list ? column.rank(low[-1]) : 0;
    above = at < end ? column.rank(*at) : ~u32{0};
  }
  bool has_missing(int f) const {
    const Column& column = p.columns[f];
    const u32* at = group.lists[f] + group.n;
    while (at > group.lists[f] && held_out[at[-1]]) at--;
    return at > group.lists[f] && column.rank(at[-1]) == column.n_values;
  }

  // The statistics of a nominal column per category, without the held-out rows of a member.
  CategorySums sums_of(const Member& member, int f) const {
    for (const CategorySums& sums : nominal)
      if (sums.f == f) return less(member, sums);
    return {};
  }

 private:
  void evaluate(const Member& member, const GroupCut<Bound>& cut, Search<P>& search, Best& best) {
    const Column& column = p.columns[cut.f];
    std::copy_n(cut.left, w.run.K(), search.stats);
    i64 left = cut.n_left;
    search.missing_rows.n[0] = cut.n_missing;
    for (u32 i = 0; i < member.n_out; i++) {
      const u32 row = member.out[i];
      search.missing_rows.n[0] -= column.rank(row) == column.n_values;
      if (!goes_left(column.rank(row), cut.key, rows.missing_rank(cut.f))) continue;
      add_row(p, row, -1, search.stats);
      left--;
    }
    w.level(bundle.depth).group_cuts++;
    u64 key = cut.key;
    if (!cut.separable) {  // without the held-out rows it may be
      u32 below, above;
      neighbours(cut.f, cut_of(key), below, above);
      if (above >= column.n_values || !apart(column.values[below], column.values[above])) return;
    }
    if (!search.missing_rows.admissible(0, left, bundle.node[0]->n_rows, key)) return;
    if (best.rivals) search.propose(0, cut.f, key, left);
    else best.offer_left(0, cut.f, key, left, search.stats);
  }
  void evaluate_categories(const Member& member, const CategorySums& sums, Search<P>& search) {
    const auto mark = w.scratch.mark();
    const CategorySums own = less(member, sums);
    search.evaluate_nominal(0, sums.f, own.table, own.n, p.columns[sums.f].n_values + 1,
                            NoTargets{}, ExactSums<MemberRows>{w, bundle, rows, 0, sums.f});
    w.scratch.release(mark);
  }
  CategorySums less(const Member& member, const CategorySums& sums) const {
    const Column& column = p.columns[sums.f];
    const std::size_t V = column.n_values + 1, K = static_cast<std::size_t>(w.run.K());
    CategorySums own{sums.f, w.scratch.take<double>(V * K), w.scratch.take<i64>(V)};
    std::copy_n(sums.table, V * K, own.table);
    std::copy_n(sums.n, V, own.n);
    for (u32 i = 0; i < member.n_out; i++) {
      const std::size_t v = column.rank(member.out[i]);
      add_row(p, member.out[i], -1, own.table + v * K);
      own.n[v]--;
    }
    return own;
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL
