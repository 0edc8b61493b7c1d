// Beam search. All searches extend their rules by one condition at a time, so that the states of
// all tasks are refined together. A search ends when no state can be better than its best rule.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "bundle.hpp"

namespace crosscut::rules {

namespace {

struct Node {
  std::int32_t parent;
  std::int32_t feature, op;
  std::uint32_t rank;
};

class Run {
 public:
  Run(const Table& table, const std::vector<Search>& searches, const Settings& settings,
      Memory& memory)
      : table_(table),
        searches_(searches),
        settings_(settings),
        memory_(memory),
        any_(searches.front().target < 0),
        refinement_(table, settings, any_, memory) {}

  std::vector<std::vector<Condition>> rules() {
    std::vector<State> states;
    std::vector<Best> best(searches_.size());
    for (std::size_t s = 0; s < searches_.size(); s++) {
      State root = root_of(s);
      if (root.n <= 0) continue;
      best[s] = {settings_.greedy ? 0 : quality_of(root), root.n, -1};
      if (is_open(root, best[s])) states.push_back(std::move(root));
    }
    while (!states.empty()) {
      const bool last = is_last(states.front());
      if (last)
        for (State& state : states) state.least = best[state.search].quality;
      const std::size_t width = last ? 1 : static_cast<std::size_t>(settings_.width);
      refinement_.refine(states, width);
      std::vector<State> next;
      for (std::size_t begin = 0, end; begin < states.size(); begin = end) {
        for (end = begin; end < states.size() && states[end].search == states[begin].search;
             end++) {}
        extend(states, begin, end, width, best[states[begin].search], next);
      }
      for (State& state : states) memory_.spare.push_back(std::move(state));
      states = std::move(next);
    }
    std::vector<std::vector<Condition>> result;
    for (std::size_t s = 0; s < searches_.size(); s++) result.push_back(path(s, best[s].node));
    return result;
  }

 private:
  struct Best {
    double quality = 0, n = 0;
    std::int32_t node = -1;
  };

  // Returns a state without rows, which reuses the memory of a finished state.
  State new_state(std::size_t search, std::int32_t length) {
    State state;
    if (!memory_.spare.empty()) {
      state = std::move(memory_.spare.back());
      memory_.spare.pop_back();
    }
    const Search& source = searches_[search];
    state.search = search;
    state.target = source.target;
    state.node = -1;
    state.length = length;
    state.least = -std::numeric_limits<double>::infinity();
    state.rows.clear();
    if (any_) state.a.assign(source.a, source.a + table_.n_classes);
    else state.a.assign(1, source.a[static_cast<std::size_t>(source.target)]);
    state.b = source.b;
    state.least_weight = source.least_weight;
    return state;
  }

  State root_of(std::size_t search) {
    State root = new_state(search, 0);
    root.rows.assign(searches_[search].rows, searches_[search].rows + table_.words);
    count(root);
    return root;
  }

  // Computes the class sums of a state from its rows.
  void count(State& state) const {
    auto& counts = state.counts;
    counts.assign(table_.n_classes, 0.0);
    state.n_rows = CROSSCUT_DISPATCH(count_bits, state.rows.data(), table_.words);
    if (table_.weights.empty()) {
      for (std::size_t c = 0; c < table_.n_classes; c++)
        counts[c] = static_cast<double>(CROSSCUT_DISPATCH(count_common_bits, state.rows.data(),
                                                          table_.of_class[c].data(), table_.words));
    } else {
      for (std::size_t w = 0; w < table_.words; w++)
        for (std::uint64_t set = state.rows[w]; set; set &= set - 1) {
          const std::size_t row = w * 64 + static_cast<std::size_t>(std::countr_zero(set));
          counts[static_cast<std::size_t>(table_.codes[row])] += table_.weights[row];
        }
    }
    state.n = std::accumulate(counts.begin(), counts.end(), 0.0);
    if (!any_) {
      counts[0] = counts[static_cast<std::size_t>(state.target)];
      counts.resize(1);
    }
    set_prior(state);
  }

  // FOIL compares with the fraction of the target before the next condition.
  void set_prior(State& state) const {
    if (settings_.kind == Kind::foil)
      state.a[0] = state.counts[0] > 0 ? std::log2(state.counts[0] / state.n) : 0.0;
  }

  double quality_of(const State& state) const {
    return quality(settings_.kind, any_, state.n, state.counts.data(), state.counts.size(),
                   state.a.data(), state.b);
  }

  // Whether extensions of a rule can be better than the best. They cannot if the rule covers only
  // one class or no row of its class, or if the bound on their quality is too low.
  bool is_open(const State& state, const Best& best) const {
    if (settings_.max_length > 0 && state.length >= settings_.max_length) return false;
    if (!any_ && !(state.counts[0] > 0)) return false;
    if (!(*std::max_element(state.counts.begin(), state.counts.end()) < state.n)) return false;
    return settings_.greedy || most_possible(state) >= best.quality;
  }

  // Whether extensions of this rule have the maximum length: then only the best one is needed.
  bool is_last(const State& state) const {
    return settings_.max_length > 0 && state.length + 1 == settings_.max_length &&
           !settings_.greedy && searches_.front().significance <= 0;
  }

  // An upper bound on the quality of all extensions of a rule: the quality of a rule that covers
  // all rows of one class, and others only if they are needed to reach the minimum weight.
  double most_possible(const State& state) const {
    if (settings_.kind == Kind::entropy) return 0;
    double best = -std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < state.counts.size(); c++) {
      const double n = std::max(state.counts[c], state.least_weight);
      best = std::max(best,
                      quality(settings_.kind, false, n, &state.counts[c], 1, &state.a[c], state.b));
    }
    return best;
  }

  // Tests the class distribution of a rule against the rows of its search by the likelihood ratio.
  bool is_significant(const State& state) {
    const double least = searches_[state.search].significance;
    if (least <= 0) return true;
    const State root = root_of(state.search);
    const auto part = [&](double count, double all) {
      return count > 0 ? count * std::log(count * root.n / (state.n * all)) : 0.0;
    };
    double sum = 0;
    for (std::size_t c = 0; c < state.counts.size(); c++)
      sum += part(state.counts[c], root.counts[c]);
    if (!any_) sum += part(state.n - state.counts[0], root.n - root.counts[0]);
    return 2 * sum >= least;
  }

  // Extends the states of a search by their best conditions; states with equal rows are kept once.
  void extend(const std::vector<State>& states, std::size_t begin, std::size_t end,
              std::size_t width, Best& best, std::vector<State>& next) {
    std::vector<std::pair<std::size_t, const Candidate*>> all;
    for (std::size_t i = begin; i < end; i++)
      for (const Candidate& each : memory_.found[i]) all.emplace_back(i, &each);
    std::sort(all.begin(), all.end(), [](const auto& x, const auto& y) {
      if (x.second->quality != y.second->quality) return x.second->quality > y.second->quality;
      if (x.second->n != y.second->n) return x.second->n > y.second->n;
      // the candidates of a state are sorted already
      return x.first != y.first ? x.first < y.first : x.second < y.second;
    });
    std::vector<Child> kept;
    for (const auto& [from, candidate] : all) {
      if (kept.size() == width) break;
      memory_.poll();
      Child child = child_of(states[from], *candidate);
      const bool known = std::any_of(kept.begin(), kept.end(), [&](Child& other) {
        return other.state.n == child.state.n && other.state.counts == child.state.counts &&
               rows_of(other) == rows_of(child);
      });
      if (known) {
        memory_.spare.push_back(std::move(child.state));
        continue;
      }
      child.state.node = static_cast<std::int32_t>(nodes_.size());
      nodes_.push_back({states[from].node, candidate->feature, candidate->op, candidate->rank});
      kept.push_back(std::move(child));
    }
    for (const Child& child : kept) {
      const double quality = child.by->quality, n = child.state.n;
      const bool preferred =
          quality > best.quality || (quality == best.quality && n > best.n && best.node >= 0);
      if (settings_.greedy || (preferred && is_significant(child.state)))
        best = {quality, n, child.state.node};
    }
    for (Child& child : kept) {
      const bool open = is_open(child.state, best);
      if (open) rows_of(child);
      (open ? next : memory_.spare).push_back(std::move(child.state));
    }
  }

  // A state extended by a candidate; its rows are computed only if they are needed.
  struct Child {
    State state;
    const State* parent;
    const Candidate* by;
  };

  Child child_of(const State& parent, const Candidate& by) {
    Child child{new_state(parent.search, parent.length + 1), &parent, &by};
    if (parent.counts.size() > 2) {
      rows_of(child);
      count(child.state);
      return child;
    }
    child.state.n = by.n;
    child.state.counts.assign(1, by.p);
    if (any_) child.state.counts.push_back(by.n - by.p);
    set_prior(child.state);
    return child;
  }

  const Bits& rows_of(Child& child) const {
    State& state = child.state;
    if (state.rows.empty()) {
      table_.narrow(child.parent->rows, child.by->feature, child.by->op, child.by->rank,
                    state.rows);
      state.n_rows = CROSSCUT_DISPATCH(count_bits, state.rows.data(), table_.words);
    }
    return state.rows;
  }

  // Returns the conditions of a node. A threshold lies between values of the rows that reach it.
  std::vector<Condition> path(std::size_t search, std::int32_t node) {
    std::vector<Node> chosen;
    for (; node >= 0; node = chosen.back().parent)
      chosen.push_back(nodes_[static_cast<std::size_t>(node)]);
    std::reverse(chosen.begin(), chosen.end());
    Bits rows(searches_[search].rows, searches_[search].rows + table_.words);
    std::vector<Condition> result;
    for (const Node& each : chosen) {
      if (!result.empty()) {
        const Node& before = chosen[result.size() - 1];
        table_.narrow(rows, before.feature, before.op, before.rank, rows);
      }
      if (each.op == at_most || each.op == above)
        result.push_back(
            table_.cut(each.feature, each.op, each.rank,
                       table_.next_rank(rows, static_cast<std::size_t>(each.feature), each.rank)));
      else result.push_back({each.feature, each.op, static_cast<double>(each.rank)});
    }
    return result;
  }

  const Table& table_;
  const std::vector<Search>& searches_;
  const Settings& settings_;
  Memory& memory_;
  bool any_;
  Refinement refinement_;
  std::vector<Node> nodes_;
};

}  // namespace

std::vector<std::vector<Condition>> search(const Table& table, const std::vector<Search>& searches,
                                           const Settings& settings, Memory& memory) {
  if (searches.empty()) return {};
  return Run(table, searches, settings, memory).rules();
}

}  // namespace crosscut::rules
