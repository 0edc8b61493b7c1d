// Passes over the rows of a bundle: sums of all lanes at every cut or category of a feature, and a quick look at which
// lanes might want the condition. What decides is rules::quality, behind rules::offer.
#include <cstddef>
#include <cstdint>
#include <cstring>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "../rules.hpp"

namespace crosscut::CROSSCUT_LEVEL {
namespace {

using rules::Kind;
using rules::Scan;

// A number per lane; one lane is a plain number.
template <class T, int L>
struct Lanes {
  typedef T V __attribute__((vector_size(sizeof(T) * L), aligned(sizeof(T)), may_alias));
};
template <class T>
struct Lanes<T, 1> {
  typedef T V;
};

template <int L, class V>
typename Lanes<float, L>::V to_float(V v) {
  if constexpr (L == 1) return static_cast<float>(v);
  else return __builtin_convertvector(v, typename Lanes<float, L>::V);
}

template <class T, int L>
typename Lanes<T, L>::V from_float(const float* p) {
  if constexpr (L == 1) {
    return static_cast<T>(*p);
  } else {
    typename Lanes<float, L>::V v;
    std::memcpy(&v, p, sizeof v);
    return __builtin_convertvector(v, typename Lanes<T, L>::V);
  }
}

template <int L, class I>
bool any_of(I mask) {
  if constexpr (L == 1) {
    return mask != 0;
  } else {
#if defined(__AVX512F__)
    if constexpr (L == 16) {
      __m512i m;
      std::memcpy(&m, &mask, sizeof m);
      return _mm512_test_epi32_mask(m, m) != 0;
    }
#endif
#if defined(__AVX2__)
    __m256i m[L / 8];
    std::memcpy(m, &mask, sizeof m);
    if constexpr (L == 16) m[0] = _mm256_or_si256(m[0], m[1]);
    return !_mm256_testz_si256(m[0], m[0]);
#else
    std::uint64_t words[L / 2], all = 0;
    std::memcpy(words, &mask, sizeof words);
    for (int i = 0; i < L / 2; i++) all |= words[i];
    return all != 0;
#endif
  }
}

// log2 with an error below 2e-5, without branches so that lanes go together; 0 becomes about -127.
template <int L>
typename Lanes<float, L>::V quick_log2(typename Lanes<float, L>::V x) {
  typename Lanes<std::int32_t, L>::V bits;
  std::memcpy(&bits, &x, sizeof bits);
  const auto exponent = to_float<L>((bits >> 23) - 127);
  bits = (bits & 0x007fffff) | 0x3f800000;
  typename Lanes<float, L>::V m;
  std::memcpy(&m, &bits, sizeof m);
  return exponent + ((((0.0439286278f * m - 0.409475586f) * m + 1.61017755f) * m - 3.52021884f) * m + 5.06975632f) * m - 2.79415368f;
}

// Sums of a set of rows: their weight, and that of each class (or of the target).
template <class T, int L, bool any>
struct Sums {
  using V = typename Lanes<T, L>::V;
  V n, p;      // p: of the target
  V* classes;  // of every class, if any
};

template <class T, int L, Kind kind, bool any>
void look(const Scan& s, const Sums<T, L, any>& sums, std::int32_t op, std::uint32_t rank, typename Lanes<T, L>::V below) {
  using F = typename Lanes<float, L>::V;
  const auto constant = [](const float* p) { return from_float<float, L>(p); };
  const F n = to_float<L>(sums.n);
  F score;
  if constexpr (!any) {
    const F p = to_float<L>(sums.p), a = constant(s.a);
    if constexpr (kind == Kind::ratio) score = (p + a) / (n + constant(s.b));
    else if constexpr (kind == Kind::linear) score = p - n * a;
    else score = p * (quick_log2<L>(p) - quick_log2<L>(n) - a);
  } else if constexpr (kind == Kind::entropy) {
    score = n - n;
    for (int c = 0; c < s.n_columns; c++) {
      const F p = to_float<L>(sums.classes[c]);
      score += p * quick_log2<L>(p);
    }
    score = score / n - quick_log2<L>(n);
  } else {
    for (int c = 0; c < s.n_columns; c++) {
      const F p = to_float<L>(sums.classes[c]), a = constant(s.a + c * L);
      const F value = kind == Kind::ratio ? p + a : p - n * a;
      score = c == 0 ? value : (value > score ? value : score);
    }
    if constexpr (kind == Kind::ratio) score = score / (n + constant(s.b));
  }
  if (!any_of<L>((score >= constant(s.least)) & (n >= constant(s.least_weight)))) return;
  float scores[L], weights[L];
  T exact_n[L], exact_below[L], exact_p[L];
  std::memcpy(scores, &score, sizeof scores);
  std::memcpy(weights, &n, sizeof weights);
  std::memcpy(exact_n, &sums.n, sizeof exact_n);
  std::memcpy(exact_below, &below, sizeof exact_below);
  if constexpr (!any) std::memcpy(exact_p, &sums.p, sizeof exact_p);
  double counts[256];
  for (int l = 0; l < L; l++)
    if (scores[l] >= s.least[l] && weights[l] >= s.least_weight[l] && exact_below[l] > 0) {
      if constexpr (any)
        for (int c = 0; c < s.n_columns; c++) counts[c] = static_cast<double>(reinterpret_cast<const T*>(sums.classes + c)[l]);
      else
        counts[0] = static_cast<double>(exact_p[l]);
      rules::offer(*s.bundle, l, s.feature, op, rank, static_cast<double>(exact_n[l]), counts);
    }
}

template <class T, int L, bool any>
inline void add(const Scan& s, std::int32_t set, T weight, Sums<T, L, any>& sums) {
  const std::size_t line = static_cast<std::size_t>(set) * L;
  const auto in = from_float<T, L>(s.members + line) * weight;
  sums.n += in;
  if constexpr (any) sums.classes[s.set_class[set]] += in;
  else sums.p += from_float<T, L>(s.targets + line) * weight;
}

template <class T, int L, bool any>
void clear(const Scan& s, Sums<T, L, any>& sums, void* room) {
  sums.n = sums.p = typename Sums<T, L, any>::V{};
  sums.classes = static_cast<typename Sums<T, L, any>::V*>(room);
  if constexpr (any) std::memset(room, 0, sizeof(typename Sums<T, L, any>::V) * static_cast<std::size_t>(s.n_columns));
}

template <class T, int L, Kind kind, bool any>
void cut(const Scan& s, const Sums<T, L, any>& all, const Sums<T, L, any>& below, Sums<T, L, any>& above, std::uint32_t rank) {
  look<T, L, kind, any>(s, below, rules::at_most, rank, below.n);
  above.n = all.n - below.n;
  if constexpr (any)
    for (int c = 0; c < s.n_columns; c++) above.classes[c] = all.classes[c] - below.classes[c];
  else
    above.p = all.p - below.p;
  look<T, L, kind, any>(s, above, rules::above, rank, below.n);
}

// A cut is a lane's own if it has rows at or below it; "at most the last value" asks whether the value is present.
template <class T, int L, Kind kind, bool any>
void sorted(const Scan& s) {
  const std::size_t room = sizeof(typename Lanes<T, L>::V) * static_cast<std::size_t>(s.n_columns);
  auto* at = static_cast<char*>(s.sums);
  Sums<T, L, any> all, below, above;
  clear<T, L, any>(s, all, at);
  clear<T, L, any>(s, below, at + room);
  clear<T, L, any>(s, above, at + 2 * room);
  const auto weight = [&](std::int32_t row) { return static_cast<T>(s.weights ? s.weights[row] : 1.0); };
  for (std::size_t i = 0; i < s.n_rows; i++) add<T, L, any>(s, s.sets[s.rows[i]], weight(s.rows[i]), all);
  for (std::size_t i = 0; i < s.n_rows; i++) {
    const std::int32_t row = s.rows[i];
    add<T, L, any>(s, s.sets[row], weight(row), below);
    const std::uint32_t rank = s.ranks[row];
    if (i + 1 < s.n_rows && rank == s.ranks[s.rows[i + 1]]) continue;
    cut<T, L, kind, any>(s, all, below, above, rank);
  }
}

// Few values: rows are counted per value and set, whatever the number of lanes, and lanes are summed from the counts.
template <class T, int L, Kind kind, bool any>
void counted(const Scan& s, bool categories) {
  const std::size_t room = sizeof(typename Lanes<T, L>::V) * static_cast<std::size_t>(s.n_columns);
  auto* at = static_cast<char*>(s.sums);
  Sums<T, L, any> all, below, above;
  clear<T, L, any>(s, all, at);
  clear<T, L, any>(s, below, at + room);
  clear<T, L, any>(s, above, at + 2 * room);
  T* cells = reinterpret_cast<T*>(at + 3 * room);
  const std::size_t n_sets = static_cast<std::size_t>(s.n_sets);
  std::memset(cells, 0, sizeof(T) * n_sets * (s.n_values + 1));  // the last line is for missing values
  if (s.weights) {
    for (std::size_t i = 0; i < s.n_rows; i++) {
      const std::int32_t row = s.rows[i];
      cells[n_sets * s.ranks[row] + static_cast<std::size_t>(s.sets[row])] += static_cast<T>(s.weights[row]);
    }
  } else {
    for (std::size_t i = 0; i < s.n_rows; i++) {
      const std::int32_t row = s.rows[i];
      cells[n_sets * s.ranks[row] + static_cast<std::size_t>(s.sets[row])] += 1;
    }
  }
  if (!categories)
    for (std::uint32_t v = 0; v < s.n_values; v++)
      for (std::size_t k = 0; k < n_sets; k++)
        if (cells[n_sets * v + k] > 0) add<T, L, any>(s, static_cast<std::int32_t>(k), cells[n_sets * v + k], all);
  for (std::uint32_t v = 0; v < s.n_values; v++) {
    if (categories) clear<T, L, any>(s, below, at + room);
    bool seen = false;
    for (std::size_t k = 0; k < n_sets; k++)
      if (cells[n_sets * v + k] > 0) {
        add<T, L, any>(s, static_cast<std::int32_t>(k), cells[n_sets * v + k], below);
        seen = true;
      }
    if (!seen) continue;
    if (categories) look<T, L, kind, any>(s, below, rules::equal, v, below.n);
    else cut<T, L, kind, any>(s, all, below, above, v);
  }
}

template <class T, int L, Kind kind, bool any>
void feature(const Scan& s, bool count, bool categories) {
  count ? counted<T, L, kind, any>(s, categories) : sorted<T, L, kind, any>(s);
}

template <class T, int L>
void of_kind(const Scan& s, bool count, bool categories) {
  if (s.kind == Kind::ratio)
    s.any ? feature<T, L, Kind::ratio, true>(s, count, categories) : feature<T, L, Kind::ratio, false>(s, count, categories);
  if (s.kind == Kind::linear)
    s.any ? feature<T, L, Kind::linear, true>(s, count, categories) : feature<T, L, Kind::linear, false>(s, count, categories);
  if (s.kind == Kind::foil) feature<T, L, Kind::foil, false>(s, count, categories);
  if (s.kind == Kind::entropy) feature<T, L, Kind::entropy, true>(s, count, categories);
}

template <class T>
void of_lanes(const Scan& s, bool count, bool categories) {
  if (s.n_lanes == 1) of_kind<T, 1>(s, count, categories);
  else if (s.n_lanes == 8) of_kind<T, 8>(s, count, categories);
  else of_kind<T, 16>(s, count, categories);
}

}  // namespace

void scan_feature(const Scan& s, bool count, bool categories, bool exact_in_float) {
  exact_in_float ? of_lanes<float>(s, count, categories) : of_lanes<double>(s, count, categories);
}

}  // namespace crosscut::CROSSCUT_LEVEL
