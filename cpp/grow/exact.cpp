#include "exact.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace crosscut {
namespace {

__extension__ typedef __int128 i128;
__extension__ typedef unsigned __int128 u128;
using i64 = std::int64_t;
using u64 = std::uint64_t;

// A natural number; the lowest word comes first, and the highest is not 0. Most are short, and need no memory of their own.
class Natural {
  static constexpr std::size_t kShort = 16;
  u64 short_[kShort] = {};
  std::vector<u64> long_;
  std::size_t size_ = 0;

 public:
  Natural() = default;
  explicit Natural(std::size_t n) { resize(n); }
  u64* data() { return long_.empty() ? short_ : long_.data(); }
  const u64* data() const { return long_.empty() ? short_ : long_.data(); }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  u64& operator[](std::size_t i) { return data()[i]; }
  u64 operator[](std::size_t i) const { return data()[i]; }
  u64 back() const { return data()[size_ - 1]; }
  void pop_back() { size_--; }
  void resize(std::size_t n) {  // new words are 0
    if (n > kShort && n > long_.size()) {
      std::vector<u64> longer(2 * n);
      std::copy_n(data(), size_, longer.data());
      long_ = std::move(longer);
    }
    if (n > size_) std::fill(data() + size_, data() + n, u64{0});
    size_ = n;
  }
};

void trim(Natural& a) {
  while (!a.empty() && !a.back()) a.pop_back();
}

int compare(const Natural& a, const Natural& b) {
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  for (std::size_t i = a.size(); i-- > 0;)
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  return 0;
}

void add(Natural& a, const Natural& b) {
  if (a.size() < b.size()) a.resize(b.size());
  u64 carry = 0;
  for (std::size_t i = 0; i < a.size() && (i < b.size() || carry); i++) {
    const u128 sum = static_cast<u128>(a[i]) + (i < b.size() ? b[i] : 0) + carry;
    a[i] = static_cast<u64>(sum), carry = static_cast<u64>(sum >> 64);
  }
  if (carry) a.resize(a.size() + 1), a[a.size() - 1] = carry;
}

void subtract(Natural& a, const Natural& b) {  // a ≥ b
  u64 borrow = 0;
  for (std::size_t i = 0; i < a.size() && (i < b.size() || borrow); i++) {
    const u128 less = static_cast<u128>(i < b.size() ? b[i] : 0) + borrow;
    borrow = a[i] < less, a[i] -= static_cast<u64>(less);
  }
  trim(a);
}

Natural times(const Natural& a, const Natural& b) {
  Natural out(a.size() + b.size());
  for (std::size_t i = 0; i < a.size(); i++) {
    u64 carry = 0;
    for (std::size_t j = 0; j < b.size(); j++) {
      const u128 t = static_cast<u128>(a[i]) * b[j] + out[i + j] + carry;
      out[i + j] = static_cast<u64>(t), carry = static_cast<u64>(t >> 64);
    }
    out[i + b.size()] = carry;
  }
  trim(out);
  return out;
}

int n_bits(const Natural& a) { return a.empty() ? 0 : static_cast<int>(64 * a.size()) - __builtin_clzll(a.back()); }

void shift_left(Natural& a, int bits) {
  if (a.empty() || !bits) return;
  const auto words = static_cast<std::size_t>(bits / 64);
  const int rest = bits % 64;
  a.resize(a.size() + words + 1);
  for (std::size_t i = a.size(); i-- > 0;) {
    const u64 high = i >= words ? a[i - words] : 0, low = i > words ? a[i - words - 1] : 0;
    a[i] = rest ? high << rest | low >> (64 - rest) : high;
  }
  trim(a);
}

// a / b · 2^exponent, rounded once. One step of long division (Knuth, algorithm D) gives at least 62 bits of the quotient; the last of
// them also stands for all that follow.
double ratio(Natural a, Natural b, int exponent) {
  if (a.empty() || b.empty()) return 0;
  const int whole_words = static_cast<int>(64 * b.size()) - n_bits(b);
  shift_left(b, whole_words);
  const int shift = n_bits(b) + 62 - n_bits(a);  // now 2^61 < a / b < 2^63
  if (shift >= 0) shift_left(a, shift);
  else shift_left(b, (63 - shift) / 64 * 64), shift_left(a, (63 - shift) / 64 * 64 + shift);
  exponent += whole_words - shift;
  const std::size_t n = b.size();
  a.resize(n + 1);
  const u128 top = static_cast<u128>(a[n]) << 64 | a[n - 1];
  u64 q = static_cast<u64>(top / b[n - 1]), borrow = 0;  // at most 2 too much
  for (std::size_t i = 0; i < n; i++) {
    const u128 less = static_cast<u128>(q) * b[i] + borrow;
    borrow = static_cast<u64>(less >> 64) + (a[i] < static_cast<u64>(less)), a[i] -= static_cast<u64>(less);
  }
  a[n] -= borrow;
  while (a[n]) {  // negative
    q--;
    u64 carry = 0;
    for (std::size_t i = 0; i < n; i++) {
      const u128 sum = static_cast<u128>(a[i]) + b[i] + carry;
      a[i] = static_cast<u64>(sum), carry = static_cast<u64>(sum >> 64);
    }
    a[n] += carry;
  }
  trim(a);
  return std::ldexp(static_cast<double>(q | static_cast<u64>(!a.empty())), exponent);
}

struct Integer {
  Natural size;
  bool negative = false;
};

// Adds v·2^shift to a number in two's complement.
void add_shifted(Natural& words, i64 v, int shift) {
  auto i = static_cast<std::size_t>(shift / 64);
  const i128 t = static_cast<i128>(static_cast<u128>(static_cast<i128>(v)) << (shift % 64));
  u128 sum = static_cast<u128>(words[i]) + static_cast<u64>(t);
  words[i] = static_cast<u64>(sum);
  const u64 high = static_cast<u64>(static_cast<u128>(t) >> 64), sign = v < 0 ? ~u64{0} : 0;
  for (bool first = true; ++i < words.size(); first = false) {
    sum = static_cast<u128>(words[i]) + (first ? high : sign) + static_cast<u64>(sum >> 64);
    words[i] = static_cast<u64>(sum);
  }
}

Integer integer(const DigitGrid& grid, const i64* sum) {
  Natural words(static_cast<std::size_t>((grid.n - 1) * grid.bits / 64 + 3));
  for (int d = 0; d < grid.n; d++) add_shifted(words, sum[d], d * grid.bits);
  Integer out;
  out.negative = words.back() >> 63;
  if (out.negative) {
    u64 carry = 1;
    for (std::size_t i = 0; i < words.size(); i++) words[i] = ~words[i] + carry, carry = carry && !words[i];
  }
  trim(words);
  out.size = std::move(words);
  return out;
}

// Sums of one or two digits need no long numbers.
bool is_short(const DigitGrid& grid) { return grid.n <= 2; }

i128 short_integer(const DigitGrid& grid, const i64* sum) {
  return grid.n == 1 ? sum[0] : static_cast<i128>(static_cast<u128>(static_cast<i128>(sum[1])) << grid.bits) + sum[0];
}

double short_ratio(i128 a, u64 b, int exponent) {
  if (!a) return 0;
  u128 size = a < 0 ? -static_cast<u128>(a) : static_cast<u128>(a);
  const u64 high = static_cast<u64>(size >> 64);
  const int shift = high ? __builtin_clzll(high) : 64 + __builtin_clzll(static_cast<u64>(size));
  size <<= shift;
  u128 q = size / b;  // at least 64 bits; all that follow the first ones are put into the last
  const int more = 64 - __builtin_clzll(static_cast<u64>(q >> 64) | 1);
  const bool rest = size % b || (q & ((static_cast<u128>(1) << more) - 1));
  const double value = std::ldexp(static_cast<double>(static_cast<u64>(q >> more) | static_cast<u64>(rest)), exponent - shift + more);
  return a < 0 ? -value : value;
}

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
    const Natural own = integer(grid[0], s + c * grid[0].n).size;
    add(out.above, times(own, own)), add(out.below, own);
  }
  return out;
}

void add(Fraction& a, const Fraction& b) {
  a.above = times(a.above, b.below);
  add(a.above, times(b.above, a.below));
  a.below = times(a.below, b.below);
}

}  // namespace

double exact_value(const DigitGrid& grid, const i64* sum) {
  if (is_short(grid)) return std::ldexp(static_cast<double>(short_integer(grid, sum)), grid.unit);
  const Integer v = integer(grid, sum);
  Natural one(1);
  one[0] = 1;
  const double size = ratio(v.size, one, grid.unit);
  return v.negative ? -size : size;
}

double exact_weight(const Problem& p, const i64* sums) {
  const DigitGrid* grid = p.exact.grid;
  if (!p.n_classes) return exact_value(grid[1], sums + grid[0].n);
  std::vector<i64> all(static_cast<std::size_t>(grid[0].n));
  for (int j = 0; j < p.n_sums(); j++) all[static_cast<std::size_t>(j % grid[0].n)] += sums[j];
  return exact_value(grid[0], all.data());
}

double exact_ratio(const DigitGrid& of_a, const i64* a, const DigitGrid& of_b, const i64* b) {
  if (is_short(of_a) && of_b.n == 1 && b[0] > 0) return short_ratio(short_integer(of_a, a), static_cast<u64>(b[0]), of_a.unit - of_b.unit);
  const Integer above = integer(of_a, a);
  const double size = ratio(above.size, integer(of_b, b).size, of_a.unit - of_b.unit);
  return above.negative ? -size : size;
}

double exact_share(const Problem& p, const i64* sums, int c) {
  const DigitGrid& grid = p.exact.grid[0];
  return ratio(integer(grid, sums + c * grid.n).size, part(p, sums).below, 0);
}

double exact_variance(const ExactRows& rows, const i64* sums) {
  const DigitGrid* grid = rows.grid;
  const Natural sum = integer(grid[0], sums).size, weight = integer(grid[1], sums + grid[0].n).size;
  Natural above = times(integer(grid[2], sums + grid[0].n + grid[1].n).size, weight);
  subtract(above, times(sum, sum));
  return ratio(above, times(weight, weight), grid[2].unit - grid[1].unit);
}

void exact_digits(const ExactRows& grids, std::size_t n, const double* y, const double* w, i64* digits) {
  const auto parts = [](double v, int& exponent) {  // |v| = mantissa · 2^exponent
    const double m = std::frexp(std::fabs(v), &exponent);
    exponent -= 53;
    return static_cast<u64>(std::ldexp(m, 53));
  };
  // Bits `from`, from + 1, … of a number of three words.
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
    const u64 own[3] = {weight, 0, 0};
    if (y) {
      const u64 target = parts(y[i], of_target);
      const u128 once = static_cast<u128>(weight) * target, low = (once & ~u64{0}) * target, high = (once >> 64) * target + (low >> 64);
      const u64 sum[3] = {static_cast<u64>(once), static_cast<u64>(once >> 64), 0};
      const u64 square[3] = {static_cast<u64>(low), static_cast<u64>(high), static_cast<u64>(high >> 64)};
      write(grids.grid[0], sum, of_weight + of_target, y[i] < 0);
      write(grids.grid[1], own, of_weight, false);
      write(grids.grid[2], square, of_weight + 2 * of_target, false);
    } else {
      write(grids.grid[0], own, of_weight, false);
    }
  }
}

struct Contest::State {
  const Problem& p;
  Judge judge;
  bool rational;  // qualities are fractions; otherwise the formula of the sums, each rounded once
  bool any = false;
  Fraction node, best;
  std::vector<double> node_sums;
  double quality = 0;

  State(const Problem& problem, const i64* sums)
      : p(problem), judge{problem.criterion, problem.n_classes ? problem.n_classes : 2},
        rational(problem.criterion == Criterion::gini || problem.criterion == Criterion::variance) {
    if (rational) node = part(p, sums);
    else node_sums = rounded(sums, 1);
  }
  std::vector<double> rounded(const i64* branches, int n) const {
    std::vector<double> out;
    for (int j = 0; j < n * p.n_classes; j++) out.push_back(exact_value(p.exact.grid[0], branches + j * p.exact.grid[0].n));
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
  if (!s.rational) {
    const double q = s.judge.several(s.rounded(branches, n).data(), n, s.node_sums.data());
    if (!(q > (s.any ? s.quality : -std::numeric_limits<double>::infinity()))) return false;
    s.quality = q;
    return s.any = true;
  }
  Fraction q = s.fraction(branches, n);
  if (s.any && compare(times(q.above, s.best.below), times(s.best.above, q.below)) <= 0) return false;
  s.best = std::move(q);
  return s.any = true;
}

double Contest::quality(std::vector<u64>& above, std::vector<u64>& below) const {
  const State& s = *state_;
  above.assign(s.best.above.data(), s.best.above.data() + s.best.above.size());
  below.assign(s.best.below.data(), s.best.below.data() + s.best.below.size());
  return s.quality;
}

double Contest::improvement(const i64* branches, int n) const {
  const State& s = *state_;
  if (!s.rational) {
    const std::vector<double> sums = s.rounded(branches, n);
    double q = 0;
    for (int j = 0; j < n; j++) q += s.judge.branch(sums.data() + j * s.p.n_classes);
    return q - s.judge.branch(s.node_sums.data());
  }
  const Fraction q = s.fraction(branches, n);
  Natural more = times(q.above, s.node.below);
  subtract(more, times(s.node.above, q.below));
  const DigitGrid* grid = s.p.exact.grid;
  return ratio(more, times(q.below, s.node.below), s.p.n_classes ? grid[0].unit : 2 * grid[0].unit - grid[1].unit);
}

}  // namespace crosscut
