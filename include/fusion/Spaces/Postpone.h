//===- Postpone.h - Broadcast postposition ------------------------*- C++ -*-===//

#ifndef FUSION_SPACES_POSTPONE_H
#define FUSION_SPACES_POSTPONE_H

#include "fusion/SpaceMap/SpaceMap.h"

namespace fusion::spacemap {

/// Broadcast postposition (SpaceFusion, section 4.2): moves what an All-to-One over dimensions D takes from earlier
/// reductions over some of D behind it, where the algebra allows: `sum_l (e / s * v)` becomes `(sum_l e * v) / s`. That
/// shortens the chains of dependent reductions. Factors that depend on no such reduction stay where they are. Each
/// rewrite is checked by evaluation at random points first.
///
/// Returns how many reductions were rewritten. The graph must not be temporally sliced yet.
unsigned postponeBroadcasts(GraphOp graph);

} // namespace fusion::spacemap

#endif // FUSION_SPACES_POSTPONE_H
