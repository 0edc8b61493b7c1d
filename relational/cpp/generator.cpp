// Instantiates the literals of modes: backtracks over the variables that each argument can take,
// and over the lookahead literals that may follow.
#include "generator.hpp"

#include <algorithm>
#include <bit>

namespace crosscut::query {

namespace {

std::size_t n_slots(std::span<const Pattern> literals, std::size_t least) {
  for (const Pattern& literal : literals)
    for (const Argument& argument : literal.args)
      least = std::max(least, static_cast<std::size_t>(argument.slot + 1));
  return least;
}

}  // namespace

std::shared_ptr<const Shape> Generator::run(std::span<const std::int32_t> components) {
  auto shape = std::make_shared<Shape>();
  start(*shape, components);
  for (std::size_t m = 0; m < language_.modes.size(); m++) {
    mode_ = static_cast<std::int32_t>(m);
    trail_.assign(1, entry(m));
    begin(language_.modes[m].literals, language_.modes[m].inputs, {}, 0,
          language_.exhaustive_lookahead);
  }
  return shape;
}

std::shared_ptr<const Shape> Generator::run_after(const Shape& from,
                                                  const Shape::Followers& followers,
                                                  std::span<const std::int32_t> components) {
  auto shape = std::make_shared<Shape>();
  start(*shape, components);
  const std::size_t e = followers.entry;
  mode_ = from.entries[e].mode;
  for (std::int32_t type : from.types(e)) {
    scope_.push_back(
        {term(variable, n_old_ + static_cast<std::int32_t>(new_types_.size())), type, 0});
    new_types_.push_back(type);
  }
  const auto bindings = from.bound(e);
  for (std::size_t b = 0; b < bindings.size(); b += 2)
    bound_[static_cast<std::size_t>(bindings[b])] = bindings[b + 1];
  bindings_.assign(bindings.begin(), bindings.end());
  trail_.assign(from.choices(e).begin(), from.choices(e).end());
  code_.assign(from.code(e).begin(), from.code(e).end());
  touched_ = all_;
  go_on({{}, 0, 0, followers.first_term, followers.depth, followers.exhaustive, {}, false});
  new_types_.clear();
  bindings_.clear();
  code_.clear();
  return shape;
}

void Generator::start(Shape& shape, std::span<const std::int32_t> components) {
  shape_ = &shape;
  for (auto* left : {&code_, &slots_, &new_types_, &bindings_})
    left->clear();  // by a run that was stopped
  scope_.clear();
  for (std::size_t f = 0; f < language_.fixed_types.size(); f++)
    scope_.push_back({term(fixed, static_cast<std::int32_t>(f)), language_.fixed_types[f], 0});
  std::int32_t local = 0;
  for (std::size_t b = 0; b < components.size(); b++)
    for (std::int32_t type : components_[components[b]].types)
      scope_.push_back({term(variable, local++), type, std::uint64_t{1} << b});
  n_old_ = local;
  bound_.assign(language_.n_type_variables, any_type);
  all_ = (std::uint64_t{1} << components.size()) - 1;
  touched_ = 0;
}

// Whether the remaining inputs can use every component.
bool Generator::can_reach(std::int32_t inputs, std::int32_t depth, std::int32_t exhaustive) const {
  inputs += std::max(0, language_.max_lookahead - depth) * language_.most_then_inputs;
  inputs += exhaustive * language_.most_inputs;
  return std::popcount(all_ & ~touched_) <= inputs;
}

void Generator::begin(std::span<const Pattern> literals, std::int32_t inputs,
                      std::span<const Term> bound, std::int32_t depth, std::int32_t exhaustive,
                      std::span<const Term> must_use) {
  if (!can_reach(inputs, depth, exhaustive)) return;
  const std::size_t first = slots_.size();
  slots_.insert(slots_.end(), bound.begin(), bound.end());
  slots_.resize(first + n_slots(literals, bound.size()), -1);
  Frame frame{literals, first, inputs, code_.size(), depth, exhaustive, must_use, false};
  literal(frame, 0);
  slots_.resize(first);
}

void Generator::literal(Frame& frame, std::size_t l) {
  if (l == frame.literals.size()) {
    if (frame.must_use.empty() || frame.used) complete(frame);
    return;
  }
  const Pattern& pattern = frame.literals[l];
  code_.push_back(pattern.predicate * 2 + pattern.negated);
  argument(frame, l, 0);
  code_.pop_back();
}

void Generator::argument(Frame& frame, std::size_t l, std::size_t a) {
  const Pattern& pattern = frame.literals[l];
  if (a == pattern.args.size()) {
    literal(frame, l + 1);
    return;
  }
  const Argument& wanted = pattern.args[a];
  const std::size_t slot = frame.slots + static_cast<std::size_t>(std::max(wanted.slot, 0));
  if (wanted.slot >= 0 && slots_[slot] >= 0) {
    place(frame, l, a, slots_[slot]);
    return;
  }
  const auto bind = [&](Term t) {
    if (wanted.slot >= 0) slots_[slot] = t;
    place(frame, l, a, t);
    if (wanted.slot >= 0) slots_[slot] = -1;
  };
  const auto fresh = [&] {
    const auto type = pattern.negated ? hidden : type_of(wanted.type);
    new_types_.push_back(type);
    const Term t = term(variable, n_old_ + static_cast<std::int32_t>(new_types_.size()) - 1);
    scope_.push_back({t, type, 0});
    bind(t);
    scope_.pop_back();
    new_types_.pop_back();
  };
  switch (wanted.mark) {
    case Mark::given:
      place(frame, l, a, wanted.value);
      break;
    case Mark::output:
    case Mark::shared:
      fresh();
      break;
    case Mark::input:
    case Mark::either: {
      const bool counted = wanted.counted;
      frame.inputs -= counted;
      // variables made by this conjunction are reached only by name
      const std::size_t visible =
          frame.depth == 0 ? scope_.size() - new_types_.size() : scope_.size();
      for (std::size_t v = 0; v < visible; v++) {
        const Visible seen = scope_[v];
        const std::int32_t own = type_of(seen.type), asked = type_of(wanted.type);
        if (!fits(own, asked)) continue;
        // an open type, of the argument or of an example's key, is bound by the other one
        const std::int32_t open = own == any_type ? seen.type : wanted.type;
        const bool binds =
            open <= first_type_variable && type_of(open) == any_type && std::max(own, asked) >= 0;
        if (binds) bind_type(open, std::max(own, asked));
        trail_.push_back(seen.term);
        const std::uint64_t before = touched_;
        touched_ |= seen.base;
        if (can_reach(frame.inputs, frame.depth, frame.exhaustive)) bind(seen.term);
        touched_ = before;
        trail_.pop_back();
        if (binds) unbind_type(open);
      }
      if (wanted.mark == Mark::either) {
        trail_.push_back(new_variable);
        if (can_reach(frame.inputs, frame.depth, frame.exhaustive)) fresh();
        trail_.pop_back();
      }
      frame.inputs += counted;
      break;
    }
  }
}

void Generator::place(Frame& frame, std::size_t l, std::size_t a, Term t) {
  const bool before = frame.used;
  frame.used =
      before || std::find(frame.must_use.begin(), frame.must_use.end(), t) != frame.must_use.end();
  code_.push_back(t);
  argument(frame, l, a + 1);
  code_.pop_back();
  frame.used = before;
}

void Generator::complete(const Frame& frame) {
  if (!emit()) go_on(frame);
  else if (may_go_on(frame))
    shape_->followers.push_back({static_cast<std::uint32_t>(shape_->entries.size() - 1),
                                 static_cast<std::uint32_t>(frame.first_code), frame.depth,
                                 frame.exhaustive, nullptr});
}

// False if the test does not use all of the components: then it belongs to another shape.
bool Generator::emit() {
  if (touched_ != all_) return false;
  components_.facts().watch.poll();
  std::int32_t n = 0;
  for (std::size_t i = 0; i < code_.size(); i += components_.length(code_[i])) n++;
  shape_->added.insert(shape_->added.end(), code_.begin(), code_.end());
  shape_->new_types.insert(shape_->new_types.end(), new_types_.begin(), new_types_.end());
  shape_->trail.insert(shape_->trail.end(), trail_.begin(), trail_.end());
  shape_->bindings.insert(shape_->bindings.end(), bindings_.begin(), bindings_.end());
  shape_->entries.push_back({mode_, n, static_cast<std::uint32_t>(shape_->added.size()),
                             static_cast<std::uint32_t>(shape_->new_types.size()),
                             static_cast<std::uint32_t>(shape_->trail.size()),
                             static_cast<std::uint32_t>(shape_->bindings.size())});
  return true;
}

}  // namespace crosscut::query
