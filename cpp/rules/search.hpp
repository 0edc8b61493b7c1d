// Beam search for rules. A search looks for the next rule of one task; the searches of all tasks
// run together, so that tasks with similar rows share passes over the table.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "scan.hpp"

namespace crosscut::rules {

using Bits = std::vector<std::uint64_t>;

struct Condition {
  std::int32_t feature = -1;
  std::int32_t op = at_most;
  double value = 0;  // the threshold, or the category
};

double quality(Kind kind, bool any, double n, const double* counts, std::size_t n_columns,
               const double* a, double b);

struct Table {
  std::size_t n_rows = 0, n_features = 0, n_classes = 0, words = 0;
  std::vector<std::uint32_t> ranks;  // (features, rows)
  std::vector<std::uint32_t> n_values;
  std::vector<std::uint8_t> nominal;
  std::vector<std::vector<float>> values;  // of numeric features, by rank
  std::vector<std::int32_t> codes;
  std::vector<double> weights;                   // empty if all are 1
  std::vector<std::vector<std::int32_t>> order;  // rows by rank, without missing values
  std::vector<std::uint8_t> tied;                // whether several rows have the same value
  std::vector<std::uint32_t> position;           // (features, rows): position in the order
  std::vector<Bits> of_class;                    // rows of each class
  void prepare();
  const std::uint32_t* column(std::size_t f) const { return ranks.data() + f * n_rows; }
  // The condition between two neighbouring ranks, with their midpoint (double) as threshold.
  Condition cut(std::int32_t feature, std::int32_t op, std::uint32_t rank,
                std::uint32_t next) const;
  // The next larger rank among some rows; the number of values if there is none.
  std::uint32_t next_rank(const Bits& rows, std::size_t feature, std::uint32_t rank) const;
  // The largest rank whose value is at most `value`, or the category; 2^32 - 1 if there is none.
  std::uint32_t rank_of(std::size_t feature, double value) const;
  std::int64_t n_conditions(const std::uint64_t* bits) const;
  // Computes which of `rows` satisfy a condition.
  void narrow(const Bits& rows, std::int32_t feature, std::int32_t op, std::uint32_t rank,
              Bits& met) const;
};

// Sorts a few of many rows by marking their positions in the table's order and collecting the
// marks: linear in the rows, plus one byte per 64 rows of the table.
class Sorter {
 public:
  explicit Sorter(std::size_t n_rows)
      : marks_((n_rows + 63) / 64 * 64, 0), lines_((marks_.size() / 64 + 63) / 64 * 64, 0) {}
  // Writes `some` rows in the order of a feature, without missing values, and returns their number;
  // `sorted` needs space for 16 more.
  std::size_t sort(const Table& table, std::size_t f, const std::vector<std::int32_t>& some,
                   std::int32_t* sorted);

 private:
  std::vector<std::uint8_t> marks_, lines_;  // per position, and per 64 of them
};

struct Search {
  const std::uint64_t* rows;  // rows to search
  std::int32_t target;        // -1: any class
  const double* a;            // (classes)
  double b;
  double least_weight;  // minimum weight of the rows that a rule covers
  double significance;  // minimum likelihood ratio statistic; 0 for all searches or for none
};

struct Settings {
  Kind kind = Kind::ratio;
  // add the best condition until the quality stops improving; else return the best rule
  bool greedy = false;
  std::int32_t width = 1;
  std::int32_t max_length = 0;  // 0: no limit
  bool unequal = false;         // also "!=" conditions
};

// A condition that might extend a state, with the weight it covers.
struct Candidate {
  std::int32_t feature, op;
  std::uint32_t rank;
  double quality, n, p;  // p: weight of the target or the first class
};

// A rule during the search: the rows it covers, and its path of conditions.
struct State {
  std::size_t search = 0;
  std::int32_t target = -1;  // -1: any class
  std::int32_t node = -1;    // last condition of the path, -1 at the start
  std::int32_t length = 0;
  Bits rows;
  std::size_t n_rows = 0;
  double n = 0;
  std::vector<double> counts;  // per class, or of the target alone
  std::vector<double> a;
  double b = 0, least_weight = 0;
  // quality that a condition must reach to be useful
  double least = -std::numeric_limits<double>::infinity();
};

struct Work {
  // rows visited in bundles, and if each state were refined alone
  std::int64_t states = 0, bundles = 0, visits = 0, alone = 0;
};

// Buffers that are reused from one search to the next.
struct Memory {
  explicit Memory(const Table& table) : sorter(table.n_rows), set_of_row(table.n_rows, -1) {}
  Sorter sorter;
  Work work;
  std::vector<std::int32_t> set_of_row;  // line of each row in the bundle (0 with masks), else -1
  std::vector<std::uint32_t> masks;      // (groups, rows), see scan.hpp
  std::vector<std::int32_t> sorted;      // rows sorted by the features being examined
  std::vector<std::byte> room;
  std::vector<Event> events;
  // best candidates of each state being refined, the best first
  std::vector<std::vector<Candidate>> found;
  std::vector<State> spare;  // finished states, whose memory is reused
  // Calls `interrupted` now and then; it throws if the user wants to stop.
  void poll() {
    if (++polls_ % 64 == 0 && interrupted) interrupted();
  }
  void (*interrupted)() = nullptr;

 private:
  unsigned polls_ = 0;
};

std::vector<std::vector<Condition>> search(const Table& table, const std::vector<Search>& searches,
                                           const Settings& settings, Memory& memory);

}  // namespace crosscut::rules
