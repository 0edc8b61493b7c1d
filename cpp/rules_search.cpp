// Beam search: the searches of all tasks take a step at the same time, so that their states are refined together.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "rules_bundle.hpp"

namespace crosscut::rules {

namespace {

struct Node {
  std::int32_t parent;
  Condition condition;
};

class Run {
 public:
  Run(const Table& table, const std::vector<Search>& searches, const Settings& settings, Memory& memory)
      : table_(table), searches_(searches), settings_(settings), memory_(memory), any_(searches.front().target < 0),
        refinement_(table, settings, any_, memory) {}

  std::vector<std::vector<Condition>> rules() {
    std::vector<State> states;
    std::vector<Best> best(searches_.size());
    for (std::size_t s = 0; s < searches_.size(); s++) {
      State root = state_of(s, Bits(searches_[s].rows, searches_[s].rows + table_.words), -1, 0);
      if (root.n <= 0) continue;
      best[s] = {settings_.greedy ? 0 : judge(root), root.n, -1};
      if (is_open(root, best[s])) states.push_back(std::move(root));
    }
    while (!states.empty()) {
      const bool last = is_last(states.front());
      if (last)
        for (State& state : states) state.least = best[state.search].quality;
      const std::size_t width = last ? 1 : static_cast<std::size_t>(settings_.width);
      const auto found = refinement_.refine(states, width);
      std::vector<State> next;
      for (std::size_t begin = 0, end; begin < states.size(); begin = end) {
        for (end = begin; end < states.size() && states[end].search == states[begin].search; end++) {}
        extend(states, found, begin, end, width, best[states[begin].search], next);
      }
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

  State state_of(std::size_t search, Bits rows, std::int32_t node, std::int32_t length) const {
    const Search& own = searches_[search];
    State state{search, own.target, node, length, std::move(rows), 0, 0, {}, {}, 0};
    std::vector<double> counts(table_.n_classes, 0.0);
    if (table_.weights.empty()) {
      for (std::size_t c = 0; c < table_.n_classes; c++) {
        const std::size_t own = CROSSCUT_DISPATCH(count_common_bits, state.rows.data(), table_.of_class[c].data(), table_.words);
        state.n_rows += own;
        counts[c] = static_cast<double>(own);
      }
    } else {
      state.n_rows = CROSSCUT_DISPATCH(count_bits, state.rows.data(), table_.words);
      for (std::size_t w = 0; w < table_.words; w++)
        for (std::uint64_t set = state.rows[w]; set; set &= set - 1) {
          const std::size_t row = w * 64 + static_cast<std::size_t>(std::countr_zero(set));
          counts[static_cast<std::size_t>(table_.codes[row])] += table_.weights[row];
        }
    }
    for (double count : counts) state.n += count;
    state.b = own.b;
    if (any_) {
      state.counts = std::move(counts);
      state.a.assign(own.a, own.a + table_.n_classes);
    } else {
      const auto target = static_cast<std::size_t>(own.target);
      state.counts = {counts[target]};
      state.a = {own.a[target]};
      if (settings_.kind == Kind::foil) state.a[0] = counts[target] > 0 ? std::log2(counts[target] / state.n) : 0.0;
    }
    return state;
  }

  double judge(const State& state) const {
    return quality(settings_.kind, any_, state.n, state.counts.data(), state.counts.size(), state.a.data(), state.b);
  }

  // A rule that covers one class only, or no row of its own, cannot become better, nor one that is too short of rows to
  // become better than the best.
  bool is_open(const State& state, const Best& best) const {
    if (settings_.max_length > 0 && state.length >= settings_.max_length) return false;
    if (!any_ && !(state.counts[0] > 0)) return false;
    if (!(*std::max_element(state.counts.begin(), state.counts.end()) < state.n)) return false;
    return settings_.greedy || most_possible(state) >= best.quality;
  }

  // Whether only the best rule that extends this one and its like is asked for: none of them will be extended further.
  bool is_last(const State& state) const {
    return settings_.max_length > 0 && state.length + 1 == settings_.max_length && !settings_.greedy && settings_.significance <= 0;
  }

  // A quality that no conditions added to a rule exceed: that of covering all of a class and nothing else but what a rule
  // has to cover at least.
  double most_possible(const State& state) const {
    if (settings_.kind == Kind::entropy) return 0;
    double best = -std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < state.counts.size(); c++) {
      const double n = std::max(state.counts[c], settings_.least_weight);
      best = std::max(best, quality(settings_.kind, false, n, &state.counts[c], 1, &state.a[c], state.b));
    }
    return best;
  }

  // Likelihood ratio of the covered classes against those of the rows the search started from.
  bool is_significant(const State& state) const {
    if (settings_.significance <= 0) return true;
    const State root = state_of(state.search, Bits(searches_[state.search].rows, searches_[state.search].rows + table_.words), -1, 0);
    const auto part = [&](double count, double all) {
      return count > 0 ? count * std::log(count * root.n / (state.n * all)) : 0.0;
    };
    double sum = 0;
    for (std::size_t c = 0; c < state.counts.size(); c++) sum += part(state.counts[c], root.counts[c]);
    if (!any_) sum += part(state.n - state.counts[0], root.n - root.counts[0]);
    return 2 * sum >= settings_.significance;
  }

  void extend(const std::vector<State>& states, const std::vector<std::vector<Candidate>>& found, std::size_t begin, std::size_t end,
              std::size_t width, Best& best, std::vector<State>& next) {
    std::vector<std::pair<std::size_t, const Candidate*>> all;
    for (std::size_t i = begin; i < end; i++)
      for (const Candidate& each : found[i]) all.emplace_back(i, &each);
    std::sort(all.begin(), all.end(), [](const auto& x, const auto& y) {
      if (x.second->quality != y.second->quality) return x.second->quality > y.second->quality;
      if (x.second->n != y.second->n) return x.second->n > y.second->n;
      return x.first != y.first ? x.first < y.first : x.second < y.second;  // within a state they are in order
    });
    std::vector<State> kept;
    std::vector<double> qualities;
    for (const auto& [from, candidate] : all) {
      if (kept.size() == width) break;
      const State& parent = states[from];
      Bits rows = table_.narrowed(parent.rows, candidate->feature, candidate->op, candidate->rank);
      bool known = false;
      for (std::size_t k = 0; k < kept.size(); k++) known = known || (kept[k].n == candidate->n && kept[k].rows == rows);
      if (known) continue;
      nodes_.push_back({parent.node, {candidate->feature, candidate->op, candidate->rank, candidate->rank}});
      kept.push_back(state_of(parent.search, std::move(rows), static_cast<std::int32_t>(nodes_.size()) - 1, parent.length + 1));
      qualities.push_back(candidate->quality);
    }
    for (std::size_t k = 0; k < kept.size(); k++) {
      const bool preferred = qualities[k] > best.quality || (qualities[k] == best.quality && kept[k].n > best.n && best.node >= 0);
      if (settings_.greedy || (preferred && is_significant(kept[k]))) best = {qualities[k], kept[k].n, kept[k].node};
    }
    for (State& state : kept)
      if (is_open(state, best)) next.push_back(std::move(state));
  }

  // Conditions from first to last, each with the neighbouring ranks of the rows it was chosen for.
  std::vector<Condition> path(std::size_t search, std::int32_t node) {
    std::vector<Condition> result;
    for (; node >= 0; node = nodes_[static_cast<std::size_t>(node)].parent) result.push_back(nodes_[static_cast<std::size_t>(node)].condition);
    std::reverse(result.begin(), result.end());
    Bits rows(searches_[search].rows, searches_[search].rows + table_.words);
    for (Condition& each : result) {
      if (each.op == at_most || each.op == above) each.high = memory_.orders.next_rank(rows, static_cast<std::size_t>(each.feature), each.low);
      rows = table_.narrowed(rows, each.feature, each.op, each.low);
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

std::vector<std::vector<Condition>> search(const Table& table, const std::vector<Search>& searches, const Settings& settings, Memory& memory) {
  if (searches.empty()) return {};
  Bits all(table.words, 0);
  for (const Search& each : searches)
    for (std::size_t w = 0; w < table.words; w++) all[w] |= each.rows[w];
  memory.orders.narrow(all);
  return Run(table, searches, settings, memory).rules();
}

}  // namespace crosscut::rules
