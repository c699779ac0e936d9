//===- FusibleOpTest.cpp - Which linalg ops are globally ranged mappings ----===//

#include "fusion/Analysis/FusibleOp.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using fusion::FusibleOp;
using fusion::spacemap::Reducer;

namespace {

/// The parts of a generic's text; by default an elementwise op from %x to %x.
struct Generic {
  std::string maps = "#id, #id", kinds = "\"parallel\", \"parallel\"";
  std::string ins = "%x : tensor<4x8xf32>", outs = "%x : tensor<4x8xf32>";
  std::string body, results = "tensor<4x8xf32>", before, count;
};

class FusibleOpTest : public ::testing::Test {
protected:
  FusibleOpTest() {
    context.loadDialect<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, linalg::LinalgDialect,
                        math::MathDialect, tensor::TensorDialect>();
  }

  linalg::GenericOp parse(const Generic &generic) {
    std::string text =
        "#id = affine_map<(d0, d1) -> (d0, d1)>\n#row = affine_map<(d0, d1) -> (d0)>\n"
        "#keep = affine_map<(d0, d1) -> (d0, 0)>\n#zero = affine_map<(d0, d1) -> (0, d1)>\n"
        "#sum = affine_map<(d0, d1) -> (d0 + d1)>\n#twice = affine_map<(d0, d1) -> (d0, d0)>\n"
        "func.func @f(%x: tensor<4x8xf32>, %y: tensor<4xf32>, %one: tensor<4x1xf32>, %n: tensor<4xi64>, "
        "%k: tensor<4x8xi64>, %long: tensor<11xf32>, %square: tensor<4x4xf32>, %c: tensor<4x8xcomplex<f32>>, "
        "%s: f32, %i: index) {\n" +
        generic.before + "%0" + generic.count + " = linalg.generic {indexing_maps = [" + generic.maps +
        "], iterator_types = [" + generic.kinds + "]} ins(" + generic.ins + ") outs(" + generic.outs + ") {\n" +
        generic.body + "\n} -> " + generic.results + "\nreturn\n}\n";
    module = parseSourceString<ModuleOp>(text, &context);
    linalg::GenericOp result;
    if (module)
      module->walk([&](linalg::GenericOp op) { result = op; });
    return result;
  }

  FailureOr<FusibleOp> analyze(const Generic &generic) {
    linalg::GenericOp op = parse(generic);
    EXPECT_TRUE(op);
    return op ? fusion::analyzeFusible(op, &reason) : FailureOr<FusibleOp>(failure());
  }

  /// Why the op is refused; empty if it is not.
  std::string refusal(const Generic &generic) { return succeeded(analyze(generic)) ? "" : reason; }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::string reason;
};

const std::string pr = "\"parallel\", \"reduction\"";

TEST_F(FusibleOpTest, Elementwise) {
  Generic generic;
  generic.maps = "#id, #row, #id";
  generic.ins = "%x, %y : tensor<4x8xf32>, tensor<4xf32>";
  generic.body = "^bb0(%a: f32, %b: f32, %o: f32):\n%1 = arith.addf %a, %b : f32\n%2 = arith.mulf %1, %s : f32\n"
                 "linalg.yield %2 : f32";
  FailureOr<FusibleOp> fusible = analyze(generic);
  ASSERT_TRUE(succeeded(fusible)) << reason;
  EXPECT_FALSE(fusible->reducer);
  EXPECT_FALSE(fusible->readsInit);
  ASSERT_EQ(fusible->captures.size(), 1u);
  EXPECT_TRUE(fusible->combined.getDefiningOp<arith::MulFOp>());

  generic.body = "^bb0(%a: f32, %b: f32, %o: f32):\n%1 = arith.addf %a, %o : f32\nlinalg.yield %1 : f32";
  fusible = analyze(generic);
  ASSERT_TRUE(succeeded(fusible)) << reason;
  EXPECT_TRUE(fusible->readsInit);
  EXPECT_TRUE(fusible->captures.empty());
}

TEST_F(FusibleOpTest, FloatReducers) {
  struct Case {
    std::string op, init;
    Reducer reducer;
    bool readsInit;
  };
  for (const Case &c :
       {Case{"addf", "0.0", Reducer::Sum, false}, Case{"addf", "-0.0", Reducer::Sum, false},
        Case{"addf", "1.0", Reducer::Sum, true}, Case{"mulf", "1.0", Reducer::Prod, false},
        Case{"maximumf", "0xFF800000", Reducer::Max, false}, Case{"maximumf", "-3.0e38", Reducer::Max, true},
        Case{"minimumf", "0x7F800000", Reducer::Min, false}, Case{"maxnumf", "0.0", Reducer::MaxNum, true}}) {
    for (std::string order : {"%a, %o", "%o, %a"}) {
      Generic generic;
      generic.before = "%c0 = arith.constant " + c.init + " : f32\n%e = tensor.empty() : tensor<4x1xf32>\n" +
                       "%f = linalg.fill ins(%c0 : f32) outs(%e : tensor<4x1xf32>) -> tensor<4x1xf32>\n";
      generic.maps = "#id, #keep";
      generic.kinds = pr;
      generic.outs = "%f : tensor<4x1xf32>";
      generic.body = "^bb0(%a: f32, %o: f32):\n%1 = arith." + c.op + " " + order + " : f32\nlinalg.yield %1 : f32";
      generic.results = "tensor<4x1xf32>";
      FailureOr<FusibleOp> fusible = analyze(generic);
      ASSERT_TRUE(succeeded(fusible)) << reason;
      EXPECT_EQ(fusible->reducer, c.reducer);
      EXPECT_EQ(fusible->readsInit, c.readsInit) << c.op << " from " << c.init;
      EXPECT_TRUE(isa<BlockArgument>(fusible->combined));
    }
  }
}

TEST_F(FusibleOpTest, IntegerReducers) {
  for (auto [op, reducer] :
       {std::pair("addi", Reducer::Sum), std::pair("maxsi", Reducer::Max), std::pair("minsi", Reducer::Min),
        std::pair("maxui", Reducer::MaxUnsigned), std::pair("minui", Reducer::MinUnsigned),
        std::pair("andi", Reducer::And), std::pair("ori", Reducer::Or), std::pair("xori", Reducer::Xor)}) {
    Generic generic;
    generic.maps = "#id, #row";
    generic.kinds = pr;
    generic.ins = "%k : tensor<4x8xi64>";
    generic.outs = "%n : tensor<4xi64>";
    generic.body = std::string("^bb0(%a: i64, %o: i64):\n%1 = arith.") + op + " %a, %o : i64\nlinalg.yield %1 : i64";
    generic.results = "tensor<4xi64>";
    FailureOr<FusibleOp> fusible = analyze(generic);
    ASSERT_TRUE(succeeded(fusible)) << reason;
    EXPECT_EQ(fusible->reducer, reducer);
    // An argument may hold anything.
    EXPECT_TRUE(fusible->readsInit);
  }
}

TEST_F(FusibleOpTest, RefusedReductions) {
  Generic generic;
  generic.maps = "#id, #row";
  generic.kinds = pr;
  generic.outs = "%y : tensor<4xf32>";
  generic.results = "tensor<4xf32>";
  generic.body = "^bb0(%a: f32, %o: f32):\n%1 = arith.subf %o, %a : f32\nlinalg.yield %1 : f32";
  EXPECT_EQ(refusal(generic),
            "its reduction is none of sum, prod, max, min, and, or, xor of the old value and a new one");
  generic.body = "^bb0(%a: f32, %o: f32):\n%1 = arith.mulf %o, %a : f32\n%2 = arith.addf %1, %o : f32\n"
                 "linalg.yield %2 : f32";
  EXPECT_EQ(refusal(generic), "what it reduces depends on the old value");
  generic.body = "^bb0(%a: f32, %o: f32):\nlinalg.yield %a : f32";
  EXPECT_NE(refusal(generic), "");

  generic.maps = "#id, #row, #row";
  generic.outs = "%y, %n : tensor<4xf32>, tensor<4xi64>";
  generic.results = "(tensor<4xf32>, tensor<4xi64>)";
  generic.count = ":2";
  generic.body = "^bb0(%a: f32, %o: f32, %p: i64):\n%1 = arith.addf %o, %a : f32\nlinalg.yield %1, %p : f32, i64";
  EXPECT_EQ(refusal(generic), "it has several results");
}

TEST_F(FusibleOpTest, RefusedMaps) {
  Generic generic;
  generic.body = "^bb0(%a: f32, %o: f32):\nlinalg.yield %a : f32";
  generic.maps = "#zero, #id";
  EXPECT_EQ(refusal(generic), "an indexing map reads position 0 of an axis whose extent is not 1");
  generic.maps = "#sum, #id";
  generic.ins = "%long : tensor<11xf32>";
  EXPECT_EQ(refusal(generic), "an indexing map is no projection of the loops");
  generic.maps = "#twice, #id";
  generic.ins = "%square : tensor<4x4xf32>";
  EXPECT_EQ(refusal(generic), "an indexing map uses one loop for two axes");
}

TEST_F(FusibleOpTest, RefusedBodies) {
  Generic generic;
  generic.body = "^bb0(%a: f32, %o: f32):\n%1 = tensor.extract %y[%i] : tensor<4xf32>\nlinalg.yield %1 : f32";
  EXPECT_EQ(refusal(generic), "its body reads a tensor of the function (tensor.extract)");
  generic.body = "^bb0(%a: f32, %o: f32):\n%1 = arith.cmpf one, %a, %s : f32\ncf.assert %1, \"no\"\n"
                 "linalg.yield %a : f32";
  EXPECT_EQ(refusal(generic), "its body holds cf.assert");
  generic.ins = generic.outs = "%c : tensor<4x8xcomplex<f32>>";
  generic.results = "tensor<4x8xcomplex<f32>>";
  generic.body = "^bb0(%a: complex<f32>, %o: complex<f32>):\nlinalg.yield %a : complex<f32>";
  EXPECT_EQ(refusal(generic), "an operand has an unsupported element type or encoding");
}

TEST_F(FusibleOpTest, UniformConstants) {
  Generic generic;
  generic.before = "%c7 = arith.constant 7.0 : f32\n%e = tensor.empty() : tensor<32xf32>\n"
                   "%f = linalg.fill ins(%c7 : f32) outs(%e : tensor<32xf32>) -> tensor<32xf32>\n"
                   "%g = tensor.expand_shape %f [[0, 1]] output_shape [4, 8] : tensor<32xf32> into tensor<4x8xf32>\n";
  generic.ins = "%g : tensor<4x8xf32>";
  generic.body = "^bb0(%a: f32, %o: f32):\nlinalg.yield %a : f32";
  linalg::GenericOp op = parse(generic);
  ASSERT_TRUE(op);
  auto uniform = dyn_cast_or_null<FloatAttr>(fusion::getUniformConstant(op.getInputs()[0]));
  ASSERT_TRUE(uniform);
  EXPECT_EQ(uniform.getValueAsDouble(), 7.0);
  EXPECT_FALSE(fusion::getUniformConstant(op.getOutputs()[0]));
}

} // namespace
