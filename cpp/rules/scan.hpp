// Interface between the search and its kernels. A pass over one feature of a bundle computes
// approximate qualities in float and reports all conditions that might be among the best; `offer`
// computes the exact quality and decides.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/dispatch.hpp"

namespace crosscut::rules {

// Quality of a rule that covers weight n, of which p is of its class. ratio: (p + a) / (n + b), for
// the Laplace and m-estimates. linear: p - n * a, weighted relative accuracy times a constant.
// foil: p * (log2(p / n) - a) with a = log2(P / N) of the rule before the new condition. entropy:
// minus the entropy of the covered classes.
enum class Kind : std::int32_t { ratio, linear, foil, entropy };

enum Operator : std::int32_t { at_most, above, equal, unequal };

constexpr std::size_t group_lanes = 16;  // lanes of a vector
constexpr std::size_t max_groups = 4;
// rows per block; a bound decides whether the cuts inside a block are evaluated
constexpr std::size_t block_rows = 16;
constexpr std::size_t max_lanes = group_lanes * max_groups;

struct Bundle;  // see bundle.hpp

// A pass over one feature, with rows as lines of bytes: byte (column, lane) of a row's line is 1 if
// the row counts in this lane and column. Rows with the same lanes and class share a line. Sums are
// exact: counts below 2^24 in float, weights on a grid in double.
struct Scan {
  Kind kind;
  // whether rules may be for any class; columns are the classes then, else the target and others
  bool any;
  bool unequal;  // nominal features: also "!=" conditions
  std::int32_t n_groups, n_columns;
  const std::int32_t* rows;  // sorted by the feature, without missing values
  const std::int32_t* sets;  // by row: number of its line
  std::size_t n_rows;
  const std::uint32_t* ranks;  // by row
  std::uint32_t n_values;
  // nominal: start of each category in the rows, and the end of the last; else null
  const std::size_t* ends;
  const double* weights;      // by row, or null
  const std::uint8_t* lines;  // (sets, columns, lanes): 0/1, padded to 32 bytes per set
  const float* a;             // (columns, lanes)
  const float* b;             // (lanes)
  // (lanes): conditions of lower approximate quality are skipped; offers raise it
  float* least;
  const float* least_weight;  // (lanes): minimum weight a rule must cover
  std::size_t width;          // number of conditions kept per lane
  // (width, lanes): approximate qualities of some conditions, the best last; null if width is large
  float* reached;
  const float* tolerance;  // (lanes): their error bounds
  const float* whole;      // (lanes): weight of the lane's rows
  void* room;              // for sums, see room_for
  Bundle* bundle;
  std::int32_t feature;

  // always inlined, so that the linker cannot merge copies for different instruction sets
  [[gnu::always_inline]] std::size_t lanes() const {
    return static_cast<std::size_t>(n_groups) * group_lanes;
  }
  [[gnu::always_inline]] std::size_t stride() const {
    return (lanes() * static_cast<std::size_t>(n_columns) + 31) / 32 * 32;
  }
  [[gnu::always_inline]] const std::uint8_t* line(std::size_t i) const {
    return lines + static_cast<std::size_t>(sets[rows[i]]) * stride();
  }
};

// Size of `room` in bytes: two lines of sums, and one line per block or category.
inline std::size_t room_for(const Scan& s) {
  const std::size_t sum = s.weights ? sizeof(double) : sizeof(float),
                    part = s.weights ? sizeof(double) : 1;
  const std::size_t parts = s.ends ? (s.n_values < s.n_rows ? s.n_values : s.n_rows) * sum
                                   : (s.n_rows / block_rows + 1) * part;
  return s.stride() * (2 * sum + parts);
}

// A pass over one feature for up to 16 states, with a mask per row and without weights: lanes in
// which the row is of the target (or the first class) in the lower half, others in the upper half.
struct Walk {
  Kind kind;                 // not entropy
  bool any, unequal;         // as above
  const std::int32_t* rows;  // sorted by the feature, without missing values
  std::size_t n_rows;
  const std::uint32_t* masks;  // by row
  const std::uint32_t* ranks;  // by row
  std::uint32_t n_values;
  const std::size_t* ends;  // as above
  bool tied;                // whether rows of the table share values
  const float* a;           // (2, lanes)
  const float* b;           // (lanes), and so below
  const float* whole;
  const float* least_weight;
  const float* tolerance;
  std::size_t width;
  float* least;
  // (width, lanes): approximate qualities of the best conditions so far, the best last
  float* reached;
  float* surveyed;     // (width, lanes): of the best conditions of the survey
  std::uint8_t* room;  // for sums, see room_for; walk_feature reads what survey_feature wrote
  Bundle* bundle;
  std::int32_t feature, group;
};

inline std::size_t room_for(const Walk& s) {
  constexpr std::size_t sums = 2 * group_lanes * sizeof(float);
  return sums + (s.ends ? (s.n_values < s.n_rows ? s.n_values : s.n_rows) * sums
                        : sums + (s.n_rows / block_rows + 1) * 2 * group_lanes);
}

// A condition that was among the best so far of some lanes, with the rows that it covers in each.
struct Event {
  std::int32_t feature, op, group;
  std::uint32_t rank, lanes;
  // approximate quality, weight, and weight of the target or first class
  float value[group_lanes], n[group_lanes], p[group_lanes];
};

// Called by kernels: returns a new event, which is stored until all features are done.
Event& note(Bundle& bundle);

// Called by kernels with a condition and the rows that satisfy it: their total weight `n`, and
// their weight by class (or of the target) `counts`.
void offer(Bundle& bundle, std::size_t lane, std::int32_t feature, std::int32_t op,
           std::uint32_t rank, double n, const double* counts);

}  // namespace crosscut::rules

CROSSCUT_DECLARE(void scan_feature(const rules::Scan&))
CROSSCUT_DECLARE(void survey_feature(const rules::Walk&))
CROSSCUT_DECLARE(void walk_feature(const rules::Walk&))
CROSSCUT_DECLARE(std::size_t keep_members(const std::int32_t*, std::size_t, const std::int32_t*,
                                          std::int32_t*))
CROSSCUT_DECLARE(std::size_t sort_few(const std::int32_t*, std::size_t, const std::uint32_t*,
                                      const std::int32_t*, std::size_t, std::uint8_t*,
                                      std::uint8_t*, std::size_t, std::int32_t*))
CROSSCUT_DECLARE(void meet(const std::uint32_t*, std::size_t, std::int32_t, std::uint32_t,
                           std::uint32_t, const std::uint64_t*, std::uint64_t*))
CROSSCUT_DECLARE(std::size_t count_bits(const std::uint64_t*, std::size_t))
CROSSCUT_DECLARE(std::size_t count_common_bits(const std::uint64_t*, const std::uint64_t*,
                                               std::size_t))
