//===- FailureTexts.cpp - Constant texts of run-time failures ---------------===//

#include "FailureTexts.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace fusion {

std::string describePlace(Location loc) {
  while (!isa<FileLineColLoc>(loc)) {
    if (auto named = dyn_cast<NameLoc>(loc))
      loc = named.getChildLoc();
    else if (auto call = dyn_cast<CallSiteLoc>(loc))
      loc = call.getCallee();
    else if (auto fused = dyn_cast<FusedLoc>(loc); fused && !fused.getLocations().empty())
      loc = fused.getLocations().front();
    else
      return "";
  }
  auto file = cast<FileLineColLoc>(loc);
  return (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" + Twine(file.getColumn()) + ": ").str();
}

Value FailureTexts::getAddress(OpBuilder &builder, Location loc, StringRef text) {
  LLVM::GlobalOp &global = globals[text];
  if (!global) {
    std::string name;
    do
      name = ("fusion_text_" + Twine(next++)).str();
    while (module.lookupSymbol(name));
    OpBuilder atStart(module.getBodyRegion());
    std::string bytes = text.str() + '\0';
    auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), bytes.size());
    global = LLVM::GlobalOp::create(atStart, module.getLoc(), type, /*isConstant=*/true, LLVM::Linkage::Internal, name,
                                    builder.getStringAttr(bytes));
  }
  return LLVM::AddressOfOp::create(builder, loc, global);
}

} // namespace fusion
