// Components are interned: equal ones, up to the names of variables, get one number. The fast path
// of `extend` covers literals that share a variable with one base; the general one groups literals
// and bases that share variables.
#include "components.hpp"

#include <algorithm>
#include <numeric>

namespace crosscut::query {

namespace {

bool contains(const Components& components, std::span<const Term> code, const Term* literal,
              std::size_t n) {
  for (std::size_t i = 0; i < code.size(); i += components.length(code[i]))
    if (code[i] == literal[0] && std::equal(literal, literal + n, code.data() + i)) return true;
  return false;
}

}  // namespace

std::int32_t Components::add(Record record) {
  table_.reserve(n_hashes_,
                 [&](std::int32_t first) { return all_[static_cast<std::size_t>(first)].hash; });
  std::int32_t& first = first_with(record.hash);
  record.next = first;
  all_.push_back(record);  // the table names it only once it is there: memory may end here
  n_hashes_ += first < 0;
  return first = static_cast<std::int32_t>(all_.size()) - 1;
}

void Components::extend(std::span<const std::int32_t> bases, std::span<const Term> added,
                        std::span<const std::int32_t> new_types, Extension& result) {
  const std::size_t m = bases.size();
  if (m == 1 && extend_one(bases[0], added, new_types, result)) return;
  types_.clear();
  owner_.clear();  // per local variable: the base, or m + the literal, that it belongs to
  offset_.resize(m);
  for (std::size_t b = 0; b < m; b++) {
    const auto own = (*this)[bases[b]].types;
    offset_[b] = types_.size();
    types_.insert(types_.end(), own.begin(), own.end());
    owner_.resize(types_.size(), static_cast<std::int32_t>(b));
  }
  types_.insert(types_.end(), new_types.begin(), new_types.end());
  owner_.resize(types_.size(), -1);

  literals_.clear();
  for (std::size_t i = 0; i < added.size(); i += length(added[i])) literals_.push_back(i);
  const std::size_t n_literals = literals_.size();
  group_.resize(m + n_literals);
  std::iota(group_.begin(), group_.end(), 0);
  const auto root = [&](std::size_t g) {
    while (static_cast<std::size_t>(group_[g]) != g) g = static_cast<std::size_t>(group_[g]);
    return g;
  };
  for (std::size_t l = 0; l < n_literals; l++) {
    const Term* literal = added.data() + literals_[l];
    for (std::size_t i = 1; i < length(*literal); i++) {
      if (kind_of(literal[i]) != variable) continue;
      auto& first = owner_[static_cast<std::size_t>(number_of(literal[i]))];
      if (first < 0) first = static_cast<std::int32_t>(m + l);
      // the smaller number stays the root, so a group is identified by its first base
      const std::size_t a = root(static_cast<std::size_t>(first)), b = root(m + l);
      group_[std::max(a, b)] = static_cast<std::int32_t>(std::min(a, b));
    }
  }

  result.parts.clear();
  result.places.assign(types_.size(), Place{-1, -1});
  done_.assign(m + n_literals, 0);
  for (std::size_t l = 0; l < n_literals; l++) {
    const std::size_t g = root(m + l);
    if (done_[g]) continue;
    done_[g] = 1;
    mine_.clear();
    for (std::size_t b = 0; b < m; b++)
      if (root(b) == g) mine_.push_back(b);
    // evaluation starts with the longest base, the prefix that the candidates of a pack share
    for (std::size_t b = 1; b < mine_.size(); b++)
      if ((*this)[bases[mine_[b]]].n_literals > (*this)[bases[mine_[0]]].n_literals)
        std::swap(mine_[0], mine_[b]);
    code_.clear();
    if (!mine_.empty()) add_local(code_, bases[mine_[0]], offset_[mine_[0]]);
    const std::size_t prefix = code_.size();
    rest_.clear();
    for (std::size_t k = l; k < n_literals; k++) {
      const Term* literal = added.data() + literals_[k];
      const std::size_t n = length(*literal);
      if (root(m + k) == g && !contains(*this, code_, literal, n) &&
          !contains(*this, rest_, literal, n))
        rest_.insert(rest_.end(), literal, literal + n);
    }
    for (std::size_t b = 1; b < mine_.size(); b++)
      add_local(rest_, bases[mine_[b]], offset_[mine_[b]]);
    if (mine_.size() > 1) order_rest(types_.size());
    else code_.insert(code_.end(), rest_.begin(), rest_.end());

    slot_.assign(types_.size(), -1);
    own_types_.clear();
    rename(code_, [&](std::int32_t v) {
      auto& slot = slot_[static_cast<std::size_t>(v)];
      if (slot < 0) {
        slot = static_cast<std::int32_t>(own_types_.size());
        own_types_.push_back(types_[static_cast<std::size_t>(v)]);
      }
      return slot;
    });
    const std::int32_t id = intern(mine_.empty() ? -1 : bases[mine_[0]], prefix, mine_.size() > 1);
    for (std::size_t v = 0; v < types_.size(); v++)
      if (slot_[v] >= 0)
        result.places[v] = {static_cast<std::int32_t>(result.parts.size()),
                            renaming_[static_cast<std::size_t>(slot_[v])]};
    result.parts.push_back(id);
  }
  result.query = result.parts.empty()       ? -1
                 : result.parts.size() == 1 ? result.parts[0]
                                            : conjunction(result.parts);
}

// The common case: every literal shares a variable with the base or with a literal before it. The
// variables of the base are the first of the extended component. Otherwise returns false.
bool Components::extend_one(std::int32_t base, std::span<const Term> added,
                            std::span<const std::int32_t> new_types, Extension& result) {
  const Component own = (*this)[base];
  const std::size_t n_before = own.types.size(), n_all = n_before + new_types.size();
  code_.assign(own.code.begin(), own.code.end());
  own_types_.assign(own.types.begin(), own.types.end());
  slot_.assign(n_all, -1);
  std::iota(slot_.begin(), slot_.begin() + static_cast<std::ptrdiff_t>(n_before), 0);
  for (std::size_t i = 0; i < added.size();) {
    const std::size_t n = length(added[i]), at = code_.size();
    const auto literal = added.subspan(i, n);
    const auto is_known = [&](Term t) {
      return kind_of(t) == variable && slot_[static_cast<std::size_t>(number_of(t))] >= 0;
    };
    if (std::none_of(literal.begin() + 1, literal.end(), is_known)) return false;
    code_.push_back(literal[0]);
    for (const Term t : literal.subspan(1)) {
      if (kind_of(t) != variable) {
        code_.push_back(t);
        continue;
      }
      auto& slot = slot_[static_cast<std::size_t>(number_of(t))];
      if (slot < 0) {
        slot = static_cast<std::int32_t>(own_types_.size());
        own_types_.push_back(new_types[static_cast<std::size_t>(number_of(t)) - n_before]);
      }
      code_.push_back(term(variable, slot));
    }
    if (contains(*this, std::span(code_).first(at), code_.data() + at, n)) code_.resize(at);
    i += n;
  }
  result.query = intern(base, own.code.size(), false);
  result.parts.assign(1, result.query);
  result.places.clear();
  for (std::int32_t slot : slot_)
    result.places.push_back(slot < 0 ? Place{-1, -1}
                                     : Place{0, renaming_[static_cast<std::size_t>(slot)]});
  return true;
}

// A base's literals over the local variables.
void Components::add_local(Code& code, std::int32_t base, std::size_t offset) const {
  const auto own = (*this)[base].code;
  const std::size_t begin = code.size();
  code.insert(code.end(), own.begin(), own.end());
  rename(std::span(code).subspan(begin),
         [&](std::int32_t v) { return v + static_cast<std::int32_t>(offset); });
}

// Joining components by a literal: the literal comes before the rest of the joined components, so
// that it is not tested on their product. The next literal is the one with the most bound terms,
// among those whose inputs are bound.
void Components::order_rest(std::size_t n_variables) {
  std::vector<char>& bound = bound_;
  bound.assign(n_variables, 0);
  const auto bind = [&](const Term* literal) {
    for (std::size_t i = 1; i < length(*literal); i++)
      if (kind_of(literal[i]) == variable && !(*literal & 1))
        bound[static_cast<std::size_t>(number_of(literal[i]))] = 1;
  };
  each_literal(code_, [&](const Term* literal, std::size_t) { bind(literal); });
  std::vector<int>& uses = uses_;
  uses.assign(n_variables, 0);  // a variable of one negated literal alone needs no binding
  each_literal(rest_, [&](const Term* literal, std::size_t n) {
    for (std::size_t i = 1; i < n; i++)
      if (kind_of(literal[i]) == variable) uses[static_cast<std::size_t>(number_of(literal[i]))]++;
  });
  while (!rest_.empty()) {
    std::size_t best = 0;
    int best_score = -1;
    for (std::size_t i = 0; i < rest_.size(); i += length(rest_[i])) {
      const std::size_t n = length(rest_[i]);
      int score = 1;
      bool ready = true;
      const bool test = (rest_[i] & 1) ||
                        facts_.predicates()[static_cast<std::size_t>(rest_[i] >> 1)].relation < 0;
      for (std::size_t j = i + 1; j < i + n; j++) {
        const bool known =
            kind_of(rest_[j]) != variable || bound[static_cast<std::size_t>(number_of(rest_[j]))];
        score += known;
        ready =
            ready && (known || !test || uses[static_cast<std::size_t>(number_of(rest_[j]))] == 1);
      }
      score = ready ? score : 0;
      if (score > best_score) {
        best_score = score;
        best = i;
      }
    }
    const auto begin = rest_.begin() + static_cast<std::ptrdiff_t>(best);
    const auto end = begin + static_cast<std::ptrdiff_t>(length(rest_[best]));
    bind(&*begin);
    if (!contains(*this, code_, &*begin, length(rest_[best])))
      code_.insert(code_.end(), begin, end);
    rest_.erase(begin, end);
  }
}

// The component of code_ and own_types_, a new one if there is none like it; leaves the names that
// their variables have there in renaming_. Most components are the only ones whose variables occur
// in these positions of these literals, so that is checked first.
std::int32_t Components::intern(std::int32_t parent, std::size_t prefix, bool joins,
                                bool literally) {
  std::int32_t n_literals = 0;
  std::uint64_t hash = 0;
  colour_.assign(own_types_.begin(), own_types_.end());
  each_literal(code_, [&](const Term* literal, std::size_t n) {
    std::uint64_t h = static_cast<std::uint32_t>(literal[0]);  // the literal, up to its variables
    for (std::size_t i = 1; i < n; i++)
      h = mix(h, kind_of(literal[i]) == variable ? 3 : static_cast<std::uint32_t>(literal[i]));
    hash += h;
    for (std::size_t i = 1; i < n; i++)
      if (kind_of(literal[i]) == variable)
        colour_[static_cast<std::size_t>(number_of(literal[i]))] += mix(h, i);
    n_literals++;
  });
  for (std::uint64_t colour : colour_) hash += mix(5, colour);
  renaming_.resize(own_types_.size());
  std::iota(renaming_.begin(), renaming_.end(), 0);
  const std::int32_t first = first_with(hash);
  std::int32_t form = -1, found = -1;  // `found`: word by word
  bool recent = false;                 // whether one has been found since start()
  for (std::int32_t other = first; other >= 0; other = all_[static_cast<std::size_t>(other)].next) {
    const Component own = (*this)[other];
    recent = recent || this->found(other) >= start_;
    if (own.parent == parent && own.joins == joins &&
        std::equal(own.code.begin(), own.code.end(), code_.begin(), code_.end()) &&
        std::equal(own.types.begin(), own.types.end(), own_types_.begin(), own_types_.end()))
      found = other;
  }
  if (found >= 0 && this->found(found) >= start_) return found;
  if (recent && !literally) {
    canonicalize(code_, own_types_, form_);
    for (std::int32_t other = first; other >= 0;
         other = all_[static_cast<std::size_t>(other)].next) {
      Record& record = all_[static_cast<std::size_t>(other)];
      if (record.found < start_) continue;
      if (record.form < 0) {
        canonicalize((*this)[other].code, (*this)[other].types, forms_.emplace_back());
        record.form = static_cast<std::int32_t>(forms_.size()) - 1;
      }
      const Form& known = forms_[static_cast<std::size_t>(record.form)];
      if (known.key != form_.key) continue;
      back_.resize(own_types_.size());
      for (std::size_t v = 0; v < back_.size(); v++)
        back_[static_cast<std::size_t>(known.numbers[v])] = static_cast<std::int32_t>(v);
      for (std::size_t v = 0; v < back_.size(); v++)
        renaming_[v] = back_[static_cast<std::size_t>(form_.numbers[v])];
      return other;
    }
    form = static_cast<std::int32_t>(forms_.size());
    forms_.push_back(form_);
  }
  if (found >= 0) {
    all_[static_cast<std::size_t>(found)].found = n_found_++;
    return found;
  }
  const Record record{store_.size(),
                      0,
                      static_cast<std::uint32_t>(code_.size()),
                      static_cast<std::uint32_t>(own_types_.size()),
                      n_literals,
                      parent,
                      prefix,
                      hash,
                      joins,
                      form,
                      -1,
                      n_found_++};
  store_.insert(store_.end(), code_.begin(), code_.end());
  store_.insert(store_.end(), own_types_.begin(), own_types_.end());
  return add(record);
}

std::int32_t Components::same(const Components& other, std::int32_t query) {
  const Component theirs = other[query];
  if (!theirs.parts.empty()) {
    std::vector<std::int32_t> parts;
    for (std::int32_t part : theirs.parts) parts.push_back(same(other, part));
    return conjunction(std::move(parts));
  }
  const std::int32_t parent = theirs.parent < 0 ? -1 : same(other, theirs.parent);
  code_.assign(theirs.code.begin(), theirs.code.end());
  own_types_.assign(theirs.types.begin(), theirs.types.end());
  return intern(parent, theirs.prefix, theirs.joins, true);
}

std::int32_t Components::conjunction(std::vector<std::int32_t> parts) {
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  if (parts.size() == 1) return parts[0];
  std::uint64_t hash = 6;
  for (std::int32_t part : parts) hash = mix(hash, static_cast<std::uint32_t>(part));
  for (std::int32_t other = first_with(hash); other >= 0;
       other = all_[static_cast<std::size_t>(other)].next) {
    const auto known = (*this)[other].parts;
    if (std::equal(known.begin(), known.end(), parts.begin(), parts.end())) return other;
  }
  std::int32_t n_literals = 0;
  for (std::int32_t part : parts) n_literals += (*this)[part].n_literals;
  const Record record{
      store_.size(), static_cast<std::uint32_t>(parts.size()), 0, 0, n_literals, -1, 0, hash,
      false};
  store_.insert(store_.end(), parts.begin(), parts.end());
  return add(record);
}

}  // namespace crosscut::query
