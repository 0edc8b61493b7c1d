#include "floats.hpp"

#include <bit>
#include <type_traits>

namespace crosscut {

template <class T>
void to_floats(const T* from, std::ptrdiff_t stride, std::size_t n, bool are_codes, float* to) {
  constexpr auto nan = std::bit_cast<std::uint32_t>(std::numeric_limits<float>::quiet_NaN());
  const auto copy = [&](auto step) {
    for (std::size_t i = 0; i < n; i++) to[i] = static_cast<float>(from[static_cast<std::ptrdiff_t>(i) * step]);
  };
  if (stride == 1) copy(std::integral_constant<std::ptrdiff_t, 1>{});  // which the compiler makes vectors of
  else copy(stride);
  if (!are_codes) return;
  for (std::size_t i = 0; i < n; i++) {
    const auto bits = std::bit_cast<std::uint32_t>(to[i]);
    to[i] = std::bit_cast<float>(bits | (nan & -(bits >> 31)));  // by the sign: all bits of NaN on top of those of a small number
  }
}

template <class T, class To>
void copy_numbers(const ArrowColumn& column, To* to) {
  for (const Part& part : column.parts) {
    const std::uint8_t* present = part.validity();
    const T* from = part.numbers<T>();
    for (std::int64_t i = 0; i < part.length; i++)
      to[i] = present && !bit_at(present, part.offset + i) ? std::numeric_limits<To>::quiet_NaN() : static_cast<To>(from[i]);
    to += part.length;
  }
}

#define CROSSCUT_REAL(T)                                                        \
  template void to_floats(const T*, std::ptrdiff_t, std::size_t, bool, float*); \
  template void copy_numbers<T>(const ArrowColumn&, T*);
#define CROSSCUT_WHOLE(T) \
  CROSSCUT_REAL(T)        \
  template void copy_numbers<T>(const ArrowColumn&, double*);

CROSSCUT_REAL(float)
CROSSCUT_REAL(double)
CROSSCUT_WHOLE(std::int8_t)
CROSSCUT_WHOLE(std::int16_t)
CROSSCUT_WHOLE(std::int32_t)
CROSSCUT_WHOLE(std::int64_t)
CROSSCUT_WHOLE(std::uint8_t)
CROSSCUT_WHOLE(std::uint16_t)
CROSSCUT_WHOLE(std::uint32_t)
CROSSCUT_WHOLE(std::uint64_t)
template void to_floats(const bool*, std::ptrdiff_t, std::size_t, bool, float*);

}  // namespace crosscut
