// What a scan reads of the rows of a bundle. A row is described by 32 bits `info`: its mask below, and above it the mask of class 1 (two
// classes) or the class.
#pragma once
#include "run.hpp"

namespace crosscut::CROSSCUT_LEVEL {

struct LocalRows {
  const u32* info;
  const double *weight, *product;
  const u8* multiplicity;  // [row][kLanes] or null
};

}  // namespace crosscut::CROSSCUT_LEVEL
