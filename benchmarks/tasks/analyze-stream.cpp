//===- analyze-stream.cpp - Time of the dependence analysis per task --------===//
//
// Streams of tasks as solvers issue them (element-wise tasks on vectors, an opaque product, reductions, scalar tasks)
// are cut into groups, with fused arguments and temporaries, as a session does it. Time per task must depend neither on
// the number of tasks nor on that of the points of their domain. Exits with 1 if 100,000 tasks take more than a second.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/TaskStream.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <deque>
#include <map>

using namespace fusion::tasks;

namespace {

/// A partition of a vector of `extent` elements over `points` points, as a session would intern it: by its numbers.
struct Interner {
  std::map<std::vector<int64_t>, uint32_t> numbers;
  uint32_t get(std::vector<int64_t> key) { return numbers.try_emplace(std::move(key), numbers.size()).first->second; }
};

struct Stream {
  std::vector<Task> tasks;
  std::deque<llvm::SmallVector<Argument, 4>> arguments;

  void add(uint32_t domain, bool onePoint, std::initializer_list<Argument> list, bool opaque = false) {
    arguments.emplace_back(list.begin(), list.end());
    Task task;
    task.domain = domain;
    task.onePoint = onePoint;
    task.arguments = arguments.back();
    if (opaque)
      task.barrier = Constraint::Opaque;
    tasks.push_back(task);
  }
};

} // namespace

/// Iterations of conjugate gradients, with new stores for intermediate results, until there are `numTasks` tasks.
static Stream makeStream(size_t numTasks, int64_t points) {
  Stream stream;
  uint32_t nextStore = 8;
  Interner partitions, domains;
  while (stream.tasks.size() < numTasks) {
    // What the front end does for each task: find the numbers of partitions and domains.
    uint32_t cut = partitions.get({1, 1000, 0, 1000 * points}), whole = partitions.get({0});
    uint32_t domain = domains.get({points}), one = domains.get({1});
    auto vector = [&](uint32_t store, Privilege privilege) { return Argument{store, cut, privilege, 0, false}; };
    auto scalar = [&](uint32_t store, Privilege privilege) { return Argument{store, whole, privilege, 0, true}; };
    enum : uint32_t { X, R, P, Z, Rho, Rho1 };
    uint32_t q = nextStore++, beta = nextStore++, alpha = nextStore++, pq = nextStore++, t = nextStore++,
             u = nextStore++, v = nextStore++;

    constexpr Privilege read = Privilege::Read, write = Privilege::Write, update = Privilege::ReadWrite,
                        reduce = Privilege::Reduce;
    stream.add(domain, points == 1, {vector(R, read), vector(Z, write)});
    stream.add(domain, points == 1, {vector(R, read), vector(Z, read), scalar(Rho, reduce)});
    stream.add(one, true, {scalar(Rho, read), scalar(Rho1, read), scalar(beta, write)});
    stream.add(domain, points == 1, {scalar(beta, read), vector(P, read), vector(t, write)});
    stream.add(domain, points == 1, {vector(t, read), vector(Z, read), vector(P, write)});
    stream.add(domain, points == 1, {vector(P, read), vector(q, write)}, /*opaque=*/true);
    stream.add(domain, points == 1, {vector(P, read), vector(q, read), scalar(pq, reduce)});
    stream.add(one, true, {scalar(Rho, read), scalar(pq, read), scalar(alpha, write)});
    stream.add(domain, points == 1, {scalar(alpha, read), vector(P, read), vector(u, write)});
    stream.add(domain, points == 1, {vector(u, read), vector(X, update)});
    stream.add(domain, points == 1, {scalar(alpha, read), vector(q, read), vector(v, write)});
    stream.add(domain, points == 1, {vector(v, read), vector(R, update)});
  }
  stream.tasks.resize(numTasks);
  return stream;
}

/// Number of groups, and of temporaries.
static std::pair<size_t, size_t> analyze(llvm::ArrayRef<Task> tasks) {
  PrefixChecker checker;
  size_t groups = 0, temporaries = 0, start = 0;
  auto finish = [&](size_t end) {
    if (end == start)
      return;
    ++groups;
    FusedArguments fused = buildArguments(tasks.slice(start, end - start));
    // Stores from 8 on are intermediate results that nobody refers to.
    temporaries += findTemporaries(fused, [](uint32_t store) { return store < 8; }).size();
    start = end;
    checker.reset();
  };
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (!checker.admit(tasks[i]))
      continue;
    finish(i);
    if (checker.admit(tasks[i]))
      finish(i + 1);
  }
  finish(tasks.size());
  return {groups, temporaries};
}

int main() {
  bool tooSlow = false;
  llvm::outs() << "    tasks     points   groups   ns per task   total ms\n";
  for (size_t numTasks : {1000, 10000, 100000})
    for (int64_t points : {int64_t(1), int64_t(1000), int64_t(1000000)}) {
      Stream stream = makeStream(numTasks, points);
      double best = 1e30;
      std::pair<size_t, size_t> result;
      for (int repetition = 0; repetition < 5; ++repetition) {
        auto start = std::chrono::steady_clock::now();
        result = analyze(stream.tasks);
        std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
        best = std::min(best, time.count());
      }
      tooSlow |= best > 1;
      llvm::outs() << llvm::format("%9zu  %9lld  %7zu  %12.1f  %9.3f\n", numTasks, (long long)points, result.first,
                                   best / numTasks * 1e9, best * 1e3);
    }
  return tooSlow;
}
