// A state of few rows: for every row, counts how many of the others have a value up to its own, by comparing all
// pairs. This needs no sorting, and the lanes of a vector are cuts.
#include "lanes.hpp"

namespace crosscut::CROSSCUT_LEVEL {
namespace {

using rules::Few;
using rules::Kind;

// Adds 1 for the keys that another is not above, or equal to.
template <bool nominal>
inline I count(I sum, std::int32_t other, I keys) {
#if defined(__AVX512F__)
  const __m512i own = reinterpret_cast<__m512i>(keys), all = _mm512_set1_epi32(other);
  const __mmask16 in = nominal ? _mm512_cmpeq_epi32_mask(all, own) : _mm512_cmple_epi32_mask(all, own);
  return reinterpret_cast<I>(_mm512_mask_add_epi32(reinterpret_cast<__m512i>(sum), in, reinterpret_cast<__m512i>(sum), _mm512_set1_epi32(1)));
#else
  const I all = I{} + other;
  return sum - (nominal ? all == keys : all <= keys);
#endif
}

// The ranks of a feature, with -1 after the last row.
template <int V>
void load_keys(const Few& s, const std::uint32_t* ranks, I (&keys)[V]) {
  for (int v = 0; v < V; v++) {
    const auto from = static_cast<std::size_t>(v) * W;
#if defined(__AVX512F__)
    const auto some = static_cast<__mmask16>(s.n_rows - from < W ? (1u << (s.n_rows - from)) - 1 : 0xffff);
    keys[v] = reinterpret_cast<I>(_mm512_mask_i32gather_epi32(_mm512_set1_epi32(-1), some, _mm512_loadu_si512(s.rows + from), ranks, 4));
#else
    for (std::size_t l = 0; l < W; l++) keys[v][l] = from + l < s.n_rows ? static_cast<std::int32_t>(ranks[s.rows[from + l]]) : -1;
#endif
  }
}

// V vectors hold the rows of the state.
template <Kind kind, bool any, int V>
class Pass {
 public:
  explicit Pass(const Few& few) : s(few), a{F{} + s.a[0], F{} + s.a[1]}, b(F{} + s.b) {}

  void look() {
    for (std::size_t f = 0; f < s.n_features; f++) s.nominal[f] ? look_at<true>(f) : look_at<false>(f);
  }

 private:
  template <bool nominal>
  void look_at(std::size_t f) {
    I keys[V], first[V], sums[V] = {};
    load_keys(s, s.ranks + f * s.n_all, keys);
    const auto* key = reinterpret_cast<const std::int32_t*>(keys);
    for (std::size_t j = 0; j < s.n_first; j++)
      for (int v = 0; v < V; v++) sums[v] = count<nominal>(sums[v], key[j], keys[v]);
    for (int v = 0; v < V; v++) first[v] = sums[v];
    for (std::size_t j = s.n_first; j < s.n_rows; j++)
      for (int v = 0; v < V; v++) sums[v] = count<nominal>(sums[v], key[j], keys[v]);

    I present[V];
    std::uint64_t rows = 0;
    for (int v = 0; v < V; v++) {
      present[v] = (keys[v] >= 0) & (keys[v] < static_cast<std::int32_t>(s.n_values[f]));
      rows |= std::uint64_t{lanes_of(present[v])} << (16 * v);
    }
    const std::uint64_t of_first = s.n_first < 64 ? rows & ((std::uint64_t{1} << s.n_first) - 1) : rows;
    const auto all_n = static_cast<float>(__builtin_popcountll(rows)), all_p = static_cast<float>(__builtin_popcountll(of_first));
    F n[V], p[V];
    for (int v = 0; v < V; v++) {
      n[v] = __builtin_convertvector(sums[v], F);
      p[v] = __builtin_convertvector(first[v], F);
    }
    const auto op = nominal ? rules::equal : rules::at_most;
    offer<nominal>(f, op, key, present, n, p);
    if (nominal && !s.unequal) return;
    for (int v = 0; v < V; v++) {
      n[v] = all_n - n[v];
      p[v] = all_p - p[v];
    }
    offer<nominal>(f, op + 1, key, present, n, p);
  }

  // Offers the conditions that end at these values, or are equal to them, if they might be among the best.
  template <bool nominal>
  void offer(std::size_t f, std::int32_t op, const std::int32_t* key, const I (&present)[V], const F (&n)[V], const F (&p)[V]) {
    I worth[V], any_worth = {};
    for (int v = 0; v < V; v++) {
      worth[v] = reaches<kind>(p[v], n[v], a[0], b, F{} + *s.least);
      if constexpr (any) worth[v] |= reaches<kind>(n[v] - p[v], n[v], a[1], b, F{} + *s.least);
      else worth[v] &= p[v] > 0.0f;
      worth[v] &= present[v] & (n[v] >= s.least_weight) & (n[v] < static_cast<float>(s.n_rows));
      any_worth |= worth[v];
    }
    if (!lanes_of(any_worth)) return;
    if constexpr (!nominal) {  // the best cut of a side counts
      F value[V], best = none();
      for (int v = 0; v < V; v++) {
        value[v] = quality_of<kind>(any ? 2 : 1, [&](int c) { return c == 0 ? p[v] : n[v] - p[v]; }, [&](int c) { return a[c]; }, n[v], b);
        best = most(best, worth[v] ? value[v] : best);
      }
      const float least = highest(best) - s.tolerance;
      for (int v = 0; v < V; v++) worth[v] &= value[v] >= least;
    }
    for (int v = 0; v < V; v++)
      for (std::uint32_t some = lanes_of(worth[v]); some; some &= some - 1) {
        const auto l = static_cast<std::size_t>(__builtin_ctz(some)), row = static_cast<std::size_t>(v) * W + l;
        if (nominal && is_repeated(key, row)) continue;
        const double counts[] = {p[v][l], static_cast<double>(n[v][l]) - p[v][l]};
        rules::offer(*s.bundle, s.lane, static_cast<std::int32_t>(f), op, static_cast<std::uint32_t>(key[row]), n[v][l], counts);
      }
  }

  static bool is_repeated(const std::int32_t* key, std::size_t row) {
    for (std::size_t i = 0; i < row; i++)
      if (key[i] == key[row]) return true;
    return false;
  }

  const Few& s;
  const F a[2], b;
};

template <Kind kind, bool any>
void of_size(const Few& s) {
  static_assert(rules::most_few == 4 * W);
  if (s.n_rows <= W) Pass<kind, any, 1>(s).look();
  else if (s.n_rows <= 2 * W) Pass<kind, any, 2>(s).look();
  else if (s.n_rows <= 3 * W) Pass<kind, any, 3>(s).look();
  else Pass<kind, any, 4>(s).look();
}

}  // namespace

void compare_few(const Few& s) {
  if (s.kind == Kind::ratio) s.any ? of_size<Kind::ratio, true>(s) : of_size<Kind::ratio, false>(s);
  else if (s.kind == Kind::linear) s.any ? of_size<Kind::linear, true>(s) : of_size<Kind::linear, false>(s);
  else of_size<Kind::foil, false>(s);
}

}  // namespace crosscut::CROSSCUT_LEVEL
