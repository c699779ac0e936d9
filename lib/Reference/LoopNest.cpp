//===- LoopNest.cpp - Structured operations ---------------------------------===//
//
// The points of the parallel loops are numbered in C order and taken `maxLanes` at a time as lanes; the other loops run
// around the body in their order, so that each reduction is summed sequentially. Output elements stay in registers
// during that time.
//
//===------------------------------------------------------------------------===//

#include "Machine.h"

#include "mlir/IR/AffineMap.h"
#include "llvm/Support/MathExtras.h"

using namespace fusion;
using namespace fusion::reference;

namespace {

/// How an operand is addressed. Unless the map divides, the offset of a point is
/// `constant + sum coefficient[loop] * coordinate[loop]`.
struct Access {
  TensorValue tensor;
  mlir::AffineMap map;
  bool linear = true;
  int64_t constant = 0;
  Shape coefficients;
  /// The register that is loaded or stored.
  unsigned reg = 0;

  /// For the current lanes: their offsets, and if these are `base + lane * stride`.
  std::vector<int64_t> offsets;
  bool strided = true;
  int64_t base = 0, stride = 0;

  /// Whether the offset is the same at all points of these loops.
  bool isConstantIn(llvm::ArrayRef<unsigned> loops) const {
    return linear && llvm::all_of(loops, [&](unsigned loop) { return coefficients[loop] == 0; });
  }
};

} // namespace

/// Adds `factor * expr` to the coefficients (one per loop, the constant last). False if the expression divides.
static bool linearise(mlir::AffineExpr expr, int64_t factor, llvm::MutableArrayRef<int64_t> coefficients) {
  if (auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(expr)) {
    coefficients.back() += factor * constant.getValue();
    return true;
  }
  if (auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(expr)) {
    coefficients[dim.getPosition()] += factor;
    return true;
  }
  auto binary = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (expr.getKind() == mlir::AffineExprKind::Add)
    return linearise(binary.getLHS(), factor, coefficients) && linearise(binary.getRHS(), factor, coefficients);
  if (expr.getKind() == mlir::AffineExprKind::Mul) {
    if (auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(binary.getRHS()))
      return linearise(binary.getLHS(), factor * constant.getValue(), coefficients);
    if (auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(binary.getLHS()))
      return linearise(binary.getRHS(), factor * constant.getValue(), coefficients);
  }
  return false;
}

/// Fills in the addressing of an operand and checks that all accesses are in bounds. The nest has a point.
static mlir::LogicalResult analyseAccess(const LoopNest &nest, Access &access) {
  const TensorValue &tensor = access.tensor;
  unsigned numLoops = nest.extents.size();
  if (access.map.getNumDims() != numLoops || access.map.getNumSymbols() != 0 ||
      int64_t(access.map.getNumResults()) != tensor.getRank())
    return nest.op->emitOpError("has an indexing map that does not fit its operand");
  access.constant = tensor.offset;
  access.coefficients.assign(numLoops, 0);
  for (auto [axis, expr] : llvm::enumerate(access.map.getResults())) {
    Shape coefficients(numLoops + 1, 0);
    if (!linearise(expr, 1, coefficients)) {
      access.linear = false;
      continue;
    }
    int64_t low = coefficients.back(), high = low;
    for (unsigned loop = 0; loop < numLoops; ++loop) {
      int64_t reach = coefficients[loop] * (nest.extents[loop] - 1);
      (reach < 0 ? low : high) += reach;
      access.coefficients[loop] += coefficients[loop] * tensor.strides[axis];
    }
    access.constant += coefficients.back() * tensor.strides[axis];
    if (low < 0 || high >= tensor.shape[axis])
      return nest.op->emitOpError() << "reads or writes axis " << axis << " of an operand from " << low << " to "
                                    << high << ", which is out of bounds: the extent is " << tensor.shape[axis];
  }
  return mlir::success();
}

/// Whether every element of the output is the target of a point of the parallel loops, each of one point only.
static bool coversOutput(const LoopNest &nest, const LoopOutput &output, llvm::ArrayRef<bool> isLane) {
  if (!output.map.isProjectedPermutation(/*allowZeroInResults=*/true))
    return false;
  int64_t covered = 1;
  for (mlir::AffineExpr expr : output.map.getResults())
    if (auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(expr)) {
      if (!isLane[dim.getPosition()] && nest.extents[dim.getPosition()] != 1)
        return false;
      covered *= nest.extents[dim.getPosition()];
    }
  return covered == output.tensor.getNumElements();
}

/// The loops whose points become lanes: parallel ones that tell the elements of every output apart.
static llvm::SmallVector<bool> chooseLanes(const LoopNest &nest) {
  llvm::SmallVector<bool> isLane(nest.parallel);
  for (const LoopOutput &output : nest.outputs) {
    if (!output.map.isProjectedPermutation(/*allowZeroInResults=*/true)) {
      isLane.assign(isLane.size(), false);
      return isLane;
    }
    for (unsigned loop = 0; loop < isLane.size(); ++loop)
      if (nest.extents[loop] != 1 && !output.map.isFunctionOfDim(loop))
        isLane[loop] = false;
  }
  return isLane;
}

namespace {

/// One execution of a nest by a compiled body.
class Execution {
public:
  Execution(Machine &machine, LoopNest &nest, const Program &program, llvm::ArrayRef<bool> isLane, int64_t numPoints)
      : machine(machine), nest(nest), program(program), isLane(isLane), numPoints(numPoints),
        registers(program.numRegisters + program.results.size(), std::min(numPoints, maxLanes)) {}

  mlir::LogicalResult run();

private:
  mlir::LogicalResult setUp();
  mlir::LogicalResult addInputs();
  mlir::LogicalResult addOutputs();
  mlir::FailureOr<Access> makeAccess(const TensorValue &tensor, mlir::AffineMap map, unsigned reg);

  /// Offsets and coordinates of the lanes that stand for points first .. first+n-1.
  void placeLanes(int64_t first, int64_t n);
  void placeRun(Access &access, llvm::ArrayRef<int64_t> point, int64_t lane, int64_t length);
  /// The offset of all lanes that the sequential loops add. Fills in the lanes' offsets if the map divides.
  mlir::FailureOr<int64_t> locate(Access &access, int64_t n);
  mlir::LogicalResult load(Access &access, int64_t n);
  mlir::LogicalResult store(Access &access, int64_t n);
  mlir::LogicalResult runLanes(int64_t n);
  mlir::LogicalResult runStep(int64_t n, bool isFirst);
  bool advance();

  Machine &machine;
  LoopNest &nest;
  const Program &program;
  llvm::SmallVector<bool> isLane;
  int64_t numPoints;
  Registers registers;

  llvm::SmallVector<unsigned> laneLoops, sequentialLoops;
  /// Read at each step, or once per lanes.
  std::vector<Access> varying, invariant;
  struct Output {
    Access read, write;
    bool isRead = false;
    /// The element stays in a register while the sequential loops run.
    bool stays = false;
    unsigned argument = 0, result = 0;
    ScalarType type;
  };
  std::vector<Output> outputs;
  /// Results that are arguments are moved out of the way before arguments are overwritten.
  bool movesResults = false;
  bool needsCoordinates = false;
  std::vector<std::vector<int64_t>> laneCoordinates;
  /// Coordinates of all loops; those of lane loops are set per lane where needed.
  Shape current;
};

} // namespace

mlir::FailureOr<Access> Execution::makeAccess(const TensorValue &tensor, mlir::AffineMap map, unsigned reg) {
  Access access;
  access.tensor = tensor;
  access.map = map;
  access.reg = reg;
  access.offsets.resize(registers.getNumLanes());
  if (mlir::failed(analyseAccess(nest, access)))
    return mlir::failure();
  needsCoordinates |= !access.linear;
  return access;
}

mlir::LogicalResult Execution::addInputs() {
  for (auto [number, input] : llvm::enumerate(nest.inputs)) {
    if (number >= program.arguments.size() || !program.argumentUsed[number])
      continue;
    if (const Scalar *scalar = input.value.getScalar()) {
      registers.fill(program.arguments[number], *scalar, registers.getNumLanes());
      continue;
    }
    const TensorValue *tensor = input.value.getTensor();
    if (!tensor)
      return nest.op->emitOpError("has an operand that has not been computed");
    mlir::FailureOr<Access> access = makeAccess(*tensor, input.map, program.arguments[number]);
    if (mlir::failed(access))
      return mlir::failure();
    (access->isConstantIn(sequentialLoops) ? invariant : varying).push_back(std::move(*access));
  }
  return mlir::success();
}

mlir::LogicalResult Execution::addOutputs() {
  bool hasArguments = program.arguments.size() > nest.inputs.size();
  for (auto [number, target] : llvm::enumerate(nest.outputs)) {
    Output output;
    output.type = target.tensor.type;
    output.result = program.results[number];
    if (hasArguments) {
      output.argument = program.arguments[nest.inputs.size() + number];
      output.isRead = program.argumentUsed[nest.inputs.size() + number];
    }
    movesResults |= llvm::is_contained(program.arguments, output.result);
    // What is overwritten as a whole is read where it was and written to new memory.
    TensorValue before;
    if (coversOutput(nest, target, isLane) && !target.tensor.isExclusive()) {
      mlir::FailureOr<TensorValue> fresh = machine.allocate(nest.op, target.tensor.type, target.tensor.shape);
      if (mlir::failed(fresh))
        return mlir::failure();
      before = std::exchange(target.tensor, std::move(*fresh));
    } else {
      mlir::FailureOr<TensorValue> writable = machine.makeWritable(nest.op, std::move(target.tensor));
      if (mlir::failed(writable))
        return mlir::failure();
      target.tensor = std::move(*writable);
      before = target.tensor;
    }
    mlir::FailureOr<Access> read = makeAccess(before, target.map, output.argument);
    mlir::FailureOr<Access> write = makeAccess(target.tensor, target.map, output.result);
    if (mlir::failed(read) || mlir::failed(write))
      return mlir::failure();
    output.read = std::move(*read);
    output.write = std::move(*write);
    output.stays = output.write.isConstantIn(sequentialLoops);
    outputs.push_back(std::move(output));
  }
  if (movesResults)
    for (auto [number, output] : llvm::enumerate(outputs))
      output.write.reg = program.numRegisters + number;
  return mlir::success();
}

mlir::LogicalResult Execution::setUp() {
  for (unsigned loop = 0; loop < isLane.size(); ++loop)
    (isLane[loop] ? laneLoops : sequentialLoops).push_back(loop);
  current.assign(nest.extents.size(), 0);
  needsCoordinates = !program.coordinates.empty();
  if (program.results.size() != nest.outputs.size())
    return nest.op->emitOpError("yields a wrong number of values");
  if (mlir::failed(machine.prepare(nest.op, program, registers)) || mlir::failed(addInputs()) ||
      mlir::failed(addOutputs()))
    return mlir::failure();
  if (needsCoordinates)
    laneCoordinates.assign(laneLoops.size(), std::vector<int64_t>(registers.getNumLanes()));
  return mlir::success();
}

void Execution::placeRun(Access &access, llvm::ArrayRef<int64_t> point, int64_t lane, int64_t length) {
  if (!access.linear)
    return;
  int64_t base = access.constant;
  for (auto [loop, coordinate] : llvm::zip(laneLoops, point))
    base += access.coefficients[loop] * coordinate;
  int64_t step = laneLoops.empty() ? 0 : access.coefficients[laneLoops.back()];
  for (int64_t i = 0; i < length; ++i)
    access.offsets[lane + i] = base + i * step;
  if (lane == 0) {
    access.base = base;
    access.stride = step;
    access.strided = true;
    return;
  }
  if (lane == 1)
    access.stride = base - access.base;
  access.strided &= base == access.base + lane * access.stride && (length == 1 || step == access.stride);
}

void Execution::placeLanes(int64_t first, int64_t n) {
  Shape point(laneLoops.size());
  int64_t rest = first;
  for (int64_t i = int64_t(laneLoops.size()) - 1; i >= 0; --i) {
    point[i] = rest % nest.extents[laneLoops[i]];
    rest /= nest.extents[laneLoops[i]];
  }
  for (int64_t lane = 0; lane < n;) {
    int64_t length = laneLoops.empty() ? 1 : std::min(n - lane, nest.extents[laneLoops.back()] - point.back());
    for (Access &access : varying)
      placeRun(access, point, lane, length);
    for (Access &access : invariant)
      placeRun(access, point, lane, length);
    for (Output &output : outputs) {
      placeRun(output.read, point, lane, length);
      placeRun(output.write, point, lane, length);
    }
    for (auto [coordinates, coordinate] : llvm::zip(laneCoordinates, point)) {
      bool inner = &coordinates == &laneCoordinates.back();
      for (int64_t i = 0; i < length; ++i)
        coordinates[lane + i] = coordinate + (inner ? i : 0);
    }
    lane += length;
    if (laneLoops.empty())
      break;
    point.back() += length;
    for (int64_t i = int64_t(point.size()) - 1; i > 0 && point[i] == nest.extents[laneLoops[i]]; --i) {
      point[i] = 0;
      ++point[i - 1];
    }
  }
  for (auto [loop, reg] : program.coordinates)
    for (auto [number, laneLoop] : llvm::enumerate(laneLoops))
      if (laneLoop == loop)
        std::copy_n(laneCoordinates[number].data(), n, registers.get<int64_t>(reg));
}

mlir::FailureOr<int64_t> Execution::locate(Access &access, int64_t n) {
  if (access.linear) {
    int64_t offset = 0;
    for (unsigned loop : sequentialLoops)
      offset += access.coefficients[loop] * current[loop];
    return offset;
  }
  access.strided = false;
  for (int64_t lane = 0; lane < n; ++lane) {
    for (auto [number, loop] : llvm::enumerate(laneLoops))
      current[loop] = laneCoordinates[number][lane];
    llvm::SmallVector<int64_t, 4> index = access.map.compose(current);
    for (auto [axis, i] : llvm::enumerate(index))
      if (i < 0 || i >= access.tensor.shape[axis])
        return nest.op->emitOpError() << "reads or writes axis " << axis << " of an operand at " << i
                                      << ", which is out of bounds: the extent is " << access.tensor.shape[axis];
    access.offsets[lane] = access.tensor.getOffset(index);
  }
  return 0;
}

mlir::LogicalResult Execution::load(Access &access, int64_t n) {
  mlir::FailureOr<int64_t> offset = locate(access, n);
  if (mlir::failed(offset))
    return mlir::failure();
  if (access.strided)
    loadStrided(registers, access.reg, access.tensor, access.base + *offset, access.stride, n);
  else
    loadGather(registers, access.reg, access.tensor, *offset, access.offsets.data(), n);
  return mlir::success();
}

mlir::LogicalResult Execution::store(Access &access, int64_t n) {
  mlir::FailureOr<int64_t> offset = locate(access, n);
  if (mlir::failed(offset))
    return mlir::failure();
  if (access.strided)
    storeStrided(registers, access.reg, access.tensor, access.base + *offset, access.stride, n);
  else
    storeScatter(registers, access.reg, access.tensor, *offset, access.offsets.data(), n);
  return mlir::success();
}

bool Execution::advance() {
  for (int64_t i = int64_t(sequentialLoops.size()) - 1; i >= 0; --i) {
    unsigned loop = sequentialLoops[i];
    if (++current[loop] < nest.extents[loop])
      return true;
    current[loop] = 0;
  }
  return false;
}

mlir::LogicalResult Execution::runStep(int64_t n, bool isFirst) {
  for (auto [loop, reg] : program.coordinates)
    if (!isLane[loop])
      registers.fill(reg, Scalar::makeIndex(current[loop]), n);
  for (Access &access : varying)
    if (mlir::failed(load(access, n)))
      return mlir::failure();
  for (Output &output : outputs)
    if (output.isRead && (isFirst || !output.stays) && mlir::failed(load(output.read, n)))
      return mlir::failure();
  for (const Instruction &instruction : program.body) {
    instruction.run(instruction, registers, n);
    if (instruction.mayFail && registers.failedOp)
      return registers.failedOp->emitOpError() << registers.failure;
  }
  if (movesResults)
    for (Output &output : outputs)
      registers.copy(output.result, output.write.reg, output.type, n);
  for (Output &output : outputs) {
    if (!output.stays) {
      if (mlir::failed(store(output.write, n)))
        return mlir::failure();
    } else if (output.isRead) {
      registers.copy(output.write.reg, output.argument, output.type, n);
    }
  }
  return mlir::success();
}

mlir::LogicalResult Execution::runLanes(int64_t n) {
  for (Access &access : invariant)
    if (mlir::failed(load(access, n)))
      return mlir::failure();
  bool isFirst = true;
  do {
    if (mlir::failed(runStep(n, isFirst)))
      return mlir::failure();
    isFirst = false;
  } while (advance());
  for (Output &output : outputs)
    if (output.stays && mlir::failed(store(output.write, n)))
      return mlir::failure();
  return mlir::success();
}

mlir::LogicalResult Execution::run() {
  if (mlir::failed(setUp()))
    return mlir::failure();
  for (int64_t first = 0; first < numPoints; first += maxLanes) {
    int64_t n = std::min(maxLanes, numPoints - first);
    placeLanes(first, n);
    if (mlir::failed(runLanes(n)))
      return mlir::failure();
  }
  return mlir::success();
}

mlir::LogicalResult reference::runLoopNest(Machine &machine, LoopNest &nest, const Program &program) {
  llvm::SmallVector<bool> isLane = chooseLanes(nest);
  int64_t numPoints = 1;
  for (auto [extent, lane] : llvm::zip(nest.extents, isLane)) {
    if (extent == 0)
      return mlir::success(); // the outputs keep what they hold
    if (lane)
      numPoints *= extent;
  }
  return Execution(machine, nest, program, isLane, numPoints).run();
}

mlir::LogicalResult reference::walkLoopNest(Machine &machine, LoopNest &nest, mlir::Region &body) {
  if (llvm::is_contained(nest.extents, 0))
    return mlir::success();
  for (LoopOutput &output : nest.outputs) {
    mlir::FailureOr<TensorValue> writable = machine.makeWritable(nest.op, std::move(output.tensor));
    if (mlir::failed(writable))
      return mlir::failure();
    output.tensor = std::move(*writable);
  }
  auto locate = [&](const TensorValue &tensor, mlir::AffineMap map,
                    llvm::ArrayRef<int64_t> point) -> mlir::FailureOr<int64_t> {
    llvm::SmallVector<int64_t, 4> index = map.compose(point);
    for (auto [axis, i] : llvm::enumerate(index))
      if (i < 0 || i >= tensor.shape[axis])
        return nest.op->emitOpError() << "reads or writes axis " << axis << " of an operand at " << i
                                      << ", which is out of bounds: the extent is " << tensor.shape[axis];
    return tensor.getOffset(index);
  };
  bool passesOutputs = body.getNumArguments() > nest.inputs.size();
  Shape point(nest.extents.size(), 0);
  while (true) {
    Values arguments, results;
    for (LoopInput &input : nest.inputs) {
      const TensorValue *tensor = input.value.getTensor();
      if (!tensor) {
        arguments.push_back(input.value);
        continue;
      }
      mlir::FailureOr<int64_t> offset = locate(*tensor, input.map, point);
      if (mlir::failed(offset))
        return mlir::failure();
      arguments.push_back(tensor->load(*offset));
    }
    for (LoopOutput &output : nest.outputs) {
      if (!passesOutputs)
        break;
      mlir::FailureOr<int64_t> offset = locate(output.tensor, output.map, point);
      if (mlir::failed(offset))
        return mlir::failure();
      arguments.push_back(output.tensor.load(*offset));
    }
    machine.walkedCoordinates.push_back(point);
    mlir::LogicalResult ran = machine.runRegion(body, std::move(arguments), results);
    machine.walkedCoordinates.pop_back();
    if (mlir::failed(ran))
      return mlir::failure();
    if (results.size() != nest.outputs.size())
      return nest.op->emitOpError("yields a wrong number of values");
    for (auto [output, result] : llvm::zip(nest.outputs, results)) {
      mlir::FailureOr<int64_t> offset = locate(output.tensor, output.map, point);
      const Scalar *scalar = result.getScalar();
      if (mlir::failed(offset))
        return mlir::failure();
      if (!scalar)
        return nest.op->emitOpError("yields a value that is no scalar");
      output.tensor.store(*offset, *scalar);
    }
    int64_t loop = int64_t(point.size()) - 1;
    for (; loop >= 0; --loop) {
      if (++point[loop] < nest.extents[loop])
        break;
      point[loop] = 0;
    }
    if (loop < 0)
      return mlir::success();
  }
}

mlir::LogicalResult reference::runLoopNest(Machine &machine, LoopNest &nest, mlir::Region &body) {
  if (const Program *program = machine.getProgram(body))
    return runLoopNest(machine, nest, *program);
  return walkLoopNest(machine, nest, body);
}
