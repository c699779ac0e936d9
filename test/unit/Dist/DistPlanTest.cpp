//===- DistPlanTest.cpp - Planned programs on simulated ranks ---------------===//
//
// The oracle is the program as it was generated, in sequential order on whole stores. Fused, planned and overlapped
// programs must give the same bits on 1 to 8 simulated ranks, where nothing but the planned communication moves
// elements.
//
// DIST_SEEDS=FROM:TO takes other seeds than the tests' own.
//
//===------------------------------------------------------------------------===//

#include "RandomProgram.h"
#include "fusion/Analysis/BoxPlan.h"
#include "fusion/Dist/Dist.h"
#include "fusion/InitAll.h"
#include "fusion/Reference/Interpreter.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/raw_ostream.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <cstring>

using namespace fusion;

namespace {

using Results = llvm::SmallVector<HostArray>;

class DistPlan : public testing::Test {
protected:
  static void SetUpTestSuite() {
    static bool once = [] {
      registerAllPasses();
      mlir::registerTransformsPasses();
      return true;
    }();
    (void)once;
  }

  DistPlan() {
    mlir::DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.disableMultithreading();
  }

  mlir::OwningOpRef<mlir::ModuleOp> parse(llvm::StringRef text) {
    return mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  }

  mlir::LogicalResult transform(mlir::ModuleOp module, llvm::StringRef pipeline) {
    mlir::PassManager passes(&context);
    if (mlir::failed(mlir::parsePassPipeline(pipeline, passes)))
      return mlir::failure();
    return passes.run(module);
  }

  /// None after a failure, whose text is in `problem`.
  std::optional<Results> run(mlir::ModuleOp module, unsigned ranks, std::vector<ReferenceTraffic> *traffic = nullptr) {
    problem.clear();
    mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
      problem += diagnostic.str();
      return mlir::success();
    });
    ReferenceOptions options;
    options.ranks = ranks;
    options.traffic = traffic;
    Results results;
    if (mlir::failed(interpret(module, "main", {}, results, options)))
      return std::nullopt;
    return results;
  }

  static bool sameBits(const Results &left, const Results &right) {
    if (left.size() != right.size())
      return false;
    for (auto [a, b] : llvm::zip(left, right))
      if (a.getSizeInBytes() != b.getSizeInBytes() || std::memcmp(a.getData(), b.getData(), a.getSizeInBytes()) != 0)
        return false;
    return true;
  }

  static std::string getText(mlir::ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream(text) << module;
    return text;
  }

  /// Checks one program. `pipelines` are run on copies of it.
  void check(uint64_t seed, const RandomProgramOptions &options, llvm::ArrayRef<llvm::StringRef> pipelines) {
    std::string text = makeRandomProgram(seed, options);
    mlir::OwningOpRef<mlir::ModuleOp> module = parse(text);
    ASSERT_TRUE(module) << "seed " << seed << "\n" << text;
    std::optional<Results> expected = run(*module, 0);
    ASSERT_TRUE(expected) << "seed " << seed << ": " << problem << "\n" << text;
    for (llvm::StringRef pipeline : pipelines) {
      mlir::OwningOpRef<mlir::ModuleOp> planned(module->clone());
      ASSERT_TRUE(mlir::succeeded(transform(*planned, pipeline))) << "seed " << seed << ", " << pipeline.str();
      for (unsigned ranks = 0; ranks <= 8; ++ranks) {
        std::optional<Results> results = run(*planned, ranks);
        ASSERT_TRUE(results) << "seed " << seed << ", " << pipeline.str() << ", " << ranks << " ranks: " << problem
                             << "\n"
                             << getText(*planned);
        ASSERT_TRUE(sameBits(*expected, *results))
            << "seed " << seed << ", " << pipeline.str() << ", " << ranks << " ranks: other results\n"
            << text << "\n"
            << getText(*planned);
      }
    }
  }

  /// The seeds to try.
  static std::pair<uint64_t, uint64_t> getSeeds(uint64_t from, uint64_t to) {
    if (const char *given = std::getenv("DIST_SEEDS"))
      if (const char *colon = std::strchr(given, ':'))
        return {std::strtoull(given, nullptr, 10), std::strtoull(colon + 1, nullptr, 10)};
    return {from, to};
  }

  mlir::MLIRContext context;
  std::string problem;
};

} // namespace

TEST_F(DistPlan, RandomProgramsOnSimulatedRanks) {
  auto [from, to] = getSeeds(1, 200);
  for (uint64_t seed = from; seed <= to; ++seed) {
    check(seed, {}, {"dist-plan-communication", "dist-plan-communication,dist-overlap-communication", "fusion-tasks"});
    if (HasFatalFailure())
      return;
  }
}

TEST_F(DistPlan, RandomProgramsWithImages) {
  auto [from, to] = getSeeds(1001, 1100);
  RandomProgramOptions options;
  options.images = true;
  for (uint64_t seed = from; seed <= to; ++seed) {
    check(seed, options, {"dist-plan-communication,dist-overlap-communication", "fusion-tasks"});
    if (HasFatalFailure())
      return;
  }
}

/// An interpreter that lets a missing exchange pass would make the tests above worthless.
TEST_F(DistPlan, EachMissingMessageIsFound) {
  unsigned removed = 0, found = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    mlir::OwningOpRef<mlir::ModuleOp> module = parse(makeRandomProgram(seed));
    ASSERT_TRUE(module);
    ASSERT_TRUE(mlir::succeeded(transform(*module, "dist-plan-communication")));
    std::optional<Results> expected = run(*module, 0);
    unsigned count = 0;
    module->walk([&](dist::ExchangeOp) { ++count; });
    for (unsigned number = 0; number < count; ++number) {
      mlir::OwningOpRef<mlir::ModuleOp> copy(module->clone());
      llvm::SmallVector<dist::ExchangeOp> exchanges;
      copy->walk([&](dist::ExchangeOp op) { exchanges.push_back(op); });
      dist::ExchangeOp victim = exchanges[number];
      // One that moves something, and not before a loop that may never need it.
      victim->setLoc(mlir::NameLoc::get(mlir::StringAttr::get(&context, "victim")));
      std::vector<ReferenceTraffic> traffic;
      ASSERT_TRUE(run(*copy, 3, &traffic));
      bool moves = llvm::any_of(
          traffic, [&](const ReferenceTraffic &of) { return of.location == victim->getLoc() && of.messages > 0; });
      if (!moves)
        continue;
      victim.erase();
      ++removed;
      std::optional<Results> results = run(*copy, 3);
      found += !results;
      // What is not needed may be gone, but what is computed must be right.
      if (results)
        EXPECT_TRUE(sameBits(*expected, *results)) << "seed " << seed << ", exchange " << number;
    }
  }
  EXPECT_GT(removed, 100u);
  EXPECT_GT(found, removed * 8 / 10) << "of " << removed;
}

static boxes::Placement getPlacement(llvm::ArrayRef<int64_t> shape, dist::PlacementAttr placement) {
  boxes::Placement result;
  result.domain.assign(placement.getDomain().begin(), placement.getDomain().end());
  auto tiled = llvm::dyn_cast<dist::TiledAttr>(placement.getPartition());
  if (!tiled)
    return result;
  result.partition.kind = boxes::Partition::Kind::Boxes;
  for (int64_t number = 0; number < dist::getNumPoints(placement.getDomain()); ++number) {
    llvm::SmallVector<int64_t> point(placement.getDomain());
    int64_t rest = number;
    for (size_t k = point.size(); k-- > 0; rest /= placement.getDomain()[k])
      point[k] = rest % placement.getDomain()[k];
    boxes::Box box;
    for (size_t d = 0; d < shape.size(); ++d) {
      int64_t from = tiled.project(point)[d] * tiled.getTile()[d], extent = tiled.getExtent()[d];
      box.lower.push_back(tiled.getOffset()[d] + std::min(from, extent));
      box.upper.push_back(tiled.getOffset()[d] + std::min(from + tiled.getTile()[d], extent));
    }
    result.partition.boxes.push_back(std::move(box));
  }
  return result;
}

/// What the interpreter moves element by element is what the run-time's message lists say.
TEST_F(DistPlan, TrafficIsThatOfTheMessageLists) {
  unsigned compared = 0, messages = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    mlir::OwningOpRef<mlir::ModuleOp> module = parse(makeRandomProgram(seed));
    ASSERT_TRUE(module);
    ASSERT_TRUE(mlir::succeeded(transform(*module, "dist-plan-communication")));
    llvm::DenseMap<mlir::Location, dist::ExchangeOp> exchanges;
    module->walk([&](dist::ExchangeOp op) {
      op->setLoc(mlir::NameLoc::get(mlir::StringAttr::get(&context, std::to_string(exchanges.size()))));
      exchanges[op->getLoc()] = op;
    });
    unsigned ranks = 2 + seed % 4;
    std::vector<ReferenceTraffic> traffic;
    ASSERT_TRUE(run(*module, ranks, &traffic)) << problem;
    for (const ReferenceTraffic &of : traffic) {
      dist::ExchangeOp op = exchanges.lookup(of.location);
      auto type = op ? llvm::cast<dist::StoreType>(op.getStore().getType()) : dist::StoreType();
      if (!op || type.getRank() == 0)
        continue;
      boxes::Exchange exchange;
      exchange.partial = true;
      exchange.shape.assign(type.getShape().begin(), type.getShape().end());
      for (mlir::Attribute source : llvm::reverse(op.getSources()))
        exchange.sources.push_back(getPlacement(type.getShape(), llvm::cast<dist::PlacementAttr>(source)));
      for (mlir::Attribute target : op.getTargets())
        exchange.targets.push_back(getPlacement(type.getShape(), llvm::cast<dist::PlacementAttr>(target)));
      boxes::Traffic expected = boxes::countTraffic(exchange, ranks);
      EXPECT_EQ(of.messages, expected.messages * of.executions) << "seed " << seed;
      EXPECT_EQ(of.bytes, expected.elements * (type.getElementType().getIntOrFloatBitWidth() / 8) * of.executions)
          << "seed " << seed;
      ++compared;
      messages += of.messages;
    }
  }
  EXPECT_GT(compared, 200u);
  EXPECT_GT(messages, 500u);
}
