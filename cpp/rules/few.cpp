// Refining states of few rows, each on its own: sharing passes would cost more.
#include <array>
#include <bit>

#include "bundle.hpp"

namespace crosscut::rules {

void Refinement::compare(Bundle& bundle) {
  std::array<std::int32_t, most_few> rows{};
  Few pass{.kind = bundle.kind, .any = bundle.any, .unequal = settings_.unequal, .rows = rows.data(), .ranks = table_.ranks.data(),
           .n_all = table_.n_rows, .n_features = table_.n_features, .n_values = table_.n_values.data(), .nominal = table_.nominal.data(),
           .bundle = &bundle};
  for (std::size_t l = 0; l < bundle.states.size(); l++) {
    const State& state = *bundle.states[l];
    const Bits& first = table_.of_class[any_ ? 0 : static_cast<std::size_t>(state.target)];
    std::size_t n = 0, end = state.n_rows;  // others from the end
    for (std::size_t w = 0; w < table_.words; w++)
      for (std::uint64_t set = state.rows[w]; set; set &= set - 1) {
        const auto j = static_cast<std::size_t>(std::countr_zero(set));
        rows[first[w] >> j & 1 ? n++ : --end] = static_cast<std::int32_t>(w * 64 + j);
      }
    pass.n_rows = state.n_rows;
    pass.n_first = n;
    for (std::size_t c = 0; c < state.a.size(); c++) pass.a[c] = static_cast<float>(state.a[c]);
    pass.b = static_cast<float>(state.b);
    pass.least_weight = static_cast<float>(state.least_weight);
    pass.tolerance = bundle.tolerance[l];
    pass.least = bundle.least.data() + l;
    pass.lane = l;
    CROSSCUT_DISPATCH(compare_few, pass);
    memory_.work.bundles++;
    memory_.work.visits += static_cast<std::int64_t>(state.n_rows);
  }
}

}  // namespace crosscut::rules
