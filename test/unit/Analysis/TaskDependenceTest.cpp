//===- TaskDependenceTest.cpp - The constraints on known streams ----------===//

#include "TaskStreams.h"

#include "gtest/gtest.h"

using namespace fusion::tasks;

/// Expects the first `length` tasks of `stream` to fuse, and what ended the prefix.
static void expectSplit(const Stream &stream, unsigned length, Constraint constraint,
                        std::optional<unsigned> member = std::nullopt, CheckerOptions options = {}) {
  std::optional<Conflict> conflict;
  EXPECT_EQ(getFusiblePrefix(stream, options, &conflict), length);
  ASSERT_TRUE(conflict);
  EXPECT_EQ(getName(conflict->constraint), getName(constraint));
  if (member) {
    EXPECT_EQ(conflict->member, member);
  }
}

static void expectFused(const Stream &stream, CheckerOptions options = {}) {
  std::optional<Conflict> conflict;
  EXPECT_EQ(getFusiblePrefix(stream, options, &conflict), stream.tasks.size());
  EXPECT_FALSE(conflict);
}

TEST(TaskDependence, ReadAfterWrite) {
  expectFused(Stream().add({W(A, P)}).add({R(A, P)}));
  expectSplit(Stream().add({W(A, P)}).add({R(A, Q)}), 1, Constraint::TrueDependence, 0);
}

TEST(TaskDependence, WriteAfterRead) {
  expectFused(Stream().add({R(A, P)}).add({W(A, P)}));
  expectSplit(Stream().add({R(A, P)}).add({W(A, Q)}), 1, Constraint::AntiDependence, 0);
  expectFused(Stream().add({R(A, P)}).add({R(A, Q)}));
  // Whichever of the two is written through, the other reader is in the way.
  expectSplit(Stream().add({R(A, P)}).add({R(A, Q)}).add({W(A, P)}), 2, Constraint::AntiDependence, 1);
  expectSplit(Stream().add({R(A, P)}).add({R(A, Q)}).add({W(A, Q)}), 2, Constraint::AntiDependence, 0);
  expectSplit(Stream().add({R(A, P)}).add({R(A, P)}).add({R(A, Q)}).add({W(A, P)}), 3, Constraint::AntiDependence, 2);
}

TEST(TaskDependence, WriteAfterWrite) {
  expectSplit(Stream().add({W(A, P)}).add({W(A, Q)}), 1, Constraint::TrueDependence, 0);
  expectFused(Stream().add({W(A, P)}).add({W(A, P)}));
  expectFused(Stream().add({RW(A, P)}).add({RW(A, P)}));
  expectSplit(Stream().add({RW(A, P)}).add({RW(A, Q)}), 1, Constraint::TrueDependence, 0);
}

TEST(TaskDependence, Reductions) {
  CheckerOptions paper;
  paper.sameReductionView = false;
  expectFused(Stream().add({Rd(A, P)}).add({Rd(A, P)}));
  expectFused(Stream().add({Rd(A, P)}).add({Rd(A, Q)}), paper);
  expectSplit(Stream().add({Rd(A, P)}).add({Rd(A, Q)}), 1, Constraint::ReductionView, 0);
  expectSplit(Stream().add({Rd(A, P, 0)}).add({Rd(A, P, 1)}), 1, Constraint::ReductionOperator, 0);
  expectSplit(Stream().add({Rd(A, P)}).add({R(A, P)}), 1, Constraint::Reduction, 0);
  expectSplit(Stream().add({R(A, P)}).add({Rd(A, P)}), 1, Constraint::Reduction, 0);
  expectSplit(Stream().add({W(A, P)}).add({Rd(A, P)}), 1, Constraint::Reduction, 0);
  expectSplit(Stream().add({Rd(A, P)}).add({W(A, P)}), 1, Constraint::Reduction, 0);
  expectSplit(Stream().add({Rd(A, P)}).add({RW(A, P)}), 1, Constraint::Reduction, 0);
}

TEST(TaskDependence, LaunchDomains) {
  expectSplit(Stream().add({W(A, P)}, 4).add({R(A, P)}, 22), 1, Constraint::LaunchDomain, 0);
  // Even if nothing is shared.
  expectSplit(Stream().add({W(A, P)}, 4).add({W(B, P)}, 22), 1, Constraint::LaunchDomain, 0);
  // One point of a store that is no scalar is not promoted.
  expectSplit(Stream().add({W(A, P)}, 4).add({W(B, P)}, 1), 1, Constraint::LaunchDomain, 0);
}

TEST(TaskDependence, OnePointKeepsTheConstraints) {
  expectSplit(Stream().add({R(A, P)}, 1).add({W(A, Q)}, 1), 1, Constraint::AntiDependence, 0);
}

TEST(TaskDependence, ScalarsArePromoted) {
  auto stream = [] {
    Stream stream;
    stream
        .add({R(A, P), scalar(Rd(B, N))})           // dot
        .add({scalar(R(B, N)), scalar(W(C, N))}, 1) // t = f(s)
        .add({scalar(R(C, N)), R(A, P), RW(D, P)}); // axpy
    return stream;
  };
  Stream all = stream();
  expectSplit(all, 1, Constraint::Reduction, 0);
  EXPECT_EQ(getFusiblePrefix(llvm::ArrayRef<Task>(all).drop_front()), 2u);
  CheckerOptions without;
  without.promoteScalars = false;
  EXPECT_EQ(getFusiblePrefix(llvm::ArrayRef<Task>(all).drop_front(), without), 1u);
}

TEST(TaskDependence, ScalarsNeedNoCommonPartition) {
  expectFused(Stream().add({scalar(W(A, P))}, 1).add({scalar(R(A, Q)), W(B, P)}));
}

TEST(TaskDependence, ReductionsOfScalarsAreNotPromoted) {
  expectSplit(Stream().add({W(B, P)}).add({scalar(R(A, N)), scalar(Rd(C, N))}, 1), 1, Constraint::LaunchDomain, 0);
}

TEST(TaskDependence, ScalarThatIsReadAndThenWritten) {
  // The second point would read what the first has written.
  expectSplit(Stream().add({scalar(R(A, N)), W(B, P)}).add({scalar(W(A, N))}, 1), 1, Constraint::ScalarReuse, 0);
  expectFused(Stream().add({scalar(W(A, N))}, 1).add({scalar(R(A, N)), W(B, P)}).add({scalar(W(A, N))}, 1));
  // All of one point: no other point is there, until the domain gets more points.
  Stream scalars;
  scalars.add({scalar(R(A, N)), scalar(W(B, N))}, 1).add({scalar(W(A, N))}, 1);
  expectFused(scalars);
  scalars.add({scalar(R(A, N)), W(C, P)});
  expectSplit(scalars, 2, Constraint::ScalarReuse, 1);
  // In one task.
  expectSplit(Stream().add({W(B, P)}).add({scalar(RW(A, N))}, 1), 1, Constraint::ScalarReuse);
  expectFused(Stream().add({W(B, P)}).add({scalar(W(A, N))}, 1).add({scalar(RW(A, N))}, 1));
}

TEST(TaskDependence, BarriersStandAlone) {
  expectSplit(Stream().add({R(A, P)}).add({W(B, P)}).barrier(Constraint::Opaque), 1, Constraint::Opaque);
  expectSplit(Stream().add({R(A, P)}).barrier(Constraint::Image).add({W(B, P)}), 0, Constraint::Image);
}

TEST(TaskDependence, AliasingWithinATask) {
  expectSplit(Stream().add({R(A, P), W(A, Q)}).add({R(B, P)}), 0, Constraint::Aliasing);
  expectSplit(Stream().add({R(B, P)}).add({R(A, P), R(A, Q), W(A, Q)}), 1, Constraint::Aliasing);
  expectSplit(Stream().add({R(A, P), Rd(A, P)}), 0, Constraint::Aliasing);
  expectSplit(Stream().add({Rd(A, P, 0), Rd(A, P, 1)}), 0, Constraint::Aliasing);
  expectSplit(Stream().add({R(A, P), W(A, P)}), 0, Constraint::Aliasing);
  expectFused(Stream().add({R(A, P), R(A, Q)}).add({R(A, P), W(B, P)}));
}

TEST(TaskDependence, Machines) {
  Stream stream;
  stream.add({R(A, P)}).add({W(B, P)});
  stream.tasks[1].machine = 1;
  expectSplit(stream, 1, Constraint::Machine, 0);
}

TEST(TaskDependence, ARejectedTaskLeavesNoTrace) {
  PrefixChecker checker;
  Stream stream;
  stream.add({W(A, P)}).add({W(B, P), R(A, Q)}).add({R(B, Q)});
  EXPECT_FALSE(checker.admit(stream.tasks[0]));
  EXPECT_TRUE(checker.admit(stream.tasks[1]));
  EXPECT_FALSE(checker.touches(B));
  EXPECT_FALSE(checker.admit(stream.tasks[2]));
  EXPECT_EQ(checker.getNumMembers(), 2u);
  EXPECT_TRUE(checker.changes(A));
  EXPECT_FALSE(checker.changes(B));
  checker.reset();
  EXPECT_FALSE(checker.touches(A));
  EXPECT_FALSE(checker.getDomain());
  EXPECT_FALSE(checker.admit(stream.tasks[1]));
}

/// Figure 1: five views of a grid, ADD x4, MULT, COPY.
TEST(TaskDependence, StencilOfTheFirstFigure) {
  enum : uint32_t { Grid, T1, T2, T3, Avg, Work };
  enum : uint32_t { Center, North, East, West, South, Whole };
  Stream step;
  auto addStep = [&] {
    step.add({R(Grid, Center), R(Grid, North), W(T1, Whole)})
        .add({R(T1, Whole), R(Grid, East), W(T2, Whole)})
        .add({R(T2, Whole), R(Grid, West), W(T3, Whole)})
        .add({R(T3, Whole), R(Grid, South), W(Avg, Whole)})
        .add({R(Avg, Whole), W(Work, Whole)})
        .add({R(Work, Whole), W(Grid, Center)});
  };
  addStep();
  addStep();
  // The last reader of another view that is recorded first.
  expectSplit(step, 5, Constraint::AntiDependence, 0);
  std::optional<Conflict> conflict;
  EXPECT_EQ(getFusiblePrefix(llvm::ArrayRef<Task>(step).drop_front(5), {}, &conflict), 1u);
  EXPECT_EQ(getName(conflict->constraint), "true-dependence");
}
