#include "rules_bundle.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>

namespace crosscut::rules {

namespace {

// Words of lanes as sets of lanes per row: bit l of mask j is bit j of word l. Blocks of 8 by 8 bits at a time.
void transpose(const std::uint64_t* words, std::size_t lanes, std::uint64_t* masks) {
  std::fill(masks, masks + 64, std::uint64_t{0});
  for (std::size_t first = 0; first < lanes; first += 8)
    for (unsigned byte = 0; byte < 8; byte++) {
      std::uint64_t x = 0, t;
      for (unsigned l = 0; l < 8; l++) x |= (words[first + l] >> (8 * byte) & 0xff) << (8 * l);
      if (!x) continue;
      t = (x ^ (x >> 7)) & 0x00aa00aa00aa00aaULL;
      x ^= t ^ (t << 7);
      t = (x ^ (x >> 14)) & 0x0000cccc0000ccccULL;
      x ^= t ^ (t << 14);
      t = (x ^ (x >> 28)) & 0x00000000f0f0f0f0ULL;
      x ^= t ^ (t << 28);
      for (unsigned j = 0; j < 8; j++) masks[8 * byte + j] |= (x >> (8 * j) & 0xff) << first;
    }
}

// Eight bits as eight octets of 0 or 1.
constexpr auto octets = [] {
  std::array<std::array<std::uint8_t, 8>, 256> table{};
  for (unsigned bits = 0; bits < 256; bits++)
    for (unsigned k = 0; k < 8; k++) table[bits][k] = bits >> k & 1;
  return table;
}();

void spread(std::uint64_t lanes, std::size_t n, std::uint8_t* line) {
  for (std::size_t k = 0; k < n / 8; k++) std::copy_n(octets[lanes >> (8 * k) & 0xff].data(), 8, line + 8 * k);
}

// What a pass costs per row, where one group of lanes costs 1. The figure was chosen by trial: from 0.25 to 1.2 the times
// of benchmarks/rules.py differ by less than a tenth.
double cost(std::size_t lanes) {
  constexpr double further_group = 0.4;
  return 1.0 + further_group * static_cast<double>((lanes - 1) / group_lanes);
}

constexpr std::size_t most_line = 512;  // octets of a line: more would not stay in the nearest cache

}  // namespace

Refinement::Refinement(const Table& table, const Settings& settings, bool any, Memory& memory)
    : table_(table), settings_(settings), memory_(memory), any_(any), n_columns_(any ? table.n_classes : 2),
      most_lanes_(std::clamp(most_line / n_columns_ / group_lanes, std::size_t{1}, max_groups) * group_lanes),
      group_(table.n_classes) {}

std::vector<std::vector<Candidate>> Refinement::refine(const std::vector<State>& states) {
  std::vector<std::vector<Candidate>> result(states.size());
  for (const auto& members : bundles(states)) {
    Bundle bundle(members, settings_);
    scan(bundle);
    for (std::size_t l = 0; l < members.size(); l++)
      result[static_cast<std::size_t>(members[l] - states.data())] = std::move(bundle.best[l]);
  }
  return result;
}

// Puts states together while a common pass is cheaper than two: first those of about the same rows, which are those of
// tasks that chose the same conditions, and then bundles of them.
std::vector<std::vector<const State*>> Refinement::bundles(const std::vector<State>& states) const {
  constexpr double same = 0.8;  // share of common rows from which two states are about the same
  struct Group {
    std::vector<const State*> states;
    Bits rows;
    double n_rows;
    double price() const { return n_rows * cost(states.size()); }
  };
  std::vector<Group> groups;
  const auto common = [&](const Bits& x, const Bits& y) {
    return static_cast<double>(CROSSCUT_DISPATCH(count_common_bits, x.data(), y.data(), table_.words));
  };
  const auto join = [&](Group& into, const Group& from, double n_rows) {
    into.states.insert(into.states.end(), from.states.begin(), from.states.end());
    for (std::size_t w = 0; w < table_.words; w++) into.rows[w] |= from.rows[w];
    into.n_rows = n_rows;
  };
  for (const State& state : states) {
    Group own{{&state}, state.rows, static_cast<double>(state.n_rows)};
    const auto found = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
      if (group.states.size() == most_lanes_ || std::min(own.n_rows, group.n_rows) < same * std::max(own.n_rows, group.n_rows)) return false;
      const double both = common(group.rows, own.rows);
      return both >= same * (group.n_rows + own.n_rows - both);
    });
    if (found == groups.end()) groups.push_back(std::move(own));
    else join(*found, own, found->n_rows + own.n_rows - common(found->rows, own.rows));
  }
  std::vector<Group> result;
  for (Group& group : groups) {
    double saved = 0, size = 0;
    Group* into = nullptr;
    for (Group& other : result) {
      if (other.states.size() + group.states.size() > most_lanes_) continue;
      const double together = other.n_rows + group.n_rows - common(other.rows, group.rows);
      const double gain = other.price() + group.price() - together * cost(other.states.size() + group.states.size());
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

void Refinement::scan(Bundle& bundle) {
  n_lanes_ = bundle.n_lanes;
  gather(bundle);
  std::vector<float> a(n_columns_ * n_lanes_, 0.0f), b(n_lanes_, 1.0f);
  const std::vector<float> least_weight(n_lanes_, static_cast<float>(settings_.least_weight));
  for (std::size_t l = 0; l < bundle.states.size(); l++) {
    for (std::size_t c = 0; c < bundle.states[l]->a.size(); c++) a[c * n_lanes_ + l] = static_cast<float>(bundle.states[l]->a[c]);
    b[l] = static_cast<float>(bundle.states[l]->b);
  }
  constexpr std::size_t most_surveyed = 16;  // wider beams take longer to survey than it spares
  const auto infinity = std::numeric_limits<float>::infinity();
  std::vector<float> whole(n_lanes_, 0.0f), reached(bundle.width <= most_surveyed ? bundle.width * n_lanes_ : 0, -infinity);
  for (std::size_t l = 0; l < bundle.states.size(); l++) whole[l] = static_cast<float>(bundle.states[l]->n);
  Scan pass{};
  pass.kind = bundle.kind;
  pass.any = bundle.any;
  pass.unequal = settings_.unequal;
  pass.n_groups = static_cast<std::int32_t>(n_lanes_ / group_lanes);
  pass.n_columns = static_cast<std::int32_t>(n_columns_);
  pass.weights = table_.weights.empty() ? nullptr : table_.weights.data();
  pass.lines = lines_.data();
  pass.a = a.data();
  pass.b = b.data();
  pass.least = bundle.least.data();
  pass.least_weight = least_weight.data();
  pass.width = bundle.width;
  pass.reached = reached.empty() ? nullptr : reached.data();
  pass.tolerance = bundle.tolerance.data();
  pass.whole = whole.data();
  pass.bundle = &bundle;
  for (std::size_t f = 0; f < table_.n_features; f++) {
    sort_rows(f);
    if (sorted_.empty()) continue;
    pass.rows = sorted_.data();
    pass.sets = sorted_sets_.data();
    pass.n_rows = sorted_.size();
    pass.ranks = table_.column(f);
    pass.n_values = table_.n_values[f];
    pass.ends = table_.nominal[f] ? ends_.data() : nullptr;
    pass.feature = static_cast<std::int32_t>(f);
    if (memory_.room.size() < room_for(pass)) memory_.room.resize(2 * room_for(pass));
    pass.room = memory_.room.data();
    CROSSCUT_DISPATCH(scan_feature, pass);
  }
  for (std::int32_t row : rows_) memory_.set_of_row[static_cast<std::size_t>(row)] = -1;
  memory_.work.bundles++;
  memory_.work.states += static_cast<std::int64_t>(bundle.states.size());
  memory_.work.visits += static_cast<std::int64_t>(rows_.size());
  for (const State* state : bundle.states) memory_.work.alone += static_cast<std::int64_t>(state->n_rows);
}

// Lists the rows of a bundle, and the line of each: rows of the same lanes and of the same class (where lanes have
// targets: of classes that are the targets of the same lanes) share one.
void Refinement::gather(const Bundle& bundle) {
  stride_ = (n_columns_ * n_lanes_ + 31) / 32 * 32;
  rows_.clear();
  lines_.clear();
  n_sets_ = 0;
  slots_.assign(1024, Slot{});
  target_lanes_.assign(table_.n_classes, 0);
  if (bundle.any) {
    std::iota(group_.begin(), group_.end(), std::size_t{0});
  } else {
    for (std::size_t l = 0; l < bundle.states.size(); l++)
      target_lanes_[static_cast<std::size_t>(bundle.states[l]->target)] |= std::uint64_t{1} << l;
    for (std::size_t c = 0; c < table_.n_classes; c++) group_[c] = target_lanes_[c] ? c + 1 : 0;
  }
  std::array<std::uint64_t, max_lanes> words{};
  std::array<std::uint64_t, 64> lanes{};
  for (std::size_t w = 0; w < table_.words; w++) {
    std::uint64_t all = 0;
    for (std::size_t l = 0; l < bundle.states.size(); l++) all |= words[l] = bundle.states[l]->rows[w];
    if (!all) continue;
    transpose(words.data(), bundle.states.size(), lanes.data());
    for (; all; all &= all - 1) {
      const auto j = static_cast<std::size_t>(std::countr_zero(all)), row = w * 64 + j;
      rows_.push_back(static_cast<std::int32_t>(row));
      memory_.set_of_row[row] = line_of(lanes[j], static_cast<std::size_t>(table_.codes[row]));
    }
  }
}

// The line of rows of some lanes and a class.
std::int32_t Refinement::line_of(std::uint64_t lanes, std::size_t code) {
  const auto place = [&](std::uint64_t own, std::size_t group) {
    std::size_t k = (own * 0x9e3779b97f4a7c15ULL ^ group * 0xbf58476d1ce4e5b9ULL) >> 20 & (slots_.size() - 1);
    while (slots_[k].set >= 0 && (slots_[k].lanes != own || slots_[k].group != group)) k = (k + 1) & (slots_.size() - 1);
    return k;
  };
  std::size_t k = place(lanes, group_[code]);
  if (slots_[k].set >= 0) return slots_[k].set;
  if (2 * n_sets_ >= slots_.size()) {
    const auto known = std::move(slots_);
    slots_.assign(4 * known.size(), Slot{});
    for (const Slot& slot : known)
      if (slot.set >= 0) slots_[place(slot.lanes, slot.group)] = slot;
    k = place(lanes, group_[code]);
  }
  slots_[k] = {lanes, group_[code], static_cast<std::int32_t>(n_sets_++)};
  lines_.resize(n_sets_ * stride_, 0);
  std::uint8_t* line = lines_.data() + (n_sets_ - 1) * stride_;
  if (any_) {
    spread(lanes, n_lanes_, line + code * n_lanes_);
  } else {
    spread(lanes & target_lanes_[code], n_lanes_, line);
    spread(lanes & ~target_lanes_[code], n_lanes_, line + n_lanes_);
  }
  return slots_[k].set;
}

// Puts the bundle's rows in the order of a feature, those with a missing value left out.
void Refinement::sort_rows(std::size_t f) {
  constexpr std::size_t few = 24;  // by trial: sorting a row costs about as much as looking whether that many are in the bundle
  const std::uint32_t* ranks = table_.column(f);
  const auto& order = memory_.orders.of(f);
  sorted_.resize(rows_.size() + 16);
  sorted_sets_.resize(rows_.size() + 16);
  std::size_t n = 0;
  if (rows_.size() * few < order.size()) {
    keys_.clear();
    for (std::int32_t row : rows_)
      if (ranks[row] < table_.n_values[f]) keys_.push_back(std::uint64_t{ranks[row]} << 32 | static_cast<std::uint32_t>(row));
    std::sort(keys_.begin(), keys_.end());
    for (std::uint64_t key : keys_) {
      sorted_[n] = static_cast<std::int32_t>(key & 0xffffffff);
      sorted_sets_[n] = memory_.set_of_row[static_cast<std::size_t>(sorted_[n])];
      n++;
    }
  } else {
    n = CROSSCUT_DISPATCH(keep_members, order.data(), order.size(), memory_.set_of_row.data(), sorted_.data(), sorted_sets_.data());
  }
  sorted_.resize(n);
  sorted_sets_.resize(n);
  if (!table_.nominal[f]) return;
  ends_.assign(1, 0);
  for (std::uint32_t v = 0; v < table_.n_values[f]; v++) {
    const auto begin = sorted_.begin() + static_cast<std::ptrdiff_t>(ends_.back());
    const auto end = std::partition_point(begin, sorted_.end(), [&](std::int32_t row) { return ranks[row] <= v; });
    ends_.push_back(static_cast<std::size_t>(end - sorted_.begin()));
  }
}

}  // namespace crosscut::rules
