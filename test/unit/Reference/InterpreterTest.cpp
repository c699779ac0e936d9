//===- InterpreterTest.cpp - The reference interpreter as a library ---------===//
//
// What operations mean is tested with fusion-run (test/lib/Reference); here is the interface, and the engine for
// structured ops against plain loops.
//
//===------------------------------------------------------------------------===//

#include "fusion/Reference/Interpreter.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"

#include <gtest/gtest.h>

#include <random>

using namespace fusion;

namespace {

class Interpreter : public testing::Test {
protected:
  Interpreter() {
    mlir::DialectRegistry registry;
    mlir::registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    handler = std::make_unique<mlir::ScopedDiagnosticHandler>(&context, [this](mlir::Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
        errors.push_back(diagnostic.str());
      return mlir::success();
    });
  }

  mlir::LogicalResult run(llvm::StringRef text, llvm::ArrayRef<HostArray> inputs,
                          const ReferenceOptions &options = {}) {
    results.clear();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    return module ? interpret(*module, "main", inputs, results, options) : mlir::failure();
  }

  HostArray random(llvm::ArrayRef<int64_t> shape) {
    auto array = llvm::cantFail(HostArray::create(ElementKind::F32, shape));
    std::uniform_real_distribution<float> distribution(-1, 1);
    for (int64_t i = 0; i < array.getNumElements(); ++i)
      array.setDouble(i, distribution(generator));
    return array;
  }

  mlir::MLIRContext context;
  std::unique_ptr<mlir::ScopedDiagnosticHandler> handler;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  llvm::SmallVector<HostArray> results;
  std::vector<std::string> errors;
  std::mt19937 generator;
};

constexpr const char *matmul = R"(
  func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %0 = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
    return %0 : tensor<?x?xf32>
  })";

/// Sums run in the order of the loops, in f32: the result is that of plain loops, bit for bit.
TEST_F(Interpreter, MatmulEqualsPlainLoops) {
  for (auto [m, n, k] : {std::tuple<int64_t, int64_t, int64_t>{1, 1, 1},
                         {3, 5, 7},
                         {17, 31, 13},
                         {300, 2, 3},
                         {2, 513, 4},
                         {0, 4, 4},
                         {4, 4, 0}}) {
    HostArray a = random({m, k}), b = random({k, n}), c = random({m, n});
    ASSERT_TRUE(mlir::succeeded(run(matmul, {a, b, c})));
    ASSERT_EQ(results.size(), 1u);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        volatile float sum = float(c.getDouble(i * n + j));
        for (int64_t l = 0; l < k; ++l) {
          volatile float product = float(a.getDouble(i * k + l)) * float(b.getDouble(l * n + j));
          sum = sum + product;
        }
        ASSERT_EQ(float(results[0].getDouble(i * n + j)), float(sum)) << m << " " << n << " " << k;
      }
  }
}

TEST_F(Interpreter, ArgumentsAreNotChanged) {
  HostArray a = random({2, 2}), b = random({2, 2}), c = random({2, 2});
  double before = c.getDouble(3);
  ASSERT_TRUE(mlir::succeeded(run(matmul, {a, b, c})));
  EXPECT_EQ(c.getDouble(3), before);
  // Neither by what happens to a result later.
  ASSERT_TRUE(mlir::succeeded(run("func.func @main(%a: tensor<2x2xf32>) -> tensor<2x2xf32> "
                                  "{ return %a : tensor<2x2xf32> }",
                                  {c})));
  results[0].setDouble(3, 77);
  EXPECT_EQ(c.getDouble(3), before);
}

TEST_F(Interpreter, WrongArgumentsAreErrors) {
  EXPECT_TRUE(mlir::failed(run(matmul, {})));
  EXPECT_EQ(errors.back(), "'func.func' op 'main' takes 3 arguments, 0 are given");
  HostArray a = random({2, 2});
  EXPECT_TRUE(mlir::failed(run(matmul, {a, a, random({2})})));
  EXPECT_EQ(errors.back(), "'func.func' op argument 2 of 'main' has type 'tensor<?x?xf32>', 2xf32 is given");
  EXPECT_TRUE(mlir::failed(run(matmul, {a, a, HostArray::scalar(ElementKind::F64, 1.0)})));
}

TEST_F(Interpreter, LimitsEndWhatDoesNotEnd) {
  ReferenceOptions options;
  options.maxCallDepth = 10;
  EXPECT_TRUE(mlir::failed(run("func.func @main() { call @main() : () -> ()\n return }", {}, options)));
  EXPECT_NE(errors.back().find("when 10 calls are open"), std::string::npos);
  options.maxOperations = 1000;
  EXPECT_TRUE(mlir::failed(run("func.func @main() { cf.br ^a\n ^a: cf.br ^a }", {}, options)));
  EXPECT_NE(errors.back().find("1000 have been executed"), std::string::npos) << errors.back();
}

/// A splat and what is only declared take no memory of their size.
TEST_F(Interpreter, SplatsAreNotMaterialised) {
  HostBuffer::resetPeak();
  uint64_t before = HostBuffer::getLiveBytes();
  ASSERT_TRUE(mlir::succeeded(run(R"(
    func.func @main(%i: index) -> f32 {
      %c = arith.constant dense<3.0> : tensor<100000x1000xf32>
      %e = tensor.empty() : tensor<1000x1000x1000xf64>
      %t = tensor.empty() : tensor<1000x100000xf32>
      %x = tensor.extract %c[%i, %i] : tensor<100000x1000xf32>
      return %x : f32
    })",
                                  {HostArray::scalar(ElementKind::Index, int64_t(7))})));
  EXPECT_EQ(results[0].getDouble(0), 3.0);
  EXPECT_LT(HostBuffer::getPeakBytes() - before, 10000u);
}

/// Destination-style loops update their tensors in place: this would copy 40 GB otherwise.
TEST_F(Interpreter, InsertionsAreInPlace) {
  ASSERT_TRUE(mlir::succeeded(run(R"(
    func.func @main(%n: index) -> tensor<1000000xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0.0 : f32
      %one = arith.constant dense<1.0> : tensor<10xf32>
      %e = tensor.empty() : tensor<1000000xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1000000xf32>) -> tensor<1000000xf32>
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %f) -> tensor<1000000xf32> {
        %s = tensor.extract_slice %a[%i] [10] [1] : tensor<1000000xf32> to tensor<10xf32>
        %t = linalg.add ins(%s, %one : tensor<10xf32>, tensor<10xf32>) outs(%s : tensor<10xf32>) -> tensor<10xf32>
        %u = tensor.insert_slice %t into %a[%i] [10] [1] : tensor<10xf32> into tensor<1000000xf32>
        scf.yield %u : tensor<1000000xf32>
      }
      return %r : tensor<1000000xf32>
    })",
                                  {HostArray::scalar(ElementKind::Index, int64_t(10000))})));
  EXPECT_EQ(results[0].getDouble(0), 1.0);
  EXPECT_EQ(results[0].getDouble(5000), 10.0);
}

} // namespace
