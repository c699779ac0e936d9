//===- DimNames.h - Reading and printing lists of dimension names ---------===//

#ifndef FUSION_DIALECTS_SPACEMAP_DIMNAMES_H
#define FUSION_DIALECTS_SPACEMAP_DIMNAMES_H

#include "mlir/IR/OpImplementation.h"

namespace fusion::spacemap {

/// One dimension name: a keyword, or a string where the name is not one.
inline mlir::ParseResult parseDimName(mlir::AsmParser &parser, mlir::StringAttr &name) {
  std::string keyword;
  if (parser.parseKeywordOrString(&keyword))
    return mlir::failure();
  name = parser.getBuilder().getStringAttr(keyword);
  return mlir::success();
}

/// `[m, n]`; possibly empty.
inline mlir::ParseResult parseDimNames(mlir::AsmParser &parser, llvm::SmallVectorImpl<mlir::StringAttr> &names) {
  return parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Square,
                                        [&] { return parseDimName(parser, names.emplace_back()); });
}

inline mlir::ParseResult parseDimNames(mlir::AsmParser &parser, mlir::ArrayAttr &names) {
  llvm::SmallVector<mlir::StringAttr> list;
  if (parseDimNames(parser, list))
    return mlir::failure();
  names = parser.getBuilder().getArrayAttr(llvm::SmallVector<mlir::Attribute>(list.begin(), list.end()));
  return mlir::success();
}

inline void printDimNames(mlir::AsmPrinter &printer, llvm::ArrayRef<mlir::StringAttr> names) {
  printer << "[";
  llvm::interleaveComma(names, printer, [&](mlir::StringAttr name) { printer.printKeywordOrString(name.strref()); });
  printer << "]";
}

inline void printDimNames(mlir::AsmPrinter &printer, mlir::Operation *, mlir::ArrayAttr names) {
  auto range = names.getAsRange<mlir::StringAttr>();
  printDimNames(printer, llvm::SmallVector<mlir::StringAttr>(range.begin(), range.end()));
}

inline mlir::ParseResult parseDimName(mlir::OpAsmParser &parser, mlir::StringAttr &name) {
  return parseDimName(static_cast<mlir::AsmParser &>(parser), name);
}

inline void printDimName(mlir::AsmPrinter &printer, mlir::Operation *, mlir::StringAttr name) {
  printer.printKeywordOrString(name.strref());
}

} // namespace fusion::spacemap

#endif // FUSION_DIALECTS_SPACEMAP_DIMNAMES_H
