// Beam search for rules: every search (a task's next rule) is a lane of shared passes over the rows.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

namespace crosscut::rules {

// ratio: (p + a) / (n + b), which is Laplace's and the m-estimate; linear: p - n * a, weighted relative accuracy times a
// constant; foil: p * (log2(p / n) - a), a = log2(P / N) of the rule so far; entropy: minus that of the covered classes.
enum class Kind : std::int32_t { ratio, linear, foil, entropy };

enum Operator : std::int32_t { at_most, above, equal };

constexpr int max_lanes = 16;

struct Condition {
  std::int32_t feature = -1;
  std::int32_t op = at_most;
  std::uint32_t low = 0, high = 0;  // ranks beside the cut, or the category twice
};

struct Bundle;  // where kernels report what may be among a lane's best; see rules_search.cpp

// What a kernel needs of a bundle of states. Sums are exact: counts below 2^24 in float, weights on a grid in double.
struct Scan {
  Kind kind;
  bool any;               // quality is that of the best class; else of each lane's target
  std::int32_t n_lanes;   // 1, 8 or 16
  std::int32_t n_columns; // classes if any, else 1
  const std::int32_t* rows;
  std::size_t n_rows;
  const std::uint32_t* ranks;  // of the feature
  std::uint32_t n_values;
  const std::int32_t* sets;    // per row: which lanes it belongs to, a line of `members`
  std::int32_t n_sets;
  const std::int32_t* set_class;  // per set: the class of its rows, if any
  const double* weights;       // per row, or null
  const float* members;        // (sets, lanes) 0/1
  const float* targets;        // the same for rows of the lane's target class; unused if any
  const float* a;              // (n_columns, lanes)
  const float* b;              // (lanes)
  float* least;                // (lanes): approximate quality below which nothing is worth a closer look
  const float* least_weight;   // (lanes): weight a rule has to cover
  void* sums;                  // room for sums, and for counts per value and set
  Bundle* bundle;
  std::int32_t feature;
};

// Called by kernels; counts are (n_columns) class sums and `n` their total, of the rows that meet the condition.
void offer(Bundle& bundle, int lane, std::int32_t feature, std::int32_t op, std::uint32_t rank, double n, const double* counts);

double quality(Kind kind, bool any, double n, const double* counts, std::size_t n_columns, const double* a, double b);

struct Table {
  std::size_t n_rows = 0, n_features = 0, n_classes = 0, words = 0;
  std::vector<std::uint32_t> ranks;      // (features, rows)
  std::vector<std::uint32_t> n_values;
  std::vector<std::uint8_t> nominal;
  std::vector<std::int32_t> codes;
  std::vector<double> weights;           // empty if all are 1
  std::vector<std::vector<std::int32_t>> order;  // rows by rank, missing left out; empty if nominal
  std::vector<std::vector<std::uint64_t>> of_class;  // rows of each class
  void prepare();
  const std::uint32_t* column(std::size_t f) const { return ranks.data() + f * n_rows; }
  std::int64_t n_conditions(const std::uint64_t* bits) const;
};

// Which rows meet conditions; computed once for all searches that use them.
class Truth {
 public:
  explicit Truth(const Table& table) : table_(table) {}
  // The given rows that meet a condition.
  std::vector<std::uint64_t> narrowed(const std::vector<std::uint64_t>& rows, std::size_t n_rows, std::int32_t feature, std::int32_t op,
                                      std::uint32_t rank);

 private:
  const Table& table_;
  std::map<std::tuple<std::int32_t, std::int32_t, std::uint32_t>, std::vector<std::uint64_t>> known_;
};

struct Search {
  const std::uint64_t* rows;   // the rows it starts from
  std::int32_t target;         // -1: any class
  const double* a;             // (classes)
  double b;
};

struct Settings {
  Kind kind = Kind::ratio;
  bool greedy = false;         // follow the best condition until nothing is gained; else the best rule met
  std::int32_t width = 1;
  std::int32_t max_length = 0; // 0: no limit
  double least_weight = 1;
  double significance = 0;     // least likelihood ratio statistic
};

struct Work {
  std::int64_t states = 0, bundles = 0, visits = 0, alone = 0;  // rows visited together, and if each state went alone
};

std::vector<std::vector<Condition>> search(const Table& table, const std::vector<Search>& searches, const Settings& settings, Truth& truth,
                                          Work& work);

}  // namespace crosscut::rules
