// The targets of sets of few rows (few_columns.hpp). Classes are counted by counting bits. In
// regression the sum of a set is looked up in two to eight tables, one for each part of the rows.
#pragma once
#include "few_columns.hpp"
#include "grow/large/fork.hpp"

namespace crosscut::CROSSCUT_LEVEL {

constexpr std::array<double, kWordRows + 1> kShare = [] {  // 1 / n
  std::array<double, kWordRows + 1> share{};
  for (u32 n = 1; n <= kWordRows; n++) share[n] = 1.0 / n;
  return share;
}();

// kTwoClasses[n][a]: what a branch with n rows, a of them of one of two classes, adds to the
// quality of Gini (Quality::branch).
constexpr auto kTwoClasses = [] {
  std::array<std::array<double, kWordRows + 1>, kWordRows + 1> q{};
  for (u32 n = 1; n <= kWordRows; n++)
    for (u32 a = 0; a <= n; a++) q[n][a] = static_cast<double>(a * a + (n - a) * (n - a)) / n;
  return q;
}();

// kWeights: the classes have weights.
template <bool kClasses, bool kWeights> class FewTargets {
  Worker& w;
  const LocalTable& table;
  const Bundle& bundle;
  // [part][set] sum of the products of every subset of a half, quarter or eighth of the rows
  double part_sums[8][kClasses ? 1 : 256];
  u32 n_parts = 0, part_rows = 0;

 public:
  u16 row[kWordRows];  // rows of the local table
  FewSet once = 0;     // the rows without copies
  // if qualities differ by more than this, the exact ones differ in the same direction
  double margin = 0;
  bool narrow = false;  // tests are compared without the grid, and another grid would do
  int n_classes = 0;    // 2, or the number of classes present
  u8 classes[kListClasses];
  FewSet of_class[kListClasses];
  u32 n_of[kListClasses];         // rows of each class in the current node
  const ClassWeights* const own;  // of the task, or null
  double weight[kListClasses];    // then: of each class

  FewTargets(Worker& worker, const LocalTable& t, const Bundle& b)
      : w(worker), table(t), bundle(b), own(weights_of(worker, b, 0)) {}

  template <class Code> void start(const SingleNode<Code>& x) {
    u32 n = 0;
    if constexpr (Code::kEachRow)
      each_bit_of(x.code.rows, x.code.all->words, [&](u32 b) { row[n++] = x.code.all->row[b]; });
    else
      for (; n < x.n; n++) row[n] = static_cast<u16>(x.any_list()[n] & kRowMask);
    for (u32 i = 0; i < n; i++) once |= FewSet{!table.is_copy(row[i])} << i;
    if constexpr (kClasses) {
      find_classes(n);
      if constexpr (kWeights) find_weights(*x.node);
    } else {
      fill_sums(*x.node, n, first_rows(n));
    }
  }
  // Starts with some rows of other targets, on the grid of this table.
  void start(const FewTargets& all, const Node& node, FewSet rows) {
    const u32 n = kWordRows - static_cast<u32>(__builtin_clzll(rows));
    std::copy_n(all.row, n, row);
    fill_sums(node, n, rows);
  }
  void count_classes(FewSet rows) {
    if constexpr (kClasses)
      for (int c = 0; c < n_classes; c++) n_of[c] = count_bits(rows & of_class[c]);
  }

  template <class F> CC_INLINE void each(FewSet s, F f) const {
    each_bit_of(&s, 1, [&](u32 i) { f(u32{row[i]}); });
  }
  CC_INLINE double sum(FewSet s) const {
    const u32 rows = (1u << part_rows) - 1;
    double a = part_sums[0][s & rows], b = part_sums[1][s >> part_rows & rows];
    for (u32 p = 2; p < n_parts; p += 2) {
      s >>= 2 * part_rows;
      a += part_sums[p][s & rows];
      b += part_sums[p + 1][s >> part_rows & rows];
    }
    return a + b;
  }
  void find_statistics(FewSet s, double* stats) const {
    if constexpr (kClasses) {
      std::fill_n(stats, w.run.K(), 0.0);
      for (int c = 0; c < n_classes; c++) stats[classes[c]] = count_bits(s & of_class[c]);
    } else {
      stats[0] = sum(s);
      stats[1] = count_bits(s);
    }
  }
  bool is_pure(FewSet s) const {  // regression
    const double first = target(s);
    while (s &= s - 1)
      if (target(s) != first) return false;
    return true;
  }
  // Is test a of a regression better than test b, by exact sums? Tests whose sets have the same
  // targets are equally good.
  bool better(const Node& node, FewSet rows, FewSet a, FewSet b) {
    const FewSet rest = rows & ~b;
    if (a == b || a == rest || narrow) return false;
    if (kClasses && same_classes(rows, a, b)) return false;
    if (w.run.decides()) {
      const double first[] = {sum(a), static_cast<double>(count_bits(a))};
      const double second[] = {sum(b), static_cast<double>(count_bits(b))};
      return compare_tests(node.stats, first, second) > 0;
    }
    if constexpr (!kClasses) {
      if (same_targets(a, b) || same_targets(a, rest)) return false;
      u16 place[kWordRows], n = 0;
      each(rows, [&](u32 r) { place[n++] = static_cast<u16>(r); });
      narrow = is_narrow(table, n, [&](u32 i) { return u32{place[i]}; });
      if (narrow) return false;
      if (const int sign = compare_roughly(rows, a, b)) return sign > 0;
    }
    const auto mark = w.scratch.mark();
    const int T = w.run.p.n_sums();
    i64 *sums = empty_sums(w), *branches = empty_sums(w, 2);
    add_exactly(rows, sums);
    Contest contest(w.run.p, sums);
    bool is_better = false;
    for (const FewSet s : {b, a}) {
      std::fill_n(branches, 2 * T, i64{0});
      add_exactly(s, branches);
      add_exactly(rows & ~s, branches + T);
      is_better = contest.offer(branches, 2);
    }
    w.scratch.release(mark);
    return is_better;
  }

  // Sorts categories by their fraction of class `cls`, whose rows are `of_it`. Of two classes the
  // weights do not change the order.
  void sort_by_share(const FewColumn& c, int cls, FewSet of_it, u8* order) const {
    double share[kWordRows];
    if (kWeights && w.run.p.n_classes > 2) return sort_by_weight(c, cls, of_it, share, order);
    for (u32 i = 0; i < c.n; i++)
      share[i] = static_cast<double>(count_bits(c.sets[i] & of_it)) / count_bits(c.sets[i]);
    sort(share, c.n, order);
  }
  // The same by class weights, exactly.
  void sort_by_weight(const FewColumn& c, int cls, FewSet of_it, double* share, u8* order) const {
    for (u32 i = 0; i < c.n; i++) {
      double total = 0;
      for (int k = 0; k < n_classes; k++) total += weight[k] * count_bits(c.sets[i] & of_class[k]);
      share[i] = own->weight[cls] * count_bits(c.sets[i] & of_it) / total;
    }
    sort(share, c.n, order);
    const double far = far_fractions(w.run.p, own);
    bool sure = true;
    for (u32 i = 1; i < c.n && sure; i++) {
      const double below = share[order[i - 1]], above = share[order[i]];
      sure = above - below > far || above == 0 || below == 1 ||
             same_fraction(c.sets[order[i - 1]], c.sets[order[i]], cls);
    }
    if (sure) return;
    const auto mark = w.scratch.mark();
    for (u32 i = 0; i < c.n; i++) {
      i64* sums = empty_sums(w);
      add_exactly(c.sets[i], sums);
      share[i] = exact_share(w.run.p, sums, cls);
    }
    w.scratch.release(mark);
    sort(share, c.n, order);
  }
  // Sorts categories for two classes or, in regression, by their exact means, rounded once.
  void sort_by_mean(const FewColumn& c, u8* order) const {
    if constexpr (kClasses) return sort_by_share(c, 1, of_class[1], order);
    const Problem& p = w.run.p;
    double mean[kWordRows], most = 0;
    for (u32 i = 0; i < c.n; i++) {
      mean[i] = sum(c.sets[i]) * kShare[count_bits(c.sets[i])];
      most = std::max(most, mean[i] < 0 ? -mean[i] : mean[i]);
    }
    sort(mean, c.n, order);
    const double far = p.mean_step + 0x1p-49 * most + (p.product_rounded ? 2 : 0);
    bool sure = true;
    for (u32 i = 1; i < c.n && sure; i++) {
      const FewSet a = c.sets[order[i - 1]], b = c.sets[order[i]];
      sure = mean[order[i]] - mean[order[i - 1]] > far || same_targets(a, b);
    }
    if (sure) return;
    const auto mark = w.scratch.mark();
    for (u32 i = 0; i < c.n; i++) {
      i64* sums = empty_sums(w);
      add_exactly(c.sets[i], sums);
      mean[i] = exact_mean(p, sums);
    }
    w.scratch.release(mark);
    sort(mean, c.n, order);
  }

  // Makes the node a leaf. pure: all rows have the same target.
  void close(Node& leaf, FewSet s, bool pure = false) {
    if constexpr (kClasses) return;
    if (pure) {
      leaf.exact = const_cast<i64*>(w.run.p.exact.row(table.ids[row[lowest_row(s)]]));
      return;
    }
    start_sums(w, leaf);
    add_exactly(s, leaf.exact);
  }

 private:
  // Compares two tests by the targets themselves, which the grid of the table may not distinguish:
  // 1 or −1 if one is better for sure, otherwise 0. With deviations from any centre, sums S of the
  // n rows and A of l rows on one side, Q is Q(node) + D²·n / (l·(n − l)), where D = A − l·S / n.
  // Rounding changes D by less than n·2^−50 times the sum of the absolute deviations.
  int compare_roughly(FewSet rows, FewSet a, FewSet b) const {
    const double n = count_bits(rows);
    double centre = 0, all = 0, size = 0;
    each(rows, [&](u32 r) { centre += table.target[r] / n; });
    each(rows, [&](u32 r) {
      all += table.target[r] - centre;
      size += std::fabs(table.target[r] - centre);
    });
    const double error = n * 0x1p-50 * size;
    double quality[2], off[2];
    for (int i = 0; i < 2; i++) {
      double sum = 0;
      each(i ? b : a, [&](u32 r) { sum += table.target[r] - centre; });
      const double l = count_bits(i ? b : a);
      const double d = std::fabs(sum - l * all / n), scale = n / (l * (n - l));
      quality[i] = d * d * scale;
      off[i] = (2 * d + error) * error * scale + 0x1p-50 * quality[i];
    }
    const double difference = quality[0] - quality[1];
    return difference > off[0] + off[1] ? 1 : -difference > off[0] + off[1] ? -1 : 0;
  }
  void find_classes(u32 n) {
    const int C = w.run.p.n_classes;
    FewSet rows[kListClasses] = {};
    for (u32 i = 0; i < n; i++) rows[table.tag[row[i]] >> 12] |= one_row(i);
    for (int c = 0; c < C; c++)
      if (C == 2 || rows[c]) {
        of_class[n_classes] = rows[c];
        classes[n_classes++] = static_cast<u8>(c);
      }
  }
  void find_weights(const Node& node) {
    for (int c = 0; c < n_classes; c++) weight[c] = own->weight[classes[c]];
    margin = w.run.margin(node.stats, w.run.total_of(node.stats, own), own);
  }
  // Do two sets have the same fraction of a class?
  bool same_fraction(FewSet a, FewSet b, int cls) const {
    double x[kListClasses], y[kListClasses];
    find_statistics(a, x);
    find_statistics(b, y);
    return same_counts_fraction(x, y, cls, w.run.K(), w.run.p.exact, own);
  }
  // Do the tests have branches with the same rows of each class?
  bool same_classes(FewSet rows, FewSet a, FewSet b) const {
    bool same = true, mirrored = true;
    for (int c = 0; c < n_classes; c++) {
      const u32 n = count_bits(a & of_class[c]);
      same &= n == count_bits(b & of_class[c]);
      mirrored &= n == count_bits(rows & ~b & of_class[c]);
    }
    return same || mirrored;
  }
  void fill_sums(const Node& node, u32 n, FewSet present) {
    const auto product = [&](u32 i) { return present >> i & 1 ? table.product[row[i]] : 0; };
    // the sums of leaves will need these
    for (u32 i = 0; i < n; i++) __builtin_prefetch(w.run.p.exact.row(table.ids[row[i]]));
    n_parts = n <= 16 ? 2 : n <= 32 ? 4 : 8;
    part_rows = (n + n_parts - 1) / n_parts;
    for (u32 p = 0; p < n_parts; p++) {
      double* sums = part_sums[p];
      sums[0] = 0;
      for (u32 i = p * part_rows, k = 1; i < n && i < (p + 1) * part_rows; i++, k *= 2) {
        const double rows = product(i);
        double* __restrict with = sums + k;
        for (u32 s = 0; s < k; s++) with[s] = sums[s] + rows;
      }
    }
    double squares = 0;  // an upper bound of all qualities
    for (u32 i = 0; i < n; i++) squares += product(i) * product(i);
    margin = w.run.margin(node.stats, squares);
  }
  double target(FewSet s) const { return table.target[row[lowest_row(s)]]; }
  // Do two sets have the same targets, each equally often?
  bool same_targets(FewSet a, FewSet b) const {
    if (count_bits(a) != count_bits(b)) return false;
    FewSet others = b & ~a;
    for (FewSet s = a & ~b; s; s &= s - 1) {
      FewSet m = others;
      while (m && target(m) != target(s)) m &= m - 1;
      if (!m) return false;
      others &= ~(m & -m);
    }
    return true;
  }
  void add_exactly(FewSet s, i64* to) const {
    each(s, [&](u32 r) { crosscut::CROSSCUT_LEVEL::add_exactly(w, bundle, 0, table.ids[r], to); });
  }
  static void sort(const double* key, u32 n, u8* order) {  // stable
    for (u32 i = 0; i < n; i++) {
      u32 at = i;
      for (; at && key[order[at - 1]] > key[i]; at--) order[at] = order[at - 1];
      order[at] = static_cast<u8>(i);
    }
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL
