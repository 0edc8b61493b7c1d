#include "query_components.hpp"

#include <algorithm>
#include <numeric>

namespace crosscut::query {

namespace {

inline std::uint64_t mix(std::uint64_t h, std::uint64_t value) {
  h ^= value + 0x9E3779B97F4A7C15ull;
  h *= 0xBF58476D1CE4E5B9ull;
  return h ^ (h >> 31);
}

// Calls visit(literal's first term, its length) for each literal of a code.
template <class Visit>
void each_literal(const Components& components, const Code& code, std::size_t begin, Visit visit) {
  for (std::size_t i = begin; i < code.size();) {
    const std::size_t n = components.length(code[i]);
    visit(code.data() + i, n);
    i += n;
  }
}

bool contains(const Components& components, const Code& code, const Term* literal, std::size_t n) {
  bool found = false;
  each_literal(components, code, 0, [&](const Term* other, std::size_t length) {
    found = found || (length == n && std::equal(literal, literal + n, other));
  });
  return found;
}

}  // namespace

std::size_t Components::Hash::operator()(const std::vector<std::int32_t>& key) const {
  std::uint64_t h = key.size();
  for (std::int32_t value : key) h = mix(h, static_cast<std::uint32_t>(value));
  return h;
}

Extension Components::extend(std::span<const std::int32_t> bases, const Code& added, std::span<const std::int32_t> new_types) {
  const std::size_t m = bases.size();
  std::vector<std::int32_t> types, owner;  // per local variable: its type; the base or (m +) literal it belongs to
  std::vector<std::size_t> offset(m);
  for (std::size_t b = 0; b < m; b++) {
    const auto& own = (*this)[bases[b]].types;
    offset[b] = types.size();
    types.insert(types.end(), own.begin(), own.end());
    owner.resize(types.size(), static_cast<std::int32_t>(b));
  }
  types.insert(types.end(), new_types.begin(), new_types.end());
  owner.resize(types.size(), -1);

  std::vector<const Term*> literals;
  each_literal(*this, added, 0, [&](const Term* literal, std::size_t) { literals.push_back(literal); });
  std::vector<std::int32_t> group(m + literals.size());
  std::iota(group.begin(), group.end(), 0);
  const auto root = [&](std::int32_t g) {
    while (group[static_cast<std::size_t>(g)] != g) g = group[static_cast<std::size_t>(g)];
    return g;
  };
  for (std::size_t l = 0; l < literals.size(); l++) {
    const auto self = static_cast<std::int32_t>(m + l);
    for (std::size_t i = 1; i < length(*literals[l]); i++) {
      if (kind_of(literals[l][i]) != variable) continue;
      auto& first = owner[static_cast<std::size_t>(number_of(literals[l][i]))];
      if (first < 0) first = self;
      // the smaller number stays the root, so that a group is named by its first base
      const std::int32_t a = root(first), b = root(self);
      group[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
    }
  }

  Extension result;
  result.places.assign(types.size(), Place{-1, -1});
  std::vector<bool> done(m + literals.size(), false);
  for (std::size_t l = 0; l < literals.size(); l++) {
    const std::int32_t g = root(static_cast<std::int32_t>(m + l));
    if (done[static_cast<std::size_t>(g)]) continue;
    done[static_cast<std::size_t>(g)] = true;
    std::vector<std::size_t> mine;
    for (std::size_t b = 0; b < m; b++)
      if (root(static_cast<std::int32_t>(b)) == g) mine.push_back(b);
    // evaluation starts with the longest base: it is the prefix that the candidates of one pack share
    const auto longer = [&](std::size_t a, std::size_t b) {
      return (*this)[bases[a]].n_literals < (*this)[bases[b]].n_literals;
    };
    if (!mine.empty()) std::iter_swap(mine.begin(), std::max_element(mine.begin(), mine.end(), longer));
    const auto local = [&](std::size_t b) {
      Code code = (*this)[bases[b]].code;
      for (std::size_t i = 0; i < code.size();) {
        const std::size_t n = length(code[i]);
        for (std::size_t j = i + 1; j < i + n; j++)
          if (kind_of(code[j]) == variable) code[j] += static_cast<Term>(offset[b] << 2);
        i += n;
      }
      return code;
    };
    Code code = mine.empty() ? Code{} : local(mine[0]);
    const std::size_t prefix = code.size();
    Code rest;
    for (std::size_t k = l; k < literals.size(); k++)
      if (root(static_cast<std::int32_t>(m + k)) == g && !contains(*this, code, literals[k], length(*literals[k])) &&
          !contains(*this, rest, literals[k], length(*literals[k])))
        rest.insert(rest.end(), literals[k], literals[k] + length(*literals[k]));
    if (mine.size() > 1) {
      for (std::size_t b = 1; b < mine.size(); b++) {
        const Code other = local(mine[b]);
        rest.insert(rest.end(), other.begin(), other.end());
      }
      code = ordered(std::move(code), std::move(rest), types.size());
    } else {
      code.insert(code.end(), rest.begin(), rest.end());
    }
    std::vector<std::int32_t> slot(types.size(), -1), own_types;
    std::int32_t n_literals = 0;
    for (std::size_t i = 0; i < code.size(); n_literals++) {
      const std::size_t n = length(code[i]);
      for (std::size_t j = i + 1; j < i + n; j++) {
        if (kind_of(code[j]) != variable) continue;
        const auto v = static_cast<std::size_t>(number_of(code[j]));
        if (slot[v] < 0) {
          slot[v] = static_cast<std::int32_t>(own_types.size());
          own_types.push_back(types[v]);
        }
        code[j] = term(variable, slot[v]);
      }
      i += n;
    }
    const Found found =
        intern(std::move(code), std::move(own_types), n_literals, mine.empty() ? -1 : bases[mine[0]], prefix);
    for (std::size_t v = 0; v < types.size(); v++)
      if (slot[v] >= 0)
        result.places[v] = {static_cast<std::int32_t>(result.parts.size()), found.slots[static_cast<std::size_t>(slot[v])]};
    result.parts.push_back(found.id);
  }
  if (!result.parts.empty()) result.query = result.parts.size() == 1 ? result.parts[0] : conjunction(result.parts);
  return result;
}

// Joining components by a literal: the literal comes before the rest of what it joins, so that it is not tested on the
// product of both. The next literal is the one with most bound terms among those whose inputs are bound.
Code Components::ordered(Code first, Code rest, std::size_t n_variables) const {
  std::vector<bool> bound(n_variables, false);
  const auto bind = [&](const Term* literal) {
    for (std::size_t i = 1; i < length(*literal); i++)
      if (kind_of(literal[i]) == variable && !(*literal & 1)) bound[static_cast<std::size_t>(number_of(literal[i]))] = true;
  };
  each_literal(*this, first, 0, [&](const Term* literal, std::size_t) { bind(literal); });
  std::vector<int> uses(n_variables, 0);  // literals a variable occurs in: one of a negated literal alone needs no binding
  each_literal(*this, rest, 0, [&](const Term* literal, std::size_t n) {
    for (std::size_t i = 1; i < n; i++)
      if (kind_of(literal[i]) == variable) uses[static_cast<std::size_t>(number_of(literal[i]))]++;
  });
  while (!rest.empty()) {
    std::size_t best = 0;
    int best_score = -1;
    for (std::size_t i = 0; i < rest.size(); i += length(rest[i])) {
      const std::size_t n = length(rest[i]);
      int score = 0;
      bool ready = true;
      const bool test = (rest[i] & 1) || facts_.predicates()[static_cast<std::size_t>(rest[i] >> 1)].relation < 0;
      for (std::size_t j = i + 1; j < i + n; j++) {
        const bool known = kind_of(rest[j]) != variable || bound[static_cast<std::size_t>(number_of(rest[j]))];
        score += known;
        ready = ready && (known || !test || uses[static_cast<std::size_t>(number_of(rest[j]))] == 1);
      }
      score = ready ? score + 1 : 0;
      if (score > best_score) best_score = score, best = i;
    }
    const auto begin = rest.begin() + static_cast<std::ptrdiff_t>(best);
    const auto end = begin + static_cast<std::ptrdiff_t>(length(rest[best]));
    bind(&*begin);
    if (!contains(*this, first, &*begin, length(rest[best]))) first.insert(first.end(), begin, end);
    rest.erase(begin, end);
  }
  return first;
}

Components::Found Components::intern(Code code, std::vector<std::int32_t> types, std::int32_t n_literals, std::int32_t parent,
                                     std::size_t prefix) {
  std::vector<std::int32_t> canonical;
  Code key = canonical_form(code, types, canonical);
  const std::size_t n = types.size();
  const auto [entry, fresh] = known_.try_emplace(std::move(key), static_cast<std::int32_t>(all_.size()));
  Found found{entry->second, std::vector<std::int32_t>(n)};
  if (fresh) {
    std::iota(found.slots.begin(), found.slots.end(), 0);
    all_.push_back({std::move(code), std::move(types), std::move(canonical), n_literals, parent, prefix, {}});
    return found;
  }
  std::vector<std::int32_t> back(n);
  const auto& stored = (*this)[found.id].canonical;
  for (std::size_t v = 0; v < n; v++) back[static_cast<std::size_t>(stored[v])] = static_cast<std::int32_t>(v);
  for (std::size_t v = 0; v < n; v++) found.slots[v] = back[static_cast<std::size_t>(canonical[v])];
  return found;
}

std::int32_t Components::conjunction(std::vector<std::int32_t> parts) {
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  if (parts.size() == 1) return parts[0];
  std::vector<std::int32_t> key{-1};  // no literal starts like this
  key.insert(key.end(), parts.begin(), parts.end());
  const auto [entry, fresh] = known_.try_emplace(std::move(key), static_cast<std::int32_t>(all_.size()));
  if (fresh) {
    Component made;
    for (std::int32_t part : parts) made.n_literals += (*this)[part].n_literals;
    made.parts = std::move(parts);
    all_.push_back(std::move(made));
  }
  return entry->second;
}

// Colours of variables are refined by the literals they occur in until they differ; what stays equal is told apart by
// marking one variable at a time. Components that get the same form are the same up to names. The converse may fail for
// very regular ones: that costs an evaluation, never a wrong answer.
Code Components::canonical_form(const Code& code, std::span<const std::int32_t> types,
                                std::vector<std::int32_t>& canonical) const {
  const std::size_t n = types.size();
  std::vector<std::uint64_t> colour(n), next(n);
  for (std::size_t v = 0; v < n; v++) colour[v] = mix(1, static_cast<std::uint32_t>(types[v]));
  std::vector<std::size_t> by_colour(n);
  std::iota(by_colour.begin(), by_colour.end(), 0u);
  const auto distinct = [&] {
    std::sort(by_colour.begin(), by_colour.end(), [&](std::size_t a, std::size_t b) { return colour[a] < colour[b]; });
    std::size_t k = n > 0;
    for (std::size_t i = 1; i < n; i++) k += colour[by_colour[i]] != colour[by_colour[i - 1]];
    return k;
  };
  std::size_t classes = distinct();
  while (classes < n) {
    next = colour;
    each_literal(*this, code, 0, [&](const Term* literal, std::size_t length) {
      std::uint64_t h = mix(2, static_cast<std::uint32_t>(literal[0]));
      for (std::size_t i = 1; i < length; i++)
        h = kind_of(literal[i]) == variable ? mix(h, colour[static_cast<std::size_t>(number_of(literal[i]))])
                                            : mix(h, static_cast<std::uint32_t>(literal[i]));
      for (std::size_t i = 1; i < length; i++)
        if (kind_of(literal[i]) == variable) next[static_cast<std::size_t>(number_of(literal[i]))] += mix(h, i);
    });
    for (std::size_t v = 0; v < n; v++) colour[v] = mix(3, next[v]);
    const std::size_t refined = distinct();
    if (refined == classes && refined < n) {
      std::size_t i = 1;
      while (colour[by_colour[i]] != colour[by_colour[i - 1]]) i++;
      colour[by_colour[i - 1]] = mix(4, colour[by_colour[i - 1]]);
      classes = distinct();
    } else {
      classes = refined;
    }
  }
  canonical.resize(n);
  for (std::size_t i = 0; i < n; i++) canonical[by_colour[i]] = static_cast<std::int32_t>(i);

  Code renamed = code;
  std::vector<std::span<const Term>> literals;
  for (std::size_t i = 0; i < renamed.size();) {
    const std::size_t length_ = length(renamed[i]);
    for (std::size_t j = i + 1; j < i + length_; j++)
      if (kind_of(renamed[j]) == variable)
        renamed[j] = term(variable, canonical[static_cast<std::size_t>(number_of(renamed[j]))]);
    literals.emplace_back(renamed.data() + i, length_);
    i += length_;
  }
  std::sort(literals.begin(), literals.end(),
            [](auto a, auto b) { return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end()); });
  Code key;
  key.reserve(code.size() + n);
  for (const auto literal : literals) key.insert(key.end(), literal.begin(), literal.end());
  for (std::size_t i = 0; i < n; i++) key.push_back(types[by_colour[i]]);
  return key;
}

}  // namespace crosscut::query
