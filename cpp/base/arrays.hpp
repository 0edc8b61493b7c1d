// Arrays between Python and the core: arguments of bindings, their checks, and results.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/checks.hpp"
#include "base/lists.hpp"
#include "base/strided.hpp"

namespace crosscut {

namespace nb = nanobind;
using namespace nb::literals;

// An array with aligned elements. Unaligned arguments, such as fields of a packed record, are
// copied, or rejected if they are outputs.
template <class Base> struct Aligned : Base {
  using Base::Base;
  Aligned(Base base) : Base(std::move(base)) {}
};

template <class T>
using Array = Aligned<nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>>;
template <class T>
using Matrix = Aligned<nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>>;
template <class T, std::size_t Dimensions = 1>  // an output: declare the argument noconvert()
using Output = Aligned<nb::ndarray<T, nb::ndim<Dimensions>, nb::c_contig, nb::device::cpu>>;

using AnyMatrix = Aligned<nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>>;

}  // namespace crosscut

namespace nanobind::detail {

template <class Base> struct type_caster<crosscut::Aligned<Base>> {
  NB_TYPE_CASTER(crosscut::Aligned<Base>, make_caster<Base>::Name)

  bool from_python(handle source, auto flags, cleanup_list* cleanup) noexcept {
    make_caster<Base> caster;
    if (!caster.from_python(source, flags, cleanup)) return false;
    const std::size_t bytes = caster.value.dtype().bits / 8;
    if (bytes > 1 && reinterpret_cast<std::uintptr_t>(caster.value.data()) % bytes) {
      const object copied =
          Base::ReadOnly ? steal(PyObject_CallMethod(source.ptr(), "copy", nullptr)) : object();
      PyErr_Clear();
      if (!copied.is_valid() || !caster.from_python(copied, flags, cleanup)) return false;
    }
    value = crosscut::Aligned<Base>(std::move(caster.value));
    return true;
  }
};

}  // namespace nanobind::detail

namespace crosscut {

inline void need(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

template <class T>
void need_within(const Array<T>& numbers, std::int64_t low, std::int64_t high, const char* what) {
  need(all_within(numbers.data(), numbers.size(), low, high), what);
}

// A struct that points into Python's arrays and keeps them alive.
template <class Part> struct Held : Part {
  std::vector<nb::ndarray<nb::ro>> arrays;

  Held() : Part{} {}
  template <class A> auto* hold(const A& array) {
    arrays.emplace_back(array);
    return array.data();
  }
};

// Calls use(Strided<T>) for a matrix of a type that is read without conversion.
template <class Use> auto with_numbers(const AnyMatrix& m, Use&& use) {
  const auto as = [&]<class T>(T) {
    return use(Strided<T>{static_cast<const T*>(m.data()), m.shape(0), m.shape(1), m.stride(0),
                          m.stride(1)});
  };
  const auto is = [&]<class T>(T) { return m.dtype() == nb::dtype<T>(); };
  if (is(float{})) return as(float{});
  if (is(double{})) return as(double{});
  if (is(std::int64_t{})) return as(std::int64_t{});
  need(is(bool{}) || is(std::uint8_t{}),
       "the matrix must be float32, float64, int64, uint8 or bool");
  return as(std::uint8_t{});
}

// Checks the offsets of n parts of an array with `size` entries.
inline void need_offsets(const Array<std::int64_t>& start, std::size_t n, std::size_t size,
                         const char* what) {
  need(start.size() == n + 1 && start.data()[0] == 0 &&
           start.data()[n] == static_cast<std::int64_t>(size),
       what);
  need(std::is_sorted(start.data(), start.data() + n + 1), what);
}

template <class T>
nb::ndarray<nb::numpy, T> give(std::unique_ptr<T[]> data,
                               std::initializer_list<std::size_t> shape) {
  T* raw = data.get();
  nb::capsule owner(data.release(), [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return nb::ndarray<nb::numpy, T>(raw, shape, owner);
}

template <class T, class Memory>  // width > 0: the result is a matrix of this width
nb::ndarray<nb::numpy, T> give(std::vector<T, Memory> from, std::size_t width = 0) {
  from.reserve(1);  // so that an empty array has an address
  auto* owned = new std::vector<T, Memory>(std::move(from));
  nb::capsule owner(owned,
                    [](void* p) noexcept { delete static_cast<std::vector<T, Memory>*>(p); });
  if (width) return nb::ndarray<nb::numpy, T>(owned->data(), {owned->size() / width, width}, owner);
  return nb::ndarray<nb::numpy, T>(owned->data(), {owned->size()}, owner);
}

}  // namespace crosscut
