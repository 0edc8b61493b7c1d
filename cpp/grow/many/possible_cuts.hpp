// The cuts that may be the best of each member, from those that may be the best of some member
// (cuts.hpp). Members with similar held-out rows share a selection. For each member, a quick upper
// bound of the quality of all selected cuts follows from their statistics with all rows: a held-out
// row of class c and weight h lowers Σ l_c² by h(2·l_c − h). The columns' cuts are sorted, so a
// held-out row is in the first branch of all cuts of a column from one place on.
#pragma once
#include "cuts.hpp"

namespace crosscut::CROSSCUT_LEVEL {

class PossibleCuts {
  Worker& w;
  const Problem& p;
  const Group& group;
  const std::vector<GroupCut>& cuts;
  const GroupCut* base;
  const std::size_t K;

  // Covers the rounding of bounds. It is relative to the sums before any row is removed, because
  // the differences may be much smaller.
  static constexpr double kRounding = 1e-12;

  struct Segment {  // cuts of one column and phase
    int f;
    u64 phase;
    u32 begin, end;
  };
  std::vector<Segment> segments;
  u32* ranks;  // of the selected cuts
  // Statistics of the selected cuts with all rows. Classes: the weight of the first branch, and the
  // sums of squares of both branches; for a regression, the sum of the first branch.
  double *weight, *first, *second;
  double* left;  // of one class
  int class_of_left = -1;
  double *removed, *less_weight, *a, *b;  // of a member

 public:
  std::size_t n = 0;          // of the cuts selected for a run of members
  const GroupCut** selected;  // [n]
  double* bound;              // [n] of their qualities for a member

  PossibleCuts(Worker& worker, const Group& g, const GroupCuts& all)
      : w(worker),
        p(worker.run.p),
        group(g),
        cuts(all.cuts),
        base(all.base_cut()),
        K(static_cast<std::size_t>(worker.run.K())) {
    ranks = w.scratch.take<u32>(cuts.size());
    selected = w.scratch.take<const GroupCut*>(cuts.size());
    for (auto** array : {&weight, &first, &second, &left, &removed, &less_weight, &a, &b, &bound})
      *array = w.scratch.take<double>(cuts.size());
  }

  // Sets A − E' of a member.
  void compare_with_base(const Member& member, Removed& held_out) const {
    double e = 0;
    for (u32 i = 0; i < member.n_out && base; i++) {
      const u32 row = member.out[i];
      const bool is_left =
          goes_left(p.columns[base->f].rank(row), base->key, missing_rank(base->f));
      e += weight_of(row) * distance(row, *base, is_left);
    }
    held_out.excess = base ? held_out.a - e * (1 - 1e-9) : 0;
  }
  // Selects the cuts that are possible for some of several members.
  void select(const Removed& most) {
    n = 0;
    for (const GroupCut& cut : cuts)
      if (cut.may_win(most)) selected[n++] = &cut;
    segments.clear();
    for (u32 j = 0; j < n; j++) {
      const GroupCut& cut = *selected[j];
      const u64 phase = phase_of(cut.key);
      if (segments.empty() || segments.back().f != cut.f || segments.back().phase != phase)
        segments.push_back({cut.f, phase, j, j});
      segments.back().end = j + 1;
      ranks[j] = cut_of(cut.key);
      summarise(cut, j);
    }
    class_of_left = -1;
  }
  // Bounds the qualities of the selected cuts for a member.
  void find_bounds(const Member& member) {
    const double* node = member.node->stats;
    if (!p.n_classes) {
      std::fill_n(removed, n, 0.0);
      std::fill_n(less_weight, n, 0.0);
      for (u32 i = 0; i < member.n_out; i++) {
        const u32 row = member.out[i];
        add_to_left(row, p.product[row], removed);
        add_to_left(row, weight_of(row), less_weight);
      }
      return bound_moments(node[0], node[1]);
    }
    for (std::size_t j = 0; j < n; j++) {
      less_weight[j] = weight[j];
      a[j] = first[j] * (1 + kRounding);
      b[j] = second[j] * (1 + kRounding);
    }
    for (u32 i = 0; i < member.n_out; i++) {
      const int cls = p.classes[member.out[i]];
      const auto same = [&](u32 row) { return p.classes[row] == cls; };
      if (std::any_of(member.out, member.out + i, same)) continue;
      double all = 0;
      std::fill_n(removed, n, 0.0);
      for (u32 k = i; k < member.n_out; k++) {
        const u32 row = member.out[k];
        if (!same(row)) continue;
        all += weight_of(row);
        add_to_left(row, weight_of(row), removed);
      }
      remove_class(cls, all);
    }
    bound_squares(w.run.quality.total(node));
  }

 private:
  double weight_of(u32 row) const { return p.weight ? p.weight[row] : 1; }
  u32 missing_rank(int f) const {
    return p.columns[f].has_missing ? p.columns[f].n_values : ~u32{0};
  }
  // |y − μ_s|² of a row and a branch of a cut.
  double distance(u32 row, const GroupCut& cut, bool is_left) const {
    const double* node = group.shared->stats;
    const auto stat = [&](std::size_t c) { return is_left ? cut.left[c] : node[c] - cut.left[c]; };
    if (!p.n_classes) {
      const double y = p.product[row] / weight_of(row) - stat(0) / stat(1);
      return y * y;
    }
    const auto cls = static_cast<std::size_t>(p.classes[row]);
    double sum = 0, squares = 0;
    for (std::size_t c = 0; c < K; c++) {
      sum += stat(c);
      squares += stat(c) * stat(c);
    }
    return std::max(1 - 2 * stat(cls) / sum + squares / (sum * sum), 0.0);
  }
  void summarise(const GroupCut& cut, u32 j) {
    if (!p.n_classes) {
      first[j] = cut.left[0];
      weight[j] = cut.left[1];
      return;
    }
    const double* node = group.shared->stats;
    weight[j] = first[j] = second[j] = 0;
    for (std::size_t c = 0; c < K; c++) {
      const double l = cut.left[c], r = node[c] - l;
      weight[j] += l;
      first[j] += l * l;
      second[j] += r * r;
    }
  }
  // Adds a number to all selected cuts that have the row in their first branch.
  void add_to_left(u32 row, double number, double* to) const {
    for (const Segment& s : segments) {
      const u32 rank = p.columns[s.f].rank(row);
      u32 begin = s.begin;
      if (rank == missing_rank(s.f)) begin = s.phase == kMissingLeft ? s.begin : s.end;
      else if (s.phase != kPresence)
        begin = static_cast<u32>(std::lower_bound(ranks + s.begin, ranks + s.end, rank) - ranks);
      for (u32 j = begin; j < s.end; j++) to[j] += number;
    }
  }
  // Removes rows of a class with the weight `all`, `removed` of it from the first branches.
  void remove_class(int cls, double all) {
    const auto c = static_cast<std::size_t>(cls);
    if (cls != class_of_left)
      for (std::size_t j = 0; j < n; j++) left[j] = selected[j]->left[c];
    class_of_left = cls;
    const double total = group.shared->stats[c];
    const double *out = removed, *of = left;
    double *rest = less_weight, *to_a = a, *to_b = b;
    for (std::size_t j = 0; j < n; j++) {
      const double right_out = all - out[j];
      rest[j] -= out[j];
      to_a[j] += out[j] * (out[j] - 2 * of[j]);
      to_b[j] += right_out * (right_out - 2 * (total - of[j]));
    }
  }
  void bound_squares(double all) {
    const double *rest = less_weight, *of_a = a, *of_b = b;
    double* to = bound;
    for (std::size_t j = 0; j < n; j++) to[j] = of_a[j] / rest[j] + of_b[j] / (all - rest[j]);
  }
  void bound_moments(double sum, double all) {
    const double *l = first, *of = weight, *out = removed;
    const double* fewer = less_weight;
    double* to = bound;
    for (std::size_t j = 0; j < n; j++) {
      const double own = l[j] - out[j], rest = sum - own, own_weight = of[j] - fewer[j];
      to[j] = (own * own / own_weight + rest * rest / (all - own_weight)) * (1 + kRounding);
    }
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL
