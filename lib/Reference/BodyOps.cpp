//===- BodyOps.cpp - Instructions for what else stands in a body ------------===//
//
// Coordinates, affine arithmetic on them, reads of tensors from outside, assertions.
//
//===------------------------------------------------------------------------===//

#include "Program.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace fusion;
using namespace fusion::reference;

namespace {
struct Add {
  int64_t operator()(int64_t a, int64_t b) const { return int64_t(uint64_t(a) + uint64_t(b)); }
};
struct Mul {
  int64_t operator()(int64_t a, int64_t b) const { return int64_t(uint64_t(a) * uint64_t(b)); }
};
struct FloorDiv {
  int64_t operator()(int64_t a, int64_t b) const { return llvm::divideFloorSigned(a, b); }
};
struct CeilDiv {
  int64_t operator()(int64_t a, int64_t b) const { return llvm::divideCeilSigned(a, b); }
};
struct Mod {
  int64_t operator()(int64_t a, int64_t b) const { return llvm::mod(a, b); }
};
struct Min {
  int64_t operator()(int64_t a, int64_t b) const { return std::min(a, b); }
};
struct Max {
  int64_t operator()(int64_t a, int64_t b) const { return std::max(a, b); }
};
} // namespace

template <typename Functor, bool isDivision>
static void runIndex(const Instruction &instruction, Registers &registers, int64_t n) {
  const int64_t *a = registers.get<int64_t>(instruction.sources[0]);
  const int64_t *b = registers.get<int64_t>(instruction.sources[1]);
  int64_t *target = registers.get<int64_t>(instruction.targets[0]);
  for (int64_t lane = 0; lane < n; ++lane) {
    if (isDivision && b[lane] <= 0)
      return registers.fail(instruction, "an affine expression divides by a number that is not positive");
    target[lane] = Functor()(a[lane], b[lane]);
  }
}

static std::optional<unsigned> emitAffine(mlir::Operation *op, ProgramBuilder &builder, mlir::AffineExpr expr,
                                          llvm::ArrayRef<unsigned> dims, llvm::ArrayRef<unsigned> symbols) {
  if (auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(expr))
    return builder.emitConstant(Scalar::makeIndex(constant.getValue()));
  if (auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  auto binary = llvm::cast<mlir::AffineBinaryOpExpr>(expr);
  std::optional<unsigned> lhs = emitAffine(op, builder, binary.getLHS(), dims, symbols);
  std::optional<unsigned> rhs = emitAffine(op, builder, binary.getRHS(), dims, symbols);
  if (!lhs || !rhs)
    return std::nullopt;
  Kernel kernel = nullptr;
  bool mayFail = false;
  switch (expr.getKind()) {
  case mlir::AffineExprKind::Add:
    kernel = runIndex<Add, false>;
    break;
  case mlir::AffineExprKind::Mul:
    kernel = runIndex<Mul, false>;
    break;
  case mlir::AffineExprKind::FloorDiv:
    kernel = runIndex<FloorDiv, true>;
    break;
  case mlir::AffineExprKind::CeilDiv:
    kernel = runIndex<CeilDiv, true>;
    break;
  case mlir::AffineExprKind::Mod:
    kernel = runIndex<Mod, true>;
    break;
  default:
    return std::nullopt;
  }
  // A divisor that is a positive constant, the usual case, cannot fail.
  auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(binary.getRHS());
  mayFail = expr.getKind() != mlir::AffineExprKind::Add && expr.getKind() != mlir::AffineExprKind::Mul &&
            !(constant && constant.getValue() > 0);
  return builder.emit(op, kernel, {*lhs, *rhs}, ScalarType::index(), 0, mayFail);
}

/// affine.apply, affine.min, affine.max: the map's results joined by `combine`.
static bool emitAffineMap(mlir::Operation *op, ProgramBuilder &builder, mlir::AffineMap map, Kernel combine) {
  llvm::SmallVector<unsigned> operands;
  for (mlir::Value operand : op->getOperands()) {
    std::optional<unsigned> reg = builder.getRegister(operand);
    if (!reg)
      return false;
    operands.push_back(*reg);
  }
  auto dims = llvm::ArrayRef(operands).take_front(map.getNumDims());
  auto symbols = llvm::ArrayRef(operands).drop_front(map.getNumDims());
  std::optional<unsigned> result;
  for (mlir::AffineExpr expr : map.getResults()) {
    std::optional<unsigned> value = emitAffine(op, builder, expr, dims, symbols);
    if (!value)
      return false;
    result = result ? builder.emit(op, combine, {*result, *value}, ScalarType::index()) : *value;
  }
  if (!result)
    return false;
  builder.bind(op->getResult(0), *result);
  return true;
}

static void runAssert(const Instruction &instruction, Registers &registers, int64_t n) {
  const int64_t *condition = registers.get<int64_t>(instruction.sources[0]);
  for (int64_t lane = 0; lane < n; ++lane)
    if (!condition[lane])
      return registers.fail(instruction,
                            "assertion failed: " + llvm::cast<mlir::cf::AssertOp>(instruction.op).getMsg().str());
}

static void runExtract(const Instruction &instruction, Registers &registers, int64_t n) {
  const TensorValue &tensor = registers.tensors[instruction.immediate];
  int64_t offsets[maxLanes];
  std::fill_n(offsets, n, tensor.offset);
  for (auto [axis, source] : llvm::enumerate(instruction.sources)) {
    const int64_t *index = registers.get<int64_t>(source);
    int64_t extent = tensor.shape[axis], stride = tensor.strides[axis];
    for (int64_t lane = 0; lane < n; ++lane) {
      if (uint64_t(index[lane]) >= uint64_t(extent))
        return registers.fail(instruction, "index " + std::to_string(index[lane]) + " of axis " + std::to_string(axis) +
                                               " is out of bounds: the extent is " + std::to_string(extent));
      offsets[lane] += index[lane] * stride;
    }
  }
  loadGather(registers, instruction.targets[0], tensor, 0, offsets, n);
}

static void runDim(const Instruction &instruction, Registers &registers, int64_t n) {
  const TensorValue &tensor = registers.tensors[instruction.immediate];
  const int64_t *axis = registers.get<int64_t>(instruction.sources[0]);
  int64_t *target = registers.get<int64_t>(instruction.targets[0]);
  for (int64_t lane = 0; lane < n; ++lane) {
    if (uint64_t(axis[lane]) >= tensor.shape.size())
      return registers.fail(instruction, "axis " + std::to_string(axis[lane]) + " is out of bounds: the rank is " +
                                             std::to_string(tensor.shape.size()));
    target[lane] = tensor.shape[axis[lane]];
  }
}

bool reference::compileMisc(mlir::Operation *op, ProgramBuilder &builder) {
  return llvm::TypeSwitch<mlir::Operation *, bool>(op)
      .Case([&](mlir::linalg::IndexOp index) {
        builder.bind(index.getResult(), builder.getCoordinate(index.getDim()));
        return true;
      })
      .Case(
          [&](mlir::affine::AffineApplyOp apply) { return emitAffineMap(op, builder, apply.getAffineMap(), nullptr); })
      .Case([&](mlir::affine::AffineMinOp min) {
        return emitAffineMap(op, builder, min.getAffineMap(), runIndex<Min, false>);
      })
      .Case([&](mlir::affine::AffineMaxOp max) {
        return emitAffineMap(op, builder, max.getAffineMap(), runIndex<Max, false>);
      })
      .Case([&](mlir::cf::AssertOp) { return builder.emit(op, runAssert, /*mayFail=*/true); })
      .Case([&](mlir::tensor::ExtractOp extract) {
        std::optional<unsigned> tensor = builder.captureTensor(extract.getTensor());
        std::optional<ScalarType> type = ScalarType::get(extract.getType());
        llvm::SmallVector<unsigned> indices;
        for (mlir::Value index : extract.getIndices())
          if (std::optional<unsigned> reg = builder.getRegister(index))
            indices.push_back(*reg);
        if (!tensor || !type || indices.size() != extract.getIndices().size())
          return false;
        builder.bind(extract.getResult(), builder.emit(op, runExtract, indices, *type, *tensor, /*mayFail=*/true));
        return true;
      })
      .Case([&](mlir::tensor::DimOp dim) {
        std::optional<unsigned> tensor = builder.captureTensor(dim.getSource());
        std::optional<unsigned> axis = builder.getRegister(dim.getIndex());
        if (!tensor || !axis)
          return false;
        builder.bind(dim.getResult(),
                     builder.emit(op, runDim, {*axis}, ScalarType::index(), *tensor, /*mayFail=*/true));
        return true;
      })
      .Case([&](mlir::ub::PoisonOp poison) {
        std::optional<ScalarType> type = ScalarType::get(poison.getType());
        if (!type)
          return false;
        builder.bind(poison.getResult(), builder.emitConstant(Scalar::makePoison(*type)));
        return true;
      })
      .Default([](mlir::Operation *) { return false; });
}
