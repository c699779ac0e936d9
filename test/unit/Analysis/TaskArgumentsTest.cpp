//===- TaskArgumentsTest.cpp - Arguments and temporaries of fused tasks ---===//

#include "TaskStreams.h"

#include "gtest/gtest.h"

using namespace fusion::tasks;

static std::string print(const FusedArguments &fused) {
  std::string text;
  for (const Argument &argument : fused.arguments) {
    static const char *const names[] = {"R", "W", "RW", "Rd"};
    text += names[unsigned(argument.privilege)];
    text += "(" + std::string(1, "abcdefg"[argument.store]) + "," + std::string(1, "PQN"[argument.partition]) + ") ";
  }
  return text;
}

TEST(TaskArguments, ReadAndWrittenIsReadWrite) {
  EXPECT_EQ(print(buildArguments(Stream().add({R(A, P), W(B, P)}).add({R(C, P), W(A, P)}))), "RW(a,P) W(b,P) R(c,P) ");
}

TEST(TaskArguments, DeEscalation) {
  // Only what the group has written is read.
  EXPECT_EQ(print(buildArguments(Stream().add({W(A, P)}).add({R(A, P), W(B, P)}))), "W(a,P) W(b,P) ");
  EXPECT_EQ(print(buildArguments(Stream().add({W(A, P)}).add({RW(A, P)}))), "W(a,P) ");
  EXPECT_EQ(print(buildArguments(Stream().add({RW(A, P)}).add({W(A, P)}))), "RW(a,P) ");
  EXPECT_EQ(print(buildArguments(Stream().add({R(A, P)}).add({W(A, P)}).add({R(A, P)}))), "RW(a,P) ");
  // A task that reads and writes one part as two arguments reads first.
  EXPECT_EQ(print(buildArguments(Stream().add({W(A, P), R(A, P)}))), "RW(a,P) ");
}

TEST(TaskArguments, ViewsAndReductions) {
  FusedArguments fused = buildArguments(Stream().add({R(A, P), Rd(B, N)}).add({R(A, Q), R(A, P), Rd(B, N)}));
  EXPECT_EQ(print(fused), "R(a,P) Rd(b,N) R(a,Q) ");
  EXPECT_EQ(fused.slots[0], (llvm::SmallVector<unsigned, 4>{0, 1}));
  EXPECT_EQ(fused.slots[1], (llvm::SmallVector<unsigned, 4>{2, 0, 1}));
}

TEST(TaskArguments, PartitionsOfScalarsDoNotMatter) {
  EXPECT_EQ(buildArguments(Stream().add({scalar(R(A, P))}).add({scalar(R(A, Q))})).arguments.size(), 1u);
}

/// Figure 6: z = 2x; w = y + z; v = w^2; norm(w[half:]); only v is still referred to by the application.
TEST(TaskArguments, TemporariesOfTheSixthFigure) {
  enum : uint32_t { X, Y, Z, WW, V, Norm };
  Stream stream;
  stream.add({R(X, P), W(Z, P)})
      .add({R(Y, P), R(Z, P), W(WW, P)})
      .add({R(WW, P), W(V, P)})
      .add({R(WW, Q), Rd(Norm, N)});
  llvm::ArrayRef<Task> tasks = stream;
  unsigned length = getFusiblePrefix(tasks);
  ASSERT_EQ(length, 3u);
  FusedArguments fused = buildArguments(tasks.take_front(length));
  auto covers = [](const Task &, const Argument &argument) { return argument.partition == P; };
  llvm::SmallVector<unsigned> temporaries = findTemporaries(
      fused, [&](uint32_t store) { return store == V || isObservedBy(tasks.drop_front(length), store, covers); });
  ASSERT_EQ(temporaries.size(), 1u);
  EXPECT_EQ(fused.arguments[temporaries[0]].store, Z);
}

TEST(TaskArguments, Temporaries) {
  auto find = [](const Stream &stream) {
    FusedArguments fused = buildArguments(stream);
    std::string stores;
    for (unsigned slot : findTemporaries(fused, [](uint32_t) { return false; }))
      stores += "abcdefg"[fused.arguments[slot].store];
    return stores;
  };
  // Never read: dead, and a temporary.
  EXPECT_EQ(find(Stream().add({R(A, P), W(B, P)})), "b");
  // Read before it is written.
  EXPECT_EQ(find(Stream().add({R(A, P), W(B, P)}).add({W(A, P)})), "b");
  EXPECT_EQ(find(Stream().add({RW(A, P)})), "");
  EXPECT_EQ(find(Stream().add({R(A, P), Rd(B, P)})), "");
}

TEST(TaskArguments, WhatPendingTasksObserve) {
  auto covers = [](const Task &, const Argument &argument) { return argument.partition == N; };
  auto observed = [&](const Stream &pending) { return isObservedBy(pending, A, covers); };
  EXPECT_FALSE(observed(Stream().add({R(B, P)})));
  EXPECT_TRUE(observed(Stream().add({R(A, Q)})));
  EXPECT_TRUE(observed(Stream().add({Rd(A, Q)})));
  EXPECT_TRUE(observed(Stream().add({RW(A, N)})));
  // Overwritten in whole, in part, and by a task that reads it as well.
  EXPECT_FALSE(observed(Stream().add({W(A, N)}).add({R(A, P)})));
  EXPECT_TRUE(observed(Stream().add({W(A, P)}).add({R(A, P)})));
  EXPECT_TRUE(observed(Stream().add({W(A, N), R(A, P)})));
}
