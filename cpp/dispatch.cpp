#include "dispatch.hpp"

#include <atomic>
#include <cstdlib>
#include <stdexcept>

namespace crosscut {
namespace {

Level parse(const std::string& name) {
  for (Level l : {Level::baseline, Level::avx2, Level::avx512})
    if (name == name_of(l)) {
      if (l > best_level())
        throw std::invalid_argument("CROSSCUT_SIMD: this machine has no " + name + "; its best level is " +
                                    name_of(best_level()));
      return l;
    }
  throw std::invalid_argument("CROSSCUT_SIMD: unknown level '" + name + "'; use baseline, avx2 or avx512");
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
#ifdef CROSSCUT_X86
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("bmi2"))
    return Level::avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")) return Level::avx2;
#endif
  return Level::baseline;
}

Level level() { return current().load(std::memory_order_relaxed); }

void set_level(const std::string& name) { current().store(parse(name), std::memory_order_relaxed); }

}  // namespace crosscut
