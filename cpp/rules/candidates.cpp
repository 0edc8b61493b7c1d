// The best candidates of each lane, sorted by `better`, a total order on exact qualities. So the
// candidates of a lane do not depend on the other lanes of its bundle.
#include <algorithm>
#include <bit>
#include <limits>

#include "bundle.hpp"

namespace crosscut::rules {

namespace {

// Bound on the error of a kernel's approximate quality.
float tolerance_of(Kind kind, double n) {
  if (kind == Kind::ratio) return 1e-5f;
  if (kind == Kind::entropy) return 4e-3f;
  return (kind == Kind::linear ? 1e-5f : 2e-3f) * static_cast<float>(n);
}

// Whether only the better of two conditions is kept: cuts of one feature on the same side, and a
// category with "not the other category" if there are only two.
bool similar(const Candidate& x, const Candidate& y) {
  if (x.feature != y.feature) return false;
  if (x.op == at_most || x.op == above) return x.op == y.op;
  return x.n == y.n && x.op != y.op && x.rank != y.rank;
}

}  // namespace

bool better(const Candidate& x, const Candidate& y) {
  if (x.quality != y.quality) return x.quality > y.quality;
  if (x.n != y.n) return x.n > y.n;
  if (x.feature != y.feature) return x.feature < y.feature;
  if (x.op != y.op) return x.op < y.op;
  return x.rank < y.rank;
}

Bundle::Bundle(const std::vector<const State*>& members,
               const std::vector<std::vector<Candidate>*>& lists, const Settings& settings,
               std::size_t most, std::vector<Event>& room)
    : kind(settings.kind),
      any(members.front()->target < 0),
      width(most),
      n_lanes((members.size() + group_lanes - 1) / group_lanes * group_lanes),
      least_quality(settings.greedy ? 0.0 : -std::numeric_limits<double>::infinity()),
      states(members),
      best(lists),
      least(n_lanes, std::numeric_limits<float>::infinity()),
      tolerance(n_lanes, 0.0f),
      events(room) {
  for (std::size_t l = 0; l < members.size(); l++) {
    tolerance[l] = tolerance_of(kind, members[l]->n);
    least[l] = (settings.greedy ? 0.0f : static_cast<float>(members[l]->least)) - tolerance[l];
  }
}

void offer(Bundle& bundle, std::size_t lane, std::int32_t feature, std::int32_t op,
           std::uint32_t rank, double n, const double* counts) {
  if (lane >= bundle.states.size()) return;
  const State& state = *bundle.states[lane];
  if (!(n > 0) || n >= state.n || n < state.least_weight) return;
  if (!bundle.any && !(counts[0] > 0)) return;
  const Candidate candidate{
      feature,
      op,
      rank,
      quality(bundle.kind, bundle.any, n, counts, state.counts.size(), state.a.data(), state.b),
      n,
      counts[0]};
  if (!(candidate.quality > bundle.least_quality)) return;
  auto& best = *bundle.best[lane];
  if (best.size() == bundle.width && !better(candidate, best.back())) return;
  const auto rival = std::find_if(best.begin(), best.end(),
                                  [&](const Candidate& each) { return similar(each, candidate); });
  if (rival != best.end()) {
    if (!better(candidate, *rival)) return;
    best.erase(rival);
  }
  if (best.size() == bundle.width) best.pop_back();
  best.insert(std::upper_bound(best.begin(), best.end(), candidate, better), candidate);
  if (best.size() == bundle.width)
    bundle.least[lane] = std::max(bundle.least[lane],
                                  static_cast<float>(best.back().quality) - bundle.tolerance[lane]);
}

// Offers the events that can still be among the best of a lane, in their order.
void Bundle::settle() {
  for (const Event& event : events)
    for (std::uint32_t lanes = event.lanes; lanes; lanes &= lanes - 1) {
      const auto l = static_cast<std::size_t>(std::countr_zero(lanes));
      const std::size_t lane = static_cast<std::size_t>(event.group) * group_lanes + l;
      if (event.value[l] < least[lane]) continue;
      const double counts[] = {event.p[l], static_cast<double>(event.n[l]) - event.p[l]};
      offer(*this, lane, event.feature, event.op, event.rank, event.n[l], counts);
    }
  events.clear();
}

Event& note(Bundle& bundle) {
  constexpr std::size_t most_events = 4096;
  if (bundle.events.size() == most_events) bundle.settle();
  return bundle.events.emplace_back();
}

}  // namespace crosscut::rules
