#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "dispatch.hpp"

namespace nb = nanobind;
using namespace nb::literals;

void bind_dispatch(nb::module_& m) {
  m.def("simd_level", [] { return std::string(crosscut::name_of(crosscut::level())); });
  m.def("best_simd_level", [] { return std::string(crosscut::name_of(crosscut::best_level())); });
  m.def("set_simd_level", &crosscut::set_level, "name"_a);
}
