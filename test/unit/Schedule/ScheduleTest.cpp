//===- ScheduleTest.cpp - Spatial legality, footprints, mapping counts ----===//
//
// The tables of the specification of space-mapping graphs: mapping counts, legal spatial dimensions, and the footprint
// of attention on real GPUs.
//
//===------------------------------------------------------------------------===//

#include "fusion/Schedule/Schedule.h"
#include "fusion/Schedule/Spatial.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <random>

using namespace mlir;
using namespace fusion;
using namespace fusion::spacemap;

namespace {

class ScheduleTest : public testing::Test {
protected:
  ScheduleTest() {
    context.loadDialect<SpaceMapDialect, arith::ArithDialect, func::FuncDialect, math::MathDialect,
                        tensor::TensorDialect>();
  }

  /// A graph whose body is `body`; `%m` ... are written by the caller.
  GraphOp parse(const std::string &dims, const std::string &inputs, const std::string &body,
                const std::string &results) {
    std::string names, types, arguments;
    for (size_t index = 0, at = 0; at < inputs.size(); ++index) {
      size_t end = std::min(inputs.find(';', at), inputs.size());
      std::string type = inputs.substr(at, end - at);
      names += (index ? ", " : "") + ("%i" + std::to_string(index) + " = %x" + std::to_string(index));
      types += (index ? ", " : "") + type;
      arguments += (index ? ", " : "") + ("%x" + std::to_string(index) + ": " + type);
      at = end + 1;
    }
    std::string text = "func.func @f(" + arguments + ") -> " + results + " { %r = spacemap.graph dims [" + dims +
                       "] ins(" + names + " : " + types + ") {" + body + "} -> " + results + " return %r : " + results +
                       " }";
    module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return {};
    GraphOp graph;
    module->walk([&](GraphOp op) { graph = op; });
    return graph;
  }

  static std::string space(const std::string &dims) { return "!spacemap.space<[" + dims + "], f16>"; }
  static std::string source(const std::string &name, int input, const std::string &dims, const std::string &tensor) {
    return "%" + name + " = spacemap.source %i" + std::to_string(input) + " [" + dims + "] : " + tensor + " -> " +
           space(dims) + "\n";
  }
  static std::string toAll(const std::string &name, const std::string &from, const std::string &along,
                           const std::string &fromDims, const std::string &dims) {
    return "%" + name + " = spacemap.one_to_all %" + from + " along [" + along + "] : " + space(fromDims) + " -> " +
           space(dims) + "\n";
  }
  static std::string toOne(const std::string &name, const std::string &from, const std::string &along,
                           const std::string &how, const std::string &fromDims, const std::string &dims) {
    return "%" + name + " = spacemap.all_to_one %" + from + " along [" + along + "] " + how + " : " + space(fromDims) +
           " -> " + space(dims) + "\n";
  }
  static std::string map(const std::string &name, const std::string &a, const std::string &b, const std::string &op,
                         const std::string &dims) {
    return "%" + name + " = spacemap.map (%e0 = %" + a + ", %e1 = %" + b + " : " + space(dims) + ", " + space(dims) +
           ") { %v = " + op + " %e0, %e1 : f16\n spacemap.yield %v : f16 } -> " + space(dims) + "\n";
  }
  static std::string map(const std::string &name, const std::string &a, const std::string &op,
                         const std::string &dims) {
    return "%" + name + " = spacemap.map (%e0 = %" + a + " : " + space(dims) + ") { %v = " + op +
           " %e0 : f16\n spacemap.yield %v : f16 } -> " + space(dims) + "\n";
  }

  /// Attention over m queries and l keys, as the paper draws it.
  GraphOp getAttention(int64_t m, int64_t l, int64_t width) {
    auto n = [](int64_t value) { return std::to_string(value); };
    std::string q = "tensor<" + n(m) + "x" + n(width) + "xf16>", k = "tensor<" + n(l) + "x" + n(width) + "xf16>";
    std::string dims = "m = " + n(m) + ", l = " + n(l) + ", k = " + n(width) + ", n = " + n(width);
    return parse(dims, q + ";" + k + ";" + k,
                 source("q", 0, "m, k", q) + source("kk", 1, "l, k", k) + source("val", 2, "l, n", k) +
                     toAll("q3", "q", "l", "m, k", "m, l, k") + toAll("k3", "kk", "m", "l, k", "m, l, k") +
                     map("it", "q3", "k3", "arith.mulf", "m, l, k") + toOne("qk", "it", "k", "sum", "m, l, k", "m, l") +
                     toOne("max", "qk", "l", "max", "m, l", "m") + toAll("maxl", "max", "l", "m", "m, l") +
                     subExp() + toOne("sum", "exp", "l", "sum", "m, l", "m") + toAll("suml", "sum", "l", "m", "m, l") +
                     map("div", "exp", "suml", "arith.divf", "m, l") + toAll("div3", "div", "n", "m, l", "m, l, n") +
                     toAll("v3", "val", "m", "l, n", "m, l, n") + map("it2", "div3", "v3", "arith.mulf", "m, l, n") +
                     toOne("out", "it2", "l", "sum", "m, l, n", "m, n") + "spacemap.output %out [m, n] : " +
                     space("m, n"),
                 q);
  }
  static std::string subExp() {
    return "%exp = spacemap.map (%e0 = %qk, %e1 = %maxl : " + space("m, l") + ", " + space("m, l") +
           ") { %s = arith.subf %e0, %e1 : f16\n %v = math.exp %s : f16\n spacemap.yield %v : f16 } -> " +
           space("m, l") + "\n";
  }

  static std::vector<std::string> getLegal(GraphOp graph) {
    std::vector<std::string> names;
    for (StringAttr dim : getLegalSpatialDims(graph))
      names.push_back(dim.str());
    return names;
  }

  Schedule getSchedule(GraphOp graph, std::vector<std::pair<std::string, int64_t>> blocks, std::string temporal,
                       int64_t step) {
    Schedule schedule;
    schedule.blocks.assign(graph.getNumDims(), 0);
    for (auto &[dim, size] : blocks)
      schedule.blocks[graph.getDimIndex(StringAttr::get(&context, dim))] = size;
    if (!temporal.empty())
      schedule.temporal = StringAttr::get(&context, temporal);
    schedule.step = step;
    return schedule;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(ScheduleTest, AttentionHasThePublishedMappings) {
  GraphOp graph = getAttention(128, 1024, 64);
  ASSERT_TRUE(graph);
  MappingCounts counts = countMappings(graph);
  EXPECT_EQ(counts.oneToAll, 6u);
  EXPECT_EQ(counts.allToOne, 4u);
  EXPECT_EQ(counts.oneToOne, 2u);
  EXPECT_EQ(getLegal(graph), std::vector<std::string>{"m"});
}

TEST_F(ScheduleTest, GemmBiasRelu) {
  std::string a = "tensor<8x4xf16>", b = "tensor<4x16xf16>", bias = "tensor<16xf16>";
  GraphOp graph =
      parse("m = 8, n = 16, k = 4", a + ";" + b + ";" + bias,
            source("a", 0, "m, k", a) +
                "%b = spacemap.source %i1 [k, n] : " + b + " -> " + space("n, k") + "\n" + source("c", 2, "n", bias) +
                toAll("a3", "a", "n", "m, k", "m, n, k") + toAll("b3", "b", "m", "n, k", "m, n, k") +
                map("it", "a3", "b3", "arith.mulf", "m, n, k") + toOne("h", "it", "k", "sum", "m, n, k", "m, n") +
                toAll("c2", "c", "m", "n", "m, n") + map("r", "h", "c2", "arith.addf", "m, n") +
                "spacemap.output %r [m, n] : " + space("m, n"),
            "tensor<8x16xf16>");
  ASSERT_TRUE(graph);
  MappingCounts counts = countMappings(graph);
  EXPECT_EQ(counts.oneToAll, 3u);
  EXPECT_EQ(counts.allToOne, 1u);
  EXPECT_EQ(counts.oneToOne, 1u);
  EXPECT_EQ(getLegal(graph), (std::vector<std::string>{"m", "n"}));
}

TEST_F(ScheduleTest, SoftmaxRowsOnly) {
  std::string x = "tensor<8x16xf16>";
  GraphOp graph = parse("m = 8, l = 16", x,
                        source("qk", 0, "m, l", x) + toOne("max", "qk", "l", "max", "m, l", "m") +
                            toAll("maxl", "max", "l", "m", "m, l") + subExp() + "spacemap.output %exp [m, l] : " +
                            space("m, l"),
                        x);
  ASSERT_TRUE(graph);
  EXPECT_EQ(getLegal(graph), std::vector<std::string>{"m"});
}

struct FootprintRow {
  int64_t bm, bl;
  std::string temporal;
  int64_t stages;
  double sharedKiB, registersKiB;
  bool fits;
};

TEST_F(ScheduleTest, AttentionFootprintOnGPUs) {
  GraphOp graph = getAttention(2048, 1024, 64);
  ASSERT_TRUE(graph);
  const FootprintRow rows[] = {
      {64, 1024, "", 2, 264, 272.5, false}, {128, 1024, "", 2, 272, 545, false}, {64, 64, "l", 2, 40, 32.5, true},
      {128, 64, "l", 2, 48, 65, true},      {128, 128, "l", 2, 80, 97, true},
  };
  for (const char *name : {"v100", "a100", "h100"}) {
    llvm::Expected<Target> target = getTarget(name);
    ASSERT_TRUE(bool(target));
    for (const FootprintRow &row : rows) {
      Schedule schedule = getSchedule(graph, {{"m", row.bm}}, row.temporal, row.bl);
      Footprint footprint = getFootprint(graph, schedule, *target, row.stages);
      EXPECT_EQ(footprint.shared, row.sharedKiB * 1024) << name << " bm=" << row.bm << " bl=" << row.bl;
      EXPECT_EQ(footprint.registers, row.registersKiB * 1024) << name << " bm=" << row.bm << " bl=" << row.bl;
      EXPECT_EQ(fits(footprint, *target), row.fits) << name << " bm=" << row.bm << " bl=" << row.bl;
    }
  }
}

TEST_F(ScheduleTest, TemporalSlicingMakesAttentionSchedulable) {
  GraphOp graph = getAttention(4096, 4096, 64);
  ASSERT_TRUE(graph);
  for (const char *name : {"v100", "a100", "h100", "h200"}) {
    llvm::Expected<Target> target = getTarget(name);
    ASSERT_TRUE(bool(target));
    ScheduleOptions spatialOnly;
    spatialOnly.temporal = false;
    auto always = [](GraphOp, StringAttr) { return 1u; };
    std::string reason;
    EXPECT_TRUE(failed(findSchedule(graph, *target, spatialOnly, always, &reason)));
    EXPECT_NE(reason.find("bytes on chip"), std::string::npos) << reason;
    FailureOr<Schedule> schedule = findSchedule(graph, *target, ScheduleOptions(), always);
    ASSERT_TRUE(succeeded(schedule));
    EXPECT_EQ(schedule->temporal.getValue(), "l");
    EXPECT_GT(schedule->blocks[0], 0);
  }
}

TEST_F(ScheduleTest, UnknownTargetNamesTheKnownOnes) {
  llvm::Expected<Target> target = getTarget("b200x");
  ASSERT_FALSE(bool(target));
  EXPECT_EQ(llvm::toString(target.takeError()),
            "unknown target 'b200x': accepted are cpu, v100, a100, h100, h200, b200, sm_70, sm_80, sm_86, sm_89, sm_90, sm_90a, sm_100");
}

/// On random chains, the rule over mappings equals the intersection of the dimensions of all non-input spaces.
TEST_F(ScheduleTest, LegalDimsAreTheIntersection) {
  std::mt19937 random(7);
  const std::vector<std::string> all = {"a", "b", "c", "d"};
  auto join = [](const std::vector<std::string> &names) {
    std::string text;
    for (const std::string &name : names)
      text += (text.empty() ? "" : ", ") + name;
    return text;
  };
  for (int round = 0; round < 300; ++round) {
    std::string tensor = "tensor<2x3x4x5xf16>";
    std::string body = source("s0", 0, join(all), tensor);
    std::vector<std::string> current = all, legal = all;
    std::string last = "s0";
    int next = 1;
    for (int step = 0; step < 5; ++step) {
      auto intersect = [&] {
        llvm::erase_if(legal, [&](const std::string &dim) { return !llvm::is_contained(current, dim); });
      };
      std::string name = "s" + std::to_string(next++);
      if (random() % 2 && current.size() > 1) {
        std::string along = current[random() % current.size()];
        std::vector<std::string> rest = current;
        llvm::erase(rest, along);
        body += toOne(name, last, along, "sum", join(current), join(rest));
        current = rest;
      } else if (current.size() < 4 && random() % 2) {
        std::vector<std::string> missing;
        for (const std::string &dim : all)
          if (!llvm::is_contained(current, dim))
            missing.push_back(dim);
        std::string along = missing[random() % missing.size()];
        std::vector<std::string> more;
        for (const std::string &dim : all)
          if (llvm::is_contained(current, dim) || dim == along)
            more.push_back(dim);
        body += toAll(name + "w", last, along, join(current), join(more));
        body += map(name, name + "w", "math.exp", join(more));
        // A map of nothing but inputs is an input itself, so that only what follows a reduction counts.
        current = more;
      } else {
        body += map(name, last, "math.exp", join(current));
      }
      last = name;
      if (body.find("all_to_one") != std::string::npos)
        intersect();
    }
    std::string result = "tensor<";
    llvm::erase_if(legal, [&](const std::string &dim) { return !llvm::is_contained(current, dim); });
    for (const std::string &dim : current)
      result += std::to_string(2 + (dim[0] - 'a')) + "x";
    result += "f16>";
    GraphOp graph = parse("a = 2, b = 3, c = 4, d = 5", tensor,
                          body + "spacemap.output %" + last + " [" + join(current) + "] : " + space(join(current)),
                          result);
    ASSERT_TRUE(graph);
    EXPECT_EQ(getLegal(graph), legal) << body;
  }
}

} // namespace
