//===- JitTest.cpp - Programs through the CPU pipeline ----------------------===//

#include "fusion/Execution/RunOnCpu.h"
#include "fusion/InitAll.h"
#include "fusion/Runtime/Runtime.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace fusion;
using namespace mlir;

namespace {

class Jit : public testing::Test {
protected:
  Jit() {
    DialectRegistry registry;
    fusion::registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    handler = std::make_unique<ScopedDiagnosticHandler>(&context, [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
        diagnostics += diagnostic.str() + "\n";
      return success();
    });
  }

  /// Compiles with fusion off: what is under test is the code generation of single operations.
  llvm::Expected<std::unique_ptr<JitModule>> compile(llvm::StringRef text, llvm::StringRef target = "host") {
    module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return llvm::createStringError("does not parse: " + diagnostics);
    CpuCompileOptions options;
    options.fuse = false;
    options.code.target = target.str();
    return compileForCpu(*module, options);
  }

  std::vector<HostArray> run(llvm::StringRef text, std::vector<HostArray> inputs, llvm::StringRef entry = "main",
                             llvm::StringRef target = "host") {
    auto jit = compile(text, target);
    if (!jit) {
      ADD_FAILURE() << llvm::toString(jit.takeError()) << "\n" << diagnostics;
      return {};
    }
    llvm::SmallVector<HostArray> outputs;
    if (llvm::Error error = (*jit)->run(entry, inputs, outputs))
      ADD_FAILURE() << llvm::toString(std::move(error));
    return std::vector<HostArray>(outputs.begin(), outputs.end());
  }

  static HostArray make(ElementKind kind, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<double> values = {}) {
    auto array = HostArray::create(kind, shape);
    EXPECT_TRUE(bool(array));
    for (int64_t i = 0; i < array->getNumElements(); ++i) {
      double value = values.empty() ? double(i) : values[i % values.size()];
      if (isFloat(kind))
        array->setDouble(i, value);
      else
        array->setInteger(i, int64_t(value));
    }
    return *array;
  }

  static std::vector<double> values(const HostArray &array) {
    std::vector<double> result;
    for (int64_t i = 0; i < array.getNumElements(); ++i)
      result.push_back(array.getDouble(i));
    return result;
  }

  std::string diagnostics;
  MLIRContext context;
  std::unique_ptr<ScopedDiagnosticHandler> handler;
  OwningOpRef<ModuleOp> module;
};

using V = std::vector<double>;

} // namespace

TEST_F(Jit, ScalarsInAndOut) {
  auto out =
      run(R"(func.func @main(%a: f32, %b: index, %c: i1, %d: f64, %e: i8, %f: bf16) -> (f32, index, i1, f64, i8, bf16) {
    %0 = arith.addf %a, %a : f32
    %1 = arith.muli %b, %b : index
    %2 = arith.negf %d : f64
    %true = arith.constant true
    %3 = arith.xori %c, %true : i1
    %4 = arith.subi %e, %e : i8
    return %0, %1, %3, %2, %4, %f : f32, index, i1, f64, i8, bf16
  })",
          {HostArray::scalar(ElementKind::F32, 1.5), HostArray::scalar(ElementKind::Index, int64_t(7)),
           HostArray::scalar(ElementKind::I1, int64_t(1)), HostArray::scalar(ElementKind::F64, 0.25),
           HostArray::scalar(ElementKind::I8, int64_t(-3)), HostArray::scalar(ElementKind::BF16, 3.0)});
  ASSERT_EQ(out.size(), 6u);
  EXPECT_EQ(out[0].getDouble(0), 3.0);
  EXPECT_EQ(out[1].getInteger(0), 49);
  EXPECT_EQ(out[2].getInteger(0), 0);
  EXPECT_EQ(out[3].getDouble(0), -0.25);
  EXPECT_EQ(out[4].getInteger(0), 0);
  EXPECT_EQ(out[5].getDouble(0), 3.0);
}

TEST_F(Jit, OneScalarResultAndRankZero) {
  auto out = run(R"(func.func @main(%a: tensor<f32>) -> f32 {
    %0 = tensor.extract %a[] : tensor<f32>
    return %0 : f32
  })",
                 {HostArray::scalar(ElementKind::F32, 2.5)});
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].getDouble(0), 2.5);
  EXPECT_EQ(out[0].getRank(), 0);
}

TEST_F(Jit, ResultsNeverAliasArgumentsOrEachOther) {
  HostArray in = make(ElementKind::F32, {4});
  auto out = run(
      R"(func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x2xf32>, tensor<4xf32>) {
    %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
    %one = arith.constant 1.0 : f32
    %0 = linalg.fill ins(%one : f32) outs(%a : tensor<4xf32>) -> tensor<4xf32>
    %1 = tensor.expand_shape %0 [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
    return %a, %a, %0, %1, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x2xf32>, tensor<4xf32>
  })",
      {in});
  ASSERT_EQ(out.size(), 5u);
  EXPECT_EQ(values(in), (V{0, 1, 2, 3}));
  for (HostArray &array : out)
    array.setDouble(0, array.getDouble(0) + 10);
  EXPECT_EQ(values(out[0]), (V{10, 1, 2, 3}));
  EXPECT_EQ(values(out[1]), (V{10, 1, 2, 3}));
  EXPECT_EQ(values(out[2]), (V{11, 1, 1, 1}));
  EXPECT_EQ(values(out[3]), (V{11, 1, 1, 1}));
  EXPECT_EQ(values(out[4]), (V{11, 2, 3, 4}));
  EXPECT_EQ(values(in), (V{0, 1, 2, 3}));
}

TEST_F(Jit, GatherAndScatter) {
  auto out = run(
      R"(func.func @main(%a: tensor<4x3xf32>, %i: tensor<2x1xi64>) -> (tensor<2x3xf32>, tensor<2x1x3xf32>, tensor<4x3xf32>) {
    %0 = tensor.gather %a[%i] gather_dims([0]) : (tensor<4x3xf32>, tensor<2x1xi64>) -> tensor<2x3xf32>
    %1 = tensor.gather %a[%i] gather_dims([0]) : (tensor<4x3xf32>, tensor<2x1xi64>) -> tensor<2x1x3xf32>
    %z = arith.constant dense<0.0> : tensor<4x3xf32>
    %2 = tensor.scatter %0 into %z[%i] scatter_dims([0]) unique : (tensor<2x3xf32>, tensor<4x3xf32>, tensor<2x1xi64>) -> tensor<4x3xf32>
    return %0, %1, %2 : tensor<2x3xf32>, tensor<2x1x3xf32>, tensor<4x3xf32>
  })",
      {make(ElementKind::F32, {4, 3}), make(ElementKind::I64, {2, 1}, {3, 1})});
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(values(out[0]), (V{9, 10, 11, 3, 4, 5}));
  EXPECT_EQ(values(out[1]), (V{9, 10, 11, 3, 4, 5}));
  EXPECT_EQ(values(out[2]), (V{0, 0, 0, 3, 4, 5, 0, 0, 0, 9, 10, 11}));
}

TEST_F(Jit, ConcatPadReshapeBitcast) {
  auto out = run(
      R"(func.func @main(%a: tensor<2x?xf32>, %b: tensor<2x2xf32>, %n: index) -> (tensor<2x?xf32>, tensor<4x4xf32>, tensor<?xf32>, tensor<2x2xi32>, tensor<3x3xindex>) {
    %0 = tensor.concat dim(1) %a, %b : (tensor<2x?xf32>, tensor<2x2xf32>) -> tensor<2x?xf32>
    %z = arith.constant 7.0 : f32
    %1 = tensor.pad %b low[1, 0] high[1, 2] {
    ^bb0(%i: index, %j: index):
      tensor.yield %z : f32
    } : tensor<2x2xf32> to tensor<4x4xf32>
    %s = tensor.from_elements %n : tensor<1xindex>
    %2 = tensor.reshape %0(%s) : (tensor<2x?xf32>, tensor<1xindex>) -> tensor<?xf32>
    %3 = tensor.bitcast %b : tensor<2x2xf32> to tensor<2x2xi32>
    %4 = tensor.generate {
    ^bb0(%i: index, %j: index):
      %5 = arith.addi %i, %j : index
      tensor.yield %5 : index
    } : tensor<3x3xindex>
    return %0, %1, %2, %3, %4 : tensor<2x?xf32>, tensor<4x4xf32>, tensor<?xf32>, tensor<2x2xi32>, tensor<3x3xindex>
  })",
      {make(ElementKind::F32, {2, 1}), make(ElementKind::F32, {2, 2}),
       HostArray::scalar(ElementKind::Index, int64_t(6))});
  ASSERT_EQ(out.size(), 5u);
  EXPECT_EQ(values(out[0]), (V{0, 0, 1, 1, 2, 3}));
  EXPECT_EQ(values(out[1]), (V{7, 7, 7, 7, 0, 1, 7, 7, 2, 3, 7, 7, 7, 7, 7, 7}));
  EXPECT_EQ(values(out[2]), (V{0, 0, 1, 1, 2, 3}));
  EXPECT_EQ(values(out[3]), (V{0, 0x3f800000, 0x40000000, 0x40400000}));
  EXPECT_EQ(values(out[4]), (V{0, 1, 2, 1, 2, 3, 2, 3, 4}));
}

TEST_F(Jit, AggregatedOperations) {
  auto out = run(R"(func.func @main(%a: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
    %e = tensor.empty() : tensor<2x4xf32>
    %0 = linalg.softmax dimension(1) ins(%a : tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
    %p = tensor.empty() : tensor<1x2x2x2xf32>
    %1 = linalg.pack %a inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %p : tensor<2x4xf32> -> tensor<1x2x2x2xf32>
    %2 = linalg.unpack %1 inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %e : tensor<1x2x2x2xf32> -> tensor<2x4xf32>
    %3 = math.sqrt %a : tensor<2x4xf32>
    return %0, %2, %3 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
  })",
                 {make(ElementKind::F32, {2, 4}, {0, 0, 0, 0, 1, 4, 9, 16})});
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(out[0].getDouble(0), 0.25);
  EXPECT_NEAR(out[0].getDouble(7), 0.99908, 1e-4);
  EXPECT_EQ(values(out[1]), (V{0, 0, 0, 0, 1, 4, 9, 16}));
  EXPECT_EQ(values(out[2]), (V{0, 0, 0, 0, 1, 2, 3, 4}));
}

TEST_F(Jit, ControlFlowAndCalls) {
  const char *text = R"(
  func.func private @grow(%t: tensor<?xf32>, %n: index) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1.0 : f32
    %stop = arith.cmpi eq, %n, %c0 : index
    %r = scf.if %stop -> tensor<?xf32> {
      scf.yield %t : tensor<?xf32>
    } else {
      %m = arith.subi %n, %c1 : index
      %u = tensor.insert %one into %t[%m] : tensor<?xf32>
      %v = func.call @grow(%u, %m) : (tensor<?xf32>, index) -> tensor<?xf32>
      scf.yield %v : tensor<?xf32>
    }
    return %r : tensor<?xf32>
  }
  func.func @main(%t: tensor<?xf32>, %n: index) -> (tensor<?xf32>, index) {
    %0 = call @grow(%t, %n) : (tensor<?xf32>, index) -> tensor<?xf32>
    %c1 = arith.constant 1 : index
    %c100 = arith.constant 100 : index
    %1:2 = scf.while (%x = %0, %i = %n) : (tensor<?xf32>, index) -> (tensor<?xf32>, index) {
      %more = arith.cmpi slt, %i, %c100 : index
      scf.condition(%more) %x, %i : tensor<?xf32>, index
    } do {
    ^bb0(%x: tensor<?xf32>, %i: index):
      %e = tensor.empty(%n) : tensor<?xf32>
      %y = linalg.map { arith.addf } ins(%x, %x : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>)
      %j = arith.muli %i, %n : index
      scf.yield %y, %j : tensor<?xf32>, index
    }
    return %1#0, %1#1 : tensor<?xf32>, index
  }
  func.func @blocks(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
    cf.cond_br %c, ^bb1, ^bb2
  ^bb1:
    %0 = arith.addf %a, %b : tensor<4xf32>
    cf.br ^bb3(%0 : tensor<4xf32>)
  ^bb2:
    cf.br ^bb3(%b : tensor<4xf32>)
  ^bb3(%x: tensor<4xf32>):
    return %x : tensor<4xf32>
  }
  func.func @same(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
    cf.cond_br %c, ^bb1(%a : tensor<4xf32>), ^bb1(%b : tensor<4xf32>)
  ^bb1(%x: tensor<4xf32>):
    return %x : tensor<4xf32>
  })";
  HostArray in = make(ElementKind::F32, {3}, {5, 5, 5});
  auto out = run(text, {in, HostArray::scalar(ElementKind::Index, int64_t(3))});
  ASSERT_EQ(out.size(), 2u);
  // 3, 9, 27, 81, 243: doubled four times.
  EXPECT_EQ(values(out[0]), (V{16, 16, 16}));
  EXPECT_EQ(out[1].getInteger(0), 243);
  EXPECT_EQ(values(in), (V{5, 5, 5}));
  for (const char *entry : {"blocks", "same"})
    for (int64_t c : {0, 1}) {
      out = run(text,
                {make(ElementKind::F32, {4}), make(ElementKind::F32, {4}, {1}), HostArray::scalar(ElementKind::I1, c)},
                entry);
      ASSERT_EQ(out.size(), 1u);
      if (c == 0)
        EXPECT_EQ(values(out[0]), (V{1, 1, 1, 1}));
      else
        EXPECT_EQ(values(out[0]), entry == std::string("same") ? (V{0, 1, 2, 3}) : (V{1, 2, 3, 4}));
    }
}

TEST_F(Jit, LoopsOfBlocks) {
  auto out = run(R"(func.func @main(%n: index, %a: tensor<4xf32>) -> tensor<4xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    cf.br ^head(%c0, %a : index, tensor<4xf32>)
  ^head(%i: index, %t: tensor<4xf32>):
    %m = arith.cmpi slt, %i, %n : index
    cf.cond_br %m, ^body, ^exit
  ^body:
    %u = arith.addf %t, %a : tensor<4xf32>
    %j = arith.addi %i, %c1 : index
    cf.br ^head(%j, %u : index, tensor<4xf32>)
  ^exit:
    return %t : tensor<4xf32>
  })",
                 {HostArray::scalar(ElementKind::Index, int64_t(4)), make(ElementKind::F32, {4})});
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(values(out[0]), (V{0, 5, 10, 15}));
}

TEST_F(Jit, NamesOfTheCLibraryAreFree) {
  const char *text = R"(
  func.func @expf(%a: tensor<2xf32>) -> tensor<2xf32> {
    %x = math.tan %a : tensor<2xf32>
    %r = call @memcpy(%x) : (tensor<2xf32>) -> tensor<2xf32>
    return %r : tensor<2xf32>
  }
  func.func @memcpy(%a: tensor<2xf32>) -> tensor<2xf32> {
    %r = arith.addf %a, %a : tensor<2xf32>
    return %r : tensor<2xf32>
  }
  func.func @tanf(%a: tensor<2xf32>) -> tensor<2xf32> {
    return %a : tensor<2xf32>
  }
  func.func @fusion_rt_invoke(%a: tensor<2xf32>) -> tensor<2xf32> {
    return %a : tensor<2xf32>
  })";
  for (auto [entry, factor] :
       {std::pair("expf", 0.0), std::pair("memcpy", 2.0), std::pair("tanf", 1.0), std::pair("fusion_rt_invoke", 1.0)}) {
    auto out = run(text, {make(ElementKind::F32, {2}, {0.5})}, entry);
    ASSERT_EQ(out.size(), 1u);
    double want = factor != 0 ? factor * 0.5 : 2 * std::tan(0.5);
    EXPECT_NEAR(out[0].getDouble(1), want, 1e-6) << entry;
  }
}

TEST_F(Jit, RecursionWithoutEndEndsTheCall) {
  auto jit = compile(R"(
  func.func @main(%a: tensor<4xf32>, %n: index) -> tensor<4xf32> {
    %x = arith.addf %a, %a : tensor<4xf32>
    %r = call @other(%x, %n) : (tensor<4xf32>, index) -> tensor<4xf32>
    %y = arith.addf %r, %a : tensor<4xf32>
    return %y : tensor<4xf32>
  }
  func.func private @other(%a: tensor<4xf32>, %n: index) -> tensor<4xf32> {
    %c1 = arith.constant 1 : index
    %m = arith.addi %n, %c1 : index
    %r = call @main(%a, %m) : (tensor<4xf32>, index) -> tensor<4xf32>
    return %r : tensor<4xf32>
  })");
  ASSERT_TRUE(bool(jit)) << llvm::toString(jit.takeError()) << diagnostics;
  FusionMemoryStatistics before, after;
  fusion_rt_memory_statistics(&before);
  for (int repeat = 0; repeat < 2; ++repeat) {
    llvm::SmallVector<HostArray> outputs;
    llvm::Error error =
        (*jit)->run("main", {make(ElementKind::F32, {4}), HostArray::scalar(ElementKind::Index, int64_t(0))}, outputs);
    std::string text = llvm::toString(std::move(error));
    EXPECT_TRUE(llvm::StringRef(text).ends_with(": the stack is exhausted: does the recursion end?")) << text;
  }
  fusion_rt_memory_statistics(&after);
  EXPECT_EQ(before.live_bytes, after.live_bytes);
}

TEST_F(Jit, FunctionsWithoutABody) {
  auto jit = compile("func.func private @missing(tensor<4xf32>) -> tensor<4xf32>\n"
                     "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
                     "  %0 = call @missing(%a) : (tensor<4xf32>) -> tensor<4xf32>\n  return %0 : tensor<4xf32>\n}");
  ASSERT_FALSE(bool(jit));
  EXPECT_EQ(llvm::toString(jit.takeError()), "the program calls 'missing', which has no body");
}

TEST_F(Jit, ElementTypes) {
  for (auto [kind, name] : {std::pair(ElementKind::F16, "f16"), std::pair(ElementKind::BF16, "bf16"),
                            std::pair(ElementKind::F32, "f32"), std::pair(ElementKind::F64, "f64")})
    for (const char *target : {"generic", "avx2", "host"}) {
      std::string type = std::string("tensor<5x3x") + name + ">";
      std::string text = "func.func @main(%a: " + type + ", %s: " + name + ") -> " + type +
                         " {\n %e = tensor.empty() : " + type + "\n %0 = math.exp2 %a : " + type +
                         "\n %1 = arith.addf %0, %a : " + type + "\n %m = arith.maximumf %1, %0 : " + type +
                         "\n return %m : " + type + "\n }";
      auto out = run(text, {make(kind, {5, 3}, {0, 1, 2}), HostArray::scalar(kind, 1.0)}, "main", target);
      ASSERT_EQ(out.size(), 1u);
      EXPECT_EQ(values(out[0]), (V{1, 3, 6, 1, 3, 6, 1, 3, 6, 1, 3, 6, 1, 3, 6})) << name << " " << target;
    }
  for (auto [kind, name] :
       {std::pair(ElementKind::I8, "i8"), std::pair(ElementKind::I16, "i16"), std::pair(ElementKind::I32, "i32"),
        std::pair(ElementKind::I64, "i64"), std::pair(ElementKind::Index, "index")}) {
    std::string type = std::string("tensor<7x") + name + ">";
    auto out =
        run("func.func @main(%a: " + type + ") -> (" + type + ", tensor<7xi1>) {\n %0 = arith.addi %a, %a : " + type +
                "\n %1 = arith.cmpi sgt, %0, %a : " + type + "\n return %0, %1 : " + type + ", tensor<7xi1>\n }",
            {make(kind, {7}, {-3, -2, -1, 0, 1, 2, 3})});
    ASSERT_EQ(out.size(), 2u);
    EXPECT_EQ(values(out[0]), (V{-6, -4, -2, 0, 2, 4, 6})) << name;
    EXPECT_EQ(values(out[1]), (V{0, 0, 0, 0, 1, 1, 1})) << name;
  }
}

TEST_F(Jit, ZeroExtents) {
  auto out = run(R"(func.func @main(%a: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<3xf32>) {
    %0 = arith.addf %a, %a : tensor<?x3xf32>
    %z = arith.constant 2.0 : f32
    %e = tensor.empty() : tensor<3xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
    %1 = linalg.reduce { arith.addf } ins(%a : tensor<?x3xf32>) outs(%f : tensor<3xf32>) dimensions = [0]
    return %0, %1 : tensor<?x3xf32>, tensor<3xf32>
  })",
                 {make(ElementKind::F32, {0, 3})});
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0].getNumElements(), 0);
  EXPECT_EQ(values(out[1]), (V{2, 2, 2}));
}

TEST_F(Jit, AssertionsEndTheCall) {
  auto jit = compile(R"(
  func.func @main(%a: tensor<4xf32>, %i: tensor<64x512xi64>) -> tensor<64x512xf32> {
    %e = tensor.empty() : tensor<64x512xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
        ins(%i : tensor<64x512xi64>) outs(%e : tensor<64x512xf32>) {
    ^bb0(%in: i64, %out: f32):
      %c4 = arith.constant 4 : i64
      %ok = arith.cmpi ult, %in, %c4 : i64
      cf.assert %ok, "index out of range"
      %x = arith.index_cast %in : i64 to index
      %v = tensor.extract %a[%x] : tensor<4xf32>
      linalg.yield %v : f32
    } -> tensor<64x512xf32>
    return %r : tensor<64x512xf32>
  })");
  ASSERT_TRUE(bool(jit)) << llvm::toString(jit.takeError()) << diagnostics;
  HostArray table = make(ElementKind::F32, {4});
  llvm::SmallVector<HostArray> outputs;
  ASSERT_FALSE(bool((*jit)->run("main", {table, make(ElementKind::I64, {64, 512}, {3})}, outputs)));
  EXPECT_EQ(outputs[0].getDouble(511), 3);
  outputs.clear();
  FusionMemoryStatistics before, after;
  fusion_rt_memory_statistics(&before);
  for (int repeat = 0; repeat < 20; ++repeat) {
    HostArray bad = make(ElementKind::I64, {64, 512}, {1});
    bad.setInteger(64 * 512 - 7, int64_t(1) << 40);
    llvm::Error error = (*jit)->run("main", {table, bad}, outputs);
    ASSERT_TRUE(bool(error));
    EXPECT_NE(llvm::toString(std::move(error)).find("assertion failed: index out of range"), std::string::npos);
  }
  fusion_rt_memory_statistics(&after);
  EXPECT_EQ(before.live_bytes, after.live_bytes);
}

TEST_F(Jit, PreparedCallReusesItsBuffers) {
  auto jit = compile("func.func @main(%a: tensor<1000xf32>) -> tensor<1000xf32> {\n"
                     "  %0 = arith.addf %a, %a : tensor<1000xf32>\n  return %0 : tensor<1000xf32>\n}");
  ASSERT_TRUE(bool(jit)) << llvm::toString(jit.takeError());
  auto call = (*jit)->prepare("main", {make(ElementKind::F32, {1000})});
  ASSERT_TRUE(bool(call)) << llvm::toString(call.takeError());
  ASSERT_FALSE(bool(call->invoke()));
  fusion_rt_reset_memory_statistics();
  for (int i = 0; i < 10; ++i)
    ASSERT_FALSE(bool(call->invoke()));
  FusionMemoryStatistics statistics;
  fusion_rt_memory_statistics(&statistics);
  EXPECT_EQ(statistics.fresh_mappings, 0u);
  EXPECT_EQ(statistics.allocations, 10u);
  auto results = call->takeResults();
  ASSERT_TRUE(bool(results)) << llvm::toString(results.takeError());
  EXPECT_EQ((*results)[0].getDouble(999), 1998);
  auto again = call->takeResults();
  EXPECT_FALSE(bool(again));
  llvm::consumeError(again.takeError());
}

TEST_F(Jit, ArgumentsAreChecked) {
  auto jit =
      compile("func.func @main(%a: tensor<?x3xf32>, %b: index) -> tensor<?x3xf32> {\n  return %a : tensor<?x3xf32>\n}\n"
              "func.func @other(%a: tensor<4xcomplex<f32>>) {\n  return\n}");
  ASSERT_TRUE(bool(jit)) << llvm::toString(jit.takeError()) << diagnostics;
  auto text = [&](llvm::StringRef entry, std::vector<HostArray> inputs) {
    llvm::SmallVector<HostArray> outputs;
    return llvm::toString((*jit)->run(entry, inputs, outputs));
  };
  HostArray number = HostArray::scalar(ElementKind::Index, int64_t(1));
  EXPECT_EQ(text("main", {make(ElementKind::F32, {2, 3}), number}), "");
  EXPECT_EQ(text("main", {make(ElementKind::F32, {2, 3}), HostArray::scalar(ElementKind::I64, int64_t(1))}), "");
  EXPECT_EQ(text("main", {number}), "'main' takes 2 arguments, 1 were given");
  EXPECT_EQ(text("main", {make(ElementKind::F32, {2, 4}), number}),
            "argument 0 of 'main' is tensor<?x3xf32>, the array given is 2x4xf32");
  EXPECT_EQ(text("main", {make(ElementKind::F64, {2, 3}), number}),
            "argument 0 of 'main' is tensor<?x3xf32>, the array given is 2x3xf64");
  EXPECT_EQ(text("main", {make(ElementKind::F32, {2, 3, 1}), number}),
            "argument 0 of 'main' is tensor<?x3xf32>, the array given is 2x3x1xf32");
  EXPECT_EQ(text("nothing", {}), "there is no public function 'nothing'; there are: main, other");
  EXPECT_EQ(text("other", {number}),
            "'other' has an argument or result of type tensor<4xcomplex<f32>>, which host arrays cannot hold");
}

TEST_F(Jit, WhatHasNoLoweringIsNamed) {
  context.allowUnregisteredDialects();
  auto fails = [&](llvm::StringRef text) {
    diagnostics.clear();
    auto jit = compile(text);
    EXPECT_FALSE(bool(jit));
    if (!jit)
      llvm::consumeError(jit.takeError());
    return diagnostics;
  };
  EXPECT_EQ(fails("func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
                  "  %0 = \"some.op\"(%a) : (tensor<4xf32>) -> tensor<4xf32>\n  return %0 : tensor<4xf32>\n}"),
            "'some.op' has no lowering for the CPU\n");
  EXPECT_EQ(fails("func.func @main(%a: f32) -> f32 {\n  %0 = \"some.op\"(%a) : (f32) -> f32\n  return %0 : f32\n}"),
            "'some.op' has no lowering for the CPU\n");
  EXPECT_EQ(fails("func.func @main(%a: tensor<*xf32>) -> tensor<*xf32> {\n  return %a : tensor<*xf32>\n}"),
            "argument 0 of 'func.func' cannot be compiled for the CPU: unranked tensor tensor<*xf32> is not supported, "
            "the rank must be known\n");
  EXPECT_EQ(fails("func.func @main() -> tensor<4000000000x4000000000xf32> {\n"
                  "  %0 = tensor.empty() : tensor<4000000000x4000000000xf32>\n"
                  "  return %0 : tensor<4000000000x4000000000xf32>\n}"),
            "'tensor.empty' op cannot be compiled for the CPU: tensor<4000000000x4000000000xf32> is too large for the "
            "memory of any machine\n");
}

TEST_F(Jit, MachineCodeForEachLevel) {
  // 64 x 64: vectors of every width fit.
  const char *text = "func.func @main(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {\n"
                     "  %0 = arith.mulf %a, %a : tensor<64x64xf32>\n  %1 = arith.addf %0, %a : tensor<64x64xf32>\n"
                     "  return %1 : tensor<64x64xf32>\n}";
  for (auto [target, present, absent] :
       {std::tuple("generic", "%xmm", "%ymm"), std::tuple("avx2", "%ymm", "%zmm"), std::tuple("avx512", "%zmm", "?")}) {
    module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(bool(module));
    CpuPipelineOptions pipeline;
    pipeline.fuse = false;
    pipeline.target = target;
    PassManager passes(&context);
    buildCpuCodegenPipeline(passes, pipeline);
    ASSERT_TRUE(succeeded(passes.run(*module))) << diagnostics;
    CompileOptions options;
    options.target = target;
    llvm::SmallString<0> assembly, object, again;
    llvm::raw_svector_ostream assemblyStream(assembly), objectStream(object), againStream(again);
    ASSERT_FALSE(bool(emitMachineCode(*module, options, MachineCode::Assembly, assemblyStream)));
    EXPECT_TRUE(assembly.str().contains(present)) << target;
    EXPECT_FALSE(assembly.str().contains(absent)) << target;
    EXPECT_TRUE(assembly.str().contains("fusion_entry_main"));
    ASSERT_FALSE(bool(emitMachineCode(*module, options, MachineCode::Object, objectStream)));
    ASSERT_FALSE(bool(emitMachineCode(*module, options, MachineCode::Object, againStream)));
    EXPECT_TRUE(object.str().starts_with("\x7f"
                                         "ELF"));
    EXPECT_EQ(object.str(), again.str());
  }
}

TEST_F(Jit, UnknownTarget) {
  auto jit = compile("func.func @main() {\n  return\n}", "z80");
  ASSERT_FALSE(bool(jit));
  EXPECT_EQ(llvm::toString(jit.takeError()), "unknown CPU 'z80', expected one of: host, generic, avx2, avx512");
}
