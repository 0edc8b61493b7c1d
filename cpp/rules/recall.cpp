#include <utility>

#include "search.hpp"

namespace crosscut::rules {

namespace {

std::uint64_t hash_of(const Bits& rows) {
  std::uint64_t hash = 0;
  for (std::uint64_t word : rows) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
    hash ^= hash >> 32;
  }
  return hash;
}

}  // namespace

void Recall::turn(const Settings& settings) {
  std::swap(known_, noted_);
  if (!(settings == settings_)) known_.by_hash.clear();
  settings_ = settings;
  noted_.n = 0;
  noted_.by_hash.clear();
}

const std::vector<Candidate>* Recall::find(const State& state) const {
  const auto place = known_.by_hash.find(hash_of(state.rows));
  if (place == known_.by_hash.end()) return nullptr;
  const Entry& entry = known_.entries[place->second];
  const bool same = entry.target == state.target && entry.b == state.b && entry.least_weight == state.least_weight && entry.a == state.a &&
                    entry.rows == state.rows;
  return same ? &entry.best : nullptr;
}

void Recall::note(const State& state, const std::vector<Candidate>& best) {
  if (!noted_.by_hash.emplace(hash_of(state.rows), noted_.n).second) return;
  if (noted_.n == noted_.entries.size()) noted_.entries.emplace_back();
  Entry& entry = noted_.entries[noted_.n++];
  entry.target = state.target;
  entry.b = state.b;
  entry.least_weight = state.least_weight;
  entry.a = state.a;
  entry.rows = state.rows;
  entry.best = best;
}

}  // namespace crosscut::rules
