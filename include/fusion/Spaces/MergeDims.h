//===- MergeDims.h - One dimension for all uses of an input -------*- C++ -*-===//

#ifndef FUSION_SPACES_MERGEDIMS_H
#define FUSION_SPACES_MERGEDIMS_H

#include "fusion/SpaceMap/SpaceMap.h"

namespace fusion::spacemap {

/// Gives the uses of an input the same dimensions wherever no space would get a dimension twice, and joins what becomes
/// equal by that. Renaming changes no value: the extents are those of the same axis. Returns how many dimensions
/// vanished. Sliced graphs are left alone.
unsigned mergeDims(GraphOp graph);

} // namespace fusion::spacemap

#endif // FUSION_SPACES_MERGEDIMS_H
