// Refinement with a mask of lanes per row, for two classes (or a target and the others) without
// weights; 1.3 to 2.0 times faster than lines for CN2. A survey first evaluates a few conditions
// per feature, to get lower bounds on the best, with which the walk skips most blocks of rows.
#include <algorithm>
#include <limits>

#include "bundle.hpp"

namespace crosscut::rules {

namespace {

// The constants of a group of lanes.
struct Lanes {
  float a[2][group_lanes] = {}, b[group_lanes] = {}, whole[group_lanes] = {},
        least_weight[group_lanes] = {};
};

std::vector<Lanes> lanes_of(const Bundle& bundle) {
  std::vector<Lanes> groups(bundle.n_lanes / group_lanes);
  for (std::size_t l = 0; l < bundle.states.size(); l++) {
    Lanes& group = groups[l / group_lanes];
    const State& state = *bundle.states[l];
    for (std::size_t c = 0; c < state.a.size(); c++)
      group.a[c][l % group_lanes] = static_cast<float>(state.a[c]);
    group.b[l % group_lanes] = static_cast<float>(state.b);
    group.whole[l % group_lanes] = static_cast<float>(state.n);
    group.least_weight[l % group_lanes] = static_cast<float>(state.least_weight);
  }
  return groups;
}

}  // namespace

// Surveys as many features as `most_sorted` rows allow before it walks over them.
void Refinement::walk(Bundle& bundle) {
  constexpr std::size_t most_sorted = 1 << 18;
  make_masks(bundle);
  const auto groups = lanes_of(bundle);
  const std::size_t per_feature = rows_.size() + 16;
  const std::size_t at_a_time =
      std::max(std::min(most_sorted / per_feature, table_.n_features), std::size_t{1});
  if (memory_.sorted.size() < at_a_time * per_feature)
    memory_.sorted.resize(at_a_time * per_feature);
  std::vector<float> reached(2 * bundle.width * n_lanes_, -std::numeric_limits<float>::infinity());
  std::vector<Walk> passes;
  Walk pass{.kind = bundle.kind,
            .any = bundle.any,
            .unequal = settings_.unequal,
            .width = bundle.width,
            .bundle = &bundle};
  for (std::size_t first = 0; first < table_.n_features; first += at_a_time) {
    passes.clear();
    std::size_t room = 0;
    for (std::size_t f = first; f < std::min(first + at_a_time, table_.n_features); f++) {
      std::int32_t* sorted = memory_.sorted.data() + (f - first) * per_feature;
      pass.rows = sorted;
      pass.n_rows = sort_rows(f, sorted);
      if (pass.n_rows == 0) continue;
      pass.ranks = table_.column(f);
      pass.n_values = table_.n_values[f];
      pass.ends = table_.nominal[f] ? ends_[f].data() : nullptr;
      pass.tied = table_.tied[f] != 0;
      pass.feature = static_cast<std::int32_t>(f);
      for (std::size_t g = 0; g < groups.size(); g++) {
        pass.group = static_cast<std::int32_t>(g);
        pass.masks = memory_.masks.data() + g * table_.n_rows;
        pass.a = groups[g].a[0];
        pass.b = groups[g].b;
        pass.whole = groups[g].whole;
        pass.least_weight = groups[g].least_weight;
        pass.tolerance = bundle.tolerance.data() + g * group_lanes;
        pass.least = bundle.least.data() + g * group_lanes;
        pass.reached = reached.data() + 2 * g * bundle.width * group_lanes;
        pass.surveyed = pass.reached + bundle.width * group_lanes;
        passes.push_back(pass);
        room += room_for(pass);
      }
    }
    if (memory_.room.size() < room) memory_.room.resize(room);
    auto* next = reinterpret_cast<std::uint8_t*>(memory_.room.data());
    for (Walk& each : passes) {
      each.room = next;
      next += room_for(each);
      CROSSCUT_DISPATCH(survey_feature, each);
    }
    for (const Walk& each : passes) CROSSCUT_DISPATCH(walk_feature, each);
  }
  bundle.settle();
}

// Gives each row a mask per group of lanes.
void Refinement::make_masks(const Bundle& bundle) {
  const std::size_t n_groups = n_lanes_ / group_lanes;
  if (memory_.masks.size() < n_groups * table_.n_rows)
    memory_.masks.resize(n_groups * table_.n_rows);
  if (bundle.any) target_lanes_[0] = ~std::uint64_t{0};
  for (std::size_t k = 0; k < rows_.size(); k++) {
    const auto row = static_cast<std::size_t>(rows_[k]);
    const auto code = static_cast<std::size_t>(table_.codes[row]);
    const std::uint64_t first = lanes_[k] & target_lanes_[code];
    const std::uint64_t second = lanes_[k] & ~first;
    memory_.set_of_row[row] = 0;
    for (std::size_t g = 0; g < n_groups; g++)
      memory_.masks[g * table_.n_rows + row] = static_cast<std::uint32_t>(
          (first >> (16 * g) & 0xffff) | (second >> (16 * g) & 0xffff) << 16);
  }
}

}  // namespace crosscut::rules
