// Bindings of every compiled module: C++ type errors become Python's TypeError, and the instruction
// set can be queried and chosen. Each module has its own copy of cpp/base, so the choice applies to
// that module only.
#pragma once
#include <nanobind/nanobind.h>

#include <exception>
#include <typeinfo>

#include "base/dispatch.hpp"
#include "base/lists.hpp"

namespace crosscut {

inline void bind_module(nanobind::module_& m) {
  namespace nb = nanobind;
  nb::register_exception_translator([](const std::exception_ptr& error, void*) {
    try {
      std::rethrow_exception(error);
    } catch (const std::bad_cast&) {  // an entry of a list or a dict
      PyErr_SetString(PyExc_TypeError, "an argument has entries of the wrong type");
    }
  });
  m.def("simd_level", [] { return std::string(name_of(level())); });
  m.def("best_simd_level", [] { return std::string(name_of(best_level())); });
  m.def("set_simd_level", &set_level, nb::arg("name"));
}

}  // namespace crosscut
