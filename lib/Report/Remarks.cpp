//===- Remarks.cpp - What is said about fusion ------------------------------===//

#include "fusion/Report/Remarks.h"

#include "mlir/IR/Remarks.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace fusion;

llvm::StringRef fusion::getName(Reason reason) {
  switch (reason) {
  case Reason::NotAMapping:
    return "not-a-mapping";
  case Reason::AliasConflict:
    return "alias-conflict";
  case Reason::ReshapeMismatch:
    return "reshape-mismatch";
  case Reason::LaterStage:
    return "later-stage";
  case Reason::NoParallelDim:
    return "no-parallel-dim";
  case Reason::Footprint:
    return "footprint";
  case Reason::NoUpdateFunction:
    return "no-update-function";
  case Reason::NotProfitable:
    return "not-profitable";
  }
  llvm_unreachable("all reasons are named");
}

bool fusion::wantsRemarks(Operation *op) { return op->getContext()->getRemarkEngine() != nullptr; }

/// Remarks keep references to names: those of attributes and literals outlive them.
static remark::RemarkOpts getOptions(Operation *op, StringRef name) {
  auto function = op->getParentOfType<FunctionOpInterface>();
  auto symbol = function ? function->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName()) : StringAttr();
  return remark::RemarkOpts::name(name).category("spacemap").function(symbol ? symbol.getValue() : StringRef());
}

void fusion::remarkApart(Operation *producer, Operation *consumer, const Refusal &refusal) {
  if (!wantsRemarks(consumer))
    return;
  std::string text = describe(consumer) + " is not fused with its operand, " + describe(producer) + " at " +
                     getShortPlace(producer->getLoc()) + ": " + refusal.text;
  remark::missed(consumer->getLoc(), getOptions(consumer, getName(refusal.reason))) << StringRef(text);
}

void fusion::remarkKernel(Operation *graph, const KernelRemark &remark) {
  using Arg = remark::detail::Remark::Arg;
  remark::detail::InFlightRemark inFlight = remark::passed(graph->getLoc(), getOptions(graph, "kernel"));
  if (!inFlight)
    return;
  std::pair<StringRef, StringRef> facts[] = {{"Ops", remark.ops},
                                             {"Dims", remark.dims},
                                             {"Blocks", remark.blocks},
                                             {"Temporal", remark.temporal},
                                             {"Predicted", remark.predicted}};
  for (auto [name, value] : facts)
    if (!value.empty())
      inFlight << Arg(name, value);
}
