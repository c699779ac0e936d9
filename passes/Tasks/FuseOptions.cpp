//===- FuseOptions.cpp - What the passes that fuse tasks have in common ---===//

#include "FuseOptions.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace fusion;
using namespace fusion::dist;

std::optional<GroupOptions> fusion::dist::getGroupOptions(ModuleOp module, StringRef fills, unsigned window,
                                                          bool promoteScalars) {
  auto which = llvm::StringSwitch<std::optional<FusibleFills>>(fills)
                   .Case("all", FusibleFills::All)
                   .Case("views", FusibleFills::Views)
                   .Case("none", FusibleFills::None)
                   .Default(std::nullopt);
  if (!which) {
    module.emitError("option 'fills' must be all, views or none, not '") << fills << "'";
    return std::nullopt;
  }
  GroupOptions options;
  options.fills = *which;
  options.window = window;
  options.checker.promoteScalars = promoteScalars;
  return options;
}

LogicalResult fusion::dist::moveViewsToRoots(ModuleOp module) {
  MLIRContext *context = module.getContext();
  RewritePatternSet patterns(context);
  LaunchOp::getCanonicalizationPatterns(patterns, context);
  FillOp::getCanonicalizationPatterns(patterns, context);
  CopyOp::getCanonicalizationPatterns(patterns, context);
  SmallVector<Operation *> accesses;
  module.walk([&](Operation *op) {
    if (isa<AccessOpInterface, ViewOp>(op))
      accesses.push_back(op);
  });
  GreedyRewriteConfig config;
  config.setStrictness(GreedyRewriteStrictness::ExistingOps);
  return applyOpPatternsGreedily(accesses, std::move(patterns), config);
}

void fusion::dist::eraseUnusedTasks(ModuleOp module, const llvm::SetVector<Operation *> &tasks) {
  llvm::DenseSet<Operation *> used;
  SymbolTableCollection symbols;
  module.walk([&](LaunchOp launch) { used.insert(symbols.lookupNearestSymbolFrom(launch, launch.getTaskAttr())); });
  for (Operation *task : tasks)
    if (!used.contains(task))
      task->erase();
}

int64_t fusion::dist::getBytes(Value store) {
  auto type = cast<StoreType>(store.getType());
  int64_t bytes =
      type.getElementType().isIndex() ? 8 : llvm::divideCeil(type.getElementType().getIntOrFloatBitWidth(), 8);
  for (int64_t extent : type.getShape())
    bytes *= extent;
  return bytes;
}
