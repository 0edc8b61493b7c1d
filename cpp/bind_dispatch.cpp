#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cstdint>

#include "dispatch.hpp"

CROSSCUT_DECLARE(std::uint64_t popcount(const std::uint64_t*, std::size_t))

namespace nb = nanobind;
using namespace nb::literals;

void bind_dispatch(nb::module_& m) {
  m.def("simd_level", [] { return std::string(crosscut::name_of(crosscut::level())); });
  m.def("best_simd_level", [] { return std::string(crosscut::name_of(crosscut::best_level())); });
  m.def("set_simd_level", &crosscut::set_level, "name"_a);
  m.def("popcount", [](nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> words) {
    return CROSSCUT_DISPATCH(popcount, words.data(), words.size());
  }, "words"_a);
}
