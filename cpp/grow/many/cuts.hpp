// The cuts of a group's node that can be the best of some member.
//
// Gini and variance both measure the squared distances of rows from the mean of their branch (for
// Gini a row is the unit vector of its class). Let a cut have branches s with weights W_s and means
// μ_s, and let L be its sum of squared distances. Removing the rows H lowers L by
//   D = Σ_H w·|y − μ_s|² + Σ_s h_s²/(W_s − h_s)·|ȳ_s − μ_s|²,
// where h_s is the weight and ȳ_s the mean of the removed rows of s. By Cauchy–Schwarz
//   E ≤ D ≤ r·E, with E = Σ_H w·|y − μ_s|² and r = max W_s/(W_s − h_s).
// With μ the mean of the node and δ the larger distance of a branch mean from it,
//   A − 2δB ≤ E ≤ A + 2δB + hδ², where A = Σ_H w·|y − μ|² and B = Σ_H w·|y − μ|.
// So a cut that is worse than another cut (`base`, E') on all rows is also worse without the rows H
// if it is worse by more than r·E − E'. Without knowing on which side the rows are, that is at most
// (r − 1)A + 2rδB + r·h·δ² + (A − E'), where A − E' ≤ 2δ'B. δ² is gain·max W/(W·min W).
// The base must be a test of every member, so it leaves enough rows on both sides whatever is held
// out. GroupCuts finds the cuts that are possible for some member, PossibleCuts those of a member.
#pragma once
#include <vector>

#include "group.hpp"
#include "grow/search.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// A, B and the weight h of the held-out rows of a member, A − E' or a bound of it, and the number
// of rows.
struct Removed {
  double a = 0, b = 0, weight = 0, excess = 0;
  u32 rows = 0;
  void raise(const Removed& o) {
    a = std::max(a, o.a);
    b = std::max(b, o.b);
    weight = std::max(weight, o.weight);
    excess = std::max(excess, o.excess);
    rows = std::max(rows, o.rows);
  }
};

struct GroupCut {
  int f;
  u32 place;                 // rows with a value at or below the cut
  u64 key;                   // numeric_key; the cut is a rank of the table
  double q, small;           // quality; weight of the smaller branch
  double gap, ratio, delta;  // by how much the base is better; r, δ
  i64 n_left, n_missing;
  bool separable;  // by the gap rule; also without some of the rows
  double* left;    // [K] statistics of the first branch

  // By how much the cut may be worse than the base.
  double allowed(const Removed& h) const {
    return (ratio - 1) * h.a + ratio * delta * (2 * h.b + h.weight * delta) + h.excess;
  }
  bool may_win(const Removed& h) const { return gap <= allowed(h); }
};

class GroupCuts {
  Worker& w;
  const Problem& p;
  const Group& group;
  const i64 min_leaf;
  const double weight, node_q;
  Removed most;  // of any member
  GroupCut base{.q = kNever};
  double slack = 0;  // covers rounding, and tests that exact sums must compare
  // [e] no cut whose smaller branch has a weight of 2^e or more is possible if it is worse by more
  static constexpr int kExponents = 128;
  double far[kExponents];

 public:
  std::vector<GroupCut> cuts;

  // Null if there is none. Its key is one of `cuts`.
  const GroupCut* base_cut() const {
    for (const GroupCut& cut : cuts)
      if (cut.f == base.f && cut.key == base.key && base.q > kNever) return &cut;
    return nullptr;
  }

  GroupCuts(Worker& worker, const Group& g, i64 least, const Removed& largest)
      : w(worker),
        p(worker.run.p),
        group(g),
        min_leaf(least),
        weight(worker.run.quality.total(g.shared->stats)),
        node_q(worker.run.quality.branch(g.shared->stats)),
        most(largest) {
    std::fill_n(far, kExponents, std::numeric_limits<double>::infinity());
  }

  // Finds the cuts of all numeric columns.
  void find() {
    std::mutex mutex;  // protects base
    std::vector<std::vector<GroupCut>> of_column(static_cast<std::size_t>(p.n_features));
    w.share(p.n_features, [&](Worker& worker, Parts& parts) {
      GroupCuts own(worker, group, min_leaf, most);
      for (int f; (f = parts.take()) >= 0;) {
        if (group.lists[f]) own.scan_column(f);
        of_column[static_cast<std::size_t>(f)].swap(own.cuts);
      }
      const std::scoped_lock lock(mutex);
      if (own.base.q > base.q) take_base(own.base);
    });
    for (std::vector<GroupCut>& column : of_column)
      for (GroupCut& cut : column)
        if (is_possible(cut)) cuts.push_back(cut);
    fill_statistics();
  }

 private:
  void take_base(const GroupCut& cut) {
    base = cut;
    slack = (w.run.weighted ? 1e-9 : 1e-12) * (cut.q > 0 ? cut.q : 0) + 1e-290;
    if (w.run.on_grid) slack += 2 * w.run.margin(group.shared->stats, cut.q);
    find_bound(base);
    most.excess = 2 * base.delta * most.b;
    for (int e = 0; e < kExponents; e++) {
      GroupCut worst = cut;
      worst.small = std::max(std::ldexp(1.0, e), p.least_weight);
      if (worst.small > weight) break;
      find_bound(worst);
      far[e] = slack + worst.allowed(most);
    }
  }
  // W/(W − h) of a branch that keeps at least one row
  double ratio(double branch) const {
    return branch / std::min(branch, std::max(branch - most.weight, p.least_weight));
  }
  void find_bound(GroupCut& cut) const {
    if (base.q == kNever) {  // every cut is possible
      cut.gap = kNever;
      return;
    }
    const double gain = cut.q > node_q ? cut.q - node_q + slack : slack;
    cut.gap = base.q - cut.q - slack;
    cut.ratio = std::max(ratio(cut.small), ratio(weight - cut.small));
    cut.delta = __builtin_sqrt(gain * (weight - cut.small) / (weight * cut.small));
  }
  CC_INLINE bool is_possible(GroupCut& cut) const {
    const int e = std::min(std::ilogb(cut.small), kExponents - 1);
    if (e >= 0 && base.q - cut.q > far[e]) return false;
    find_bound(cut);
    return cut.may_win(most);
  }

  // The first branch while a column is scanned.
  struct Scan {
    const Problem& p;
    const double* node;
    const int K;
    double *left, a = 0, b = 0;  // classes: sums of squares of both branches
    double weight = 0;
    void clear() {
      std::fill_n(left, K, 0.0);
      a = b = weight = 0;
      for (int c = 0; c < K && p.n_classes; c++) b += node[c] * node[c];
    }
    CC_INLINE void add(u32 row) {
      const double v = p.weight ? p.weight[row] : 1;
      weight += v;
      if (!p.n_classes) {
        left[0] += p.product[row];
        return;
      }
      double& l = left[p.classes[row]];
      const double r = node[p.classes[row]] - l;
      a += (2 * l + v) * v;
      b -= (2 * r - v) * v;
      l += v;
    }
    CC_INLINE double quality(double all) const {
      if (p.n_classes) return a / weight + b / (all - weight);
      const double rest = node[0] - left[0];
      return left[0] * left[0] / weight + rest * rest / (all - weight);
    }
  };

  void scan_column(int f) {
    const Column& column = p.columns[f];
    const u32 *list = group.lists[f], *ranks = column.ranks, n = group.n;
    if (ranks[list[0]] == ranks[list[n - 1]]) return;
    u32 present = n;
    while (present && ranks[list[present - 1]] == column.n_values) present--;
    const auto mark = w.scratch.mark();
    Scan scan{p, group.shared->stats, w.run.K(),
              w.scratch.take<double>(static_cast<std::size_t>(w.run.K()))};
    w.level(group.shared->depth).cuts += n;
    for (const u64 phase : {kMissingRight, kMissingLeft}) {
      scan.clear();
      for (u32 i = present; i < n && phase == kMissingLeft; i++) scan.add(list[i]);
      const i64 missing = phase == kMissingLeft ? n - present : 0;
      u32 rank = present ? ranks[list[0]] : 0;
      for (u32 i = 0; i < present; i++) {
        const u32 next = i + 1 < present ? ranks[list[i + 1]] : column.n_values;
        scan.add(list[i]);
        if (next != rank && i + 1 < present)
          offer(f, i + 1, numeric_key(phase, rank), i + 1 + missing, n - present, scan,
                column.edges || apart(column.values[rank], column.values[next]));
        rank = next;
      }
      if (present == n || !present) break;
      if (phase == kMissingRight)
        offer(f, present, numeric_key(kPresence, 0), present, n - present, scan, true);
    }
    w.scratch.release(mark);
  }
  CC_INLINE void offer(int f, u32 place, u64 key, i64 n_left, i64 n_missing, const Scan& scan,
                       bool separable) {
    const i64 fewer = std::min(n_left, group.n - n_left);
    if (fewer < min_leaf) return;
    const double q = scan.quality(weight), small = std::min(scan.weight, weight - scan.weight);
    const i64 lasting = std::min<i64>(fewer, phase_of(key) == kMissingLeft ? place : fewer);
    GroupCut cut{f, place, key, q, small, 0, 1, 0, n_left, n_missing, separable, nullptr};
    if (q > base.q && separable && fewer >= min_leaf + most.rows && lasting > most.rows)
      take_base(cut);
    if (is_possible(cut)) cuts.push_back(cut);
  }
  // Statistics of the first branches of the cuts, which are sorted.
  void fill_statistics() {
    const auto K = static_cast<std::size_t>(w.run.K());
    double* sums = w.scratch.take<double>(K);
    const u32* list = nullptr;
    u32 at = 0;
    for (std::size_t j = 0; j < cuts.size(); j++) {
      GroupCut& cut = cuts[j];
      const u64 phase = phase_of(cut.key);
      if (!j || cut.f != cuts[j - 1].f || phase != phase_of(cuts[j - 1].key)) {
        list = group.lists[cut.f];
        at = 0;
        std::fill_n(sums, K, 0.0);
        const i64 missing = cut.n_left - cut.place;
        for (u32 i = group.n - static_cast<u32>(missing); i < group.n; i++)
          add_row(p, list[i], 1, sums);
      }
      for (; at < cut.place; at++) add_row(p, list[at], 1, sums);
      cut.left = w.scratch.take<double>(K);
      std::copy_n(sums, K, cut.left);
    }
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL
