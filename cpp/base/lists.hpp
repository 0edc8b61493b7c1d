// Arguments that are lists or text. nanobind converts arguments in noexcept functions, so that its
// own casters (stl/vector.h, stl/string.h) end the process if memory runs out there. These casters
// remember the failure instead, and throw when the function takes the argument: the caller gets a
// MemoryError.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/stl/detail/nb_list.h>

#include <cstddef>
#include <new>
#include <string>
#include <vector>

namespace nanobind::detail {

// The value of a caster, or the failure to allocate it.
template <class Value_> struct Allocated {
  using Value = Value_;
  template <class T> using Cast = movable_cast_t<T>;
  template <class T> static constexpr bool can_cast() { return true; }

  explicit operator Value*() { return &taken(); }
  explicit operator Value&() { return taken(); }
  explicit operator Value&&() { return static_cast<Value&&>(taken()); }

 protected:
  // Calls convert(), which returns whether the argument has the right type.
  template <class Convert> bool attempt(Convert&& convert) noexcept {
    try {
      return convert();
    } catch (const std::bad_alloc&) {
      failed_ = true;
      return true;
    } catch (...) { return false; }
  }

  Value value_;

 private:
  Value& taken() {
    if (failed_) throw std::bad_alloc();
    return value_;
  }

  bool failed_ = false;
};

template <> struct type_caster<std::string> : Allocated<std::string> {
  static constexpr auto Name = const_name("str");

  bool from_python(handle source, auto, cleanup_list*) noexcept {
    Py_ssize_t size = 0;
    const char* text =
        PyUnicode_Check(source.ptr()) ? PyUnicode_AsUTF8AndSize(source.ptr(), &size) : nullptr;
    PyErr_Clear();
    return text && attempt([&] {
             value_.assign(text, static_cast<std::size_t>(size));
             return true;
           });
  }

  static handle from_cpp(const std::string& text, rv_policy, cleanup_list*) noexcept {
    return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
  }
};

template <class T> struct type_caster<std::vector<T>> : Allocated<std::vector<T>> {
  using Results = list_caster<std::vector<T>, T>;
  static constexpr auto Name = Results::Name;

  bool from_python(handle source, auto flags, cleanup_list* cleanup) noexcept {
    PyObject* list = source.ptr();
    if (!PySequence_Check(list) || PyUnicode_Check(list) || PyBytes_Check(list)) return false;
    const Py_ssize_t size = PySequence_Size(list);
    PyErr_Clear();
    flags = flags_for_local_caster<T>(flags);
    return size >= 0 && this->attempt([&] {
      this->value_.reserve(static_cast<std::size_t>(size));
      make_caster<T> caster;
      for (Py_ssize_t i = 0; i < size; i++) {
        const object item = steal(PySequence_GetItem(list, i));
        PyErr_Clear();
        if (!item.is_valid() || !caster.from_python(item, flags, cleanup) ||
            !caster.template can_cast<T>())
          return false;
        this->value_.push_back(caster.operator cast_t<T>());
      }
      return true;
    });
  }

  static handle from_cpp(auto&& list, rv_policy policy, cleanup_list* cleanup) noexcept {
    return Results::from_cpp(std::forward<decltype(list)>(list), policy, cleanup);
  }
};

}  // namespace nanobind::detail
