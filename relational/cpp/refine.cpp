// Candidates are made in blocks by the shape of the path's components, and shapes are cached: most
// nodes only look up what earlier nodes generated.
#include "refine.hpp"

#include <algorithm>
#include <limits>

#include "generator.hpp"

namespace crosscut::query {

Refinement::Refinement(Components& components, Language language)
    : components_(components), language_(std::move(language)) {
  // Inputs whose type some literal can produce may come from a component each; the others are fixed
  // variables.
  std::vector<std::int32_t> produced = language_.root_types;
  const auto count_variables = [&](const std::vector<Pattern>& literals) {
    for (const Pattern& literal : literals)
      for (const Argument& argument : literal.args)
        if (argument.type <= first_type_variable)
          language_.n_type_variables =
              std::max(language_.n_type_variables, variable_of(argument.type) + 1);
  };
  const auto collect = [&](const std::vector<Pattern>& literals) {
    for (const Pattern& literal : literals)
      for (const Argument& argument : literal.args)
        if (argument.mark == Mark::output || argument.mark == Mark::either ||
            argument.mark == Mark::shared)
          produced.push_back(argument.type);
  };
  for (const Mode& mode : language_.modes) {
    collect(mode.literals);
    count_variables(mode.literals);
  }
  for (const Lookahead& rule : language_.lookaheads) {
    collect(rule.then);
    count_variables(rule.then);
  }
  for (const auto* types : {&language_.fixed_types, &language_.root_types})
    for (std::int32_t type : *types)
      if (type <= first_type_variable)
        language_.n_type_variables = std::max(language_.n_type_variables, variable_of(type) + 1);
  // Arguments that only a fixed variable can fill are not counted: the bounds are on variables of
  // components.
  const auto inputs = [&](std::vector<Pattern>& literals) {
    std::int32_t n = 0;
    for (Pattern& literal : literals)
      for (Argument& argument : literal.args) {
        argument.counted = (argument.mark == Mark::input || argument.mark == Mark::either) &&
                           std::any_of(produced.begin(), produced.end(), [&](std::int32_t type) {
                             return fits(type, argument.type);
                           });
        n += argument.counted;
      }
    return n;
  };
  for (Mode& mode : language_.modes) {
    mode.inputs = inputs(mode.literals);
    language_.most_inputs = std::max(language_.most_inputs, mode.inputs);
  }
  for (Lookahead& rule : language_.lookaheads) {
    rule.inputs = inputs(rule.then);
    language_.most_then_inputs = std::max(language_.most_then_inputs, rule.inputs);
  }
  if (!language_.auto_lookaheads.empty())
    language_.most_then_inputs = std::max(language_.most_then_inputs, language_.most_inputs);
  max_joined_ = static_cast<std::size_t>(
      language_.most_inputs + language_.most_then_inputs * std::max(0, language_.max_lookahead) +
      language_.most_inputs * std::max(0, language_.exhaustive_lookahead));
  max_joined_ = std::min(max_joined_, Part::max_joined);
  generator_ = std::make_unique<Generator>(components_, language_);
  nothing_ = std::make_shared<const Block>();
}

Refinement::~Refinement() = default;

std::vector<Part> Refinement::blocks(std::span<const std::int32_t> path) {
  // positions, by component, so that the same set is the same block on every path
  std::vector<std::int32_t> order(path.size());
  for (std::size_t i = 0; i < path.size(); i++) order[i] = static_cast<std::int32_t>(i);
  std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return std::pair(components_.found(path[static_cast<std::size_t>(a)]), a) <
           std::pair(components_.found(path[static_cast<std::size_t>(b)]), b);
  });
  std::vector<Part> result;
  std::vector<std::int32_t> chosen;
  std::array<std::int32_t, Part::max_joined> positions{};
  const auto subsets = [&](auto& self, Known& known, std::size_t first) -> void {
    if (!known.block) {
      std::vector<std::int32_t> types;
      for (std::int32_t component : chosen) {
        const auto own = components_[component].types;
        types.insert(types.end(), own.begin(), own.end());
        types.push_back(std::numeric_limits<std::int32_t>::min());  // no type
      }
      auto& shape = shapes_[std::move(types)];
      if (!shape) shape = generator_->run(chosen);
      known.block = make(shape, chosen, -1);
      if (chosen.empty() && known.block->size() > 0) known.block->table = std::move(first_table_);
    }
    if (known.block->size() > 0) result.push_back({known.block, positions});
    if (chosen.size() == max_joined_) return;
    for (std::size_t i = first; i < order.size(); i++) {
      const std::int32_t component = path[static_cast<std::size_t>(order[i])];
      positions[chosen.size()] = order[i];
      chosen.push_back(component);
      auto& longer = known.longer[component];
      if (!longer) longer = std::make_unique<Known>();
      self(self, *longer, i + 1);
      chosen.pop_back();
    }
  };
  subsets(subsets, known_, 0);
  return result;
}

std::shared_ptr<const Block> Refinement::make(std::shared_ptr<const Shape> shape,
                                              std::span<const std::int32_t> components,
                                              std::int32_t after) {
  if (shape->entries.empty()) return nothing_;
  auto made = std::make_shared<Block>();
  made->components.assign(components.begin(), components.end());
  made->after = after;
  made->queries.assign(shape->entries.size(), -1);
  made->followers.resize(shape->followers.size());
  made->shape = std::move(shape);
  for (std::size_t e = 0; names_all && e < made->size(); e++) query(*made, e);
  return made;
}

std::int32_t Refinement::query(const Block& block, std::size_t entry) {
  std::int32_t& number = block.queries[entry];
  if (number >= 0) return number;
  components_.facts().watch.poll();
  components_.extend(block.components, block.shape->code(entry), block.shape->types(entry),
                     extension_);
  return number = extension_.query;
}

const std::shared_ptr<const Block>& Refinement::follow(const Block& block, std::size_t number) {
  const Shape::Followers& followers = block.shape->followers[number];
  if (!followers.shape)
    followers.shape = generator_->run_after(*block.shape, followers, block.components);
  auto& made = block.followers[number];
  if (!made) made = make(followers.shape, block.components, query(block, followers.entry));
  return made;
}

Candidates Refinement::candidates(std::span<const std::int32_t> path) {
  Candidates made;
  made.start(*this, path, blocks(path));
  for (std::size_t p = 0; p < made.parts.size(); p++) {
    const Part part = made.parts[p];
    for (std::size_t f = 0; f < part.block->followers.size(); f++)
      if (const auto& block = follow(*part.block, f); block->size() > 0)
        made.add({block, part.places});
    for (std::size_t e = 0; e < part.block->size(); e++) query(*part.block, e);
  }
  return made;
}

std::size_t part_of(const Candidates& candidates, std::int32_t number) {
  const auto after = std::upper_bound(candidates.first.begin(), candidates.first.end(),
                                      static_cast<std::size_t>(number));
  return static_cast<std::size_t>(after - candidates.first.begin() - 1);
}

Chosen choose(const Candidates& candidates, std::int32_t number) {
  const std::size_t part = part_of(candidates, number);
  Chosen chosen;
  chosen.block = candidates.parts[part].block.get();
  chosen.positions = candidates.parts[part].positions();
  chosen.index = static_cast<std::size_t>(number) - candidates.first[part];
  return chosen;
}

bool adds_nothing(const Components& components, const Chosen& chosen) {
  const std::int32_t query = chosen.block->queries[chosen.index];
  const auto& bases = chosen.block->components;
  const auto is_base = [&](std::int32_t part) {
    return std::find(bases.begin(), bases.end(), part) != bases.end();
  };
  const auto parts = components[query].parts;
  return parts.empty() ? is_base(query) : std::all_of(parts.begin(), parts.end(), is_base);
}

bool generated_before(const Components& components, const Language& language,
                      const Candidates& candidates, const Chosen& left, const Chosen& right,
                      std::span<const std::int32_t> ages) {
  const auto rank = [&](const Chosen& at, Term choice) -> std::int64_t {
    if (choice == new_variable) return std::numeric_limits<std::int64_t>::max();
    if (kind_of(choice) == constant) return number_of(choice);
    const auto n_own = static_cast<std::int64_t>(ages.size());
    if (kind_of(choice) == fixed)
      return n_own + static_cast<std::int64_t>(language.fixed_types.size()) - number_of(choice);
    std::int64_t local = number_of(choice);
    for (std::size_t p = 0; p < at.positions.size(); p++) {
      const auto size = static_cast<std::int64_t>(components[at.block->components[p]].types.size());
      if (local < size) {
        for (std::int32_t before = 0; before < at.positions[p]; before++)
          local += static_cast<std::int64_t>(
              components[candidates.path[static_cast<std::size_t>(before)]].types.size());
        return ages[static_cast<std::size_t>(local)];
      }
      local -= size;
    }
    return -1 - local;  // a variable of the test itself is newer than those of the path
  };
  const auto mine = left.trail(), other = right.trail();
  for (std::size_t i = 0; i < std::min(mine.size(), other.size()); i++) {
    const auto x = rank(left, mine[i]), y = rank(right, other[i]);
    if (x != y) return x < y;
  }
  return mine.size() < other.size();
}

}  // namespace crosscut::query
