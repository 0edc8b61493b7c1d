// Objects are collected by searching the component once per example. Longer components reuse the
// objects of the shorter one whenever what they add are tails on the same variable.
#include "solutions.hpp"

#include <algorithm>

namespace crosscut::query {

Solutions::Base::Base(Facts& facts, const Components& components, std::int32_t number,
                      std::size_t n_examples)
    : pack(facts, components), examples(n_examples) {
  const Component component = components[number];
  pack.reserve_variables(component.types.size());
  std::vector<char> bound(component.types.size(), 0);
  for (std::size_t i = 0; i < component.code.size(); i += components.length(component.code[i]))
    last = pack.add(last, component.code.data() + i, bound);
}

// Leaves in needed_ the tails on the variable that the component adds to the base.
Solutions::Base& Solutions::base_of(std::int32_t component, std::int32_t variable) {
  std::fill(needed_.begin(), needed_.end(), 0);
  for (Tails::Place place;
       place = tails_.place(component), place.tail >= 0 && place.variable == variable;) {
    const auto word = static_cast<std::size_t>(place.tail / 64);
    if (needed_.size() <= word) needed_.resize(word + 1, 0);
    needed_[word] |= std::uint64_t{1} << place.tail % 64;
    component = components_[component].parent;
  }
  auto& base =
      bases_[static_cast<std::uint64_t>(component) << 32 | static_cast<std::uint32_t>(variable)];
  if (!base) {
    base = std::make_unique<Base>(facts_, components_, component, order_.size());
    bytes_ += sizeof(Base::Own) * order_.size();
  }
  return *base;
}

void Solutions::find(std::int32_t component, std::int32_t variable,
                     std::span<const std::uint64_t> asked, std::span<const std::int32_t> examples,
                     std::vector<std::uint64_t>& result) {
  const std::int32_t kind =
      tails_.kind(components_[component].types[static_cast<std::size_t>(variable)]);
  Base& base = base_of(component, variable);
  const std::size_t n = asked.size();
  needed_.resize(std::max(needed_.size(), n), 0);
  asked_ = needed_;
  for (std::size_t w = 0; w < n; w++) asked_[w] |= asked[w];
  result.assign(examples.size() * n, 0);
  doubts_.clear();
  std::vector<std::uint64_t> doubtful;
  const bool few = tails_.n_tails(kind) <= 64;
  constexpr std::size_t ahead = 8;  // of many examples, little is in a cache
  for (std::size_t i = 0; i < examples.size(); i++) {
    if (i + 2 * ahead < examples.size()) {
      __builtin_prefetch(&base.examples[static_cast<std::size_t>(examples[i + 2 * ahead])]);
      __builtin_prefetch(base.held.data() +
                         base.examples[static_cast<std::size_t>(examples[i + ahead])].begin);
    }
    Base::Own& here = base.examples[static_cast<std::size_t>(examples[i])];
    if (here.begin > here.end) search(base, variable, kind, examples[i]);
    std::uint64_t* own = result.data() + i * n;
    if (few && base.cut_off.empty() && !tails_.gave_up(kind)) {
      *own = find_few(base, kind, here) & asked[0];
      if (!tails_.gave_up(kind)) continue;
    }
    if (!base.cut_off.empty() && base.cut_off.contains(examples[i]))
      doubtful.assign(asked.begin(), asked.end());
    for (std::uint32_t o = here.begin; o < here.end; o++) {
      const std::uint64_t* held = tails_.found(kind, base.objects[o], asked_);
      std::uint64_t missing = 0;
      for (std::size_t w = 0; w < needed_.size(); w++) missing |= needed_[w] & ~held[w];
      if (const auto* over = tails_.given_up(kind, base.objects[o])) {
        // one of the component's own tails, or some that are asked for, may hold
        bool may = false;
        for (std::size_t w = 0; w < std::min(needed_.size(), over->size()); w++)
          may |= (needed_[w] & (*over)[w]) != 0;
        doubtful.resize(n, 0);
        for (std::size_t w = 0; w < std::min(n, over->size()); w++)
          doubtful[w] |= asked[w] & (may ? ~std::uint64_t{0} : missing ? 0 : (*over)[w]);
      }
      if (missing) continue;
      for (std::size_t w = 0; w < n; w++) own[w] |= held[w] & asked[w];
    }
    if (doubtful.empty()) continue;
    for (std::size_t w = 0; w < n; w++) doubtful[w] &= ~own[w];
    doubts_.push_back({i, std::move(doubtful)});
    doubtful.clear();
  }
}

// The tails that hold for an object for which those of needed_ do, where there are few tails.
std::uint64_t Solutions::find_few(Base& base, std::int32_t kind, Base::Own& own) {
  const std::int32_t n_tails = tails_.n_tails(kind);
  if (own.n_tails < n_tails) {
    const std::uint64_t every = ~std::uint64_t{0} >> (64 - n_tails);
    for (std::uint32_t o = own.begin; o < own.end; o++)
      base.held[o] = *tails_.found(kind, base.objects[o], {&every, 1});
    own.n_tails = n_tails;
  }
  const std::uint64_t needed = needed_[0];
  std::uint64_t found = 0;
  for (std::uint32_t o = own.begin; o < own.end; o++)
    found |= (needed & ~base.held[o]) == 0 ? base.held[o] : 0;
  return found;
}

bool Solutions::add_objects(Base& base, const Variable& of, std::span<const std::uint64_t> needed,
                            std::int32_t position, std::vector<std::int32_t>& objects) {
  const std::int32_t kind =
      tails_.kind(components_[of.component].types[static_cast<std::size_t>(of.variable)]);
  const Base::Own& here = base.examples[static_cast<std::size_t>(position)];
  if (here.begin > here.end) search(base, of.variable, kind, position);
  objects.clear();
  bool sure = !base.cut_off.contains(position);
  for (std::uint32_t o = here.begin; o < here.end; o++) {
    const std::uint64_t* held = tails_.found(kind, base.objects[o], needed);
    std::uint64_t missing = 0;
    for (std::size_t w = 0; w < needed.size(); w++) missing |= needed[w] & ~held[w];
    if (!missing) objects.push_back(base.objects[o]);
    else if (const auto* over = tails_.given_up(kind, base.objects[o]))
      for (std::size_t w = 0; w < std::min(needed.size(), over->size()); w++)
        sure = sure && (needed[w] & (*over)[w]) == 0;
  }
  return sure;
}

void Solutions::find_linked(const Variable& from, const Variable& to, std::int32_t kind,
                            std::span<const std::uint64_t> asked,
                            std::span<const std::int32_t> examples,
                            std::vector<std::uint64_t>& result) {
  Base& left = base_of(from.component, from.variable);
  const std::vector<std::uint64_t> needed = needed_;
  Base& right = base_of(to.component, to.variable);
  const std::vector<std::uint64_t> needed_right = needed_;
  const std::int32_t from_kind =
      tails_.kind(components_[from.component].types[static_cast<std::size_t>(from.variable)]);
  result.assign(examples.size() * asked.size(), 0);
  doubts_.clear();
  std::vector<std::uint64_t> doubtful(asked.size());
  for (std::size_t i = 0; i < examples.size(); i++) {
    const bool all_left = add_objects(left, from, needed, examples[i], from_);
    const bool all_right = add_objects(right, to, needed_right, examples[i], to_);
    for (std::size_t w = 0; w < asked.size(); w++)
      doubtful[w] = all_left && all_right ? 0 : asked[w];
    mark_++;
    for (std::int32_t each : to_) {
      if (marks_.size() <= static_cast<std::size_t>(each))
        marks_.resize(2 * static_cast<std::size_t>(each) + 64, 0);
      marks_[static_cast<std::size_t>(each)] = mark_;
    }
    const auto example = static_cast<std::size_t>(order_[static_cast<std::size_t>(examples[i])]);
    for (std::int32_t each : from_) {
      const Tails::Links links = tails_.links(kind, example, tails_.value_of(from_kind, each));
      for (std::size_t w = 0; links.over != nullptr && w < asked.size(); w++)
        doubtful[w] |= asked[w] & (*links.over)[w];
      const std::size_t words = tails_.words(kind);
      for (std::size_t l = 0; l < links.objects.size(); l++) {
        const auto other = static_cast<std::size_t>(links.objects[l]);
        if (other >= marks_.size() || marks_[other] != mark_) continue;
        for (std::size_t w = 0; w < asked.size(); w++)
          result[i * asked.size() + w] |= links.held[l * words + w] & asked[w];
      }
    }
    std::uint64_t any = 0;
    for (std::size_t w = 0; w < asked.size(); w++)
      any |= doubtful[w] &= ~result[i * asked.size() + w];
    if (any) doubts_.push_back({i, doubtful});
  }
}

void Solutions::search(Base& base, std::int32_t variable, std::int32_t kind,
                       std::int32_t position) {
  facts_.watch.poll();
  const auto at = static_cast<std::size_t>(position);
  const auto example = static_cast<std::size_t>(order_[at]);
  Effort effort{example, facts_.fixed_of(example), limit_};
  values_ = base.pack.values(effort, base.last, variable);
  steps_ += effort.taken;
  if (effort.over) base.cut_off.insert(position);
  std::sort(values_.begin(), values_.end());
  values_.erase(std::unique(values_.begin(), values_.end()), values_.end());
  const std::size_t first = base.objects.size();
  for (std::int32_t value : values_) base.objects.push_back(tails_.object(kind, example, value));
  base.held.resize(base.objects.size(), 0);
  bytes_ += 12 * values_.size();
  base.examples[at] = {static_cast<std::uint32_t>(first),
                       static_cast<std::uint32_t>(base.objects.size()), 0};
}

void Solutions::forget() {
  bases_.clear();
  bytes_ = 0;
}

}  // namespace crosscut::query
