// Passes over the rows of a bundle: sums of all lanes at every cut or category of a feature, and a quick look at which
// lanes might want the condition. What decides is rules::quality, behind rules::offer.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "../rules.hpp"

namespace crosscut::CROSSCUT_LEVEL {
namespace {

using rules::Kind;
using rules::Scan;

constexpr float nothing = -3.0e38f;

// log2 with an error below 2e-5, without branches so that lanes go together; 0 becomes about -127.
inline float quick_log2(float x) {
  std::int32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  const float exponent = static_cast<float>((bits >> 23) - 127);
  bits = (bits & 0x007fffff) | 0x3f800000;
  float m;
  std::memcpy(&m, &bits, sizeof m);
  return exponent + ((((0.0439286278f * m - 0.409475586f) * m + 1.61017755f) * m - 3.52021884f) * m + 5.06975632f) * m -
         2.79415368f;
}

template <class T, int L, Kind kind, bool any>
void look(const Scan& s, const T* n, const T* counts, std::int32_t op, std::uint32_t rank, const T* below) {
  float score[L], total[L];
  const int columns = any ? s.n_columns : 1;
  for (int l = 0; l < L; l++) {
    total[l] = static_cast<float>(n[l]);
    score[l] = kind == Kind::entropy ? 0.0f : nothing;
  }
  for (int c = 0; c < columns; c++) {
    const T* p = counts + c * L;
    const float* a = s.a + c * L;
    for (int l = 0; l < L; l++) {
      const float count = static_cast<float>(p[l]);
      if (kind == Kind::entropy) {
        score[l] += count * quick_log2(count);
      } else {
        const float value = kind == Kind::ratio    ? count + a[l]
                            : kind == Kind::linear ? count - total[l] * a[l]
                                                   : count * (quick_log2(count) - quick_log2(total[l]) - a[l]);
        score[l] = value > score[l] ? value : score[l];
      }
    }
  }
  for (int l = 0; l < L; l++) {
    if (kind == Kind::ratio) score[l] /= total[l] + s.b[l];
    if (kind == Kind::entropy) score[l] = score[l] / total[l] - quick_log2(total[l]);
  }
  int hits = 0;
  for (int l = 0; l < L; l++) hits |= static_cast<int>(score[l] >= s.least[l]) & static_cast<int>(total[l] >= s.least_weight[l]);
  if (!hits) return;
  double exact[256];
  for (int l = 0; l < L; l++)
    if (score[l] >= s.least[l] && total[l] >= s.least_weight[l] && below[l] > 0) {
      for (int c = 0; c < columns; c++) exact[c] = static_cast<double>(counts[c * L + l]);
      rules::offer(*s.bundle, l, s.feature, op, rank, static_cast<double>(n[l]), exact);
    }
}

template <class T, int L, bool any>
inline void add(const Scan& s, std::int32_t row, T* n, T* counts) {
  const float* in = s.members + static_cast<std::size_t>(s.sets[row]) * L;
  const float* to = any ? in : s.targets + static_cast<std::size_t>(s.sets[row]) * L;
  T* p = counts + (any ? s.codes[row] * L : 0);
  if (sizeof(T) == sizeof(float)) {
    for (int l = 0; l < L; l++) n[l] += static_cast<T>(in[l]);
    for (int l = 0; l < L; l++) p[l] += static_cast<T>(to[l]);
  } else {
    const T w = static_cast<T>(s.weights ? s.weights[row] : 1.0);
    for (int l = 0; l < L; l++) n[l] += w * static_cast<T>(in[l]);
    for (int l = 0; l < L; l++) p[l] += w * static_cast<T>(to[l]);
  }
}

// A cut is a lane's own if it has rows at or below it; "at most the last value" asks whether the value is present.
template <class T, int L, Kind kind, bool any>
void numeric(const Scan& s) {
  const int columns = any ? s.n_columns : 1;
  T* all = static_cast<T*>(s.sums);
  T* all_counts = all + L;
  T* below = all_counts + columns * L;
  T* below_counts = below + L;
  T* above = below_counts + columns * L;
  T* above_counts = above + L;
  std::memset(all, 0, sizeof(T) * static_cast<std::size_t>(2 * (columns + 1) * L));
  for (std::size_t i = 0; i < s.n_rows; i++) add<T, L, any>(s, s.rows[i], all, all_counts);
  for (std::size_t i = 0; i < s.n_rows; i++) {
    const std::int32_t row = s.rows[i];
    add<T, L, any>(s, row, below, below_counts);
    const std::uint32_t rank = s.ranks[row];
    if (i + 1 < s.n_rows && rank == s.ranks[s.rows[i + 1]]) continue;
    look<T, L, kind, any>(s, below, below_counts, rules::at_most, rank, below);
    for (int l = 0; l < L; l++) above[l] = all[l] - below[l];
    for (int l = 0; l < columns * L; l++) above_counts[l] = all_counts[l] - below_counts[l];
    look<T, L, kind, any>(s, above, above_counts, rules::above, rank, below);
  }
}

template <class T, int L, Kind kind, bool any>
void nominal(const Scan& s) {
  const std::size_t size = static_cast<std::size_t>(((any ? s.n_columns : 1) + 1) * L);
  T* cells = static_cast<T*>(s.sums);
  std::memset(cells, 0, sizeof(T) * size * (s.n_values + 1));  // the last is for missing values, and is not asked for
  for (std::size_t i = 0; i < s.n_rows; i++) {
    T* cell = cells + size * s.ranks[s.rows[i]];
    add<T, L, any>(s, s.rows[i], cell, cell + L);
  }
  for (std::uint32_t v = 0; v < s.n_values; v++) {
    T* cell = cells + size * v;
    look<T, L, kind, any>(s, cell, cell + L, rules::equal, v, cell);
  }
}

template <class T, int L, Kind kind, bool any>
void feature(const Scan& s, bool categories) {
  categories ? nominal<T, L, kind, any>(s) : numeric<T, L, kind, any>(s);
}

template <class T, int L>
void of_kind(const Scan& s, bool categories) {
  if (s.kind == Kind::ratio) s.any ? feature<T, L, Kind::ratio, true>(s, categories) : feature<T, L, Kind::ratio, false>(s, categories);
  if (s.kind == Kind::linear) s.any ? feature<T, L, Kind::linear, true>(s, categories) : feature<T, L, Kind::linear, false>(s, categories);
  if (s.kind == Kind::foil) feature<T, L, Kind::foil, false>(s, categories);
  if (s.kind == Kind::entropy) feature<T, L, Kind::entropy, true>(s, categories);
}

template <class T>
void of_lanes(const Scan& s, bool categories) {
  if (s.n_lanes == 1) of_kind<T, 1>(s, categories);
  else if (s.n_lanes == 8) of_kind<T, 8>(s, categories);
  else of_kind<T, 16>(s, categories);
}

}  // namespace

void scan_feature(const Scan& s, bool categories, bool exact_in_float) {
  exact_in_float ? of_lanes<float>(s, categories) : of_lanes<double>(s, categories);
}

}  // namespace crosscut::CROSSCUT_LEVEL
