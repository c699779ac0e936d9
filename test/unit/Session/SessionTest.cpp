//===- SessionTest.cpp - Sessions: windows, fusion, memo, errors ----------------===//

#include "fusion/Session/Session.h"

#include "gtest/gtest.h"



using namespace fusion;

namespace {

using P = TaskPrivilege;

/// Elementwise tasks on vectors.
struct Vectors {
  explicit Vectors(SessionOptions options = {}, int64_t n = 1000) : session(options), n(n) {
    add = binary("add", "arith.addf");
    multiply = binary("multiply", "arith.mulf");
    rows = session.getRows({0}, {n}, 0);
  }

  TaskKind binary(const char *name, const char *op) {
    return session.registerTask(
        name, {P::Read, P::Read, P::Write},
        std::string("(%x: tensor<?xf64> read, %y: tensor<?xf64> read, %out: tensor<?xf64> write) {\n"
                    "%0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, "
                    "affine_map<(i) -> (i)>], iterator_types = [\"parallel\"]} ins(%x, %y : tensor<?xf64>, "
                    "tensor<?xf64>) outs(%out : tensor<?xf64>) {\n^bb0(%a: f64, %b: f64, %old: f64):\n%r = ") +
            op + " %a, %b : f64\nlinalg.yield %r : f64\n} -> tensor<?xf64>\ndist.yield %0 : tensor<?xf64>\n}");
  }

  Store make(double first, double step = 0) {
    std::vector<double> data(n);
    for (int64_t i = 0; i < n; ++i)
      data[i] = first + step * double(i);
    return session.createFrom({n}, ElementType::F64, data.data());
  }

  Store apply(TaskKind kind, const Store &x, const Store &y) {
    Store out = session.createStore({n}, ElementType::F64);
    session.launch(kind, session.getRowDomain(), {{x, rows}, {y, rows}, {out, rows}});
    return out;
  }

  std::vector<double> read(const Store &store) {
    std::vector<double> data(n);
    session.read(store, data.data());
    return data;
  }

  Session session;
  int64_t n;
  TaskKind add, multiply;
  Partition rows;
};

TEST(Session, FusesAndEliminatesTemporaries) {
  Vectors v;
  Store x = v.make(1, 1), y = v.make(2);
  Store result;
  {
    Store sum = v.apply(v.add, x, y);
    Store square = v.apply(v.multiply, sum, sum);
    result = v.apply(v.add, square, x);
  }
  std::vector<double> data = v.read(result);
  for (int64_t i = 0; i < v.n; ++i)
    EXPECT_EQ(data[i], (3.0 + i) * (3.0 + i) + (1.0 + i));
  SessionStatistics s = v.session.getStatistics();
  EXPECT_EQ(s.tasks, 3u);
  EXPECT_EQ(s.groups, 1u);
  EXPECT_EQ(s.storesEliminated, 2u);
  // x, y and the result; the temporaries were never made.
  EXPECT_EQ(s.peakBytes, 3u * 8000);
  EXPECT_EQ(s.movedBytes, 3u * 8000);
}

TEST(Session, KeepsWhatTheApplicationHolds) {
  Vectors v;
  Store x = v.make(1, 1);
  Store sum = v.apply(v.add, x, x);
  Store square = v.apply(v.multiply, sum, sum);
  EXPECT_EQ(v.read(square)[3], 64);
  EXPECT_EQ(v.read(sum)[3], 8);
  EXPECT_EQ(v.session.getStatistics().storesEliminated, 0u);
}

TEST(Session, UnfusedRunsEachTask) {
  SessionOptions options;
  options.fuse = false;
  Vectors v(options);
  Store x = v.make(1, 1);
  Store result = v.apply(v.multiply, v.apply(v.add, x, x), x);
  EXPECT_EQ(v.read(result)[1], 8);
  SessionStatistics s = v.session.getStatistics();
  EXPECT_EQ(s.groups, 2u);
  EXPECT_EQ(s.window, 1u);
}

TEST(Session, WindowGrowsByStepsUpToTheCap) {
  for (unsigned cap : {0u, 12u}) {
    SessionOptions options;
    options.windowCap = cap;
    Vectors v(options);
    Store x = v.make(1);
    for (int i = 0; i < 60; ++i)
      x = v.apply(v.add, x, x);
    v.session.flush();
    // 5 + 10 + 15 + 20 tasks fill the first four windows.
    EXPECT_EQ(v.session.getStatistics().window, cap ? 12u : 25u);
  }
}

TEST(Session, ReplaysIsomorphicStreams) {
  Vectors v;
  auto run = [&](double first) {
    Store x = v.make(first), y = v.make(2);
    Store result = v.apply(v.multiply, v.apply(v.add, x, y), y);
    return v.read(result)[0];
  };
  EXPECT_EQ(run(1), 6);
  SessionStatistics before = v.session.getStatistics();
  EXPECT_EQ(run(5), 14);
  SessionStatistics after = v.session.getStatistics();
  EXPECT_EQ(after.compiles, before.compiles);
  EXPECT_EQ(after.cacheMisses, before.cacheMisses);
  EXPECT_EQ(after.cacheHits, before.cacheHits + 1);
}

// First defect of the prototype: repeated stores were left out of the key.
TEST(Session, ReusePatternsAreTold) {
  Vectors v;
  Store x = v.make(3), y = v.make(4);
  EXPECT_EQ(v.read(v.apply(v.add, v.apply(v.add, x, y), x))[0], 10);
  EXPECT_EQ(v.read(v.apply(v.add, v.apply(v.add, x, y), y))[0], 11);
  EXPECT_EQ(v.read(v.apply(v.add, v.apply(v.add, x, x), y))[0], 10);
  EXPECT_EQ(v.session.getStatistics().cacheHits, 0u);
}

// Second: partitions and domains were not in it.
TEST(Session, PartitionsAreTold) {
  Vectors v;
  Store x = v.make(0, 1);
  int64_t half = v.n / 2;
  Partition low = v.session.getRows({0}, {half}, 0), high = v.session.getRows({half}, {half}, 0);
  for (Partition part : {low, high}) {
    Store out = v.session.createStore({half}, ElementType::F64);
    v.session.launch(v.add, v.session.getRowDomain(), {{x, part}, {x, part}, {out, low}});
    std::vector<double> data(half);
    v.session.read(out, data.data());
    EXPECT_EQ(data[1], part.number == low.number ? 2 : 2 * (half + 1.0));
  }
  EXPECT_EQ(v.session.getStatistics().cacheHits, 0u);
}

// Third: so was what waits in the window and needs a store that the application has let go of.
TEST(Session, WhatWaitsIsTold) {
  SessionOptions options;
  options.windowStart = 3;
  Vectors v(options);
  Store x = v.make(1, 1);
  Partition tail = v.session.getRows({1}, {v.n - 1}, 0), head = v.session.getRows({0}, {v.n - 1}, 0);
  for (bool isRead : {false, true}) {
    Store shifted = v.session.createStore({v.n - 1}, ElementType::F64), result;
    {
      Store t = v.apply(v.add, x, x);
      result = v.apply(v.add, t, t);
      // Another view of t, or of x: the end of the group.
      const Store &source = isRead ? t : x;
      v.session.launch(v.add, v.session.getRowDomain(), {{source, tail}, {source, tail}, {shifted, head}});
    }
    EXPECT_EQ(v.read(result)[0], 4);
    std::vector<double> data(v.n - 1);
    v.session.read(shifted, data.data());
    EXPECT_EQ(data[0], isRead ? 8 : 4);
  }
}

TEST(Session, LivenessAndTypesAreTold) {
  Vectors v;
  Store x = v.make(1);
  Store kept;
  for (bool keep : {false, true}) {
    Store result;
    {
      Store t = v.apply(v.add, x, x);
      result = v.apply(v.add, t, t);
      if (keep)
        kept = t;
    }
    EXPECT_EQ(v.read(result)[0], 4);
  }
  EXPECT_EQ(v.read(kept)[0], 2);
  EXPECT_EQ(v.session.getStatistics().cacheHits, 0u);
}

TEST(Session, ReducesToScalars) {
  Vectors v;
  TaskKind sum = v.session.registerTask(
      "sum", {P::Read, P::ReduceSum},
      "(%x: tensor<?xf64> read, %out: tensor<f64> reduce<sum>) {\n%0 = linalg.generic {indexing_maps = "
      "[affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = [\"reduction\"]} ins(%x : tensor<?xf64>) "
      "outs(%out : tensor<f64>) {\n^bb0(%a: f64, %s: f64):\n%r = arith.addf %a, %s : f64\nlinalg.yield %r : f64\n} -> "
      "tensor<f64>\ndist.yield %0 : tensor<f64>\n}");
  Store x = v.make(1, 1);
  Store total = v.session.createFilled({}, ElementType::F64, 5);
  Store doubled = v.apply(v.add, x, x);
  v.session.launch(sum, v.session.getRowDomain(), {{doubled, v.rows}, {total, v.session.getWhole()}});
  doubled = Store();
  EXPECT_EQ(v.session.readScalar(total), 5 + double(v.n) * (v.n + 1));
  EXPECT_EQ(v.session.getStatistics().groups, 1u);
}

int32_t reverse(const FusionTile *tiles, int32_t) {
  auto *in = static_cast<const double *>(tiles[0].data);
  auto *out = static_cast<double *>(tiles[1].data);
  int64_t n = tiles[0].sizes[0];
  if (in[0] < 0)
    return fusion_dist_task_error("the first element is negative");
  for (int64_t i = 0; i < n; ++i)
    out[i] = in[n - 1 - i];
  return 0;
}

TEST(Session, OpaqueTasksEndGroupsAndFail) {
  Vectors v;
  TaskKind flip = v.session.registerOpaque("reverse", {P::Read, P::Write}, reverse);
  Store x = v.make(1, 1);
  Store sum = v.apply(v.add, x, x), flipped = v.session.createStore({v.n}, ElementType::F64);
  v.session.launch(flip, v.session.getRowDomain(), {{sum, v.rows}, {flipped, v.rows}});
  EXPECT_EQ(v.read(v.apply(v.add, flipped, x))[0], 2.0 * v.n + 1);
  EXPECT_EQ(v.session.getStatistics().groups, 3u);
  Store negative = v.make(-1);
  v.session.launch(flip, v.session.getRowDomain(), {{negative, v.rows}, {flipped, v.rows}});
  try {
    v.session.flush();
    FAIL() << "the task fails";
  } catch (const SessionError &error) {
    EXPECT_NE(std::string(error.what()).find("the first element is negative"), std::string::npos) << error.what();
  }
  EXPECT_EQ(v.read(v.apply(v.add, x, x))[0], 2);
}

TEST(Session, ErrorsLeaveTheSessionUsable) {
  Vectors v;
  Store x = v.make(1), other = v.session.createStore({3}, ElementType::F64);
  auto expect = [](const char *text, auto call) {
    try {
      call();
      FAIL() << "no error: " << text;
    } catch (const SessionError &error) {
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
  };
  Domain rows = v.session.getRowDomain();
  expect("has 3 arguments, 1 were given", [&] { v.session.launch(v.add, rows, {{x, v.rows}}); });
  expect("reaches beyond the store", [&] { v.session.launch(v.add, rows, {{other, v.rows}, {x, v.rows}, {x, v.rows}}); });
  expect("overlaps another argument", [&] { v.session.launch(v.add, rows, {{x, v.rows}, {x, v.rows}, {x, v.rows}}); });
  expect("is not a store of this session", [&] { v.session.launch(v.add, rows, {{Store(), v.rows}, {x, v.rows}, {x, v.rows}}); });
  expect("is negative", [&] { v.session.createStore({-1}, ElementType::F64); });
  expect("room for at least one task", [&] {
    SessionOptions options;
    options.windowStart = 0;
    Session session(options);
  });
  expect("unknown CPU 'z80'", [&] {
    SessionOptions options;
    options.target = "z80";
    Session session(options);
  });
  TaskKind wrong = v.session.registerTask("wrong", {P::Read, P::Write}, "(%x: tensor<?xf64> read) {}");
  Store out = v.session.createStore({v.n}, ElementType::F64);
  expect("task 'wrong'", [&] {
    v.session.launch(wrong, rows, {{x, v.rows}, {out, v.rows}});
    v.session.flush();
  });
  struct Broken {};
  TaskKind generated = v.session.registerGenerator("generated", {P::Read, P::Write}, []() -> std::string { throw Broken(); });
  EXPECT_THROW(v.session.launch(generated, rows, {{x, v.rows}, {out, v.rows}}), Broken);
  EXPECT_EQ(v.read(v.apply(v.add, x, x))[0], 2);
}

TEST(Session, HandlesMayOutliveTheSession) {
  Store left;
  {
    Vectors v;
    left = v.apply(v.add, v.make(1), v.make(2));
  }
  EXPECT_THROW(left.getShape(), SessionError);
}

TEST(Session, LogSaysWhatEndedAGroup) {
  Vectors v;
  std::vector<std::string> lines;
  v.session.setLog([&](const std::string &line) { lines.push_back(line); });
  Store x = v.make(1), y = v.apply(v.add, x, x);
  Partition tail = v.session.getRows({1}, {v.n - 1}, 0);
  Store out = v.session.createStore({v.n - 1}, ElementType::F64);
  v.session.launch(v.add, v.session.getRowDomain(), {{y, tail}, {y, tail}, {out, v.session.getRows({0}, {v.n - 1}, 0)}});
  v.session.flush();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], "group of 1: add; 0 stores vanish; ended by true-dependence at 'add', argument 0, against 'add'");
}

} // namespace
