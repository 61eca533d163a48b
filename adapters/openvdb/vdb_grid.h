// From our level sets to OpenVDB's grids. Only for the sources of this folder.
#pragma once

#include <openvdb/openvdb.h>

#include "isotact/field/models/sparse_level_set.h"

namespace isotact::detail {

openvdb::FloatGrid::Ptr to_openvdb(const SparseLevelSet& level_set);

}  // namespace isotact::detail
