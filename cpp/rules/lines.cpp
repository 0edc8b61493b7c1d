// Refinement with a line of bytes per row, for more than two classes, weights, or measures with
// logarithms (RIPPER, entropy). Rows with the same lanes and class share a line, so a pass reads
// few different lines, which stay in the cache.
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "bundle.hpp"

namespace crosscut::rules {

namespace {

// By byte: its eight bits as eight bytes of 0 or 1.
constexpr auto octets = [] {
  std::array<std::array<std::uint8_t, 8>, 256> table{};
  for (unsigned bits = 0; bits < 256; bits++)
    for (unsigned k = 0; k < 8; k++) table[bits][k] = bits >> k & 1;
  return table;
}();

void spread(std::uint64_t lanes, std::size_t n, std::uint8_t* line) {
  for (std::size_t k = 0; k < n / 8; k++)
    std::copy_n(octets[lanes >> (8 * k) & 0xff].data(), 8, line + 8 * k);
}

}  // namespace

void Refinement::scan(Bundle& bundle) {
  make_lines(bundle);
  constexpr std::size_t most_surveyed = 16;  // for wider beams a survey costs more than it saves
  const auto infinity = std::numeric_limits<float>::infinity();
  std::vector<float> a(n_columns_ * n_lanes_, 0.0f), b(n_lanes_, 1.0f), whole(n_lanes_, 0.0f),
      least_weight(n_lanes_, 0.0f);
  std::vector<float> reached(bundle.width <= most_surveyed ? bundle.width * n_lanes_ : 0,
                             -infinity);
  for (std::size_t l = 0; l < bundle.states.size(); l++) {
    const State& state = *bundle.states[l];
    for (std::size_t c = 0; c < state.a.size(); c++)
      a[c * n_lanes_ + l] = static_cast<float>(state.a[c]);
    b[l] = static_cast<float>(state.b);
    whole[l] = static_cast<float>(state.n);
    least_weight[l] = static_cast<float>(state.least_weight);
  }
  if (memory_.sorted.size() < rows_.size() + 16) memory_.sorted.resize(rows_.size() + 16);
  Scan pass{.kind = bundle.kind,
            .any = bundle.any,
            .unequal = settings_.unequal,
            .n_groups = static_cast<std::int32_t>(n_lanes_ / group_lanes),
            .n_columns = static_cast<std::int32_t>(n_columns_),
            .rows = memory_.sorted.data(),
            .sets = memory_.set_of_row.data(),
            .weights = table_.weights.empty() ? nullptr : table_.weights.data(),
            .lines = lines_.data(),
            .a = a.data(),
            .b = b.data(),
            .least = bundle.least.data(),
            .least_weight = least_weight.data(),
            .width = bundle.width,
            .reached = reached.empty() ? nullptr : reached.data(),
            .tolerance = bundle.tolerance.data(),
            .whole = whole.data(),
            .bundle = &bundle};
  for (std::size_t f = 0; f < table_.n_features; f++) {
    pass.n_rows = sort_rows(f, memory_.sorted.data());
    if (pass.n_rows == 0) continue;
    pass.ranks = table_.column(f);
    pass.n_values = table_.n_values[f];
    pass.ends = table_.nominal[f] ? ends_[f].data() : nullptr;
    pass.feature = static_cast<std::int32_t>(f);
    if (memory_.room.size() < room_for(pass)) memory_.room.resize(2 * room_for(pass));
    pass.room = memory_.room.data();
    CROSSCUT_DISPATCH(scan_feature, pass);
  }
}

// Assigns a line to each row. Rows with the same lanes and class share a line; if lanes have
// targets, classes that are not a target count as one class.
void Refinement::make_lines(const Bundle& bundle) {
  stride_ = (n_columns_ * n_lanes_ + 31) / 32 * 32;
  lines_.clear();
  n_sets_ = 0;
  slots_.assign(1024, Slot{});
  if (bundle.any) std::iota(group_.begin(), group_.end(), std::size_t{0});
  else
    for (std::size_t c = 0; c < table_.n_classes; c++) group_[c] = target_lanes_[c] ? c + 1 : 0;
  for (std::size_t k = 0; k < rows_.size(); k++) {
    const auto row = static_cast<std::size_t>(rows_[k]);
    memory_.set_of_row[row] = line_of(lanes_[k], static_cast<std::size_t>(table_.codes[row]));
  }
}

// Returns the line of rows with these lanes and this class; a hash table finds existing lines.
std::int32_t Refinement::line_of(std::uint64_t lanes, std::size_t code) {
  const auto place = [&](std::uint64_t key, std::size_t group) {
    std::size_t k =
        (key * 0x9e3779b97f4a7c15ULL ^ group * 0xbf58476d1ce4e5b9ULL) >> 20 & (slots_.size() - 1);
    while (slots_[k].set >= 0 && (slots_[k].lanes != key || slots_[k].group != group))
      k = (k + 1) & (slots_.size() - 1);
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

}  // namespace crosscut::rules
