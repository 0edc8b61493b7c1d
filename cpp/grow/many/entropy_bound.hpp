// The bound of entropy (group_cut.hpp). With x(v) = v·log2(v), the loss of a branch of weight W
// with class weights l_c is x(W) − Σ x(l_c): the bits log2(W/l_c) of its rows' classes.
//
// Let h_c be the weight of class c that is removed from a branch, and h that of all rows H. Because
// x is convex, x(v) − x(v − h) is at most h·(log2 v + 1/ln 2), and at least that less
// h²/(v·ln 2) and less h/ln 2. So
//   E ≤ D ≤ E + Σ_s Σ_c h_c·min(1, h_c/l_c)/ln 2, with E = Σ_H w·log2(W_s/l_c).
// With p_c the share of class c in the node and A = Σ_H w·log2(1/p_c),
//   M − A = h·(T + min(1, h/l)/ln 2),
// where T is the largest log2(p_c·W_s/l_c) of both branches and all classes, and l the smallest l_c
// that is not 0: a row is only removed from a branch that has it. Of the base, A − E' is at most A
// and h times the largest log2(l_c/(W_s·p_c)).
//
// Before the class weights of a cut are looked at, its quality and the weight of its smaller branch
// bound T: the gain is Σ_s W_s·KL(branch ‖ node), so KL of class c against the rest is at most
// gain/W_s. It is at least (p − a)²/(2·v·ln 2) for a share a ≤ p in the branch, with v the largest
// u(1 − u) for u in [a, p]. The rarest class has the least a/p.
#pragma once
#include "group_cut.hpp"
#include "grow/search.hpp"
#include "selected_cuts.hpp"

namespace crosscut::CROSSCUT_LEVEL {

class EntropyBound {
 public:
  static constexpr double kTasksPerRow = 0.3;  // see HeldOut

 private:
  static constexpr double kBits = 1.4426950408889634;  // 1/ln 2
  const Problem& p;
  const Quality& quality;
  const double* node;  // class weights
  const std::size_t K;
  const double weight, node_q;
  const double rounding;  // of a quality; running sums add up the errors of single rows

 public:
  // A and the weight h of the held-out rows of a member, A − E' or a bound of it, the number of
  // rows and the least share of their classes.
  struct Removed {
    double a = 0, weight = 0, excess = 0, share = 1;
    u32 rows = 0;
    void raise(const Removed& o) {
      a = std::max(a, o.a);
      weight = std::max(weight, o.weight);
      excess = std::max(excess, o.excess);
      share = std::min(share, o.share);
      rows = std::max(rows, o.rows);
    }
  };
  struct Cut {
    double worst;     // T
    double least;     // l
    double smallest;  // least p_c·W_s/l_c
  };

  EntropyBound(Worker& w, const Group& group)
      : p(w.run.p),
        quality(w.run.quality),
        node(group.shared->stats),
        K(static_cast<std::size_t>(w.run.K())),
        weight(quality.total(node)),
        node_q(quality.branch(node)),
        rounding((1e-11 + 4e-16 * group.n) * (quality.x(weight) + weight)) {}

  CC_INLINE void remove(u32 row, Removed& r) const {
    const double v = weight_of(p, row), share = node[p.classes[row]] / weight;
    r.a -= v * __builtin_log2(share) * (1 + 1e-9);
    r.weight += v;
    r.share = std::min(r.share, share);
    r.rows++;
  }
  // Covers the rounding of a quality.
  double slack(double) const { return rounding; }
  // left: class weights of the first branch
  Cut cut(double, double, const Removed&, const double* left) const {
    double left_weight = 0;
    for (std::size_t c = 0; c < K; c++) left_weight += left[c];
    double most = 1, least = weight, smallest = 1;
    const auto look = [&](double all, double own, double of_class) {
      if (own <= 0) return;
      const double ratio = all * of_class / own;
      most = std::max(most, ratio);
      smallest = std::min(smallest, ratio);
      least = std::min(least, own);
    };
    for (std::size_t c = 0; c < K; c++) {
      look(left_weight, left[c], node[c] / weight);
      look(weight - left_weight, node[c] - left[c], node[c] / weight);
    }
    return {__builtin_log2(most) + 1e-9, least, smallest};
  }
  // Any cut of at most this quality whose smaller branch weighs `small` to 2·small.
  Cut cut(double q, double small, const Removed& most) const {
    const double gain = q > node_q ? q - node_q : 0;
    const double of_small = share_left(most.share, gain / small),
                 of_other = share_left(most.share, gain / (weight / 2));
    const double least_small = std::max(of_small, p.least_weight / (2 * small)),
                 least_other = std::max(of_other, p.least_weight / weight);
    const double least = std::min(least_small, least_other);
    return {-__builtin_log2(least) + 1e-9, std::max(p.least_weight, least * most.share * small), 1};
  }
  static double allowed(const Cut& c, const Removed& h) {
    return h.weight * (c.worst + std::min(1.0, h.weight / c.least) * kBits) + h.excess;
  }
  static double excess(const Cut& base, const Removed& most) {
    return std::min(most.a, most.weight * (1e-9 - __builtin_log2(base.smallest)));
  }

  // The first branch while a column is scanned.
  template <bool Two> struct Scan {
    const EntropyBound& of;
    double *left, *parts;  // [K] class weights; x of both branches
    double weight = 0, sum = 0;
    Scan(Worker& w, const EntropyBound& bound)
        : of(bound), left(w.scratch.take<double>(of.K)), parts(w.scratch.take<double>(of.K)) {}
    void clear() {
      weight = sum = 0;
      for (std::size_t c = 0; c < of.K; c++) {
        left[c] = 0;
        parts[c] = of.quality.x(of.node[c]);
        sum += parts[c];
      }
    }
    CC_INLINE void add(u32 row) {
      const auto c = static_cast<std::size_t>(of.p.classes[row]);
      const double v = Two ? 1 : weight_of(of.p, row);
      weight += v;
      left[c] += v;
      const double part = of.quality.x(left[c]) + of.quality.x(of.node[c] - left[c]);
      if (!Two) sum += part - parts[c];
      parts[c] = part;
    }
    void copy_left(double (&to)[2]) const {
      if (of.K <= 2) std::copy_n(left, of.K, to);
    }
    CC_INLINE double quality(double all) const {
      const double classes = Two ? parts[0] + parts[1] : sum;
      return classes - of.quality.x(weight) - of.quality.x(all - weight);
    }
  };

  // The loss of single rows in the branches of the base.
  class Losses {
    const EntropyBound& of;
    double* bits[2];  // [class] in the right and the left branch

   public:
    Losses(Worker& w, const EntropyBound& bound, const double* left) : of(bound) {
      for (const bool is_left : {false, true}) {
        bits[is_left] = w.scratch.take<double>(of.K);
        double all = 0;
        for (std::size_t c = 0; c < of.K && left; c++)
          all += bits[is_left][c] = is_left ? left[c] : of.node[c] - left[c];
        for (std::size_t c = 0; c < of.K && left; c++)
          bits[is_left][c] = __builtin_log2(all / bits[is_left][c]);
      }
    }
    double operator()(u32 row, bool is_left) const { return bits[is_left][of.p.classes[row]]; }
  };

  // Upper bounds of the qualities of selected cuts without the rows of a member. They are linear in
  // the removed rows. x(l) − x(l − h) is at least h·(x(l) − x(l − H))/H if the member removes h <=
  // H of a class, by convexity, and x(W) − x(W − h) at most h·(x(W) − x(W − u))/u if every row
  // weighs at least u. For a single row of weight 1 both are exact.
  class Estimates {
    static constexpr std::size_t kSlopes = 1 << 20;  // most numbers of a run of members
    using Cuts = SelectedCuts<EntropyBound>;
    struct OfClass {
      double most;           // the weight H that a member of the run removes
      double *left, *right;  // [cut] what a removed weight of 1 adds
    };

    const EntropyBound& of;
    const Problem& p;
    OfClass* classes;
    double* sum;            // [class] of a member; all 0
    std::vector<int> used;  // the classes of the run
    double *left, *right;   // [cut] what a removed weight of 1 adds by the weights of the branches
    std::vector<double> slopes;

   public:
    Estimates(Worker& w, const EntropyBound& bound, std::size_t n)
        : of(bound),
          p(bound.p),
          classes(w.scratch.take<OfClass>(of.K)),
          sum(w.scratch.take<double>(of.K)),
          left(w.scratch.take<double>(n)),
          right(w.scratch.take<double>(n)) {
      for (std::size_t c = 0; c < of.K; c++) classes[c] = {};
      std::fill_n(sum, of.K, 0.0);
    }
    // Prepares the bounds of members. Returns the end of those that are prepared.
    const u32* prepare(const Cuts& cuts, const Member* members, const u32* first, const u32* last) {
      for (const int c : used) classes[c] = {};
      used.clear();
      const u32* end = first;
      while (end < last && (end == first || 2 * used.size() * cuts.n < kSlopes))
        add_classes(members[*end++]);
      for (std::size_t j = 0; j < cuts.n; j++) {
        double weight = 0;
        for (std::size_t c = 0; c < of.K; c++) weight += cuts.selected[j]->left[c];
        left[j] = slope(weight, p.least_weight);
        right[j] = slope(of.weight - weight, p.least_weight);
      }
      slopes.resize(std::max(slopes.size(), 2 * used.size() * cuts.n));
      double* next = slopes.data();
      for (const int c : used) {
        OfClass& k = classes[c];
        k.left = next;
        k.right = next + cuts.n;
        next += 2 * cuts.n;
        for (std::size_t j = 0; j < cuts.n; j++) {
          const double own = cuts.selected[j]->left[c];
          k.left[j] = left[j] - slope(own, k.most);
          k.right[j] = right[j] - slope(of.node[c] - own, k.most);
        }
      }
      return end;
    }
    void find(const Cuts& cuts, const Member& member, double* bound) const {
      for (std::size_t j = 0; j < cuts.n; j++) bound[j] = cuts.selected[j]->q + of.rounding;
      for (u32 i = 0; i < member.n_out; i++) {
        const u32 row = member.out[i];
        const OfClass& k = classes[p.classes[row]];
        const double v = weight_of(p, row);
        cuts.each_column(row, [&](u32 begin, u32 first_left, u32 end) {
          for (u32 j = begin; j < first_left; j++) bound[j] += v * k.right[j];
          for (u32 j = first_left; j < end; j++) bound[j] += v * k.left[j];
        });
      }
    }

   private:
    void add_classes(const Member& member) {
      for (u32 i = 0; i < member.n_out; i++) {
        const int c = p.classes[member.out[i]];
        if (classes[c].most == 0) used.push_back(c);
        sum[c] += weight_of(p, member.out[i]);
        classes[c].most = std::max(classes[c].most, sum[c]);
      }
      for (u32 i = 0; i < member.n_out; i++) sum[p.classes[member.out[i]]] = 0;
    }
    // (x(v) − x(v − h))/h; h at most v
    double slope(double v, double h) const {
      h = std::min(v, h);
      return h > 0 ? (of.quality.x(v) - of.quality.x(v - h)) / h : 0;
    }
  };

 private:
  // The least a/p for the share p of a class in the node and a in a branch, if KL is at most
  // `most`.
  static double share_left(double share, double most) {
    const double g = 2 * most / kBits;
    double a = share - __builtin_sqrt(g * (share > 0.5 ? 0.25 : share * (1 - share)));
    if (a > 0.5) a = share - __builtin_sqrt(g * a * (1 - a));
    return std::max(a / share, 0.0);
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL
