// Searching a pack on one example, depth first: bindings are extended once for all queries that share them.
#include <bit>

#include "pack.hpp"
#include "tails.hpp"

namespace crosscut::query {

const std::vector<std::int32_t>& Pack::search(Effort& effort) {
  effort_ = &effort;
  decided_.clear();
  proceed(0);
  return decided_;
}

// After a step's literal has matched: queries that end here are true, and the following literals are tried. Returns
// how many were decided.
std::int32_t Pack::proceed(std::int32_t number) {
  const Step& step = steps_[static_cast<std::size_t>(number)];
  std::int32_t decided = 0;
  for (std::int32_t query = step.terminal; query >= 0; query = ends_[static_cast<std::size_t>(query)].same)
    if (is_open(query)) {
      open_[static_cast<std::size_t>(query)] = 0;
      decided_.push_back(query);
      decided++;
    }
  for (std::int32_t next = step.first; next >= 0; next = steps_[static_cast<std::size_t>(next)].next) {
    if (left_[static_cast<std::size_t>(next)] == 0) continue;
    decided += steps_[static_cast<std::size_t>(next)].is_switch ? visit_switch(next) : visit(next);
    if (effort_->over) break;
  }
  for (Group& group : groups_)
    if (group.trunk == number && !effort_->over) decided += look_up(group);
  left_[static_cast<std::size_t>(number)] -= decided;
  return decided;
}

std::int32_t Pack::look_up(Group& group) {
  std::uint64_t any = 0;
  for (std::uint64_t word : group.open) any |= word;
  if (!any) return 0;
  const auto found = tails_->found(group.kind, *effort_, values_[static_cast<std::size_t>(group.variable)], group.open);
  std::int32_t decided = 0;
  for (std::size_t w = 0; w < group.open.size(); w++) {
    std::uint64_t hits = group.open[w] & found[w];
    group.open[w] &= ~hits;
    for (; hits; hits &= hits - 1) {
      const std::int32_t query = group.queries[w * 64 + static_cast<std::size_t>(std::countr_zero(hits))];
      open_[static_cast<std::size_t>(query)] = 0;
      decided_.push_back(query);
      decided++;
    }
  }
  return decided;
}

// Whether a fact has equal values where the literal repeats a variable; binds its outputs.
bool Pack::matches(const Step& step, std::uint32_t row) {
  for (std::uint32_t r = step.repeated; r < step.repeated + step.n_repeated; r++)
    if (step.relation->at(repeated_[r].first, row) != step.relation->at(repeated_[r].second, row)) return false;
  for (std::uint32_t o = step.output; o < step.output + step.n_outputs; o++)
    values_[static_cast<std::size_t>(outputs_[o].second)] = step.relation->at(outputs_[o].first, row);
  return true;
}

// Takes a step with the values bound there; false if the limit is exceeded.
bool Pack::begin(const Step& step, std::int32_t* key) {
  if (++effort_->taken > effort_->limit) {
    effort_->over = true;
    return false;
  }
  if (effort_->taken >= effort_->look) {
    effort_->look = effort_->taken + (1 << 16);
    facts_.watch.look();
  }
  for (std::uint32_t i = 0; i < step.n_key; i++) key[i] = value(keys_[step.key + i]);
  return true;
}

std::int32_t Pack::visit(std::int32_t number) {
  const Step& step = steps_[static_cast<std::size_t>(number)];
  Effort& effort = *effort_;
  std::int32_t key[64];
  if (!begin(step, key)) return 0;
  if (step.relation == nullptr) {
    if (step.predicate == equal && !step.negated && step.n_outputs == 1 && step.n_key == 1) {
      values_[static_cast<std::size_t>(outputs_[step.output].second)] = key[0];
      return proceed(number);
    }
    if (step.n_outputs > 0) return 0;  // no answer for open arguments
    const bool holds =
        step.test >= 0 ? facts_.compare(step.test, key[0], key[1]) : facts_.holds(step.predicate, key, effort.taken);
    return holds != step.negated ? proceed(number) : 0;
  }
  Index::Range range{0, static_cast<std::uint32_t>(step.relation->n_rows())};
  if (step.index) range = step.index->find(key);
  std::int32_t decided = 0;
  for (std::uint32_t i = range.begin; i < range.end; i++) {
    if (++effort.taken > effort.limit) {
      effort.over = true;
      return decided;
    }
    const std::uint32_t row = step.index ? step.index->row(i) : i;
    if (!matches(step, row)) continue;
    if (step.negated) return 0;
    decided += proceed(number);
    if (effort.over || left_[static_cast<std::size_t>(number)] == 0) return decided;
  }
  return step.negated ? proceed(number) : decided;
}

std::int32_t Pack::visit_switch(std::int32_t number) {
  const Step& step = steps_[static_cast<std::size_t>(number)];
  Effort& effort = *effort_;
  std::int32_t key[64];
  if (!begin(step, key)) return 0;
  const Index::Range range = step.index->find(key);
  std::int32_t& left = left_[static_cast<std::size_t>(number)];
  std::int32_t decided = 0;
  // the cost of examining all facts, against that of looking up all open literals
  if (range.end - range.begin > static_cast<std::uint32_t>(4 * left + step.n_cases / 4)) {
    for (std::int32_t each = step.first; each >= 0 && !effort.over; each = steps_[static_cast<std::size_t>(each)].next)
      if (left_[static_cast<std::size_t>(each)] > 0) decided += visit(each);
    left -= decided;
    return decided;
  }
  for (std::uint32_t i = range.begin; i < range.end && left > 0; i++) {
    if (++effort.taken > effort.limit) {
      effort.over = true;
      break;
    }
    const std::uint32_t row = step.index->row(i);
    const std::int32_t chosen = case_of(number, row);
    if (chosen < 0 || left_[static_cast<std::size_t>(chosen)] == 0 || !matches(step, row)) continue;
    const std::int32_t more = proceed(chosen);
    left -= more;
    decided += more;
    if (effort.over) break;
  }
  return decided;
}

// The literal after a switch that has the constants of a fact; its hash is that of those constants.
std::int32_t Pack::case_of(std::int32_t of, std::uint32_t row) {
  const Step& step = steps_[static_cast<std::size_t>(of)];
  const std::int32_t one = step.relation->at(step.column, row);
  const std::int32_t other = step.second_column < 0 ? -1 : step.relation->at(step.second_column, row);
  std::uint64_t h = mix(hash_of(of, {}), one);
  if (other >= 0) h = mix(h, other);
  return table_.find(h, [&](std::int32_t number) {
    const Step& found = steps_[static_cast<std::size_t>(number)];
    if (found.hash != h || found.before != of) return false;
    const Term* code = codes_.data() + found.code + 1;
    return number_of(code[step.column]) == one && (other < 0 || number_of(code[step.second_column]) == other);
  });
}

}  // namespace crosscut::query
