// Canonical forms identify components that differ only in the names of variables or the order of
// literals. Most components differ in a hash, so a form is computed only when two hashes agree.
#include <algorithm>
#include <numeric>

#include "components.hpp"

namespace crosscut::query {

// The colours of variables are refined by the literals they occur in until they differ; variables
// that remain equal are distinguished by marking one at a time. Components with the same form are
// the same up to names. The converse may fail for very regular components, which costs an
// evaluation but never gives a wrong answer.
void Components::canonicalize(std::span<const Term> code, std::span<const std::int32_t> types,
                              Form& form) {
  const std::size_t n = types.size();
  colour_.resize(n);
  by_colour_.resize(n);
  for (std::size_t v = 0; v < n; v++) colour_[v] = mix(1, static_cast<std::uint32_t>(types[v]));
  std::iota(by_colour_.begin(), by_colour_.end(), std::size_t{0});
  const auto distinct = [&] {
    // few variables, nearly sorted after the first round
    for (std::size_t i = 1; i < n; i++) {
      const std::size_t v = by_colour_[i];
      std::size_t j = i;
      for (; j > 0 && colour_[by_colour_[j - 1]] > colour_[v]; j--)
        by_colour_[j] = by_colour_[j - 1];
      by_colour_[j] = v;
    }
    std::size_t k = n > 0;
    for (std::size_t i = 1; i < n; i++) k += colour_[by_colour_[i]] != colour_[by_colour_[i - 1]];
    return k;
  };
  std::size_t classes = distinct();
  while (classes < n) {
    next_ = colour_;
    each_literal(code, [&](const Term* literal, std::size_t length_) {
      std::uint64_t h = mix(2, static_cast<std::uint32_t>(literal[0]));
      for (std::size_t i = 1; i < length_; i++)
        h = kind_of(literal[i]) == variable
                ? mix(h, colour_[static_cast<std::size_t>(number_of(literal[i]))])
                : mix(h, static_cast<std::uint32_t>(literal[i]));
      for (std::size_t i = 1; i < length_; i++)
        if (kind_of(literal[i]) == variable)
          next_[static_cast<std::size_t>(number_of(literal[i]))] += mix(h, i);
    });
    for (std::size_t v = 0; v < n; v++) colour_[v] = mix(3, next_[v]);
    const std::size_t refined = distinct();
    if (refined == classes && refined < n) {
      std::size_t i = 1;
      while (colour_[by_colour_[i]] != colour_[by_colour_[i - 1]]) i++;
      colour_[by_colour_[i - 1]] = mix(4, colour_[by_colour_[i - 1]]);
      classes = distinct();
    } else {
      classes = refined;
    }
  }
  form.numbers.resize(n);
  for (std::size_t i = 0; i < n; i++) form.numbers[by_colour_[i]] = static_cast<std::int32_t>(i);

  renamed_.assign(code.begin(), code.end());
  rename(renamed_, [&](std::int32_t v) { return form.numbers[static_cast<std::size_t>(v)]; });
  sorted_.clear();
  each_literal(renamed_, [&](const Term* literal, std::size_t n_terms) {
    sorted_.emplace_back(literal, n_terms);
  });
  std::sort(sorted_.begin(), sorted_.end(), [](auto a, auto b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
  });
  form.key.clear();
  for (const auto literal : sorted_)
    form.key.insert(form.key.end(), literal.begin(), literal.end());
  for (std::size_t i = 0; i < n; i++) form.key.push_back(types[by_colour_[i]]);
}

}  // namespace crosscut::query
