// Truth of components as bit sets over the examples, computed when first needed, and only for the
// examples needed.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "components.hpp"
#include "pack.hpp"
#include "relations.hpp"
#include "sets.hpp"
#include "solutions.hpp"
#include "tails.hpp"

namespace crosscut::query {

// The truth of some queries, example by example: words with one bit per query, for the examples
// known.
struct TruthTable {
  std::vector<std::uint64_t> bits;
  std::vector<std::int32_t> rows;     // per example: the number of its row, or -1
  std::vector<std::int32_t> queries;  // where another block may take over the table
  std::size_t bytes() const { return 8 * bits.size() + sizeof(std::int32_t) * rows.size(); }
};

// Queries that extend components. Those that end in tails have no numbers until they need one.
struct Asked {
  std::span<const std::int32_t> components;  // that those extend
  const Endings& endings;
  std::function<std::int32_t(std::size_t)> number;
  std::int32_t after = -1;  // a query that all extend, or -1
};

class Truth {
 public:
  // Bit i of a set is the example order[i] of the facts: examples of one fold are in neighbouring
  // words, which are counted faster.
  Truth(Facts& facts, const Components& components, std::uint64_t step_limit,
        std::vector<std::int64_t> order)
      : facts_(facts),
        components_(components),
        words_((facts.n_examples() + 63) / 64),
        limit_(step_limit),
        sets_(words_),
        order_(std::move(order)),
        tails_(facts, components, step_limit),
        solutions_(facts, components, tails_, order_, step_limit) {
    everything_.assign(words_, ~std::uint64_t{0});
    nothing_.assign(words_, 0);
    if (facts.n_examples() % 64)
      everything_.back() = (std::uint64_t{1} << facts.n_examples() % 64) - 1;
  }

  std::size_t words() const { return words_; }
  const std::vector<std::uint64_t>& everything() const { return everything_; }
  // Makes the rows of these queries valid on the examples of `mask` (words() words). `after`: a
  // query that they all extend and whose row is valid there, or -1.
  void evaluate(std::span<const std::int32_t> queries, const std::uint64_t* mask,
                std::int32_t after = -1);
  // Fills the rows of these examples (by position, ascending); the queries have to be the same in
  // every call for a table.
  void tabulate(const Asked& asked, std::span<const std::int32_t> examples, TruthTable& table);
  // Adds the queries that end in tails to the rows of some examples, one row after the other.
  void tabulate(const Asked& asked, std::span<const std::int32_t> examples, std::uint64_t* rows);
  Tails& tails() { return tails_; }
  const std::uint64_t* row(std::int32_t query) const {
    const std::int32_t slot = slots_[static_cast<std::size_t>(query)];
    return slot < 0 ? nothing_.data() : truth_.data() + static_cast<std::size_t>(slot) * words_;
  }
  // Bytes of rows, with the sets of examples on which they are known; of all that forgetting frees.
  std::size_t row_bytes() const { return 8 * truth_.size() + sets_.bytes(); }
  std::size_t bytes() const {
    return row_bytes() + tabulated_ + tails_.bytes() + solutions_.bytes();
  }
  void forget_rows();  // but not what is known about objects
  void forget();       // as if nothing had been evaluated
  void abandon();      // the same, after a call that was stopped
  // The caller has dropped its tables, except for this many bytes.
  void drop_tables(std::size_t kept) { tabulated_ = kept; }
  const std::vector<std::int64_t>& order() const { return order_; }

  // (component, example) pairs that were searched.
  std::uint64_t n_evaluations() const { return evaluations_; }
  std::uint64_t n_steps() const { return steps_ + tails_.n_steps() + solutions_.n_steps(); }
  // Queries, with the example of the facts, that took too many steps and count as false there.
  const std::set<std::pair<std::int32_t, std::int64_t>>& limit_hits() const { return hits_; }
  std::uint64_t step_limit() const { return limit_; }
  // Counts and lists what another one did, whose queries are those of `theirs`; `own` are this
  // one's.
  void add(const Truth& other, Components& own, const Components& theirs);

 private:
  struct Need {
    std::int32_t parent, query;
    std::int32_t open,
        then;  // sets: where it has to be searched for, and where it is known afterwards
  };
  // The components that extend one, or that extend none, as a pack.
  struct Extensions {
    Extensions(Facts& facts, const Components& components) : pack(facts, components) {}
    void choose(std::span<const Need> needs, std::span<const std::int32_t> numbers);
    Pack pack;
    std::vector<std::int32_t> chosen;   // queries of the choice that the pack has saved
    std::int32_t trunk = 0;             // the step that ends what they extend
    std::vector<char> bound;            // variables that are bound there
    std::vector<std::int32_t> queries;  // by their number in the pack
  };

  std::uint64_t* writable(std::int32_t query) {
    return truth_.data() +
           static_cast<std::size_t>(slots_[static_cast<std::size_t>(query)]) * words_;
  }
  void evaluate_extensions(std::span<const Need> needs, std::int32_t after);
  void evaluate_tails(std::span<const Need> needs, std::span<const std::int32_t> examples);
  template <class Holds>
  void find_tails(const Asked& asked, std::span<const std::int32_t> examples, Holds holds);
  Extensions& pack_of(std::int32_t parent, std::span<const Need> needs);
  void search(Extensions& extensions, std::size_t word, std::uint64_t bit);

  Facts& facts_;
  const Components& components_;
  std::size_t words_;
  std::uint64_t limit_, steps_ = 0, evaluations_ = 0;
  std::vector<std::uint64_t> truth_, nothing_;
  std::vector<std::int32_t> slots_;  // per query: its row in truth_, or -1
  std::size_t tabulated_ = 0;        // bytes of tables
  // per query: the set of examples on which it is known; 0 for none
  std::vector<std::int32_t> known_;
  Sets sets_;
  std::set<std::pair<std::int32_t, std::int64_t>> hits_;
  std::vector<std::int64_t> order_;
  std::vector<char> asked_;               // queries of the call under way
  std::vector<std::int32_t> remembered_;  // queries that are known on some examples
  std::vector<std::uint64_t> everything_;
  std::vector<Need> needs_, conjunctions_;
  Tails tails_;
  Solutions solutions_;
  std::vector<std::uint64_t> held_;
  // by the component extended
  std::unordered_map<std::int32_t, std::unique_ptr<Extensions>> packs_;
  std::vector<std::int32_t> numbers_;  // per component: its number in its pack, or -1
  std::vector<char> bound_;
};

}  // namespace crosscut::query
