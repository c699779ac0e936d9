//===- External.cpp - Opaque tasks that the interpreter knows ---------------===//
//
// The C functions of fusion/Runtime/Dist.h, written once more: the oracle shares no code with what it judges.
//
//===------------------------------------------------------------------------===//

#include "DistRun.h"

using namespace fusion;
using namespace fusion::reference;
using mlir::LogicalResult;

static Scalar loadAt(const PointArgument &argument, int64_t index) {
  const TensorValue &tensor = argument.content;
  return tensor.load(tensor.offset + index * tensor.strides[0]);
}

/// y = A x for a block of rows in CSR form: row begins, row ends, columns, values, x, y.
static LogicalResult runCsrProduct(mlir::Operation *op, llvm::MutableArrayRef<PointArgument> arguments) {
  if (arguments.size() != 6 ||
      llvm::any_of(arguments, [](const PointArgument &argument) { return argument.content.getRank() != 1; }))
    return op->emitOpError("calls 'fusion_spmv_csr_*', which takes six one-dimensional boxes");
  const PointArgument &begins = arguments[0], &ends = arguments[1], &columns = arguments[2], &values = arguments[3],
                      &x = arguments[4];
  TensorValue &y = arguments[5].content;
  for (const PointArgument *integers : {&begins, &ends, &columns})
    if (integers->content.type.isFloat())
      return op->emitOpError("calls 'fusion_spmv_csr_*' with row pointers or columns that are no integers");
  if (!y.type.isFloat() || values.content.type != y.type || x.content.type != y.type)
    return op->emitOpError("calls 'fusion_spmv_csr_*' with values and vectors of different types");
  int64_t rows = y.shape[0];
  if (begins.content.shape[0] != rows || ends.content.shape[0] != rows)
    return op->emitOpError("calls 'fusion_spmv_csr_*' with ")
           << rows << " rows, " << begins.content.shape[0] << " row begins and " << ends.content.shape[0]
           << " row ends";
  auto isInside = [](const PointArgument &argument, int64_t index) {
    return index >= argument.origin[0] && index < argument.origin[0] + argument.content.shape[0];
  };
  for (int64_t row = 0; row < rows; ++row) {
    double sum = 0;
    for (int64_t k = loadAt(begins, row).integer, end = loadAt(ends, row).integer; k < end; ++k) {
      if (!isInside(columns, k) || !isInside(values, k))
        return op->emitOpError("calls 'fusion_spmv_csr_*' with row ")
               << row << " of a box, whose entry " << k << " lies outside of the columns or values";
      int64_t column = loadAt(columns, k - columns.origin[0]).integer;
      if (!isInside(x, column))
        return op->emitOpError("calls 'fusion_spmv_csr_*' with column ")
               << column << ", which lies outside of the vector";
      double product =
          roundToType(loadAt(values, k - values.origin[0]).real * loadAt(x, column - x.origin[0]).real, y.type.kind);
      sum = roundToType(sum + product, y.type.kind);
    }
    y.store(y.offset + row * y.strides[0], Scalar::makeReal(y.type, sum));
  }
  return mlir::success();
}

LogicalResult reference::runExternal(mlir::Operation *op, llvm::StringRef function,
                                     llvm::MutableArrayRef<PointArgument> arguments) {
  if (function == "fusion_spmv_csr_f32" || function == "fusion_spmv_csr_f64")
    return runCsrProduct(op, arguments);
  return op->emitOpError("calls the C function '") << function
                                                   << "', which the reference interpreter does not know; it knows "
                                                      "'fusion_spmv_csr_f32' and 'fusion_spmv_csr_f64'";
}
