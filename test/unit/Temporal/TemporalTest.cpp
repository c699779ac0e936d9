//===- TemporalTest.cpp - Sliced graphs compute what unsliced ones do ------===//

#include "test/unit/Temporal/GraphProgram.h"

#include "fusion/Spaces/Postpone.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace fusion;
using namespace fusion::spacemap;
using namespace fusion::test;

namespace {

class Temporal : public ::testing::Test {
protected:
  Temporal() {
    context.loadDialect<mlir::arith::ArithDialect, mlir::math::MathDialect, mlir::func::FuncDialect,
                        mlir::tensor::TensorDialect, SpaceMapDialect>();
    inputs.clear();
  }

  mlir::StringAttr name(char dim) { return mlir::StringAttr::get(&context, std::string(1, dim)); }

  /// Plans, slices by several steps, and compares with the unsliced program. `inputs` are random unless set.
  void check(const GraphProgram &program, char dim, double rtol = 2e-5, double atol = 1e-6) {
    auto module = parse(context, program);
    ASSERT_TRUE(module);
    std::vector<HostArray> arguments = inputs.empty() ? randomInputs(program, 1) : inputs;
    std::vector<HostArray> want = run(*module, arguments);
    ASSERT_FALSE(want.empty());
    result = want;
    for (int64_t step : {1, 2, 3, 7, 64}) {
      mlir::OwningOpRef<mlir::ModuleOp> sliced = module->clone();
      GraphOp graph = getGraph(*sliced);
      if (postpone)
        numPostponed = postponeBroadcasts(graph);
      std::string reason;
      auto plan = planTemporal(graph, name(dim), &reason, options);
      ASSERT_TRUE(mlir::succeeded(plan)) << reason;
      numPasses = plan->numPasses;
      numUpdates = llvm::count_if(plan->reductions, [](const TemporalReduction &reduction) {
        return reduction.update.kind != algebra::UpdatePlan::Kind::Simple;
      });
      std::string text = plan->describe();
      ASSERT_TRUE(mlir::succeeded(applyTemporal(graph, *plan, step)));
      std::string problem = difference(run(*sliced, arguments), want, rtol, atol);
      EXPECT_EQ(problem, "") << "step " << step << ", " << text;
      if (!problem.empty()) {
        sliced->dump();
        return;
      }
    }
  }

  std::string refusal(const GraphProgram &program, char dim) {
    auto module = parse(context, program);
    if (!module)
      return "does not parse";
    std::string reason;
    auto plan = planTemporal(getGraph(*module), name(dim), &reason, options);
    return mlir::succeeded(plan) ? "none: " + plan->describe() : reason;
  }

  // Pieces of programs.
  Space exponential(GraphProgram &p, Space x, Space m) { return p("math.exp", {p("arith.subf", {x, m})}); }
  Space scores(GraphProgram &p) {
    Space q = p.input("mk"), k = p.input("lk");
    return p.reduce(p("arith.mulf", {q, k}), "k", "sum");
  }
  Space mean(GraphProgram &p, Space x, const std::string &along, double count, const std::string &type = "f32") {
    return p("arith.divf", {p.reduce(x, along, "sum"), p.constant(std::to_string(count), type)});
  }
  Space layerNorm(GraphProgram &p, Space x, double count) {
    Space centred = p("arith.subf", {x, mean(p, x, "n", count)});
    Space variance = mean(p, p("arith.mulf", {centred, centred}), "n", count);
    Space scale = p("math.rsqrt", {p("arith.addf", {variance, p.constant("1.0e-5")})});
    Space gamma = p.input("n"), beta = p.input("n");
    return p("arith.addf", {p("arith.mulf", {p("arith.mulf", {centred, scale}), gamma}), beta});
  }
  /// Attention with an additive mask; the mask is the last input.
  GraphProgram maskedAttention(bool withGuard) {
    GraphProgram p("m=5 l=11 k=4 n=3");
    Space s = scores(p), v = p.input("ln");
    Space masked = p("arith.addf", {s, p.input("ml")});
    Space e = exponential(p, masked, p.reduce(masked, "l", "max"));
    Space weights = p("arith.divf", {e, p.reduce(e, "l", "sum")});
    if (withGuard) {
      Space is = p.map("arith.cmpf oeq, %0, %1 : f32", {masked, p.constant("0xFF800000")}, "i1");
      weights = p.map("arith.select %0, %1, %2 : f32", {p.reduce(is, "l", "and"), p.constant("0.0"), weights}, "f32");
    }
    p.output(p.reduce(p("arith.mulf", {weights, v}), "l", "sum"));
    return p;
  }
  void setMask(const GraphProgram &p, double hidden) {
    inputs = randomInputs(p, 5);
    HostArray &mask = inputs.back();
    // Row 0 hides a prefix, row 1 a suffix, row 2 all, row 3 single ones.
    for (int64_t l = 0; l < 11; ++l) {
      bool hides[] = {l<6, l> 2, true, l % 2 == 0, false};
      for (int64_t m = 0; m < 5; ++m)
        mask.setDouble(m * 11 + l, hides[m] ? hidden : 0.0);
    }
  }

  mlir::MLIRContext context;
  std::vector<HostArray> inputs, result;
  bool postpone = true;
  TemporalOptions options;
  unsigned numPasses = 0, numUpdates = 0, numPostponed = 0;
};

constexpr double infinity = std::numeric_limits<double>::infinity();

} // namespace

TEST_F(Temporal, ContractionIsAggregated) {
  GraphProgram p("m=5 l=4 k=13");
  p.output(scores(p));
  check(p, 'k');
  EXPECT_EQ(numPasses, 1u);
  EXPECT_EQ(numUpdates, 0u);
}

TEST_F(Temporal, ElementwiseIsStreamed) {
  GraphProgram p("m=5 l=13");
  p.output(p("math.exp", {p("arith.addf", {p.input("ml"), p.input("l")})}));
  check(p, 'l');
  EXPECT_EQ(numPasses, 1u);
}

TEST_F(Temporal, Softmax) {
  GraphProgram p("m=5 l=13");
  Space x = p.input("ml");
  Space e = exponential(p, x, p.reduce(x, "l", "max"));
  p.output(p("arith.divf", {e, p.reduce(e, "l", "sum")}));
  check(p, 'l');
  EXPECT_EQ(numPasses, 2u);
  EXPECT_EQ(numUpdates, 1u);
  inputs = randomInputs(p, 2, 1e4, 300);
  check(p, 'l');
  inputs = randomInputs(p, 2, -1e4, 300);
  check(p, 'l');
  inputs[0].setDouble(3, infinity);
  inputs[0].setDouble(20, std::nan(""));
  for (unsigned l = 0; l < 13; ++l)
    inputs[0].setDouble(26 + l, -infinity);
  check(p, 'l');
  EXPECT_TRUE(std::isnan(result[0].getDouble(30)));
}

TEST_F(Temporal, SumOfExponentialsAlone) {
  // A row of -inf is NaN without slicing, so it must be with.
  GraphProgram p("m=3 l=7");
  Space x = p.input("ml"), m = p.reduce(x, "l", "max");
  p.output(p.reduce(exponential(p, x, m), "l", "sum"));
  p.output(m);
  inputs = randomInputs(p, 3, -200);
  for (unsigned l = 0; l < 7; ++l)
    inputs[0].setDouble(7 + l, -infinity);
  check(p, 'l');
  EXPECT_TRUE(std::isnan(result[0].getDouble(1)));
  EXPECT_EQ(result[1].getDouble(1), -infinity);
}

TEST_F(Temporal, LogSoftmax) {
  GraphProgram p("m=4 l=12");
  Space x = p.input("ml"), centred = p("arith.subf", {x, p.reduce(x, "l", "max")});
  Space sum = p.reduce(p("math.exp", {centred}), "l", "sum");
  p.output(p("arith.subf", {centred, p("math.log", {sum})}));
  check(p, 'l');
  EXPECT_EQ(numPasses, 2u);
}

TEST_F(Temporal, CrossEntropy) {
  // The sum of t * (x - m - log s): a polynomial of degree 1 in m and log s.
  GraphProgram p("m=4 l=12");
  Space x = p.input("ml"), t = p.input("ml");
  Space centred = p("arith.subf", {x, p.reduce(x, "l", "max")});
  Space sum = p.reduce(p("math.exp", {centred}), "l", "sum");
  p.output(p.reduce(p("arith.mulf", {t, p("arith.subf", {centred, p("math.log", {sum})})}), "l", "sum"));
  check(p, 'l', 1e-4, 1e-5);
  EXPECT_EQ(numPasses, 1u);
  EXPECT_EQ(numUpdates, 2u);
}

TEST_F(Temporal, Attention) {
  GraphProgram p = maskedAttention(false);
  check(p, 'l');
  EXPECT_EQ(numPostponed, 1u);
  EXPECT_EQ(numPasses, 1u);
  EXPECT_EQ(numUpdates, 2u);
  for (double hidden : {-infinity, double(std::numeric_limits<float>::lowest())}) {
    setMask(p, hidden);
    check(p, 'l');
    EXPECT_EQ(std::isnan(result[0].getDouble(6)), std::isinf(hidden));
    EXPECT_FALSE(std::isnan(result[0].getDouble(0)));
  }
}

TEST_F(Temporal, AttentionWithTheDivisionLeftInside) {
  postpone = false;
  GraphProgram p = maskedAttention(false);
  check(p, 'l');
  EXPECT_EQ(numUpdates, 2u);
  setMask(p, -infinity);
  check(p, 'l');
  EXPECT_TRUE(std::isnan(result[0].getDouble(6)));
}

TEST_F(Temporal, AttentionWithLargeLogits) {
  GraphProgram p = maskedAttention(false);
  inputs = randomInputs(p, 4, 0, 70);
  check(p, 'l', 2e-4, 1e-4);
}

TEST_F(Temporal, AttentionWithAGuardForEmptyRows) {
  GraphProgram p = maskedAttention(true);
  setMask(p, -infinity);
  check(p, 'l');
  EXPECT_EQ(numPasses, 1u);
  EXPECT_EQ(result[0].getDouble(6), 0.0);
}

TEST_F(Temporal, CausalAttention) {
  GraphProgram p("m=9 l=9 k=4 n=3");
  Space s = scores(p), v = p.input("ln");
  Space hides = p.map("arith.cmpi ult, %0, %1 : index", {p.index('m'), p.index('l')}, "i1");
  Space masked = p.map("arith.select %0, %1, %2 : f32", {hides, p.constant("0xFF800000"), s}, "f32");
  Space e = exponential(p, masked, p.reduce(masked, "l", "max"));
  p.output(p.reduce(p("arith.mulf", {p("arith.divf", {e, p.reduce(e, "l", "sum")}), v}), "l", "sum"));
  check(p, 'l');
  EXPECT_EQ(numPasses, 1u);
}

TEST_F(Temporal, AttentionWithAMaximumOfAMaximum) {
  // As JAX writes it.
  GraphProgram p("m=4 l=9 k=4 n=3");
  Space s = scores(p), v = p.input("ln");
  Space m = p("arith.maximumf", {p.constant("0xFF800000"), p.reduce(s, "l", "max")});
  Space e = exponential(p, s, m);
  p.output(p.reduce(p("arith.mulf", {p("arith.divf", {e, p.reduce(e, "l", "sum")}), v}), "l", "sum"));
  check(p, 'l');
  EXPECT_EQ(numUpdates, 2u);
}

TEST_F(Temporal, AttentionInHalfPrecision) {
  GraphProgram p("m=4 l=9 k=4 n=3");
  auto widen = [&](Space space) { return p.map("arith.extf %0 : f16 to f32", {space}, "f32"); };
  auto narrow = [&](Space space) { return p.map("arith.truncf %0 : f32 to f16", {space}, "f16"); };
  Space q = p.input("mk", "f16"), k = p.input("lk", "f16"), v = p.input("ln", "f16");
  Space s = widen(narrow(p.reduce(p("arith.mulf", {widen(q), widen(k)}), "k", "sum")));
  Space e = exponential(p, s, p.reduce(s, "l", "max"));
  Space weights = narrow(p("arith.divf", {e, p.reduce(e, "l", "sum")}));
  p.output(narrow(p.reduce(p("arith.mulf", {widen(weights), widen(v)}), "l", "sum")));
  check(p, 'l', 4e-3, 4e-3);
  EXPECT_EQ(numPostponed, 1u);
  EXPECT_EQ(numPasses, 1u);
}

TEST_F(Temporal, SumsOfHalfPrecisionAreKeptInSingle) {
  GraphProgram p("m=4 l=900");
  Space x = p.input("ml", "f16");
  p.output(p.reduce(x, "l", "sum"));
  auto module = parse(context, p);
  std::string reason;
  auto plan = planTemporal(getGraph(*module), name('l'), &reason);
  ASSERT_TRUE(mlir::succeeded(plan));
  EXPECT_TRUE(plan->reductions[0].update.states[0].update.type().isF32());
  ASSERT_TRUE(mlir::succeeded(applyTemporal(getGraph(*module), *plan, 1)));
  inputs = randomInputs(p, 1, 1, 0);
  EXPECT_EQ(run(*module, inputs)[0].getDouble(0), 900);
}

TEST_F(Temporal, LayerNorm) {
  GraphProgram p("m=3 n=23");
  p.output(layerNorm(p, p.input("mn"), 23));
  check(p, 'n');
  EXPECT_EQ(numPasses, 2u);
  EXPECT_EQ(numUpdates, 1u);
  inputs = randomInputs(p, 2);
  inputs[0] = randomInputs(p, 2, 1000, 1)[0];
  check(p, 'n', 2e-3, 2e-3);
}

TEST_F(Temporal, VarianceOfDataWithALargeMean) {
  GraphProgram p("m=3 n=400");
  Space x = p.input("mn"), centred = p("arith.subf", {x, mean(p, x, "n", 400)});
  p.output(mean(p, p("arith.mulf", {centred, centred}), "n", 400));
  inputs = randomInputs(p, 2, 1e6, 2);
  // The elements themselves are exact to 1/16 only; what must hold is that slicing adds no more than that.
  check(p, 'n', 1e-2, 0);
  EXPECT_GT(result[0].getDouble(0), 3);
}

TEST_F(Temporal, LayerNormWithTwoMeansAndWideVariance) {
  // As PyTorch's decomposition: the variance in f64, the mean once more in f32.
  GraphProgram p("m=3 n=23");
  Space x = p.input("mn"), wide = p.map("arith.extf %0 : f32 to f64", {x}, "f64");
  Space centred = p("arith.subf", {wide, mean(p, wide, "n", 23, "f64")});
  Space variance = mean(p, p("arith.mulf", {centred, centred}), "n", 23, "f64");
  Space narrow = p.map("arith.truncf %0 : f64 to f32", {variance}, "f32");
  Space scale = p("math.rsqrt", {p("arith.addf", {narrow, p.constant("1.0e-5")})});
  p.output(p("arith.mulf", {p("arith.subf", {x, mean(p, x, "n", 23)}), scale}));
  check(p, 'n');
  EXPECT_EQ(numPasses, 2u);
}

TEST_F(Temporal, DynamicExtents) {
  GraphProgram p("m=?3 n=?23");
  Space x = p.input("mn"), m = p.reduce(x, "n", "max");
  Space total = p.reduce(x, "n", "sum"),
        centred = p("arith.subf", {x, p("arith.mulf", {total, p.constant("0.0434782609")})});
  p.output(p.reduce(p("arith.mulf", {centred, centred}), "n", "sum"));
  p.output(exponential(p, x, m));
  inputs = randomInputs(p, 2, 100, 1);
  check(p, 'n', 1e-4);
  EXPECT_EQ(numPasses, 2u);
}

TEST_F(Temporal, DynamicExtentOfNothing) {
  // The sums of nothing are 0, postponed division or not.
  GraphProgram p("m=3 l=?0 n=2");
  Space x = p.input("ml"), v = p.input("ln"), e = exponential(p, x, p.reduce(x, "l", "max"));
  Space s = p.reduce(e, "l", "sum");
  p.output(s);
  p.output(p.reduce(p("arith.mulf", {p("arith.divf", {e, s}), v}), "l", "sum"));
  check(p, 'l');
  EXPECT_EQ(numPostponed, 1u);
  EXPECT_EQ(result[0].getDouble(0), 0);
  EXPECT_EQ(result[1].getDouble(0), 0);
}

TEST_F(Temporal, RmsNormAndLinear) {
  GraphProgram p("m=4 k=19 n=5");
  Space x = p.input("mk"), g = p.input("k"), w = p.input("nk");
  Space r = p("math.rsqrt", {p("arith.addf", {mean(p, p("arith.mulf", {x, x}), "k", 19), p.constant("1.0e-5")})});
  Space y = p("arith.mulf", {p("arith.mulf", {x, r}), g});
  p.output(p.reduce(p("arith.mulf", {y, w}), "k", "sum"));
  check(p, 'k');
  EXPECT_EQ(numPostponed, 1u);
  EXPECT_EQ(numUpdates, 0u);
  // Without postposition the scale is updated.
  postpone = false;
  check(p, 'k');
  EXPECT_EQ(numUpdates, 1u);
}

TEST_F(Temporal, TwoContractionsOfACell) {
  GraphProgram p("b=3 k=7 n=4 h=5");
  Space a = p.reduce(p("arith.mulf", {p.input("bk"), p.input("kn")}), "k", "sum");
  Space u = p.reduce(p("arith.mulf", {p.input("bh"), p.input("hn")}), "h", "sum");
  p.output(p("math.tanh", {p("arith.addf", {p("arith.addf", {a, u}), p.input("n")})}));
  check(p, 'k');
  EXPECT_EQ(numUpdates, 0u);
  check(p, 'h');
}

TEST_F(Temporal, SoftmaxGradient) {
  GraphProgram p("m=4 l=11");
  Space x = p.input("ml"), g = p.input("ml");
  Space e = exponential(p, x, p.reduce(x, "l", "max")), s = p.reduce(e, "l", "sum");
  Space inverse = p("arith.divf", {p.constant("1.0"), p("arith.mulf", {s, s})});
  Space t = p.reduce(p("arith.mulf", {p("arith.mulf", {g, inverse}), e}), "l", "sum");
  p.output(p("arith.mulf", {p("arith.addf", {p("arith.divf", {g, s}), p.map("arith.negf %0 : f32", {t}, "f32")}), e}));
  check(p, 'l');
  EXPECT_EQ(numPasses, 2u);
  postpone = false;
  check(p, 'l');
}

TEST_F(Temporal, Entropy) {
  GraphProgram p("m=4 l=11");
  Space x = p.input("ml"), centred = p("arith.subf", {x, p.reduce(x, "l", "max")});
  Space e = p("math.exp", {centred});
  p.output(p.reduce(e, "l", "sum"));
  p.output(p.reduce(p("arith.mulf", {e, centred}), "l", "sum"));
  check(p, 'l', 1e-4, 1e-5);
  EXPECT_EQ(numUpdates, 2u);
}

TEST_F(Temporal, ReductionsOverAnotherDimensionAsWell) {
  GraphProgram p("m=3 l=9 k=4");
  Space x = p.input("mlk");
  Space e = exponential(p, x, p.reduce(x, "lk", "max"));
  p.output(p.reduce(e, "lk", "sum"));
  Space centred = p("arith.subf", {x, mean(p, x, "lk", 36)});
  p.output(mean(p, p("arith.mulf", {centred, centred}), "lk", 36));
  check(p, 'l');
  check(p, 'k');
}

TEST_F(Temporal, IndependentChains) {
  GraphProgram p("m=3 l=9");
  Space x = p.input("ml"), y = p.input("ml");
  Space a = p.reduce(exponential(p, x, p.reduce(x, "l", "max")), "l", "sum");
  Space b = p.reduce(exponential(p, y, p.reduce(y, "l", "min")), "l", "sum");
  p.output(p("arith.divf", {a, b}));
  p.output(p.reduce(p("arith.mulf", {x, y}), "l", "sum"));
  check(p, 'l');
  EXPECT_EQ(numUpdates, 2u);
}

TEST_F(Temporal, MaximumOfADifference) {
  GraphProgram p("m=3 l=9");
  Space x = p.input("ml");
  Space mu = mean(p, x, "l", 9);
  p.output(p.reduce(p("arith.subf", {x, mu}), "l", "max"));
  check(p, 'l');
  EXPECT_EQ(numUpdates, 0u);
  postpone = false;
  check(p, 'l');
  EXPECT_EQ(numUpdates, 1u);
}

TEST_F(Temporal, RefusesAnExponentialBelowAnotherMaximum) {
  GraphProgram p("m=3 l=9");
  Space x = p.input("ml"), y = p.input("ml");
  p.output(p.reduce(exponential(p, y, p.reduce(x, "l", "max")), "l", "sum"));
  EXPECT_NE(refusal(p, 'l').find("may overflow or vanish before"), std::string::npos);
}

TEST_F(Temporal, OneMaximumUnderTwoGuards) {
  // The sum of e * max e is not known to be 0 as long as that maximum is -inf, and needs a guard that the sum of e does
  // not.
  GraphProgram p("m=3 l=9");
  Space x = p.input("ml"), e = exponential(p, x, p.reduce(x, "l", "max"));
  p.output(p.reduce(e, "l", "sum"));
  p.output(p.reduce(p("arith.mulf", {e, p.reduce(e, "l", "max")}), "l", "sum"));
  postpone = false;
  inputs = randomInputs(p, 9, -1000, 1);
  for (unsigned l = 0; l < 5; ++l)
    inputs[0].setDouble(l, -infinity);
  check(p, 'l', 2e-4);
}

TEST_F(Temporal, IntegersAndBooleans) {
  GraphProgram p("m=3 l=9");
  Space a = p.input("ml", "i64"), b = p.input("ml", "i1");
  p.output(p.reduce(a, "l", "sum"));
  p.output(p.reduce(a, "l", "max"));
  p.output(p.reduce(a, "l", "minu"));
  p.output(p.reduce(b, "l", "and"));
  p.output(p.reduce(b, "l", "xor"));
  p.output(p.map("arith.extui %0 : i1 to i64", {b}, "i64"));
  check(p, 'l');
  EXPECT_EQ(numPasses, 1u);
}

TEST_F(Temporal, BlocksOfASlicedGraph) {
  GraphProgram p = maskedAttention(false);
  auto module = parse(context, p);
  auto arguments = randomInputs(p, 1);
  auto want = run(*module, arguments);
  GraphOp graph = getGraph(*module);
  graph.setBlockSizesAttr(mlir::DenseI64ArrayAttr::get(&context, {2, 0, 0, 0}));
  postponeBroadcasts(graph);
  auto plan = planTemporal(graph, name('l'));
  ASSERT_TRUE(mlir::succeeded(plan));
  ASSERT_TRUE(mlir::succeeded(applyTemporal(graph, *plan, 4)));
  EXPECT_EQ(difference(run(*module, arguments), want, 1e-5, 1e-6), "");
  EXPECT_TRUE(mlir::failed(planTemporal(graph, name('m'))));
}

TEST_F(Temporal, SeveralLoopsWhereThereIsNoUpdate) {
  GraphProgram p("m=3 l=9");
  Space x = p.input("ml"), difference = p("arith.subf", {x, mean(p, x, "l", 9)});
  p.output(p.reduce(p("math.tanh", {difference}), "l", "sum"));
  std::string reason = refusal(p, 'l');
  EXPECT_EQ(reason.substr(0, 60), "reduction 2 along 'l' (sum): no update for the sum of tanh(x") << reason;
  options.maxReductionPasses = 2;
  check(p, 'l');
  EXPECT_EQ(numPasses, 2u);
}

TEST_F(Temporal, Refusals) {
  GraphProgram p("m=3 l=9 k=2 e=0");
  Space x = p.input("mlk"), empty = p.input("me");
  Space e = exponential(p, x, p.reduce(x, "l", "max"));
  p.output(p.reduce(e, "lk", "sum"));
  p.output(empty);
  EXPECT_EQ(refusal(p, 'l'), "reduction 2 along 'l' (sum): it needs a correction for each element of 'k', which it "
                             "reduces as well");
  EXPECT_EQ(refusal(p, 'z'), "the graph has no dimension 'z'");
  EXPECT_EQ(refusal(p, 'e'), "dimension 'e' is empty");
}

TEST_F(Temporal, RefusesAContractionBetween) {
  GraphProgram p("m=3 l=9 k=2 n=4");
  Space x = p.input("ml"), m = p.reduce(x, "l", "max"), w = p.input("kn");
  Space z = p.reduce(p("arith.mulf", {p("arith.addf", {exponential(p, x, m), p.input("k")}), w}), "k", "sum");
  p.output(p.reduce(z, "l", "sum"));
  EXPECT_EQ(refusal(p, 'l'), "reduction 2 along 'l' (sum): it depends on an earlier reduction through a reduction over "
                             "other dimensions");
}
