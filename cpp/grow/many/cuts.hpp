// Finds the cuts of a group's node that can be the best of some member, by the bound of
// group_cut.hpp.
#pragma once
#include <bit>
#include <numeric>
#include <vector>

#include "group_cut.hpp"
#include "grow/search.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// Memory for the cuts of one node after another.
struct CutBuffers {
  std::vector<std::vector<GroupCut>> of_column;
  std::vector<GroupCut> cuts;
  std::vector<int> order;    // in which columns are scanned
  std::vector<double> best;  // of each column
  explicit CutBuffers(std::size_t n_columns) : of_column(n_columns), order(n_columns) {
    std::iota(order.begin(), order.end(), 0);
  }
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
  CutBuffers& buffers;
  std::vector<GroupCut>* to = nullptr;  // the cuts of the current column

 public:
  std::vector<GroupCut>& cuts;

  // Null if there is none. Its key is one of `cuts`.
  const GroupCut* base_cut() const {
    for (const GroupCut& cut : cuts)
      if (cut.f == base.f && cut.key == base.key && base.q > kNever) return &cut;
    return nullptr;
  }

  GroupCuts(Worker& worker, const Group& g, i64 least, const Removed& largest, CutBuffers& memory)
      : w(worker),
        p(worker.run.p),
        group(g),
        min_leaf(least),
        weight(worker.run.quality.total(g.shared->stats)),
        node_q(worker.run.quality.branch(g.shared->stats)),
        most(largest),
        buffers(memory),
        cuts(memory.cuts) {
    std::fill_n(far, kExponents, std::numeric_limits<double>::infinity());
  }

  // Finds the cuts of all numeric columns. A good base early rejects most cuts of the other
  // columns, so the columns whose cuts are best here come first at the next node.
  void find() {
    std::mutex mutex;  // protects base
    buffers.best.assign(buffers.order.size(), kNever);
    w.share(p.n_features, [&](Worker& worker, Parts& parts) {
      GroupCuts own(worker, group, min_leaf, most, buffers);
      for (int part; (part = parts.take()) >= 0;) {
        const auto f = static_cast<std::size_t>(buffers.order[static_cast<std::size_t>(part)]);
        own.to = &buffers.of_column[f];
        own.to->clear();
        if (group.lists[f]) own.scan_column(static_cast<int>(f));
        for (const GroupCut& cut : *own.to) buffers.best[f] = std::max(buffers.best[f], cut.q);
      }
      const std::scoped_lock lock(mutex);
      if (own.base.q > base.q) take_base(own.base);
    });
    cuts.clear();
    for (const std::vector<GroupCut>& column : buffers.of_column)
      for (GroupCut cut : column) {
        if (is_far(cut.q, cut.small)) continue;
        find_bound(cut);
        if (cut.may_win(most)) cuts.push_back(cut);
      }
    fill_statistics();
    std::stable_sort(buffers.order.begin(), buffers.order.end(), [&](int f, int g) {
      return buffers.best[static_cast<std::size_t>(f)] > buffers.best[static_cast<std::size_t>(g)];
    });
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
  // A quick bound.
  CC_INLINE bool is_far(double q, double small) const {
    const u64 exponent = std::bit_cast<u64>(small) >> 52;
    return base.q - q > far[std::clamp<u64>(exponent, 1023, 1023 + kExponents - 1) - 1023];
  }

  // The first branch while a column is scanned. Two: two classes whose rows are counted.
  template <bool Two> struct Scan {
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
      if constexpr (Two) {
        weight += 1;
        a += p.classes[row];
        return;
      }
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
    void copy_left(double (&to)[2]) const {
      if (K > 2) return;
      to[0] = Two ? weight - a : left[0];
      to[1] = Two ? a : p.n_classes ? left[1] : weight;
    }
    CC_INLINE double quality(double all) const {
      if constexpr (Two) {
        const double other = weight - a, r = node[1] - a, other_r = node[0] - other;
        return (a * a + other * other) / weight + (r * r + other_r * other_r) / (all - weight);
      }
      if (p.n_classes) return a / weight + b / (all - weight);
      const double rest = node[0] - left[0];
      return left[0] * left[0] / weight + rest * rest / (all - weight);
    }
  };

  void scan_column(int f) {
    if (p.n_classes == 2 && w.run.counted) scan_column<true>(f);
    else scan_column<false>(f);
  }
  template <bool Two> void scan_column(int f) {
    const Column& column = p.columns[f];
    const u32 *list = group.lists[f], n = group.n;
    if (column.rank(list[0]) == column.rank(list[n - 1])) return;
    u32 present = n;
    while (present && column.rank(list[present - 1]) == column.n_values) present--;
    const auto mark = w.scratch.mark();
    Scan<Two> scan{p, group.shared->stats, w.run.K(),
                   w.scratch.take<double>(static_cast<std::size_t>(w.run.K()))};
    w.level(group.shared->depth).cuts += n;
    for (const u64 phase : {kMissingRight, kMissingLeft}) {
      scan.clear();
      for (u32 i = present; i < n && phase == kMissingLeft; i++) scan.add(list[i]);
      const i64 missing = phase == kMissingLeft ? n - present : 0;
      u32 rank = present ? column.rank(list[0]) : 0;
      for (u32 i = 0; i < present; i++) {
        const u32 next = i + 1 < present ? column.rank(list[i + 1]) : column.n_values;
        scan.add(list[i]);
        if (next != rank && i + 1 < present)
          offer(f, i + 1, numeric_key(phase, rank), i + 1 + missing, n - present, scan, next);
        rank = next;
      }
      if (present == n || !present) break;
      if (phase == kMissingRight)
        offer(f, present, numeric_key(kPresence, 0), present, n - present, scan, 0);
    }
    w.scratch.release(mark);
  }
  // next: the rank after the cut
  template <bool Two>
  CC_INLINE void offer(int f, u32 place, u64 key, i64 n_left, u32 n_missing, const Scan<Two>& scan,
                       u32 next) {
    const i64 fewer = std::min(n_left, group.n - n_left);
    if (fewer < min_leaf) return;
    const double q = scan.quality(weight), small = std::min(scan.weight, weight - scan.weight);
    if (is_far(q, small)) return;
    const Column& column = p.columns[f];
    const bool separable = column.edges || phase_of(key) == kPresence ||
                           apart(column.values[cut_of(key)], column.values[next]);
    const i64 lasting = std::min<i64>(fewer, phase_of(key) == kMissingLeft ? place : fewer);
    GroupCut cut{f,         place,     key,     q, small, 0, 1, 0, static_cast<u32>(n_left),
                 n_missing, separable, nullptr, {}};
    scan.copy_left(cut.both);
    if (q > base.q && separable && fewer >= min_leaf + most.rows && lasting > most.rows)
      take_base(cut);
    find_bound(cut);
    if (cut.may_win(most)) to->push_back(cut);
  }
  // Statistics of the first branches of the cuts, which are sorted.
  void fill_statistics() {
    const auto K = static_cast<std::size_t>(w.run.K());
    for (GroupCut& cut : cuts) cut.left = cut.both;
    if (K == 2) return;
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
        const u32 missing = cut.n_left - cut.place;
        for (u32 i = group.n - missing; i < group.n; i++) add_row(p, list[i], 1, sums);
      }
      for (; at < cut.place; at++) add_row(p, list[at], 1, sums);
      double* left = w.scratch.take<double>(K);
      std::copy_n(sums, K, left);
      cut.left = left;
    }
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL
