//===- TaskOracle.cpp - Dependence of point tasks, element by element -----===//

#include "fusion/Analysis/TaskOracle.h"

#include "llvm/ADT/STLExtras.h"

using namespace fusion::tasks;

static bool haveCommonElement(const std::set<int64_t> &a, const std::set<int64_t> &b) {
  return llvm::any_of(a, [&](int64_t element) { return b.count(element) != 0; });
}

/// Def. 1, of two arguments of one store.
static bool conflict(const Argument &first, const Argument &second) {
  bool firstReduces = first.privilege == Privilege::Reduce, secondReduces = second.privilege == Privilege::Reduce;
  if (firstReduces && secondReduces)
    return first.reducer != second.reducer;
  return first.privilege != Privilege::Read || second.privilege != Privilege::Read;
}

bool fusion::tasks::dependAcrossPoints(const Task &first, const Task &second, int64_t numPoints,
                                       const ElementsOf &elementsOf) {
  for (const Argument &a : first.arguments)
    for (const Argument &b : second.arguments) {
      if (a.store != b.store || !conflict(a, b))
        continue;
      for (int64_t p = 0; p < numPoints; ++p)
        for (int64_t q = 0; q < numPoints; ++q)
          if (p != q && haveCommonElement(elementsOf(first, a, p), elementsOf(second, b, q)))
            return true;
    }
  return false;
}

static uint64_t mix(uint64_t state, uint64_t value) {
  state = (state ^ value) * 0x9E3779B97F4A7C15ull;
  return state ^ (state >> 29);
}

/// One point task. All that it reads it reads before it writes.
static void runPoint(const Task &task, uint64_t number, int64_t point, const ElementsOf &elementsOf,
                     Contents &contents) {
  // Scalar tasks compute the same at every point.
  uint64_t seed = mix(number, isPromotable(task) ? 0 : point);
  for (const Argument &argument : task.arguments)
    if (reads(argument.privilege))
      for (int64_t element : elementsOf(task, argument, point))
        seed = mix(seed, contents[argument.store][element]);
  for (const Argument &argument : task.arguments) {
    if (argument.privilege == Privilege::Read)
      continue;
    for (int64_t element : elementsOf(task, argument, point)) {
      int64_t value = mix(seed, element) >> 16;
      int64_t &target = contents[argument.store][element];
      if (argument.privilege != Privilege::Reduce)
        target = value;
      else
        target = argument.reducer == 0 ? target + value : std::max(target, value);
    }
  }
}

void fusion::tasks::execute(llvm::ArrayRef<Task> tasks, int64_t numPoints, const ElementsOf &elementsOf,
                            Contents &contents) {
  for (auto [number, task] : llvm::enumerate(tasks))
    for (int64_t point = 0, end = task.onePoint ? 1 : numPoints; point < end; ++point)
      runPoint(task, number, point, elementsOf, contents);
}

void fusion::tasks::executeFused(llvm::ArrayRef<Task> tasks, llvm::ArrayRef<int64_t> points,
                                 const ElementsOf &elementsOf, Contents &contents) {
  for (int64_t point : points)
    for (auto [number, task] : llvm::enumerate(tasks))
      runPoint(task, number, point, elementsOf, contents);
}
