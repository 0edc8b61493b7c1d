#include "arrow.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace crosscut {

std::int64_t ArrowColumn::length() const {
  std::int64_t n = 0;
  for (const Part& part : parts) n += part.length;
  return n;
}

bool ArrowColumn::has_missing() const {
  return std::any_of(parts.begin(), parts.end(), [](const Part& part) {
    const std::uint8_t* bits = part.validity();
    for (std::int64_t i = part.offset; bits && i < part.offset + part.length; i++)
      if (!bit_at(bits, i)) return true;
    return false;
  });
}

ArrowColumns::ArrowColumns(ArrowArrayStream& stream) : ArrowColumns() {  // so that what has been read is released if the rest fails
  const auto succeed = [&](int failed) {
    if (!failed) return;
    const char* why = stream.get_last_error(&stream);
    throw std::runtime_error(std::string("the columns could not be read") + (why ? ": " : "") + (why ? why : ""));
  };
  succeed(stream.get_schema(&stream, &schema_));
  do {
    ArrowArray array{};
    succeed(stream.get_next(&stream, &array));
    arrays_.push_back(array);  // the structs may be moved
  } while (arrays_.back().release);
  arrays_.pop_back();
}

ArrowColumns::~ArrowColumns() {
  for (ArrowArray& array : arrays_)
    if (array.release) array.release(&array);
  if (schema_.release) schema_.release(&schema_);
}

std::vector<ArrowColumn> ArrowColumns::columns() const {
  const bool frame = std::string_view(schema_.format) == "+s";
  std::vector<ArrowColumn> found(frame ? static_cast<std::size_t>(schema_.n_children) : 1);
  for (std::size_t f = 0; f < found.size(); f++) {
    found[f].schema = frame ? schema_.children[f] : &schema_;
    for (const ArrowArray& array : arrays_) {
      const ArrowArray& own = frame ? *array.children[f] : array;
      found[f].parts.push_back({&own, own.offset + (frame ? array.offset : 0), array.length});
    }
  }
  return found;
}

}  // namespace crosscut
