// Detection and choice of the instruction set.
#include "base/dispatch.hpp"

#include <atomic>
#include <cstdlib>
#include <stdexcept>

namespace crosscut {
namespace {

constexpr Level from_the_best[] = {Level::avx512, Level::avx2, Level::baseline};

// Whether a level was built and this machine supports it.
bool is_available(Level l) {
#ifdef CROSSCUT_ONLY
  if (l != Level::CROSSCUT_ONLY) return false;
#endif
#ifdef __x86_64__
  __builtin_cpu_init();
  if (l == Level::avx512)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("bmi2");
  if (l == Level::avx2) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
#endif
  return l == Level::baseline;
}

Level parse(const std::string& name) {
  for (Level l : from_the_best)
    if (name == name_of(l)) {
      if (!is_available(l))
        throw std::invalid_argument("CROSSCUT_SIMD: " + name +
                                    " is not available here; the best level is " +
                                    name_of(best_level()));
      return l;
    }
  throw std::invalid_argument("CROSSCUT_SIMD: unknown level '" + name +
                              "'; use baseline, avx2 or avx512");
}

std::atomic<Level>& current() {
  static std::atomic<Level> chosen = [] {
    const char* forced = std::getenv("CROSSCUT_SIMD");
    return forced && *forced ? parse(forced) : best_level();
  }();
  return chosen;
}

}  // namespace

const char* name_of(Level l) {
  return l == Level::avx512 ? "avx512" : l == Level::avx2 ? "avx2" : "baseline";
}

Level best_level() {
  for (Level l : from_the_best)
    if (is_available(l)) return l;
  throw std::runtime_error(
      "crosscut was built for an instruction set that this machine lacks; build it with "
      "CROSSCUT_QUICK=OFF");
}

Level level() { return current().load(std::memory_order_relaxed); }

void set_level(const std::string& name) { current().store(parse(name), std::memory_order_relaxed); }

}  // namespace crosscut
