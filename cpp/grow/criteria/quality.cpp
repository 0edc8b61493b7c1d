#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "grow/problem.hpp"

namespace crosscut {
namespace {
constexpr double kNever = -std::numeric_limits<double>::infinity();
}

Criterion criterion_named(const char* name) {
  const char* const names[] = {"gini", "entropy", "gain_ratio", "variance"};
  for (int i = 0; i < 4; i++)
    if (std::string(name) == names[i]) return static_cast<Criterion>(i);
  throw std::invalid_argument("criterion must be gini, entropy, gain_ratio or variance, but '" + std::string(name) + "' was given");
}

double xlog(double v) { return v > 0 ? v * std::log2(v) : 0.0; }

double Judge::x(double v) const { return xlogs && v < kXlogs ? xlogs[static_cast<std::uint32_t>(v)] : xlog(v); }

// The sum of f(s[c]): one after the other, but many classes eight at a time.
template <class F>
static double sum_over(const double* s, int K, F f) {
  double sum = 0;
  int c = 0;
  if (K >= 64) {
    double lane[8] = {};
    for (; c + 8 <= K; c += 8)
      for (int i = 0; i < 8; i++) lane[i] += f(s[c + i]);
    for (const double part : lane) sum += part;
  }
  for (; c < K; c++) sum += f(s[c]);
  return sum;
}

double Judge::total(const double* s) const {
  if (criterion == Criterion::variance) return s[1];
  return sum_over(s, K, [](double v) { return v; });
}

double Judge::branch(const double* s) const {
  const double weight = total(s);
  if (!(weight > 0)) return 0;  // every weight vanished on the grid
  double sum = 0;
  switch (criterion) {
    case Criterion::variance:
      return s[0] * s[0] / weight;
    case Criterion::gini:
      return sum_over(s, K, [](double v) { return v * v; }) / weight;
    default:
      for (int c = 0; c < K; c++) sum += x(s[c]);
      return sum - x(weight);
  }
}

// A branch's part of Q where statistics are two numbers: Gini of two classes, or variance. The sums are those of Judge::branch, in its order.
static double part_of_two(bool variance, double a, double b) {
  const double weight = variance ? b : a + b;
  return weight > 0 ? (variance ? a * a : a * a + b * b) / weight : 0;
}

double Judge::binary(const double* left, const double* node) const {
  if (const bool variance = criterion == Criterion::variance; variance || (criterion == Criterion::gini && K == 2))
    return part_of_two(variance, left[0], left[1]) + part_of_two(variance, node[0] - left[0], node[1] - left[1]);
  double part[2 * 64], *both = part;
  if (K > 64) both = new double[2 * static_cast<unsigned>(K)];
  for (int c = 0; c < K; c++) both[c] = left[c], both[K + c] = node[c] - left[c];
  const double q = several(both, 2, node);
  if (both != part) delete[] both;
  return q;
}

double Judge::several(const double* branches, int n, const double* node) const {
  double q = 0;
  for (int j = 0; j < n; j++) q += branch(branches + j * K);
  if (criterion != Criterion::gain_ratio) return q;
  const double N = total(node), gain = q - branch(node);
  double split = x(N);
  for (int j = 0; j < n; j++) split -= x(total(branches + j * K));
  return gain > 1e-9 * N && split > 0 ? gain / split : kNever;
}

double Judge::improvement(const double* node, double q, double q_gain) const {
  return (criterion == Criterion::gain_ratio ? q_gain : q) - branch(node);
}

}  // namespace crosscut
