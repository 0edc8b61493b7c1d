// Choice among the builds of a kernel: the best instruction set of this machine, or the one that
// the environment variable CROSSCUT_SIMD names.
#pragma once
#include <string>

namespace crosscut {

enum class Level { baseline, avx2, avx512 };

Level level();  // the current level
// the best level that was built and that this machine supports
Level best_level();
// throws std::invalid_argument for an unknown or unavailable level
void set_level(const std::string& name);
const char* name_of(Level);

}  // namespace crosscut

// Calls FUNCTION in the namespace of the current level: kernel files define it in namespace
// crosscut::<level>.
#ifdef CROSSCUT_ONLY  // the only level that was built
#define CROSSCUT_DISPATCH(FUNCTION, ...) (::crosscut::CROSSCUT_ONLY::FUNCTION(__VA_ARGS__))
#define CROSSCUT_DECLARE(DECLARATION) \
  namespace crosscut::CROSSCUT_ONLY { \
  DECLARATION;                        \
  }
#else
#define CROSSCUT_DISPATCH(FUNCTION, ...)                                                        \
  (::crosscut::level() == ::crosscut::Level::avx512 ? ::crosscut::avx512::FUNCTION(__VA_ARGS__) \
   : ::crosscut::level() == ::crosscut::Level::avx2 ? ::crosscut::avx2::FUNCTION(__VA_ARGS__)   \
                                                    : ::crosscut::baseline::FUNCTION(__VA_ARGS__))
#define CROSSCUT_DECLARE(DECLARATION) \
  namespace crosscut::baseline {      \
  DECLARATION;                        \
  }                                   \
  namespace crosscut::avx2 {          \
  DECLARATION;                        \
  }                                   \
  namespace crosscut::avx512 {        \
  DECLARATION;                        \
  }
#endif
