// Groups states into bundles, and chooses the representation of rows: masks of lanes for two
// classes without weights (CN2), else lines of bytes. A shared pass saves sorting and reading rows.
#include "bundle.hpp"

#include <algorithm>
#include <limits>

namespace crosscut::rules {

namespace {

// Cost of a pass per row, relative to one group of lanes. Further groups share the sorting.
double cost(std::size_t lanes) {
  constexpr double further_group = 0.7;
  return 1.0 + further_group * static_cast<double>((lanes - 1) / group_lanes);
}

constexpr std::size_t most_line = 512;  // bytes of a line, so that lines stay in the L1 cache

}  // namespace

Refinement::Refinement(const Table& table, const Settings& settings, bool any, Memory& memory)
    : table_(table),
      settings_(settings),
      memory_(memory),
      any_(any),
      n_columns_(any ? table.n_classes : 2),
      group_(table.n_classes),
      ends_(table.n_features) {
  // with wider beams the bounds cost more than they save
  constexpr std::int32_t most_reached = 16;
  // With masks CN2 (ratio, linear) is 1.3 to 2.0 times faster, but RIPPER (foil) 15 to 22% slower.
  const bool has_slope = settings.kind == Kind::ratio || settings.kind == Kind::linear;
  by_masks_ =
      table.weights.empty() && n_columns_ == 2 && settings.width <= most_reached && has_slope;
  most_lanes_ = by_masks_
                    ? max_lanes
                    : std::clamp(most_line / n_columns_ / group_lanes, std::size_t{1}, max_groups) *
                          group_lanes;
}

void Refinement::refine(const std::vector<State>& states, std::size_t width) {
  if (memory_.found.size() < states.size()) memory_.found.resize(states.size());
  std::vector<const State*> all;
  for (std::size_t i = 0; i < states.size(); i++) {
    memory_.work.alone += static_cast<std::int64_t>(states[i].n_rows);
    memory_.found[i].clear();
    all.push_back(&states[i]);
  }
  memory_.work.states += static_cast<std::int64_t>(states.size());
  for (const auto& members : bundles(all)) {
    memory_.poll();
    Bundle bundle = bundle_of(states, members, width);
    n_lanes_ = bundle.n_lanes;
    gather(bundle);
    by_masks_ ? walk(bundle) : scan(bundle);
    for (std::int32_t row : rows_) memory_.set_of_row[static_cast<std::size_t>(row)] = -1;
    memory_.work.bundles++;
    memory_.work.visits += static_cast<std::int64_t>(rows_.size());
  }
}

Bundle Refinement::bundle_of(const std::vector<State>& states,
                             const std::vector<const State*>& members, std::size_t width) {
  std::vector<std::vector<Candidate>*> best;
  for (const State* state : members)
    best.push_back(&memory_.found[static_cast<std::size_t>(state - states.data())]);
  return Bundle(members, best, settings_, width, memory_.events);
}

// Joins states greedily while one pass is cheaper than two. The first round joins states with many
// common rows, such as states of tasks that chose the same conditions, starting with the largest.
// The second round joins the groups of the first by their estimated cost.
std::vector<std::vector<const State*>> Refinement::bundles(std::vector<const State*> states) const {
  // minimum fraction of common rows; values from 0.1 to 0.4 make little difference
  constexpr double same = 0.2;
  struct Group {
    std::vector<const State*> states;
    Bits rows;
    double n_rows;
    double price() const { return n_rows * cost(states.size()); }
  };
  std::vector<Group> groups;
  const auto common = [&](const Bits& x, const Bits& y) {
    return static_cast<double>(
        CROSSCUT_DISPATCH(count_common_bits, x.data(), y.data(), table_.words));
  };
  const auto join = [&](Group& into, const Group& from, double n_rows) {
    into.states.insert(into.states.end(), from.states.begin(), from.states.end());
    for (std::size_t w = 0; w < table_.words; w++) into.rows[w] |= from.rows[w];
    into.n_rows = n_rows;
  };
  std::stable_sort(states.begin(), states.end(),
                   [](const State* x, const State* y) { return x->n_rows > y->n_rows; });
  for (const State* state : states) {
    memory_.poll();
    Group single{{state}, state->rows, static_cast<double>(state->n_rows)};
    const auto partner = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
      if (group.states.size() == most_lanes_ ||
          std::min(single.n_rows, group.n_rows) < same * std::max(single.n_rows, group.n_rows))
        return false;
      const double both = common(group.rows, single.rows);
      return both >= same * (group.n_rows + single.n_rows - both);
    });
    if (partner == groups.end()) groups.push_back(std::move(single));
    else
      join(*partner, single, partner->n_rows + single.n_rows - common(partner->rows, single.rows));
  }
  std::vector<Group> result;
  for (Group& group : groups) {
    memory_.poll();
    double saved = 0, size = 0;
    Group* into = nullptr;
    for (Group& other : result) {
      if (other.states.size() + group.states.size() > most_lanes_) continue;
      const double together = other.n_rows + group.n_rows - common(other.rows, group.rows);
      const double gain = other.price() + group.price() -
                          together * cost(other.states.size() + group.states.size());
      if (gain > saved) {
        saved = gain;
        size = together;
        into = &other;
      }
    }
    if (into) join(*into, group, size);
    else result.push_back(std::move(group));
  }
  std::vector<std::vector<const State*>> bundles;
  for (Group& group : result) bundles.push_back(std::move(group.states));
  return bundles;
}

}  // namespace crosscut::rules
