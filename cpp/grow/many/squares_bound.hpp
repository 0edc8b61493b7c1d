// The bound of Gini and variance (group_cut.hpp): squared distances of rows from the mean of their
// branch. For Gini a row is the unit vector of its class.
//
// Let a cut have branches s with weights W_s and means μ_s. Removing the rows H lowers its loss by
//   D = Σ_H w·|y − μ_s|² + Σ_s h_s²/(W_s − h_s)·|ȳ_s − μ_s|²,
// where h_s is the weight and ȳ_s the mean of the removed rows of s. By Cauchy–Schwarz
//   E ≤ D ≤ r·E, with E = Σ_H w·|y − μ_s|² and r = max W_s/(W_s − h_s).
// With μ the mean of the node and δ the larger distance of a branch mean from it,
//   A − 2δB ≤ E ≤ A + 2δB + hδ², where A = Σ_H w·|y − μ|² and B = Σ_H w·|y − μ|.
// So M − A = (r − 1)A + 2rδB + r·h·δ², and of the base A − E' ≤ 2δ'B. δ² is gain·max W/(W·min W).
#pragma once
#include "grow/search.hpp"
#include "group_cut.hpp"
#include "selected_cuts.hpp"

namespace crosscut::CROSSCUT_LEVEL {

class SquaresBound {
 public:
  static constexpr double kTasksPerRow = 5;  // see HeldOut

 private:
  const Problem& p;
  const Quality& quality;
  const double* node;  // statistics
  const std::size_t K;
  const double weight, node_q;
  double* distances;  // of a row of each class from the mean, squared

 public:
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
  struct Cut {
    double ratio, delta;  // r, δ
  };

  SquaresBound(Worker& w, const Group& group)
      : p(w.run.p),
        quality(w.run.quality),
        node(group.shared->stats),
        K(static_cast<std::size_t>(w.run.K())),
        weight(quality.total(node)),
        node_q(quality.branch(node)),
        distances(w.scratch.take<double>(K)) {
    if (!p.n_classes) return;
    double squares = 0;
    for (std::size_t c = 0; c < K; c++) squares += node[c] / weight * (node[c] / weight);
    for (std::size_t c = 0; c < K; c++) distances[c] = 1 - 2 * node[c] / weight + squares;
  }

  CC_INLINE void remove(u32 row, Removed& r) const {
    const double v = weight_of(p, row);
    double squared;
    if (p.n_classes) {
      squared = std::max(distances[p.classes[row]], 0.0);
    } else {
      const double distance = p.product[row] / v - node[0] / node[1];
      squared = distance * distance;
    }
    r.a += v * squared * (1 + 1e-9);
    r.b += v * __builtin_sqrt(squared) * (1 + 1e-9);
    r.weight += v;
    r.rows++;
  }
  // Covers the rounding of a quality.
  double slack(double q) const { return (p.weight ? 1e-9 : 1e-12) * (q > 0 ? q : 0) + 1e-290; }
  // q: more than the quality of the cut. small: weight of the smaller branch.
  Cut cut(double q, double small, const Removed& most) const {
    const double gain = q > node_q ? q - node_q : 0;
    return {std::max(ratio(small, most), ratio(weight - small, most)),
            __builtin_sqrt(gain * (weight - small) / (weight * small))};
  }
  CC_INLINE Cut cut(double q, double small, const Removed& most, const double*) const {
    return cut(q, small, most);
  }
  static double allowed(const Cut& c, const Removed& h) {
    return (c.ratio - 1) * h.a + c.ratio * c.delta * (2 * h.b + h.weight * c.delta) + h.excess;
  }
  // A bound of A − E' for any member.
  static double excess(const Cut& base, const Removed& most) { return 2 * base.delta * most.b; }

  // The first branch while a column is scanned. Two: two classes whose rows are counted.
  template <bool Two> struct Scan {
    const Problem& p;
    const double* node;
    const int K;
    double *left, a = 0, b = 0;  // classes: sums of squares of both branches
    double weight = 0;
    Scan(Worker& w, const SquaresBound& of)
        : p(of.p),
          node(of.node),
          K(w.run.K()),
          left(w.scratch.take<double>(static_cast<std::size_t>(K))) {}
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
      const double v = weight_of(p, row);
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

  // The loss of single rows in the branches of the base.
  class Losses {
    const SquaresBound& of;
    const double* left;
    double sum[2] = {}, squares[2] = {};
    double stat(std::size_t c, bool is_left) const {
      return is_left ? left[c] : of.node[c] - left[c];
    }

   public:
    Losses(Worker&, const SquaresBound& bound, const double* base) : of(bound), left(base) {
      for (std::size_t c = 0; c < of.K && of.p.n_classes && left; c++)
        for (const bool is_left : {false, true}) {
          sum[is_left] += stat(c, is_left);
          squares[is_left] += stat(c, is_left) * stat(c, is_left);
        }
    }
    double operator()(u32 row, bool is_left) const {
      if (!of.p.n_classes) {
        const double y =
            of.p.product[row] / weight_of(of.p, row) - stat(0, is_left) / stat(1, is_left);
        return y * y;
      }
      const double all = sum[is_left];
      const double own = stat(static_cast<std::size_t>(of.p.classes[row]), is_left);
      return std::max(1 - 2 * own / all + squares[is_left] / (all * all), 0.0);
    }
  };

  // Upper bounds of the qualities of selected cuts without the rows of a member. A held-out row of
  // class c and weight h lowers Σ l_c² by h(2·l_c − h).
  class Estimates {
    // Covers the rounding of bounds. It is relative to the sums before any row is removed, because
    // the differences may be much smaller.
    static constexpr double kRounding = 1e-12;
    using Cuts = SelectedCuts<SquaresBound>;

    const SquaresBound& of;
    const Problem& p;
    // Statistics of the selected cuts with all rows. Classes: the weight of the first branch, and
    // the sums of squares of both branches; for a regression, the sum of the first branch.
    double *weight, *first, *second;
    double* left;  // of one class
    int class_of_left = -1;
    double *removed, *less_weight, *a, *b;  // of a member

   public:
    Estimates(Worker& w, const SquaresBound& bound, std::size_t n) : of(bound), p(bound.p) {
      for (auto** array : {&weight, &first, &second, &left, &removed, &less_weight, &a, &b})
        *array = w.scratch.take<double>(n);
    }
    // Prepares the bounds of members. Returns the end of those that are prepared.
    const u32* prepare(const Cuts& cuts, const Member*, const u32*, const u32* last) {
      class_of_left = -1;
      for (u32 j = 0; j < cuts.n; j++) summarise(*cuts.selected[j], j);
      return last;
    }
    void find(const Cuts& cuts, const Member& member, double* bound) {
      const double* stats = member.node->stats;
      const std::size_t n = cuts.n;
      if (!p.n_classes) {
        std::fill_n(removed, n, 0.0);
        std::fill_n(less_weight, n, 0.0);
        for (u32 i = 0; i < member.n_out; i++) {
          const u32 row = member.out[i];
          add_to_left(cuts, row, p.product[row], removed);
          add_to_left(cuts, row, weight_of(p, row), less_weight);
        }
        return bound_moments(n, stats[0], stats[1], bound);
      }
      std::copy_n(weight, n, less_weight);
      std::copy_n(first, n, a);
      std::copy_n(second, n, b);
      for (u32 i = 0; i < member.n_out; i++) {
        const int cls = p.classes[member.out[i]];
        const auto same = [&](u32 row) { return p.classes[row] == cls; };
        if (std::any_of(member.out, member.out + i, same)) continue;
        double all = 0;
        std::fill_n(removed, n, 0.0);
        for (u32 k = i; k < member.n_out; k++) {
          const u32 row = member.out[k];
          if (!same(row)) continue;
          all += weight_of(p, row);
          add_to_left(cuts, row, weight_of(p, row), removed);
        }
        remove_class(cuts, cls, all);
      }
      bound_squares(n, of.quality.total(stats), bound);
    }

   private:
    void summarise(const GroupCut<SquaresBound>& cut, u32 j) {
      if (!p.n_classes) {
        first[j] = cut.left[0];
        weight[j] = cut.left[1];
        return;
      }
      weight[j] = first[j] = second[j] = 0;
      for (std::size_t c = 0; c < of.K; c++) {
        const double l = cut.left[c], r = of.node[c] - l;
        weight[j] += l;
        first[j] += l * l;
        second[j] += r * r;
      }
      first[j] *= 1 + kRounding;
      second[j] *= 1 + kRounding;
    }
    // Adds a number to all selected cuts that have the row in their first branch.
    static void add_to_left(const Cuts& cuts, u32 row, double number, double* to) {
      cuts.each_column(row, [&](u32, u32 first_left, u32 end) {
        for (u32 j = first_left; j < end; j++) to[j] += number;
      });
    }
    // Removes rows of a class with the weight `all`, `removed` of it from the first branches.
    void remove_class(const Cuts& cuts, int cls, double all) {
      const auto c = static_cast<std::size_t>(cls);
      if (cls != class_of_left)
        for (std::size_t j = 0; j < cuts.n; j++) left[j] = cuts.selected[j]->left[c];
      class_of_left = cls;
      const double total = of.node[c];
      const double *out = removed, *own = left;
      double *rest = less_weight, *to_a = a, *to_b = b;
      for (std::size_t j = 0; j < cuts.n; j++) {
        const double right_out = all - out[j];
        rest[j] -= out[j];
        to_a[j] += out[j] * (out[j] - 2 * own[j]);
        to_b[j] += right_out * (right_out - 2 * (total - own[j]));
      }
    }
    void bound_squares(std::size_t n, double all, double* bound) const {
      const double *rest = less_weight, *of_a = a, *of_b = b;
      for (std::size_t j = 0; j < n; j++) bound[j] = of_a[j] / rest[j] + of_b[j] / (all - rest[j]);
    }
    void bound_moments(std::size_t n, double sum, double all, double* bound) const {
      const double *l = first, *own = weight, *out = removed, *fewer = less_weight;
      for (std::size_t j = 0; j < n; j++) {
        const double left_sum = l[j] - out[j], rest = sum - left_sum, w = own[j] - fewer[j];
        bound[j] = (left_sum * left_sum / w + rest * rest / (all - w)) * (1 + kRounding);
      }
    }
  };

 private:
  // W/(W − h) of a branch that keeps at least one row
  double ratio(double branch, const Removed& most) const {
    return branch / std::min(branch, std::max(branch - most.weight, p.least_weight));
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL
