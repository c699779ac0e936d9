//===- Describe.cpp - Operations in a few words -----------------------------===//

#include "fusion/Report/Remarks.h"

#include "fusion/Analysis/FusibleOp.h"
#include "fusion/Schedule/Spatial.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace fusion;
using namespace fusion::spacemap;

std::string fusion::getPlace(Location location) {
  std::string place = "-";
  location->walk([&](Location inner) {
    auto file = dyn_cast<FileLineColLoc>(inner);
    if (!file)
      return WalkResult::advance();
    place = (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" + Twine(file.getColumn())).str();
    return WalkResult::interrupt();
  });
  return place;
}

std::string fusion::getShortPlace(Location location) { return llvm::sys::path::filename(getPlace(location)).str(); }

/// The scalar operations of a body that compute something, each once: "mulf, addf". More than `limit` are cut short.
static std::string describeBody(Block &body, Operation *except = nullptr) {
  constexpr unsigned limit = 4;
  llvm::SmallSetVector<StringRef, 8> names;
  for (Operation &op : body)
    if (&op != except && !op.hasTrait<OpTrait::ConstantLike>() && !op.hasTrait<OpTrait::IsTerminator>())
      names.insert(op.getName().stripDialect());
  std::string text = llvm::join(ArrayRef(names.getArrayRef()).take_front(limit), ", ");
  return names.size() > limit ? text + ", ..." : text;
}

static std::string joinNonEmpty(const std::string &first, const std::string &second) {
  return first.empty() ? second : second.empty() ? first : first + ", " + second;
}

/// The operations of a body that are no scalar arithmetic, by their full names.
static std::string listForeign(Block &body) {
  llvm::SmallSetVector<StringRef, 4> names;
  for (Operation &op : body)
    if (!isa_and_nonnull<arith::ArithDialect, math::MathDialect, linalg::LinalgDialect>(op.getDialect()))
      names.insert(op.getName().getStringRef());
  return llvm::join(names, ", ");
}

static std::string describeGeneric(linalg::GenericOp op) {
  if (std::string foreign = listForeign(*op.getBody()); !foreign.empty())
    return "linalg.generic with " + foreign;
  if (op.getNumReductionLoops() == 0) {
    std::string body = describeBody(*op.getBody());
    return body.empty() ? "copy" : body;
  }
  if (linalg::isaContractionOpInterface(op))
    return "contraction";
  Operation *yield = op.getBody()->getTerminator();
  Operation *combine = yield->getNumOperands() == 0 ? nullptr : yield->getOperand(0).getDefiningOp();
  std::optional<Reducer> reducer = combine ? getReducer(combine) : std::nullopt;
  if (!reducer)
    return joinNonEmpty(describeBody(*op.getBody()), "reduction");
  return joinNonEmpty(describeBody(*op.getBody(), combine), stringifyReducer(*reducer).str());
}

static std::string describeReduction(AllToOneOp op) {
  std::string along = " along ";
  llvm::raw_string_ostream os(along);
  llvm::interleaveComma(getNames(op.getAlong()), os, [&](StringAttr dim) { os << dim.getValue(); });
  return (getContractionProduct(op) ? "contraction" : stringifyReducer(op.getReducer()).str()) + along;
}

std::string fusion::describe(Operation *op) {
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return describeGeneric(generic);
  if (auto reduction = dyn_cast<AllToOneOp>(op))
    return describeReduction(reduction);
  if (auto map = dyn_cast<MapOp>(op)) {
    for (Operation *user : map->getUsers())
      if (auto reduction = dyn_cast<AllToOneOp>(user))
        if (getContractionProduct(reduction) == map)
          return describeReduction(reduction);
    std::string body = describeBody(map.getBody().front());
    return body.empty() ? "copy" : body;
  }
  return op->getName().getStringRef().str();
}

std::string fusion::listOps(Operation *graph) {
  llvm::MapVector<Location, llvm::SmallSetVector<StringAttr, 4>> byPlace;
  graph->walk([&](Operation *op) {
    // Sources, coordinates, constants and One-to-All mappings are how operations are connected.
    bool isConstant = op->getNumOperands() == 0;
    if (isa<MapOp, AllToOneOp>(op) && !isConstant)
      byPlace[op->getLoc()].insert(StringAttr::get(op->getContext(), describe(op)));
  });
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(
      byPlace, os,
      [&](const auto &entry) {
        llvm::interleaveComma(entry.second, os, [&](StringAttr name) { os << name.getValue(); });
        os << " (" << getShortPlace(entry.first) << ")";
      },
      "; ");
  return text;
}
