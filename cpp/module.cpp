// The compiled module crosscut._core: one bind_* function per folder.
#include "base/bind_module.hpp"

namespace nb = nanobind;

void bind_grow(nb::module_&);
void bind_forest(nb::module_&);
void bind_data(nb::module_&);
void bind_level_wise(nb::module_&);
void bind_rules(nb::module_&);

NB_MODULE(_core, m) {
  m.doc() = "The compiled core of crosscut. Private: use the names in crosscut.";
  crosscut::bind_module(m);
  bind_grow(m);
  bind_forest(m);
  bind_data(m);
  bind_level_wise(m);
  bind_rules(m);
}
