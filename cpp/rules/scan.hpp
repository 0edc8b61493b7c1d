// The input of a kernel about a bundle, and where its results go.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/dispatch.hpp"

namespace crosscut::rules {

// ratio: (p + a) / (n + b), which is Laplace's and the m-estimate; linear: p - n * a, weighted
// relative accuracy times a constant; foil: p * (log2(p / n) - a), a = log2(P / N) of the rule so
// far; entropy: minus that of the covered classes.
enum class Kind : std::int32_t { ratio, linear, foil, entropy };

enum Operator : std::int32_t { at_most, above, equal, unequal };

constexpr std::size_t group_lanes = 16;  // lanes of a vector
constexpr std::size_t max_groups = 4;
// rows per block: a block is examined as a whole or not at all
constexpr std::size_t block_rows = 16;
constexpr std::size_t max_lanes = group_lanes * max_groups;

struct Bundle;  // see bundle.hpp

// A feature of a bundle of states, each a lane. Sums are exact: counts below 2^24 in float, weights
// on a grid in double.
struct Scan {
  Kind kind;
  // quality is that of the best class, and columns are classes; else target and others
  bool any;
  bool unequal;  // nominal: also conditions that the value is not a category
  std::int32_t n_groups, n_columns;
  const std::int32_t* rows;  // sorted by the feature, without missing values
  const std::int32_t* sets;  // by row: its line
  std::size_t n_rows;
  const std::uint32_t* ranks;  // by row
  std::uint32_t n_values;
  // nominal: where each category begins among the rows, and the end; else null
  const std::size_t* ends;
  const double* weights;      // by row, or null
  const std::uint8_t* lines;  // (sets, columns, lanes) 0/1, each set from a multiple of 32 octets
  const float* a;             // (columns, lanes)
  const float* b;             // (lanes)
  // (lanes): approximate quality below which nothing is examined; offers raise it
  float* least;
  const float* least_weight;  // (lanes): minimum weight a rule must cover
  std::size_t width;          // conditions that are kept per lane
  // (width, lanes): approximate qualities of some conditions, the best last; null if width is large
  float* reached;
  const float* tolerance;  // (lanes): their error bounds
  const float* whole;      // (lanes): weight of the lane's rows
  void* room;              // for sums, see room_for
  Bundle* bundle;
  std::int32_t feature;

  // always inlined, so that no copy compiled for one instruction set is used by another
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

// Bytes of `room`: numeric features need two lines of sums and one per block, nominal ones two and
// one per category.
inline std::size_t room_for(const Scan& s) {
  const std::size_t sum = s.weights ? sizeof(double) : sizeof(float),
                    part = s.weights ? sizeof(double) : 1;
  const std::size_t parts = s.ends ? (s.n_values < s.n_rows ? s.n_values : s.n_rows) * sum
                                   : (s.n_rows / block_rows + 1) * part;
  return s.stride() * (2 * sum + parts);
}

// A feature of up to 16 states, where a row is a mask of the lanes it counts for: the target's (or
// the first class) in the lower half, others in the upper. Without weights.
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
  std::uint8_t* room;  // for sums, see room_for; surveys leave them there
  Bundle* bundle;
  std::int32_t feature, group;
};

inline std::size_t room_for(const Walk& s) {
  constexpr std::size_t sums = 2 * group_lanes * sizeof(float);
  return sums + (s.ends ? (s.n_values < s.n_rows ? s.n_values : s.n_rows) * sums
                        : sums + (s.n_rows / block_rows + 1) * 2 * group_lanes);
}

// A condition that was among the best so far of some lanes, with what it covers in each.
struct Event {
  std::int32_t feature, op, group;
  std::uint32_t rank, lanes;
  // approximate quality, weight, that of the target or first class
  float value[group_lanes], n[group_lanes], p[group_lanes];
};

// Called by kernels: space for one more event, which is stored until all features are done.
Event& note(Bundle& bundle);

// Called by kernels; `counts` are class sums (or that of the target) and `n` the total, of the rows
// that satisfy the condition.
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
