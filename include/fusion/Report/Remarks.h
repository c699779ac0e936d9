//===- Remarks.h - What is said about fusion --------------------------------===//
//
// Remarks of MLIR's remark engine, category `spacemap`: one for each kernel, and one for each pair of neighbouring
// operations that did not end in one kernel. They are the only source of what is said about fusion: fusion-opt prints
// them (`--remarks-filter=spacemap`), and fusion/Report/Report.h collects them for fusion-run. docs/fusion-report.md
// explains each reason.
//
// Nothing is computed and nothing happens where a context has no remark engine. Thread-safe.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_REPORT_REMARKS_H
#define FUSION_REPORT_REMARKS_H

#include "mlir/IR/Operation.h"

#include <string>

namespace fusion {

/// Why two neighbouring operations are not in one kernel.
enum class Reason {
  NotAMapping,
  AliasConflict,
  ReshapeMismatch,
  LaterStage,
  NoParallelDim,
  Footprint,
  NoUpdateFunction,
  NotProfitable
};

/// A reason and what there is to say about it: a phrase without trailing period.
struct Refusal {
  Reason reason = Reason::NotAMapping;
  std::string text;
};

/// The reason's name in remarks and documents: `not-a-mapping`, ...
llvm::StringRef getName(Reason reason);

/// Whether anybody listens to remarks of `op`'s context. What is only needed for a remark should not be computed else.
bool wantsRemarks(mlir::Operation *op);

/// What `op` computes, in a few words: "contraction along d3", "subf, exp", "linalg.conv_2d_nhwc_hwcf".
std::string describe(mlir::Operation *op);

/// The first place in a file that `location` names, as "file:line:col"; "-" if there is none.
std::string getPlace(mlir::Location location);

/// The same without the file's folder, for places inside of a sentence.
std::string getShortPlace(mlir::Location location);

/// A missed remark at `consumer`: it reads what `producer` computes, and is not in its kernel.
void remarkApart(mlir::Operation *producer, mlir::Operation *consumer, const Refusal &refusal);

/// The parts of a remark about a kernel. Each is one line of plain words; an empty one is left out.
struct KernelRemark {
  /// What it was fused from, in program order, with places.
  std::string ops;
  /// Dimensions with extents; `?` is known at run time only.
  std::string dims;
  /// Spatial slicing, or why there is none.
  std::string blocks;
  /// Temporal slicing with update functions.
  std::string temporal;
  /// Time and bytes of the cost model.
  std::string predicted;
};

/// What the graph `graph` is made of: its operations by place, those of one place together.
std::string listOps(mlir::Operation *graph);

/// A passed remark at `graph`.
void remarkKernel(mlir::Operation *graph, const KernelRemark &remark);

} // namespace fusion

#endif // FUSION_REPORT_REMARKS_H
