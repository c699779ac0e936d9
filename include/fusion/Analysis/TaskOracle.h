//===- TaskOracle.h - Dependence of point tasks, element by element -*- C++ -*-===//
//
// The definitions of Diffuse (ASPLOS '25, Defs. 1 to 3) by brute force: every element of every box of every point. What
// fusion/Analysis/TaskStream.h decides in constant time is held against it on small domains.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_TASKORACLE_H
#define FUSION_ANALYSIS_TASKORACLE_H

#include "fusion/Analysis/TaskStream.h"

#include <functional>
#include <set>

namespace fusion::tasks {

/// The elements that an argument touches at point number `point`, as numbers.
using ElementsOf = std::function<std::set<int64_t>(const Task &, const Argument &, int64_t point)>;

/// Whether some point task of `first`, which comes earlier, and some point task of `second` at another point depend on
/// each other: D(first, second)[p] is then no subset of {p}. Both have `numPoints` points. Different reduction
/// operators depend, too.
bool dependAcrossPoints(const Task &first, const Task &second, int64_t numPoints, const ElementsOf &elementsOf);

/// Contents of stores, element by element.
using Contents = std::vector<std::vector<int64_t>>;

/// Runs tasks with made-up bodies on `contents`: what a point task writes is a function of the task's number, the
/// point, all that it reads, and the position; what it contributes to a reduction as well. Reducer 0 is a sum, others
/// are maxima. Each task runs at all of its points before the next task.
void execute(llvm::ArrayRef<Task> tasks, int64_t numPoints, const ElementsOf &elementsOf, Contents &contents);

/// The same for a fused task: all tasks run at one point before the next point, in the given order of points. Tasks
/// that are promoted run at every point. The points share the scalars, as they do on one processor.
void executeFused(llvm::ArrayRef<Task> tasks, llvm::ArrayRef<int64_t> points, const ElementsOf &elementsOf,
                  Contents &contents);

} // namespace fusion::tasks

#endif // FUSION_ANALYSIS_TASKORACLE_H
