// Columns that other libraries hand over by Arrow's C stream interface. The first three structs are fixed by its specification
// (https://arrow.apache.org/docs/format/CStreamInterface.html).
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags, n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  std::int64_t length, null_count, offset, n_buffers, n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};

namespace crosscut {

// A run of entries of an array.
struct Part {
  const ArrowArray* array;
  std::int64_t offset, length;

  template <class T>
  const T* numbers() const {
    return static_cast<const T*>(array->buffers[1]) + offset;
  }
  // Bit i: whether entry i is present. Null if all are.
  const std::uint8_t* validity() const { return array->null_count ? static_cast<const std::uint8_t*>(array->buffers[0]) : nullptr; }
};

inline bool bit_at(const std::uint8_t* bits, std::int64_t i) { return bits[i >> 3] >> (i & 7) & 1; }

struct ArrowColumn {
  const ArrowSchema* schema;
  std::vector<Part> parts;

  std::string_view format() const { return schema->format; }
  std::int64_t length() const;
  bool has_missing() const;
};

// All that a stream holds: one column, or those of a frame.
class ArrowColumns {
  ArrowSchema schema_{};
  std::vector<ArrowArray> arrays_;
  ArrowColumns() = default;

 public:
  explicit ArrowColumns(ArrowArrayStream&);
  ArrowColumns(const ArrowColumns&) = delete;
  ArrowColumns& operator=(const ArrowColumns&) = delete;
  ~ArrowColumns();

  std::vector<ArrowColumn> columns() const;
};

}  // namespace crosscut
