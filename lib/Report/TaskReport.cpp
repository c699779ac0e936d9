//===- TaskReport.cpp - Which tasks were fused, and what kept them apart ----===//

#include "fusion/Report/TaskReport.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace fusion;

static constexpr llvm::StringLiteral attributeName = "dist.task_report";

//===----------------------------------------------------------------------===//
// Attribute
//===----------------------------------------------------------------------===//

void TaskReport::write(ModuleOp module) const {
  Builder builder(module.getContext());
  auto strings = [&](const std::vector<std::string> &list) {
    SmallVector<Attribute> attrs;
    for (const std::string &text : list)
      attrs.push_back(builder.getStringAttr(text));
    return builder.getArrayAttr(attrs);
  };
  auto entry = [&](StringRef name, Attribute value) { return builder.getNamedAttr(name, value); };
  auto number = [&](int64_t value) { return builder.getI64IntegerAttr(value); };
  SmallVector<Attribute> groupAttrs, boundaryAttrs;
  for (const Group &group : groups)
    groupAttrs.push_back(builder.getDictionaryAttr(
        {entry("tasks", strings(group.tasks)), entry("place", builder.getStringAttr(group.place)),
         entry("name", builder.getStringAttr(group.name)), entry("eliminated", strings(group.eliminated)),
         entry("bytes_saved", number(group.bytesSaved)), entry("kept", strings(group.kept)),
         entry("per_step", number(group.perStep))}));
  for (const Boundary &boundary : boundaries)
    boundaryAttrs.push_back(builder.getDictionaryAttr(
        {entry("constraint", builder.getStringAttr(boundary.constraint)),
         entry("at", builder.getStringAttr(boundary.at)), entry("with", builder.getStringAttr(boundary.with)),
         entry("store", builder.getStringAttr(boundary.store)), entry("per_step", number(boundary.perStep))}));
  module->setAttr(attributeName, builder.getDictionaryAttr({entry("tasks_per_step", number(tasksPerStep)),
                                                            entry("groups_per_step", number(groupsPerStep)),
                                                            entry("stores_eliminated", number(storesEliminated)),
                                                            entry("bytes_eliminated", number(bytesEliminated)),
                                                            entry("groups", builder.getArrayAttr(groupAttrs)),
                                                            entry("boundaries", builder.getArrayAttr(boundaryAttrs))}));
}

std::optional<TaskReport> TaskReport::read(ModuleOp module) {
  auto dictionary = module->getAttrOfType<DictionaryAttr>(attributeName);
  if (!dictionary)
    return std::nullopt;
  auto getNumber = [](DictionaryAttr from, StringRef name) {
    auto attr = from.getAs<IntegerAttr>(name);
    return attr ? attr.getInt() : 0;
  };
  auto getString = [](DictionaryAttr from, StringRef name) {
    auto attr = from.getAs<StringAttr>(name);
    return attr ? attr.str() : std::string();
  };
  auto getStrings = [](DictionaryAttr from, StringRef name) {
    std::vector<std::string> list;
    if (auto attr = from.getAs<ArrayAttr>(name))
      for (auto text : attr.getAsRange<StringAttr>())
        list.push_back(text.str());
    return list;
  };
  TaskReport report;
  report.tasksPerStep = getNumber(dictionary, "tasks_per_step");
  report.groupsPerStep = getNumber(dictionary, "groups_per_step");
  report.storesEliminated = getNumber(dictionary, "stores_eliminated");
  report.bytesEliminated = getNumber(dictionary, "bytes_eliminated");
  if (auto list = dictionary.getAs<ArrayAttr>("groups"))
    for (auto group : list.getAsRange<DictionaryAttr>())
      report.groups.push_back({getStrings(group, "tasks"), getString(group, "place"), getString(group, "name"),
                               getStrings(group, "eliminated"), getNumber(group, "bytes_saved"),
                               getStrings(group, "kept"), getNumber(group, "per_step")});
  if (auto list = dictionary.getAs<ArrayAttr>("boundaries"))
    for (auto boundary : list.getAsRange<DictionaryAttr>())
      report.boundaries.push_back({getString(boundary, "constraint"), getString(boundary, "at"),
                                   getString(boundary, "with"), getString(boundary, "store"),
                                   getNumber(boundary, "per_step")});
  return report;
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

static void printTimes(int64_t perStep, llvm::raw_ostream &os) {
  if (perStep > 1)
    os << " (" << perStep << " times per step)";
  else if (perStep == 0)
    os << " (outside of steps)";
}

void TaskReport::print(llvm::raw_ostream &os) const {
  os << "Tasks per step: " << tasksPerStep << ", after fusion: " << groupsPerStep << "\n";
  os << "Stores that vanished: " << storesEliminated << ", with " << bytesEliminated << " bytes\n";
  for (const Group &group : groups) {
    if (group.tasks.size() < 2 && group.eliminated.empty())
      continue;
    os << "  " << (group.name.empty() ? "nothing" : group.name) << " at " << group.place << " is ";
    llvm::interleaveComma(group.tasks, os);
    printTimes(group.perStep, os);
    os << "\n";
    for (const std::string &store : group.eliminated)
      os << "    without " << store << "\n";
    for (const std::string &store : group.kept)
      os << "    keeps " << store << ": no other argument has its extents\n";
  }
  for (const Boundary &boundary : boundaries) {
    os << "  " << boundary.constraint << ": " << boundary.at << " is not fused with what is before it";
    if (!boundary.with.empty())
      os << "; it conflicts with " << boundary.with;
    if (!boundary.store.empty())
      os << " on " << boundary.store;
    printTimes(boundary.perStep, os);
    os << "\n";
  }
}
