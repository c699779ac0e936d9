//===- FuseReport.cpp - What is said about groups of tasks ----------------===//

#include "FuseReport.h"

#include "fusion/Report/Remarks.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace fusion;
using namespace fusion::dist;

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

Steps::Steps(ModuleOp module) {
  llvm::DenseMap<Operation *, unsigned> numbers;
  unsigned most = 0;
  module.walk([&](LaunchOp launch) {
    Operation *outermost = nullptr;
    for (Operation *parent = launch->getParentOp(); parent; parent = parent->getParentOp())
      if (isa<LoopLikeOpInterface>(parent))
        outermost = parent;
    if (outermost && ++numbers[outermost] > most) {
      most = numbers[outermost];
      step = outermost;
    }
  });
}

int64_t Steps::getTimes(Block *block) const {
  int64_t times = 1;
  for (Operation *parent = block->getParentOp(); parent && parent != step; parent = parent->getParentOp()) {
    if (isa<ModuleOp>(parent))
      return step ? 0 : times;
    if (step && isa<scf::IfOp>(parent))
      return 0;
    if (auto loop = dyn_cast<LoopLikeOpInterface>(parent))
      if (std::optional<APInt> count = loop.getStaticTripCount())
        times *= count->getSExtValue();
  }
  return times;
}

int64_t Steps::countTasks(ModuleOp module) const {
  int64_t number = 0;
  module.walk([&](LaunchOp launch) { number += getTimes(launch->getBlock()); });
  return number;
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

static std::string printType(Value store) {
  std::string text;
  llvm::raw_string_ostream(text) << store.getType();
  return text + " of " + getShortPlace(store.getLoc());
}

static std::string getTaskName(Operation *op) {
  if (auto launch = dyn_cast<LaunchOp>(op))
    return launch.getTask().str();
  return isa<FillOp>(op) ? "fill" : isa<CopyOp>(op) ? "copy" : op->getName().getStringRef().str();
}

static std::string describeOp(Operation *op) { return getTaskName(op) + " at " + getShortPlace(op->getLoc()); }

/// Remarks keep references to names: those of attributes and literals outlive them.
static remark::RemarkOpts getOptions(Operation *op, StringRef name) {
  auto function = op->getParentOfType<FunctionOpInterface>();
  auto symbol = function ? function->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName()) : StringAttr();
  return remark::RemarkOpts::name(name).category("dist").function(symbol ? symbol.getValue() : StringRef());
}

GroupRecorder::GroupRecorder(ModuleOp module) : steps(module) {
  // What earlier passes have done stays.
  if (std::optional<TaskReport> before = TaskReport::read(module))
    report = *before;
  else
    report.tasksPerStep = steps.countTasks(module);
}

TaskReport::Group GroupRecorder::describe(const TaskGroup &group) const {
  TaskReport::Group described;
  for (Operation *member : group.members)
    described.tasks.push_back(getTaskName(member));
  described.place = getPlace(group.members.back()->getLoc());
  described.perStep = steps.getTimes(group.members.back()->getBlock());
  return described;
}

void GroupRecorder::addSingle(const TaskGroup &group) {
  TaskReport::Group described = describe(group);
  described.name = described.tasks.front();
  report.groups.push_back(std::move(described));
}

void GroupRecorder::add(TaskReport::Group described, const Composition &composition, Location loc) {
  for (const Eliminated &gone : composition.eliminated) {
    described.eliminated.push_back(printType(gone.store));
    described.bytesSaved += gone.bytes;
  }
  for (Value store : composition.kept)
    described.kept.push_back(printType(store));
  if (LaunchOp launch = composition.launch) {
    described.name = launch.getTask().str();
    if (remark::detail::InFlightRemark remark = remark::passed(loc, getOptions(launch, "fused-tasks"))) {
      remark << remark::detail::Remark::Arg("Tasks", llvm::join(described.tasks, ", "));
      if (!described.eliminated.empty())
        remark << remark::detail::Remark::Arg("Without", llvm::join(described.eliminated, ", "))
               << remark::detail::Remark::Arg("BytesSaved", std::to_string(described.bytesSaved));
      if (!described.kept.empty())
        remark << remark::detail::Remark::Arg("Kept", llvm::join(described.kept, ", "));
    }
  }
  report.groups.push_back(std::move(described));
}

void GroupRecorder::addBoundary(const TaskGroup &group) {
  if (!group.end)
    return;
  const Boundary &end = *group.end;
  TaskReport::Boundary boundary;
  boundary.constraint = tasks::getName(end.constraint).str();
  boundary.at = describeOp(end.at);
  if (end.with)
    boundary.with = describeOp(end.with);
  if (end.store)
    boundary.store = printType(end.store);
  boundary.perStep = steps.getTimes(end.at->getBlock());
  if (wantsRemarks(end.at)) {
    std::string text = boundary.at + " is not fused with the tasks before it";
    if (!boundary.with.empty())
      text += "; it conflicts with " + boundary.with;
    if (!boundary.store.empty())
      text += " on " + boundary.store;
    remark::missed(end.at->getLoc(), getOptions(end.at, tasks::getName(end.constraint))) << StringRef(text);
  }
  report.boundaries.push_back(std::move(boundary));
}
