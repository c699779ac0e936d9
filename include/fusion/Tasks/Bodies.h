//===- Bodies.h - Functions of tasks and tables of the run-time ---*- C++ -*-===//
//
// The parts of `dist-lower` that others need who launch tasks by themselves, as sessions do.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_TASKS_BODIES_H
#define FUSION_TASKS_BODIES_H

#include "fusion/Dist/Dist.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <map>

namespace fusion::dist {

//===----------------------------------------------------------------------===//
// Tables of fusion/Runtime/Dist.h
//===----------------------------------------------------------------------===//

/// FUSION_MPI_F64 and so on; none for a type that the run-time does not know.
std::optional<int64_t> getElementCode(mlir::Type type);
/// FUSION_MPI_SUM and so on.
int64_t getReducerCode(spacemap::Reducer reducer, mlir::Type type);
/// The bits of the identity of a reducer that is legal for the type.
int64_t getIdentityBits(spacemap::Reducer reducer, mlir::Type type);

void codePartition(PartitionInterface partition, llvm::SmallVectorImpl<int64_t> &words);
void codeDomain(llvm::ArrayRef<int64_t> domain, llvm::SmallVectorImpl<int64_t> &words);
void codePlacement(PlacementAttr placement, llvm::SmallVectorImpl<int64_t> &words);

/// The extents that the boxes of all points have; dynamic where they differ or are not known.
llvm::SmallVector<int64_t> getBoxShape(PartitionInterface partition, llvm::ArrayRef<int64_t> shape,
                                       llvm::ArrayRef<int64_t> domain);

/// What the names of tasks begin with while they are lowered.
inline constexpr llvm::StringLiteral taskPrefix = "dist.task.";

/// The name of a task in the program.
inline llvm::StringRef getTaskName(TaskOp task) {
  llvm::StringRef name = task.getSymName();
  name.consume_front(taskPrefix);
  return name;
}

//===----------------------------------------------------------------------===//
// Functions of tasks
//===----------------------------------------------------------------------===//

/// Makes `func.func private @dist.body.<task>.<n>(!llvm.ptr)` of tasks, one for each combination of extents. The
/// argument points to one pointer per task argument, to a memref descriptor.
class BodyBuilder {
public:
  explicit BodyBuilder(mlir::ModuleOp module) : module(module) {}
  mlir::func::FuncOp getBody(TaskOp task, llvm::ArrayRef<llvm::SmallVector<int64_t>> boxes);
  unsigned getNumBodies() const { return bodies.size(); }

private:
  mlir::func::FuncOp build(TaskOp task, llvm::ArrayRef<llvm::SmallVector<int64_t>> boxes);

  mlir::ModuleOp module;
  /// Keyed by the task and the extents.
  std::map<std::pair<mlir::Operation *, std::vector<std::vector<int64_t>>>, mlir::func::FuncOp> bodies;
};

} // namespace fusion::dist

#endif // FUSION_TASKS_BODIES_H
