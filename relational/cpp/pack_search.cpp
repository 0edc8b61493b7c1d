// Searches a pack on one example, depth first. Bindings are extended once for all queries that
// share a prefix; a query is closed at its first solution, and a branch without open queries is
// cut.
#include "pack.hpp"

namespace crosscut::query {

const std::vector<std::int32_t>& Pack::search(Effort& effort) {
  effort_ = &effort;
  decided_.clear();
  given_up_.clear();
  by_branch_ = false;  // a search may have been interrupted
  watched_ = reported_ = -1;
  proceed(0);
  if (!effort.over) return decided_;
  // The pack takes at least as many steps as each of its queries. Those still open start again, and
  // each branch counts its own.
  effort.over = false;
  by_branch_ = true;
  spent_.assign(steps_.size(), 0);
  proceed(0);
  by_branch_ = false;
  return decided_;
}

const std::vector<std::int32_t>& Pack::values(Effort& effort, std::int32_t step,
                                              std::int32_t variable) {
  effort_ = &effort;
  by_branch_ = false;
  close_all();
  for (std::int32_t s = step; s >= 0; s = steps_[static_cast<std::size_t>(s)].before)
    left_[static_cast<std::size_t>(s)] = 1;
  watched_ = step;
  watched_variable_ = variable;
  reported_ = -1;
  seen_.clear();
  proceed(0);
  watched_ = -1;
  close_all();
  return seen_;
}

const std::vector<std::pair<std::int32_t, std::int32_t>>& Pack::solutions(Effort& effort,
                                                                          std::int32_t variable) {
  effort_ = &effort;
  given_up_.clear();
  watched_ = -1;
  reported_ = variable;
  for (const bool by_branch : {false, true}) {  // as in search()
    by_branch_ = by_branch;
    effort.over = false;
    reports_.clear();
    spent_.assign(by_branch ? steps_.size() : 0, 0);
    proceed(0);
    if (!effort.over) break;
  }
  by_branch_ = false;
  return reports_;
}

// Counts a step; false if the search has to stop there.
bool Pack::take(std::int32_t step) {
  if (++effort_->taken >= effort_->look) {
    effort_->look = effort_->taken + (1 << 16);
    facts_.watch.look();
  }
  if (!by_branch_) {
    effort_->over = effort_->taken > effort_->limit;
    return !effort_->over;
  }
  spent_[static_cast<std::size_t>(step)]++;
  std::uint64_t all = 0;
  for (std::int32_t s = step; s >= 0; s = steps_[static_cast<std::size_t>(s)].before)
    all += spent_[static_cast<std::size_t>(s)];
  if (all <= effort_->limit) return true;
  give_up(step);
  return false;
}

// Closes the open queries at or below a step.
void Pack::give_up(std::int32_t step) {
  for (std::int32_t query = 0; query < static_cast<std::int32_t>(ends_.size()); query++) {
    if (!is_open(query)) continue;
    std::int32_t s = ends_[static_cast<std::size_t>(query)].step;
    while (s >= 0 && s != step) s = steps_[static_cast<std::size_t>(s)].before;
    if (s < 0) continue;
    close(query);
    given_up_.push_back(query);
  }
}

// After a step's literal has matched: queries that end here are true, and the following literals
// are tried. Returns how many were decided.
std::int32_t Pack::proceed(std::int32_t number) {
  const Step& step = steps_[static_cast<std::size_t>(number)];
  std::int32_t decided = 0;
  if (number == watched_) seen_.push_back(values_[static_cast<std::size_t>(watched_variable_)]);
  for (std::int32_t query = step.terminal; query >= 0;
       query = ends_[static_cast<std::size_t>(query)].same)
    if (is_open(query) && reported_ >= 0) {
      reports_.emplace_back(query, values_[static_cast<std::size_t>(reported_)]);
    } else if (is_open(query)) {
      open_[static_cast<std::size_t>(query)] = 0;
      decided_.push_back(query);
      decided++;
    }
  for (std::int32_t next = step.first; next >= 0;
       next = steps_[static_cast<std::size_t>(next)].next) {
    if (left_[static_cast<std::size_t>(next)] == 0) continue;
    decided += steps_[static_cast<std::size_t>(next)].is_switch ? visit_switch(next) : visit(next);
    if (effort_->over) break;
  }
  left_[static_cast<std::size_t>(number)] -= decided;
  return decided;
}

// Whether a fact has equal values where the literal repeats a variable; binds its outputs.
bool Pack::matches(const Step& step, std::uint32_t row) {
  for (std::uint32_t r = step.repeated; r < step.repeated + step.n_repeated; r++)
    if (step.relation->at(repeated_[r].first, row) != step.relation->at(repeated_[r].second, row))
      return false;
  for (std::uint32_t o = step.output; o < step.output + step.n_outputs; o++)
    values_[static_cast<std::size_t>(outputs_[o].second)] =
        step.relation->at(outputs_[o].first, row);
  return true;
}

// Takes a step with the values bound there; false if the search has to stop. A branch counts a
// switch and the literal after it as one step, so that it takes no more of them than the pack as a
// whole, which may look at facts instead of literals.
bool Pack::begin(std::int32_t number, std::int32_t* key) {
  const Step& step = steps_[static_cast<std::size_t>(number)];
  for (std::uint32_t i = 0; i < step.n_key; i++) key[i] = value(keys_[step.key + i]);
  return (by_branch_ && steps_[static_cast<std::size_t>(step.before)].is_switch) || take(number);
}

std::int32_t Pack::visit(std::int32_t number) {
  const Step& step = steps_[static_cast<std::size_t>(number)];
  Effort& effort = *effort_;
  std::int32_t key[64];
  if (!begin(number, key)) return 0;
  if (step.relation == nullptr) {
    if (step.predicate == equal && !step.negated && step.n_outputs == 1 && step.n_key == 1) {
      values_[static_cast<std::size_t>(outputs_[step.output].second)] = key[0];
      return proceed(number);
    }
    if (step.n_outputs > 0) return 0;  // no answer for open arguments
    const std::uint64_t before = effort.taken;
    const bool holds = step.test >= 0 ? facts_.compare(step.test, key[0], key[1])
                                      : facts_.holds(step.predicate, key, effort.taken);
    if (by_branch_) spent_[static_cast<std::size_t>(number)] += effort.taken - before;
    return holds != step.negated ? proceed(number) : 0;
  }
  Index::Range range{0, static_cast<std::uint32_t>(step.relation->n_rows())};
  if (step.index) range = step.index->find(key);
  std::int32_t decided = 0;
  for (std::uint32_t i = range.begin; i < range.end; i++) {
    if (!take(number)) return decided;
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
  if (!begin(number, key)) return 0;
  const Index::Range range = step.index->find(key);
  std::int32_t& left = left_[static_cast<std::size_t>(number)];
  std::int32_t decided = 0;
  // the cost of examining all facts, against that of looking up all open literals
  if (by_branch_ ||
      range.end - range.begin > static_cast<std::uint32_t>(4 * left + step.n_cases / 4)) {
    for (std::int32_t each = step.first; each >= 0 && !effort.over;
         each = steps_[static_cast<std::size_t>(each)].next)
      if (left_[static_cast<std::size_t>(each)] > 0) decided += visit(each);
    left -= decided;
    return decided;
  }
  for (std::uint32_t i = range.begin; i < range.end && left > 0; i++) {
    if (!take(number)) break;
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
  const std::int32_t other =
      step.second_column < 0 ? -1 : step.relation->at(step.second_column, row);
  std::uint64_t h = mix(hash_of(of, {}), one);
  if (other >= 0) h = mix(h, other);
  return table_.find(h, [&](std::int32_t number) {
    const Step& found = steps_[static_cast<std::size_t>(number)];
    if (found.hash != h || found.before != of) return false;
    const Term* code = codes_.data() + found.code + 1;
    return number_of(code[step.column]) == one &&
           (other < 0 || number_of(code[step.second_column]) == other);
  });
}

}  // namespace crosscut::query
