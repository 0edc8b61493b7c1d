// The cuts that may be the best of each member, from those that may be the best of some member
// (cuts.hpp). Members with similar held-out rows share a first selection; then each adds up E over
// the sides on which its own rows are. A column's cuts are sorted, so a row adds its distance from
// the mean of one branch to all cuts before a place, and from the other branch after it.
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

  struct Segment {  // cuts of one column and phase
    int f;
    u64 phase;
    u32 begin, end;
  };
  std::vector<const GroupCut*> selected;  // for a run of members
  std::vector<Segment> segments;
  std::vector<u32> ranks;                 // of the selected cuts
  std::vector<double> of_left, of_right;  // of a class or, for a regression, the means
  std::vector<double> sum;                // E of a member
  int last_class = -1;

 public:
  std::vector<const GroupCut*> possible;  // of the member that select() was called for

  PossibleCuts(Worker& worker, const Group& g, const GroupCuts& all)
      : w(worker),
        p(worker.run.p),
        group(g),
        cuts(all.cuts),
        base(all.base_cut()),
        K(static_cast<std::size_t>(worker.run.K())) {}

  // Sets A − E' of a member.
  void compare_with_base(const Member& member, Removed& removed) const {
    double e = 0;
    for (u32 i = 0; i < member.n_out && base; i++) {
      const u32 row = member.out[i];
      const bool left = goes_left(p.columns[base->f].ranks[row], base->key, missing_rank(base->f));
      e += (p.weight ? p.weight[row] : 1) * distance(row, *base, left);
    }
    removed.excess = base ? removed.a - e * (1 - 1e-9) : 0;
  }
  // Selects the cuts that are possible for some of several members.
  void select(const Removed& most) {
    selected.clear();
    for (const GroupCut& cut : cuts)
      if (cut.may_win(most)) selected.push_back(&cut);
    segments.clear();
    ranks.clear();
    for (u32 j = 0; j < selected.size(); j++) {
      const u64 phase = phase_of(selected[j]->key);
      if (segments.empty() || segments.back().f != selected[j]->f || segments.back().phase != phase)
        segments.push_back({selected[j]->f, phase, j, j});
      segments.back().end = j + 1;
      ranks.push_back(cut_of(selected[j]->key));
    }
    last_class = -1;
    if (!p.n_classes) find_means();
  }
  // Selects the cuts that are possible for a member, from those of the last selection.
  void select(const Member& member, const Removed& removed) {
    possible.clear();
    const std::size_t n = selected.size();
    if (n < 32 || !base) {
      possible = selected;
      return;
    }
    sum.assign(n, 0.0);
    for (u32 i = 0; i < member.n_out; i++) add_row_distances(member.out[i]);
    const double limit = removed.excess - removed.a;  // −E'
    for (std::size_t j = 0; j < n; j++)
      if (selected[j]->gap <= selected[j]->ratio * sum[j] * (1 + 1e-9) + limit)
        possible.push_back(selected[j]);
  }

 private:
  u32 missing_rank(int f) const {
    return p.columns[f].has_missing ? p.columns[f].n_values : ~u32{0};
  }
  // |y − μ_s|² of a row and a branch of a cut.
  double distance(u32 row, const GroupCut& cut, bool left) const {
    const double* node = group.shared->stats;
    const auto stat = [&](std::size_t c) { return left ? cut.left[c] : node[c] - cut.left[c]; };
    if (!p.n_classes) {
      const double y = p.product[row] / (p.weight ? p.weight[row] : 1) - stat(0) / stat(1);
      return y * y;
    }
    return distance_of_class(static_cast<std::size_t>(p.classes[row]), stat);
  }
  template <class Stat> double distance_of_class(std::size_t cls, Stat stat) const {
    double weight = 0, squares = 0;
    for (std::size_t c = 0; c < K; c++) {
      weight += stat(c);
      squares += stat(c) * stat(c);
    }
    return std::max(1 - 2 * stat(cls) / weight + squares / (weight * weight), 0.0);
  }
  void find_means() {
    const double* node = group.shared->stats;
    of_left.resize(selected.size());
    of_right.resize(selected.size());
    for (std::size_t j = 0; j < selected.size(); j++) {
      const double* left = selected[j]->left;
      of_left[j] = left[0] / left[1];
      of_right[j] = (node[0] - left[0]) / (node[1] - left[1]);
    }
  }
  void find_distances(int cls) {
    if (cls == last_class) return;
    last_class = cls;
    const double* node = group.shared->stats;
    of_left.resize(selected.size());
    of_right.resize(selected.size());
    for (std::size_t j = 0; j < selected.size(); j++) {
      const double* left = selected[j]->left;
      const auto c = static_cast<std::size_t>(cls);
      of_left[j] = distance_of_class(c, [&](std::size_t k) { return left[k]; });
      of_right[j] = distance_of_class(c, [&](std::size_t k) { return node[k] - left[k]; });
    }
  }
  void add_row_distances(u32 row) {
    const double weight = p.weight ? p.weight[row] : 1;
    const double y = p.n_classes ? 0 : p.product[row] / weight;
    if (p.n_classes) find_distances(p.classes[row]);
    const auto add = [&](u32 begin, u32 end, const double* of) {
      double* to = sum.data();
      if (p.n_classes)
        for (u32 j = begin; j < end; j++) to[j] += weight * of[j];
      else
        for (u32 j = begin; j < end; j++) to[j] += weight * ((y - of[j]) * (y - of[j]));
    };
    for (const Segment& s : segments) {
      const u32 rank = p.columns[s.f].ranks[row];
      u32 right_end;  // the cuts before this place have the row on the right
      if (rank == missing_rank(s.f)) right_end = s.phase == kMissingLeft ? s.begin : s.end;
      else if (s.phase == kPresence) right_end = s.begin;
      else
        right_end = static_cast<u32>(
            std::lower_bound(ranks.begin() + s.begin, ranks.begin() + s.end, rank) - ranks.begin());
      add(s.begin, right_end, of_right.data());
      add(right_end, s.end, of_left.data());
    }
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL
