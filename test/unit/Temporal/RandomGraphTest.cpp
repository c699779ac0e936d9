//===- RandomGraphTest.cpp - Random graphs, sliced and not ------------------===//

#include "test/unit/Temporal/GraphProgram.h"

#include "fusion/Spaces/MergeDims.h"
#include "fusion/Spaces/Postpone.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstdlib>
#include <random>

using namespace fusion;
using namespace fusion::spacemap;
using namespace fusion::test;

namespace {

/// Draws f64 graphs over up to four dimensions: chains of maps, with masks, and reductions that depend on each other.
class Generator {
public:
  explicit Generator(unsigned seed) : random(seed) {}

  GraphProgram make() {
    static const int extents[] = {1, 2, 3, 5, 7, 9};
    std::string dims;
    for (char dim : std::string("mlkn").substr(0, 2 + pick(3)))
      dims += std::string(dims.empty() ? "" : " ") + dim + "=" + (pick(6) == 0 ? "?" : "") +
              std::to_string(extents[pick(6)]),
          names += dim;
    GraphProgram p(dims);
    // Every dimension is that of an input, so that a dynamic extent is known.
    Space all = p.input(names, "f64");
    spaces.push_back(all);
    for (unsigned i = 0, count = pick(3); i < count; ++i)
      spaces.push_back(p.input(someDims(), "f64"));
    numInputs = spaces.size();
    for (unsigned i = 0, count = 3 + pick(12); i < count; ++i)
      spaces.push_back(step(p));
    p.output(spaces.back());
    if (pick(2))
      p.output(spaces[pick(spaces.size())]);
    return p;
  }

private:
  unsigned pick(size_t count) { return random() % count; }
  std::string someDims() {
    std::string dims;
    for (char dim : names)
      if (pick(3))
        dims += dim;
    return dims;
  }
  /// Prefers one dimension, so that reductions along it depend on each other.
  std::string oneDim(const Space &space) {
    char dim = names[1];
    if (pick(4) == 0 || space.dims.find(dim) == std::string::npos)
      dim = space.dims[pick(space.dims.size())];
    return std::string(1, dim);
  }
  /// Prefers what was made last, so that chains become long.
  Space some() {
    return spaces[pick(2) ? spaces.size() - 1 - pick(std::min<size_t>(3, spaces.size())) : pick(spaces.size())];
  }

  /// Comparisons are of inputs: one of an element with its maximum would show how the maximum was rounded.
  Space input() { return spaces[pick(numInputs)]; }

  Space step(GraphProgram &p) {
    switch (pick(16)) {
    case 0: { // an element and a reduction, reduced again
      Space x = some(), y = some();
      if (x.dims.empty())
        return x;
      std::string along = oneDim(x);
      static const char *const operations[] = {"arith.subf", "arith.mulf", "arith.divf"};
      Space d = p.reduce(y.dims.find(along) == std::string::npos ? x : y, along, pick(2) ? "sum" : "max");
      unsigned operation = pick(3);
      if (operation == 2)
        d = p("math.exp", {p("math.tanh", {d})});
      Space f = p(operations[operation], {x, d});
      if (pick(2))
        f = p("arith.mulf", {f, f});
      spaces.push_back(f);
      return p.reduce(f, along, pick(3) ? "sum" : "max");
    }
    case 1:
    case 2:
    case 3:
      return reduction(p, some());
    case 4: { // exp(x - max x)
      Space x = some();
      if (x.dims.empty())
        return x;
      Space m = p.reduce(x, oneDim(x), pick(4) ? "max" : "maxnum");
      spaces.push_back(p("math.exp", {p("arith.subf", {x, m})}));
      return spaces.back();
    }
    case 5: { // centred squares
      Space x = some();
      if (x.dims.empty())
        return x;
      std::string along = oneDim(x);
      Space mean = p("arith.mulf", {p.reduce(x, along, "sum"), p.constant(pick(2) ? "0.2" : "0.5", "f64")});
      Space c = p("arith.subf", {x, mean});
      spaces.push_back(c);
      return p("arith.mulf", {c, c});
    }
    case 6:
      return p("arith.divf", {some(), positive(p)});
    case 7:
      return p("math.rsqrt", {positive(p)});
    case 8: {
      Space a = some(), b = some();
      Space c = p.map("arith.cmpf olt, %0, %1 : f64", {input(), input()}, "i1");
      return p.map("arith.select %0, %1, %2 : f64", {c, a, pick(2) ? p.constant("0.0", "f64") : b}, "f64");
    }
    case 9:
      return p("math.tanh", {some()});
    case 10: { // a mask of -inf under an exponential; elsewhere infinities make every order of rounding visible
      Space c = p.map("arith.cmpf olt, %0, %1 : f64", {spaces.front(), p.constant("0.3", "f64")}, "i1");
      Space x = p.map("arith.select %0, %1, %2 : f64", {c, some(), p.constant("0xFFF0000000000000", "f64")}, "f64");
      Space e = p("math.exp", {p("arith.subf", {x, p.reduce(x, oneDim(x), "max")})});
      if (pick(2))
        spaces.push_back(e);
      return p("arith.divf", {e, p.reduce(e, oneDim(x), "sum")});
    }
    case 11:
      return p("arith.addf", {some(), some()});
    case 12:
      return p("arith.subf", {some(), some()});
    default:
      return p("arith.mulf", {some(), some()});
    }
  }
  Space positive(GraphProgram &p) {
    Space x = some(), e = p("math.exp", {p("math.tanh", {x})});
    return x.dims.empty() || pick(2) ? e : p.reduce(e, oneDim(x), "sum");
  }
  Space reduction(GraphProgram &p, Space x) {
    static const char *const reducers[] = {"sum", "sum", "sum", "max", "min", "maxnum", "prod"};
    if (x.dims.empty())
      return x;
    std::string along = oneDim(x);
    for (char dim : x.dims)
      if (pick(3) == 0 && along.find(dim) == std::string::npos)
        along += dim;
    return p.reduce(x, along, reducers[pick(7)]);
  }

  std::mt19937_64 random;
  std::string names;
  std::vector<Space> spaces;
  size_t numInputs = 1;
};

struct Counts {
  unsigned sliced = 0, updated = 0, refused = 0, postponed = 0, finite = 0;
};

} // namespace

/// FUSION_RANDOM_GRAPHS sets how many graphs are tried, FUSION_RANDOM_SEED the first.
TEST(RandomGraphs, SlicedIsUnsliced) {
  mlir::MLIRContext context;
  context.loadDialect<mlir::arith::ArithDialect, mlir::math::MathDialect, mlir::func::FuncDialect,
                      mlir::tensor::TensorDialect, SpaceMapDialect>();
  const char *number = std::getenv("FUSION_RANDOM_GRAPHS"), *first = std::getenv("FUSION_RANDOM_SEED");
  unsigned count = number ? std::atoi(number) : 150, begin = first ? std::atoi(first) : 0;
  Counts counts;
  for (unsigned seed = begin; seed < begin + count; ++seed) {
    GraphProgram program = Generator(seed).make();
    auto module = parse(context, program);
    ASSERT_TRUE(module);
    std::vector<HostArray> inputs = randomInputs(program, seed);
    std::vector<HostArray> want = run(*module, inputs);
    ASSERT_FALSE(want.empty());
    // A test whose results are NaN throughout says little.
    bool finite = false;
    for (int64_t i = 0; i < want[0].getNumElements(); ++i)
      finite |= std::isfinite(want[0].getDouble(i));
    counts.finite += finite;
    auto check = [&](mlir::ModuleOp changed, const std::string &what, bool isPolynomial = false) {
      std::vector<HostArray> got = run(changed, inputs), expected = want;
      // A polynomial in an infinite sum is not finite, but which kind of not finite may differ.
      if (isPolynomial)
        for (std::vector<HostArray> *arrays : {&got, &expected})
          for (HostArray &array : *arrays)
            for (int64_t i = 0; i < array.getNumElements(); ++i)
              if (std::isinf(array.getDouble(i)))
                array.setDouble(i, std::nan(""));
      std::string problem = difference(got, expected, 1e-5, 1e-7);
      EXPECT_EQ(problem, "") << "seed " << seed << ", " << what << "\n" << program.text();
      return problem.empty();
    };
    mlir::OwningOpRef<mlir::ModuleOp> prepared = module->clone();
    counts.postponed += postponeBroadcasts(getGraph(*prepared));
    if (!check(*prepared, "postponed"))
      return;
    for (mlir::ModuleOp start : {*module, *prepared}) {
      for (mlir::Attribute dim : getGraph(start).getDimNames()) {
        mlir::OwningOpRef<mlir::ModuleOp> sliced = start.clone();
        GraphOp graph = getGraph(*sliced);
        TemporalOptions options;
        options.maxReductionPasses = 1 + seed % 2;
        std::string reason;
        auto plan = planTemporal(graph, llvm::cast<mlir::StringAttr>(dim), &reason, options);
        if (mlir::failed(plan)) {
          ++counts.refused;
          // A check that fails after a synthesis is a fault of the synthesis.
          EXPECT_EQ(reason.find("does not"), std::string::npos) << "seed " << seed << ": " << reason;
          continue;
        }
        ++counts.sliced;
        counts.updated += plan->hasUpdates();
        std::string text = plan->describe();
        ASSERT_TRUE(mlir::succeeded(applyTemporal(graph, *plan, 1 + seed % 4)));
        bool isPolynomial = llvm::any_of(plan->reductions, [](const TemporalReduction &reduction) {
          return reduction.update.kind == algebra::UpdatePlan::Kind::Polynomial;
        });
        if (!check(*sliced, text, isPolynomial)) {
          sliced->dump();
          return;
        }
      }
    }
  }
  llvm::outs() << counts.sliced << " sliced, " << counts.updated << " with updates, " << counts.refused << " refused, "
               << counts.postponed << " postponed, " << counts.finite << " graphs with finite results\n";
  if (count >= 100) {
    EXPECT_GT(counts.updated, count / 4);
    EXPECT_GT(counts.finite, count / 2);
    EXPECT_GT(counts.postponed, count / 20);
  }
}
