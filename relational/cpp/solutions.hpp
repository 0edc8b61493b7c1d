// The objects that a variable of a component stands for in the component's solutions, example by
// example. Those of a component that ends in tails on the variable are those of the shorter one for
// which the tails hold, so that its literals are not looked at again.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tails.hpp"

namespace crosscut::query {

class Solutions {
 public:
  Solutions(Facts& facts, const Components& components, Tails& tails,
            const std::vector<std::int64_t>& order, std::uint64_t limit)
      : facts_(facts), components_(components), tails_(tails), order_(order), limit_(limit) {}
  // For each of the examples (by position in the order), the tails of `asked` that hold for some
  // object of a variable: as many words each as `asked` has.
  void find(std::int32_t component, std::int32_t variable, std::span<const std::uint64_t> asked,
            std::span<const std::int32_t> examples, std::vector<std::uint64_t>& result);
  // The same of linked tails, on a variable of each of two components.
  struct Variable {
    std::int32_t component, variable;
  };
  void find_linked(const Variable& from, const Variable& to, std::int32_t kind,
                   std::span<const std::uint64_t> asked, std::span<const std::int32_t> examples,
                   std::vector<std::uint64_t>& result);
  // Where tails may hold although the last call did not find them, as a search took too many steps:
  // the number among its examples, and the tails.
  struct Doubt {
    std::size_t example;
    std::vector<std::uint64_t> tails;
  };
  const std::vector<Doubt>& doubts() const { return doubts_; }
  void forget();
  std::size_t bytes() const { return bytes_; }
  std::uint64_t n_steps() const { return steps_; }

 private:
  // A component that is searched for its solutions, and the objects of one variable.
  struct Base {
    Base(Facts& facts, const Components& components, std::int32_t component,
         std::size_t n_examples);
    Pack pack;
    std::int32_t last = 0;  // step of the pack
    // The objects of an example; begin > end where they are not known. `n_tails`: for how many
    // tails `held` is valid.
    struct Own {
      std::uint32_t begin = 1, end = 0;
      std::int32_t n_tails = 0;
    };
    std::vector<Own> examples;
    std::vector<std::int32_t> objects;
    std::vector<std::uint64_t> held;           // per object: the tails that hold, of the first 64
    std::unordered_set<std::int32_t> cut_off;  // examples that may have more objects
  };
  Base& base_of(std::int32_t component, std::int32_t variable);
  // The objects of a component's solutions for which the tails of `needed` hold; false if there may
  // be more.
  bool add_objects(Base& base, const Variable& of, std::span<const std::uint64_t> needed,
                   std::int32_t position, std::vector<std::int32_t>& objects);
  std::uint64_t find_few(Base& base, std::int32_t kind, Base::Own& own);
  void search(Base& base, std::int32_t variable, std::int32_t kind, std::int32_t position);

  Facts& facts_;
  const Components& components_;
  Tails& tails_;
  const std::vector<std::int64_t>& order_;
  std::uint64_t limit_, steps_ = 0;
  std::size_t bytes_ = 0;
  std::unordered_map<std::uint64_t, std::unique_ptr<Base>> bases_;  // by component and variable
  std::vector<std::uint64_t> needed_,
      asked_;  // tails of the component's objects; those, and the ones asked for
  std::vector<std::int32_t> values_, from_, to_;
  std::vector<std::uint32_t> marks_;  // per object: the last example among whose objects it was
  std::uint32_t mark_ = 0;
  std::vector<Doubt> doubts_;
};

}  // namespace crosscut::query
