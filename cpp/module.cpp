// The compiled module crosscut._core: one bind_* function per folder.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <exception>
#include <typeinfo>

#include "base/dispatch.hpp"

namespace nb = nanobind;
using namespace nb::literals;

void bind_grow(nb::module_&);
void bind_forest(nb::module_&);
void bind_data(nb::module_&);
void bind_query(nb::module_&);
void bind_level_wise(nb::module_&);
void bind_rules(nb::module_&);

NB_MODULE(_core, m) {
  m.doc() = "The compiled core of crosscut. Private: use the names in crosscut.";
  nb::register_exception_translator([](const std::exception_ptr& error, void*) {
    try {
      std::rethrow_exception(error);
    } catch (const std::bad_cast&) {  // an entry of a list or a dict
      PyErr_SetString(PyExc_TypeError, "an argument has entries of another type than is wanted");
    }
  });
  m.def("simd_level", [] { return std::string(crosscut::name_of(crosscut::level())); });
  m.def("best_simd_level", [] { return std::string(crosscut::name_of(crosscut::best_level())); });
  m.def("set_simd_level", &crosscut::set_level, "name"_a);
  bind_grow(m);
  bind_forest(m);
  bind_data(m);
  bind_query(m);
  bind_level_wise(m);
  bind_rules(m);
}
