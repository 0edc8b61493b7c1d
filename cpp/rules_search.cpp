#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "dispatch.hpp"
#include "rules.hpp"

CROSSCUT_DECLARE(void scan_feature(const rules::Scan&, bool, bool, bool))

namespace crosscut::rules {

namespace {

using Bits = std::vector<std::uint64_t>;

// A condition that might extend a state, with what it covers.
struct Candidate {
  std::int32_t feature, op;
  std::uint32_t rank;
  double quality, n;
};

bool better(const Candidate& x, const Candidate& y) {
  if (x.quality != y.quality) return x.quality > y.quality;
  if (x.n != y.n) return x.n > y.n;
  if (x.feature != y.feature) return x.feature < y.feature;
  if (x.op != y.op) return x.op < y.op;
  return x.rank < y.rank;
}

// A rule on its way: the rows it covers, and how it came about.
struct State {
  std::size_t search;
  std::int32_t node;  // last condition of the path, -1 at the start
  std::int32_t length;
  Bits rows;
  std::size_t n_rows = 0;
  double n = 0;
  std::vector<double> counts;  // per class, or of the target alone
  std::vector<double> a;
  double b = 0;
};

struct Node {
  std::int32_t parent;
  Condition condition;
};

// Words of lanes as masks of rows: bit l of mask j is bit j of word l. Blocks of 8 by 8 bits at a time.
void transpose(const std::uint64_t* words, std::size_t lanes, std::uint16_t* masks) {
  for (std::size_t first = 0; first < lanes; first += 8)
    for (unsigned byte = 0; byte < 8; byte++) {
      std::uint64_t x = 0, t;
      for (unsigned l = 0; l < 8; l++) x |= (words[first + l] >> (8 * byte) & 0xff) << (8 * l);
      t = (x ^ (x >> 7)) & 0x00aa00aa00aa00aaULL;
      x ^= t ^ (t << 7);
      t = (x ^ (x >> 14)) & 0x0000cccc0000ccccULL;
      x ^= t ^ (t << 14);
      t = (x ^ (x >> 28)) & 0x00000000f0f0f0f0ULL;
      x ^= t ^ (t << 28);
      for (unsigned j = 0; j < 8; j++) masks[8 * byte + j] |= static_cast<std::uint16_t>((x >> (8 * j) & 0xff) << first);
    }
}

// What a pass costs per row, chosen among a few settings by trial: one lane is a plain loop, more are vectors.
double cost(std::size_t lanes) { return lanes == 1 ? 1.0 : lanes <= 8 ? 1.15 : 1.3; }

}  // namespace

struct Bundle {
  Kind kind;
  bool any;
  std::size_t width;
  std::vector<State*> states;
  std::vector<std::vector<Candidate>> best;
  std::vector<float> least, tolerance;
  std::vector<double> least_quality;
  double least_weight;
};

void offer(Bundle& bundle, int lane, std::int32_t feature, std::int32_t op, std::uint32_t rank, double n, const double* counts) {
  const auto l = static_cast<std::size_t>(lane);
  if (l >= bundle.states.size()) return;
  const State& state = *bundle.states[l];
  if (!(n > 0) || n >= state.n || n < bundle.least_weight) return;
  if (!bundle.any && !(counts[0] > 0)) return;
  const std::size_t columns = state.counts.size();
  Candidate found{feature, op, rank, quality(bundle.kind, bundle.any, n, counts, columns, state.a.data(), state.b), n};
  if (!(found.quality > bundle.least_quality[l])) return;
  auto& best = bundle.best[l];
  // the same weight under the same kind of condition means the same rows: a cut between values of other tasks' rows
  for (Candidate& each : best)
    if (each.feature == feature && each.op == op && each.n == n && op != equal) return;
  if (best.size() == bundle.width && !better(found, best.back())) return;
  if (best.size() == bundle.width) best.pop_back();
  best.insert(std::upper_bound(best.begin(), best.end(), found, better), found);
  if (best.size() == bundle.width) bundle.least[l] = static_cast<float>(best.back().quality) - bundle.tolerance[l];
}

namespace {

class Run {
 public:
  Run(const Table& table, const std::vector<Search>& searches, const Settings& settings, Truth& truth, Work& work)
      : table_(table), searches_(searches), settings_(settings), truth_(truth), work_(work), any_(searches.front().target < 0),
        mask_(table.words * 64, 0), sets_(table.n_rows, 0) {}

  std::vector<std::vector<Condition>> rules() {
    std::vector<State> states;
    std::vector<Best> best(searches_.size());
    for (std::size_t s = 0; s < searches_.size(); s++) {
      State root = state_of(s, Bits(searches_[s].rows, searches_[s].rows + table_.words), -1, 0);
      if (root.n <= 0) continue;
      best[s] = {settings_.greedy ? 0 : judge(root), root.n, -1};
      if (is_open(root)) states.push_back(std::move(root));
    }
    while (!states.empty()) {
      const auto found = refine(states);
      std::vector<State> next;
      for (std::size_t begin = 0, end; begin < states.size(); begin = end) {
        for (end = begin; end < states.size() && states[end].search == states[begin].search; end++) {}
        extend(states, found, begin, end, best[states[begin].search], next);
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
    State state{search, node, length, std::move(rows), 0, 0, {}, {}, 0};
    const Search& own = searches_[search];
    std::vector<double> counts(table_.n_classes, 0.0);
    for (std::size_t c = 0; c < table_.n_classes; c++)
      for (std::size_t w = 0; w < table_.words; w++) {
        const std::uint64_t word = state.rows[w] & table_.of_class[c][w];
        const auto n = static_cast<std::size_t>(std::popcount(word));
        state.n_rows += n;
        if (table_.weights.empty()) counts[c] += static_cast<double>(n);
        else
          for (std::uint64_t set = word; set; set &= set - 1)
            counts[c] += table_.weights[w * 64 + static_cast<std::size_t>(std::countr_zero(set))];
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

  // A rule that covers one class only, or no row of its own, cannot become better.
  bool is_open(const State& state) const {
    if (settings_.max_length > 0 && state.length >= settings_.max_length) return false;
    if (!any_) return state.counts[0] > 0 && state.counts[0] < state.n;
    return *std::max_element(state.counts.begin(), state.counts.end()) < state.n;
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
              Best& best, std::vector<State>& next) {
    std::vector<std::pair<std::size_t, const Candidate*>> all;
    for (std::size_t i = begin; i < end; i++)
      for (const Candidate& each : found[i]) all.emplace_back(i, &each);
    std::stable_sort(all.begin(), all.end(), [](const auto& x, const auto& y) {
      if (x.second->quality != y.second->quality) return x.second->quality > y.second->quality;
      return x.second->n > y.second->n;  // then the earlier state; within one they are in order
    });
    std::vector<State> kept;
    std::vector<double> qualities;
    for (const auto& [from, candidate] : all) {
      if (kept.size() == static_cast<std::size_t>(settings_.width)) break;
      const State& parent = states[from];
      Bits rows = truth_.narrowed(parent.rows, parent.n_rows, candidate->feature, candidate->op, candidate->rank);
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
      if (is_open(kept[k])) next.push_back(std::move(kept[k]));
    }
  }

  // Conditions from first to last, each with the neighbouring ranks of the rows it was chosen for.
  std::vector<Condition> path(std::size_t search, std::int32_t node) {
    std::vector<Condition> result;
    for (; node >= 0; node = nodes_[static_cast<std::size_t>(node)].parent) result.push_back(nodes_[static_cast<std::size_t>(node)].condition);
    std::reverse(result.begin(), result.end());
    Bits rows(searches_[search].rows, searches_[search].rows + table_.words);
    for (Condition& each : result) {
      const auto f = static_cast<std::size_t>(each.feature);
      const std::uint32_t* ranks = table_.column(f);
      if (each.op != equal) {
        each.high = table_.n_values[f];
        for (std::size_t w = 0; w < rows.size(); w++)
          for (std::uint64_t set = rows[w]; set; set &= set - 1) {
            const std::uint32_t rank = ranks[w * 64 + static_cast<std::size_t>(std::countr_zero(set))];
            if (rank > each.low && rank < each.high) each.high = rank;
          }
      }
      rows = truth_.narrowed(rows, table_.n_rows, each.feature, each.op, each.low);
    }
    return result;
  }

  // Puts states whose rows overlap together while a common pass is cheaper than two.
  std::vector<std::vector<std::size_t>> clusters(const std::vector<State>& states) const {
    std::vector<std::vector<std::size_t>> result;
    std::vector<Bits> unions;
    std::vector<double> sizes;
    for (std::size_t s = 0; s < states.size(); s++) {
      const Bits& rows = states[s].rows;
      const auto own = static_cast<double>(states[s].n_rows);
      double saved = 0, size = 0;
      std::size_t into = result.size();
      for (std::size_t k = 0; k < result.size(); k++) {
        if (result[k].size() == max_lanes) continue;
        std::size_t joint = 0;
        for (std::size_t w = 0; w < rows.size(); w++) joint += static_cast<std::size_t>(std::popcount(rows[w] | unions[k][w]));
        const double together = static_cast<double>(joint);
        const double gain = sizes[k] * cost(result[k].size()) + own - together * cost(result[k].size() + 1);
        if (gain > saved) {
          saved = gain;
          size = together;
          into = k;
        }
      }
      if (into == result.size()) {
        result.push_back({s});
        unions.push_back(rows);
        sizes.push_back(own);
        continue;
      }
      result[into].push_back(s);
      sizes[into] = size;
      for (std::size_t w = 0; w < rows.size(); w++) unions[into][w] |= rows[w];
    }
    return result;
  }

  std::vector<std::vector<Candidate>> refine(std::vector<State>& states) {
    std::vector<std::vector<Candidate>> result(states.size());
    for (const auto& members : clusters(states)) {
      std::vector<State*> lanes;
      for (std::size_t s : members) lanes.push_back(&states[s]);
      auto found = scan(lanes);
      for (std::size_t l = 0; l < members.size(); l++) result[members[l]] = std::move(found[l]);
    }
    return result;
  }

  std::vector<std::vector<Candidate>> scan(const std::vector<State*>& states) {
    const std::size_t k = states.size(), lanes = k == 1 ? 1 : k <= 8 ? 8 : 16;
    const std::size_t columns = any_ ? table_.n_classes : 1;
    Bundle bundle{settings_.kind, any_, static_cast<std::size_t>(settings_.width), states, {}, {}, {}, {}, settings_.least_weight};
    bundle.best.resize(k);
    std::vector<float> a(columns * lanes, 0.0f), b(lanes, 1.0f);
    std::vector<float> least_weight(lanes, std::numeric_limits<float>::infinity());
    bundle.least.assign(lanes, std::numeric_limits<float>::infinity());
    bundle.tolerance.assign(lanes, 0.0f);
    bundle.least_quality.assign(k, settings_.greedy ? 0.0 : -std::numeric_limits<double>::infinity());
    for (std::size_t l = 0; l < k; l++) {
      for (std::size_t c = 0; c < columns; c++) a[c * lanes + l] = static_cast<float>(states[l]->a[c]);
      b[l] = static_cast<float>(states[l]->b);
      bundle.tolerance[l] = settings_.kind == Kind::ratio     ? 1e-5f
                            : settings_.kind == Kind::entropy ? 4e-3f
                            : settings_.kind == Kind::linear  ? 1e-5f * static_cast<float>(states[l]->n)
                                                              : 2e-3f * static_cast<float>(states[l]->n);
      bundle.least[l] = settings_.greedy ? -bundle.tolerance[l] : -std::numeric_limits<float>::infinity();
      least_weight[l] = static_cast<float>(settings_.least_weight);
    }
    rows_.clear();
    Bits all(table_.words, 0);
    for (std::size_t w = 0; w < table_.words; w++) {
      std::uint64_t own[max_lanes] = {};
      for (std::size_t l = 0; l < k; l++) {
        own[l] = states[l]->rows[w];
        all[w] |= own[l];
      }
      if (all[w]) transpose(own, k, mask_.data() + w * 64);
    }
    for (std::size_t w = 0; w < table_.words; w++)
      for (std::uint64_t set = all[w]; set; set &= set - 1)
        rows_.push_back(static_cast<std::int32_t>(w * 64 + static_cast<std::size_t>(std::countr_zero(set))));
    number_sets(states, lanes);
    Scan pass{};
    pass.kind = settings_.kind;
    pass.any = any_;
    pass.n_lanes = static_cast<std::int32_t>(lanes);
    pass.n_columns = static_cast<std::int32_t>(columns);
    pass.sets = sets_.data();
    pass.n_sets = static_cast<std::int32_t>(set_class_.size());
    pass.set_class = set_class_.data();
    pass.weights = table_.weights.empty() ? nullptr : table_.weights.data();
    pass.members = members_.data();
    pass.targets = targets_.data();
    pass.a = a.data();
    pass.b = b.data();
    pass.least = bundle.least.data();
    pass.least_weight = least_weight.data();
    pass.bundle = &bundle;
    const bool exact_in_float = table_.weights.empty() && table_.n_rows < (1u << 24);
    for (std::size_t f = 0; f < table_.n_features; f++) {
      const bool categories = table_.nominal[f] != 0;
      const std::size_t cells = set_class_.size() * (table_.n_values[f] + 1);
      const bool count = categories || cells <= rows_.size();
      if (!count) sort_rows(f);
      pass.rows = count ? rows_.data() : sorted_.data();
      pass.n_rows = count ? rows_.size() : sorted_.size();
      sums_.resize(std::max(sums_.size(), 3 * columns * max_lanes + (count ? cells : 0)));
      pass.sums = sums_.data();
      pass.ranks = table_.column(f);
      pass.n_values = table_.n_values[f];
      pass.feature = static_cast<std::int32_t>(f);
      if (pass.n_rows > 0) CROSSCUT_DISPATCH(scan_feature, pass, count, categories, exact_in_float);
    }
    work_.bundles++;
    work_.states += static_cast<std::int64_t>(k);
    work_.visits += static_cast<std::int64_t>(rows_.size());
    for (const State* state : states) work_.alone += static_cast<std::int64_t>(state->n_rows);
    for (std::int32_t row : rows_) mask_[static_cast<std::size_t>(row)] = 0;
    return std::move(bundle.best);
  }

  // Rows of the same lanes and class (where lanes have targets: of a class that is the target of the same lanes) share a line of 0/1 numbers to be added.
  void number_sets(const std::vector<State*>& states, std::size_t lanes) {
    members_.clear();
    targets_.clear();
    set_class_.clear();
    // classes that are no lane's target are alike: group 0
    std::vector<std::uint16_t> target_lanes(table_.n_classes, 0);
    std::vector<std::size_t> group(table_.n_classes, 0);
    std::size_t n_groups = 1;
    if (any_) {
      std::iota(group.begin(), group.end(), std::size_t{0});
      n_groups = table_.n_classes;
    } else {
      for (std::size_t l = 0; l < states.size(); l++) {
        const auto c = static_cast<std::size_t>(searches_[states[l]->search].target);
        if (target_lanes[c] == 0) group[c] = n_groups++;
        target_lanes[c] |= static_cast<std::uint16_t>(1u << l);
      }
    }
    const std::size_t n_masks = std::size_t{1} << states.size();
    if (set_of_.size() < n_groups * n_masks) set_of_.resize(n_groups * n_masks, -1);
    std::vector<std::int32_t*> used;
    for (std::int32_t row : rows_) {
      const auto i = static_cast<std::size_t>(row), c = static_cast<std::size_t>(table_.codes[i]);
      std::int32_t& number = set_of_[group[c] * n_masks + mask_[i]];
      if (number < 0) {
        number = static_cast<std::int32_t>(used.size());
        used.push_back(&number);
        set_class_.push_back(static_cast<std::int32_t>(c));
        for (std::size_t l = 0; l < lanes; l++) {
          members_.push_back(static_cast<float>(mask_[i] >> l & 1));
          targets_.push_back(static_cast<float>((mask_[i] & target_lanes[c]) >> l & 1));
        }
      }
      sets_[i] = number;
    }
    for (std::int32_t* each : used) *each = -1;
  }

  // The bundle's rows by rank, those with a missing value left out.
  void sort_rows(std::size_t f) {
    sorted_.clear();
    const std::uint32_t* ranks = table_.column(f);
    if (rows_.size() * 8 < table_.n_rows) {
      for (std::int32_t row : rows_)
        if (ranks[row] < table_.n_values[f]) sorted_.push_back(row);
      std::sort(sorted_.begin(), sorted_.end(), [&](std::int32_t x, std::int32_t y) { return ranks[x] < ranks[y]; });
      return;
    }
    sorted_.resize(rows_.size() + 1);
    std::size_t n = 0;
    for (std::int32_t row : table_.order[f]) {
      sorted_[n] = row;
      n += mask_[static_cast<std::size_t>(row)] != 0;
    }
    sorted_.resize(n);
  }

  const Table& table_;
  const std::vector<Search>& searches_;
  const Settings& settings_;
  Truth& truth_;
  Work& work_;
  bool any_;
  std::vector<std::uint16_t> mask_;
  std::vector<std::int32_t> sets_, rows_, sorted_, set_class_;
  std::vector<std::int32_t> set_of_;
  std::vector<float> members_, targets_;
  std::vector<double> sums_;
  std::vector<Node> nodes_;
};

}  // namespace

std::vector<std::vector<Condition>> search(const Table& table, const std::vector<Search>& searches, const Settings& settings, Truth& truth,
                                          Work& work) {
  if (searches.empty()) return {};
  return Run(table, searches, settings, truth, work).rules();
}

}  // namespace crosscut::rules
