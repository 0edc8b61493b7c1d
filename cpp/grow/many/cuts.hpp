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
template <class Bound> struct CutBuffers {
  std::vector<std::vector<GroupCut<Bound>>> of_column;
  std::vector<GroupCut<Bound>> cuts;
  std::vector<int> order;    // in which columns are scanned
  std::vector<double> best;  // of each column
  explicit CutBuffers(std::size_t n_columns) : of_column(n_columns), order(n_columns) {
    std::iota(order.begin(), order.end(), 0);
  }
};

template <class Bound> class GroupCuts {
  using Cut = GroupCut<Bound>;
  using Removed = typename Bound::Removed;

  Worker& w;
  const Problem& p;
  const Group& group;
  const Bound& bound;
  const i64 min_leaf;
  const double weight;
  Removed most;  // of any member
  Cut base{.q = kNever};
  double slack = 0;  // covers rounding, and tests that exact sums must compare
  // [e] no cut whose smaller branch has a weight of 2^e or more is possible if it is worse by more
  static constexpr int kExponents = 128;
  double far[kExponents];
  CutBuffers<Bound>& buffers;
  std::vector<Cut>* to = nullptr;  // the cuts of the current column

 public:
  std::vector<Cut>& cuts;

  // Null if there is none. Its key is one of `cuts`.
  const Cut* base_cut() const {
    for (const Cut& cut : cuts)
      if (cut.f == base.f && cut.key == base.key && base.q > kNever) return &cut;
    return nullptr;
  }

  GroupCuts(Worker& worker, const Group& g, const Bound& b, i64 least, const Removed& largest,
            CutBuffers<Bound>& memory)
      : w(worker),
        p(worker.run.p),
        group(g),
        bound(b),
        min_leaf(least),
        weight(worker.run.quality.total(g.shared->stats)),
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
      GroupCuts own(worker, group, bound, min_leaf, most, buffers);
      for (int part; (part = parts.take()) >= 0;) {
        const auto f = static_cast<std::size_t>(buffers.order[static_cast<std::size_t>(part)]);
        own.to = &buffers.of_column[f];
        own.to->clear();
        if (group.lists[f]) own.scan_column(static_cast<int>(f));
        for (const Cut& cut : *own.to) buffers.best[f] = std::max(buffers.best[f], cut.q);
      }
      const std::scoped_lock lock(mutex);
      if (own.base.q > base.q) take_base(own.base);
    });
    cuts.clear();
    for (const std::vector<Cut>& column : buffers.of_column)
      for (Cut cut : column) {
        if (is_far(cut.q, cut.small)) continue;
        cut.gap = base.q - cut.q - slack;
        if (cut.may_win(most)) cuts.push_back(cut);
      }
    fill_statistics();
    std::stable_sort(buffers.order.begin(), buffers.order.end(), [&](int f, int g) {
      return buffers.best[static_cast<std::size_t>(f)] > buffers.best[static_cast<std::size_t>(g)];
    });
  }

 private:
  void take_base(const Cut& cut) {
    base = cut;
    slack = slack_of(cut.q);
    most.excess = Bound::excess(base.cut, most);
    for (int e = 0; e < kExponents; e++) {
      const double small = std::max(std::ldexp(1.0, e), p.least_weight);
      if (small > weight) break;
      far[e] = slack + Bound::allowed(bound.cut(cut.q + slack, small, most), most);
    }
  }
  double slack_of(double q) const {
    const double rounding = bound.slack(q);
    return w.run.on_grid ? rounding + 2 * w.run.margin(group.shared->stats, q) : rounding;
  }
  // A quick bound.
  CC_INLINE bool is_far(double q, double small) const {
    const u64 exponent = std::bit_cast<u64>(small) >> 52;
    return base.q - q > far[std::clamp<u64>(exponent, 1023, 1023 + kExponents - 1) - 1023];
  }

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
    typename Bound::template Scan<Two> scan(w, bound);
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
  template <class Scan>
  CC_INLINE void offer(int f, u32 place, u64 key, i64 n_left, u32 n_missing, const Scan& scan,
                       u32 next) {
    const i64 fewer = std::min(n_left, group.n - n_left);
    if (fewer < min_leaf) return;
    const double q = scan.quality(weight), small = std::min(scan.weight, weight - scan.weight);
    if (is_far(q, small)) return;
    const Column& column = p.columns[f];
    const bool is_separable = phase_of(key) == kPresence || separable(column, cut_of(key), next);
    const i64 lasting = std::min<i64>(fewer, phase_of(key) == kMissingLeft ? place : fewer);
    Cut cut{.f = f,
            .place = place,
            .key = key,
            .q = q,
            .small = small,
            .n_left = static_cast<u32>(n_left),
            .n_missing = n_missing,
            .separable = is_separable};
    scan.copy_left(cut.both);
    const double upper = q + (q > base.q ? slack_of(q) : slack);
    cut.cut = bound.cut(upper, small, most, w.run.K() > 2 ? scan.left : cut.both);
    if (q > base.q && is_separable && fewer >= min_leaf + most.rows && lasting > most.rows)
      take_base(cut);
    cut.gap = base.q - q - slack;
    if (cut.may_win(most)) to->push_back(cut);
  }
  // Statistics of the first branches of the cuts, which are sorted.
  void fill_statistics() {
    const auto K = static_cast<std::size_t>(w.run.K());
    for (Cut& cut : cuts) cut.left = cut.both;
    if (K == 2) return;
    double* sums = w.scratch.take<double>(K);
    const u32* list = nullptr;
    u32 at = 0;
    for (std::size_t j = 0; j < cuts.size(); j++) {
      Cut& cut = cuts[j];
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
