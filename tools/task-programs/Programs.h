//===- Programs.h - The applications of the Diffuse paper -----------------===//
//
// Each function records one program: set-up, `steps` iterations in a loop, and its results. The formulas are those of
// the literature named in the .cpp files; the order of operations is that in which an array program issues them.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_TOOLS_TASKPROGRAMS_PROGRAMS_H
#define FUSION_TOOLS_TASKPROGRAMS_PROGRAMS_H

#include "Stream.h"

#include <vector>

namespace task_programs {

struct Parameters {
  /// Size: options, unknowns of a dense system, or cells along a side.
  int64_t n = 0;
  int64_t steps = 0;
  /// Start: "wave", "rest" or "dam" where a program has the choice; empty for its default.
  std::string init;
  /// Right-hand side of the solvers: "ones" or "sine".
  std::string rhs = "ones";
  /// Bottom of shallow water: "bump" or "flat".
  std::string bottom = "bump";
  /// Pressure sweeps of the channel flow.
  int64_t sweeps = 5;
};

/// What is returned.
using Results = std::vector<Array>;

Results recordBlackScholes(Stream &stream, const Parameters &parameters);
Results recordJacobi(Stream &stream, const Parameters &parameters);
Results recordStencil(Stream &stream, const Parameters &parameters);
Results recordConjugateGradients(Stream &stream, const Parameters &parameters);
Results recordBiCgStab(Stream &stream, const Parameters &parameters);
Results recordMultigrid(Stream &stream, const Parameters &parameters);
Results recordChannelFlow(Stream &stream, const Parameters &parameters);
Results recordShallowWater(Stream &stream, const Parameters &parameters);

} // namespace task_programs

#endif // FUSION_TOOLS_TASKPROGRAMS_PROGRAMS_H
