//===- TaskStreams.h - Task streams in short ------------------------------===//

#ifndef FUSION_TEST_UNIT_ANALYSIS_TASKSTREAMS_H
#define FUSION_TEST_UNIT_ANALYSIS_TASKSTREAMS_H

#include "fusion/Analysis/TaskStream.h"

#include <deque>

namespace fusion::tasks {

/// Partitions and stores of the tests.
enum : uint32_t { P, Q, N };
enum : uint32_t { A, B, C, D, E, F, G };

inline Argument R(uint32_t store, uint32_t partition) { return {store, partition, Privilege::Read, 0, false}; }
inline Argument W(uint32_t store, uint32_t partition) { return {store, partition, Privilege::Write, 0, false}; }
inline Argument RW(uint32_t store, uint32_t partition) { return {store, partition, Privilege::ReadWrite, 0, false}; }
inline Argument Rd(uint32_t store, uint32_t partition, uint8_t reducer = 0) {
  return {store, partition, Privilege::Reduce, reducer, false};
}
inline Argument scalar(Argument argument) {
  argument.isScalar = true;
  return argument;
}

/// Owns the arguments of its tasks.
class Stream {
public:
  Stream &add(std::vector<Argument> arguments, uint32_t domain = 4) {
    storage.push_back(std::move(arguments));
    Task task;
    task.domain = domain;
    task.onePoint = domain == 1;
    task.arguments = storage.back();
    tasks.push_back(task);
    return *this;
  }
  Stream &barrier(Constraint constraint) {
    tasks.back().barrier = constraint;
    return *this;
  }
  operator llvm::ArrayRef<Task>() const { return tasks; }
  std::vector<Task> tasks;

private:
  std::deque<std::vector<Argument>> storage;
};

} // namespace fusion::tasks

#endif // FUSION_TEST_UNIT_ANALYSIS_TASKSTREAMS_H
