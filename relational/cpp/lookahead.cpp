// Lookahead: literals that may follow a literal of a test, so that a test that gains nothing alone
// can be tried together with one that does.
#include <algorithm>

#include "generator.hpp"

namespace crosscut::query {

bool Generator::may_go_on(const Frame& frame) {
  if (frame.exhaustive > 0) return true;
  if (frame.depth >= language_.max_lookahead) return false;
  const auto matches = [&](std::size_t position, const auto& rules) {
    return std::any_of(rules.begin(), rules.end(), [&](const auto& rule) {
      return match(rule.first, position, slots_matched_);
    });
  };
  for (std::size_t i = frame.first_code; i < code_.size(); i += components_.length(code_[i]))
    if (matches(i, language_.lookaheads) || matches(i, language_.auto_lookaheads)) return true;
  return false;
}

void Generator::go_on(const Frame& frame) {
  if (frame.exhaustive > 0)
    for (std::size_t m = 0; m < language_.modes.size(); m++) {
      trail_.push_back(entry(m));
      begin(language_.modes[m].literals, language_.modes[m].inputs, {}, frame.depth + 1,
            frame.exhaustive - 1);
      trail_.pop_back();
    }
  if (frame.depth >= language_.max_lookahead || !can_reach(0, frame.depth, 0)) return;
  const std::size_t end = code_.size();
  for (std::size_t i = frame.first_code; i < end;) {
    const std::size_t n = components_.length(code_[i]);
    follow(i, frame.depth);
    i += n;
  }
}

// Whether the literal at `position` of the code matches a template, whose slots it binds in `slots`
// if so.
bool Generator::match(const Pattern& pattern, std::size_t position,
                      std::vector<Term>& slots) const {
  if (code_[position] != pattern.predicate * 2 + pattern.negated) return false;
  slots.clear();
  for (std::size_t a = 0; a < pattern.args.size(); a++) {
    const Argument& wanted = pattern.args[a];
    const Term found = code_[position + 1 + a];
    if (wanted.mark == Mark::given && found != wanted.value) return false;
    if (wanted.slot < 0) continue;
    const auto slot = static_cast<std::size_t>(wanted.slot);
    if (slots.size() <= slot) slots.resize(slot + 1, -1);
    if (slots[slot] >= 0 && slots[slot] != found) return false;
    slots[slot] = found;
  }
  return true;
}

void Generator::follow(std::size_t position, std::int32_t depth) {
  // lookaheads may be nested, so every depth has its own buffers
  const auto at = static_cast<std::size_t>(depth);
  if (matched_.size() <= at) matched_.resize(at + 1);
  for (std::size_t r = 0; r < language_.lookaheads.size(); r++) {
    const Lookahead& rule = language_.lookaheads[r];
    if (!match(rule.first, position, matched_[at].slots)) continue;
    trail_.push_back(entry(r));
    begin(rule.then, rule.inputs, matched_[at].slots, depth + 1, 0);
    trail_.pop_back();
  }
  for (std::size_t r = 0; r < language_.auto_lookaheads.size(); r++) {
    const AutoLookahead& rule = language_.auto_lookaheads[r];
    if (!match(rule.first, position, matched_[at].slots)) continue;
    std::vector<Term>& listed = matched_[at].listed;
    listed.clear();
    for (std::int32_t s : rule.slots) {
      const auto slot = static_cast<std::size_t>(s);
      if (slot < matched_[at].slots.size() && kind_of(matched_[at].slots[slot]) == variable)
        listed.push_back(matched_[at].slots[slot]);
    }
    if (listed.empty()) continue;
    for (std::size_t m = 0; m < language_.modes.size(); m++) {
      trail_.push_back(entry(language_.lookaheads.size() + r));
      trail_.push_back(entry(m));
      begin(language_.modes[m].literals, language_.modes[m].inputs, {}, depth + 1, 0,
            matched_[at].listed);
      trail_.pop_back();
      trail_.pop_back();
    }
  }
}

}  // namespace crosscut::query
