// Exact arithmetic on the sums of nodes. Qualities of Gini and variance are fractions of long
// integers. Most fit into 320 bits (Wide); the others use Natural. Criteria with logarithms use
// their formula on sums that are rounded once.
#include "exact.hpp"

#include <algorithm>
#include <limits>

#include "wide.hpp"

namespace crosscut {
namespace {

struct Fraction {
  Natural above, below;
};

// One branch's part of Q: Σ l_c² / L, or (Σwy)² / Σw.
Fraction part(const Problem& p, const i64* s) {
  const DigitGrid* grid = p.exact.grid;
  if (!p.n_classes) {
    const Natural sum = integer(grid[0], s).size;
    return {times(sum, sum), integer(grid[1], s + grid[0].n).size};
  }
  Fraction out;
  for (int c = 0; c < p.n_classes; c++) {
    const Natural weight = integer(grid[0], s + c * grid[0].n).size;
    add(out.above, times(weight, weight));
    add(out.below, weight);
  }
  return out;
}

void add(Fraction& a, const Fraction& b) {
  a.above = times(a.above, b.below);
  add(a.above, times(b.above, a.below));
  a.below = times(a.below, b.below);
}

}  // namespace

double exact_weight(const Problem& p, const i64* sums) {
  const DigitGrid* grid = p.exact.grid;
  if (!p.n_classes) return exact_value(grid[1], sums + grid[0].n);
  std::vector<i64> all(static_cast<std::size_t>(grid[0].n));
  for (int j = 0; j < p.n_sums(); j++) all[static_cast<std::size_t>(j % grid[0].n)] += sums[j];
  return exact_value(grid[0], all.data());
}

double exact_mean(const Problem& p, const i64* sums) {
  return exact_ratio(p.exact.grid[0], sums, p.exact.grid[1], sums + p.exact.grid[0].n);
}

double exact_share(const Problem& p, const i64* sums, int c) {
  const DigitGrid& grid = p.exact.grid[0];
  std::vector<i64> all(sums, sums + grid.n);
  for (int j = grid.n; j < p.n_sums(); j++) all[static_cast<std::size_t>(j % grid.n)] += sums[j];
  return exact_ratio(grid, sums + c * grid.n, grid, all.data());
}

bool same_weights_in_classes(const Problem& p) {
  if (!p.n_classes || !p.weight) return false;
  std::vector<const i64*> of(static_cast<std::size_t>(p.n_classes));
  for (std::size_t i = 0; i < p.n_rows; i++) {
    if (!(p.weight[i] > 0)) continue;
    const i64*& digits = of[static_cast<std::size_t>(p.classes[i])];
    if (!digits) digits = p.exact.row(i);
    if (!std::equal(digits, digits + p.exact.width, p.exact.row(i))) return false;
  }
  return true;
}

bool moments_of_two(double a, double b, double& mean, double& variance) {
  const double apart = a - b, other = a - apart;
  // Knuth's two-sum: a − b is exactly apart + lost
  const double lost = (a - (apart + other)) + (other - b);
  const double m = (a + b) / 2, v = apart * apart / 4;
  constexpr double low = 0x1p-900, high = 0x1p900;
  if (lost != 0 || !(v > low && v < high && m < high && m > -high)) return false;
  mean = m;
  variance = v;
  return true;
}

void exact_digits(const ExactRows& grids, std::size_t n, const double* y, const double* w,
                  i64* digits) {
  const auto parts = [](double v, int& exponent) {  // |v| = mantissa · 2^exponent
    const double m = std::frexp(std::fabs(v), &exponent);
    exponent -= 53;
    return static_cast<u64>(std::ldexp(m, 53));
  };
  // Bits from, from + 1, … of a number of three words.
  const auto bits_of = [](const u64* m, int from, int bits) {
    u64 v = 0;
    for (int i = 0; i < 3; i++) {
      const int s = from - 64 * i;
      if (s > -64 && s < 64) v |= s >= 0 ? m[i] >> s : m[i] << -s;
    }
    return v & ((u64{1} << bits) - 1);
  };
  const auto write = [&](const DigitGrid& grid, const u64* m, int exponent, bool negative) {
    for (int d = 0; d < grid.n; d++) {
      const i64 v = static_cast<i64>(bits_of(m, d * grid.bits - (exponent - grid.unit), grid.bits));
      *digits++ = negative ? -v : v;
    }
  };
  for (std::size_t i = 0; i < n; i++) {
    int of_weight = 0, of_target = 0;
    const u64 weight = w ? parts(w[i], of_weight) : 1;
    const u64 weight_words[3] = {weight, 0, 0};
    if (y) {
      const u64 target = parts(y[i], of_target);
      const u128 once = static_cast<u128>(weight) * target;
      const u128 low = (once & ~u64{0}) * target;
      const u128 high = (once >> 64) * target + (low >> 64);
      const u64 sum[3] = {static_cast<u64>(once), static_cast<u64>(once >> 64), 0};
      const u64 square[3] = {static_cast<u64>(low), static_cast<u64>(high),
                             static_cast<u64>(high >> 64)};
      write(grids.grid[0], sum, of_weight + of_target, y[i] < 0);
      write(grids.grid[1], weight_words, of_weight, false);
      write(grids.grid[2], square, of_weight + 2 * of_target, false);
    } else {
      write(grids.grid[0], weight_words, of_weight, false);
    }
  }
}

int compare_tests(const double* node, const double* a, const double* b) {
  // the same branches, perhaps exchanged
  if ((a[0] == b[0] && a[1] == b[1]) || (a[0] == node[0] - b[0] && a[1] == node[1] - b[1]))
    return 0;
  struct Branches {
    Wide above;
    u64 w, v;
    Branches(const double* all, const double* left)
        : w(static_cast<u64>(left[1])), v(static_cast<u64>(all[1] - left[1])) {
      above = Wide::square(static_cast<i64>(left[0])) * v;
      above += Wide::square(static_cast<i64>(all[0] - left[0])) * w;
    }
  };
  const Branches x(node, a), y(node, b);
  const Wide first = x.above * y.w * y.v, second = y.above * x.w * x.v;
  return first > second ? 1 : second > first ? -1 : 0;
}

bool same_mean(const double* a, const double* b) {
  return static_cast<i128>(a[0]) * static_cast<i128>(b[1]) ==
         static_cast<i128>(b[0]) * static_cast<i128>(a[1]);
}

struct Contest::State {
  const Problem& p;
  Quality formula;
  const i64* node;
  bool rational;  // qualities are fractions; otherwise formulas of sums rounded once
  bool brief;     // ... of short numbers: above / below
  bool any = false;
  Wide above;
  u64 below = 0;
  Fraction best;
  std::vector<double> node_sums;
  double quality = 0;

  State(const Problem& problem, const i64* sums)
      : p(problem),
        formula(*problem.criterion, problem.n_classes),
        node(sums),
        rational(problem.criterion->squares),
        brief(is_brief()) {
    if (!rational) node_sums = rounded(sums, 1);
  }
  // Two branches of a regression whose fractions fit into 256 bits: (Σwy)² times the weight of the
  // other branch, and the sum of both.
  bool is_brief() const {
    const DigitGrid* grid = p.exact.grid;
    if (p.n_classes || p.multiway || !is_short(grid[0]) || grid[1].n != 1) return false;
    const auto w = static_cast<u64>(node[grid[0].n]);
    return w && w >> 32 == 0 &&
           2 * ((grid[0].n - 1) * grid[0].bits + 62) + (64 - __builtin_clzll(w)) < 256;
  }
  bool offer_brief(const i64* branches) {
    const DigitGrid& grid = p.exact.grid[0];
    const i64* second = branches + p.n_sums();
    const auto w = static_cast<u64>(branches[grid.n]), v = static_cast<u64>(second[grid.n]);
    Wide q = Wide::square(short_integer(grid, branches)) * v;
    q += Wide::square(short_integer(grid, second)) * w;
    if (any && !(q * below > above * (w * v))) return false;
    above = q;
    below = w * v;
    return any = true;
  }
  std::vector<double> rounded(const i64* branches, int n) const {
    std::vector<double> out;
    for (int j = 0; j < n * p.n_classes; j++)
      out.push_back(exact_value(p.exact.grid[0], branches + j * p.exact.grid[0].n));
    return out;
  }
  Fraction fraction(const i64* branches, int n) const {
    Fraction q = part(p, branches);
    for (int j = 1; j < n; j++) add(q, part(p, branches + j * p.n_sums()));
    return q;
  }
};

Contest::Contest(const Problem& p, const i64* node) : state_(new State(p, node)) {}
Contest::~Contest() { delete state_; }

bool Contest::offer(const i64* branches, int n) {
  State& s = *state_;
  if (s.brief) return s.offer_brief(branches);
  if (!s.rational) {
    const double q = s.formula.several(s.rounded(branches, n).data(), n, s.node_sums.data());
    if (!(q > (s.any ? s.quality : -std::numeric_limits<double>::infinity()))) return false;
    s.quality = q;
    return s.any = true;
  }
  Fraction q = s.fraction(branches, n);
  if (s.any && compare(times(q.above, s.best.below), times(s.best.above, q.below)) <= 0)
    return false;
  s.best = std::move(q);
  return s.any = true;
}

double Contest::quality(std::vector<u64>& above, std::vector<u64>& below) const {
  const State& s = *state_;
  if (s.brief) {
    above.assign(s.above.word, s.above.word + Wide::kWords);
    below.assign(1, s.below);
    while (!above.empty() && !above.back()) above.pop_back();
    return 0;
  }
  above.assign(s.best.above.data(), s.best.above.data() + s.best.above.size());
  below.assign(s.best.below.data(), s.best.below.data() + s.best.below.size());
  return s.quality;
}

double Contest::improvement(const i64* branches, int n) const {
  const State& s = *state_;
  if (!s.rational) {
    const std::vector<double> sums = s.rounded(branches, n);
    double q = 0;
    for (int j = 0; j < n; j++) q += s.formula.branch(sums.data() + j * s.p.n_classes);
    return q - s.formula.branch(s.node_sums.data());
  }
  const Fraction q = s.fraction(branches, n), node = part(s.p, s.node);
  Natural more = times(q.above, node.below);
  subtract(more, times(node.above, q.below));
  const DigitGrid* grid = s.p.exact.grid;
  return ratio(more, times(q.below, node.below),
               s.p.n_classes ? grid[0].unit : 2 * grid[0].unit - grid[1].unit);
}

}  // namespace crosscut
