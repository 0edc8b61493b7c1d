// The compiled module crosscut._core: one bind_* function per part, each in its own file.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

void bind_dispatch(nb::module_&);
void bind_grow(nb::module_&);
void bind_predict(nb::module_&);
void bind_rank(nb::module_&);
void bind_masks(nb::module_&);
void bind_subtree(nb::module_&);
void bind_query(nb::module_&);
void bind_pass(nb::module_&);
void bind_rules(nb::module_&);

NB_MODULE(_core, m) {
  m.doc() = "The compiled core of crosscut. Private: use the names in crosscut.";
  bind_dispatch(m);
  bind_grow(m);
  bind_predict(m);
  bind_rank(m);
  bind_masks(m);
  bind_subtree(m);
  bind_query(m);
  bind_pass(m);
  bind_rules(m);
}
