//===- TaskArguments.cpp - Arguments and temporaries of a fused task ------===//

#include "fusion/Analysis/TaskStream.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace fusion::tasks;

FusedArguments fusion::tasks::buildArguments(llvm::ArrayRef<Task> members) {
  struct Entry {
    bool reads = false, writes = false, reduces = false;
  };
  FusedArguments fused;
  std::vector<Entry> entries;
  llvm::DenseMap<std::pair<uint32_t, uint32_t>, unsigned> numbers;
  for (const Task &task : members) {
    auto &slots = fused.slots.emplace_back();
    for (const Argument &argument : task.arguments) {
      uint32_t partition = argument.isScalar ? 0 : argument.partition;
      auto [it, isNew] = numbers.try_emplace({argument.store, partition}, fused.arguments.size());
      if (isNew) {
        fused.arguments.push_back(argument);
        entries.emplace_back();
      }
      slots.push_back(it->second);
    }
    // What a task reads, it reads before it writes.
    for (auto [argument, slot] : llvm::zip(task.arguments, slots))
      entries[slot].reads |= reads(argument.privilege) && !entries[slot].writes;
    for (auto [argument, slot] : llvm::zip(task.arguments, slots)) {
      entries[slot].writes |= writes(argument.privilege);
      if (argument.privilege == Privilege::Reduce) {
        entries[slot].reduces = true;
        fused.arguments[slot].reducer = argument.reducer;
      }
    }
  }
  for (auto [argument, entry] : llvm::zip(fused.arguments, entries)) {
    if (entry.reduces)
      argument.privilege = Privilege::Reduce;
    else if (entry.writes)
      argument.privilege = entry.reads ? Privilege::ReadWrite : Privilege::Write;
    else
      argument.privilege = Privilege::Read;
  }
  return fused;
}

llvm::SmallVector<unsigned> fusion::tasks::findTemporaries(const FusedArguments &fused,
                                                           llvm::function_ref<bool(uint32_t)> isLiveAfter) {
  llvm::SmallVector<unsigned> temporaries;
  for (auto [slot, argument] : llvm::enumerate(fused.arguments))
    // Read first: ReadWrite. What is read through another partition comes before the write, and fails there.
    if (argument.privilege == Privilege::Write && !isLiveAfter(argument.store))
      temporaries.push_back(slot);
  return temporaries;
}

bool fusion::tasks::isObservedBy(llvm::ArrayRef<Task> pending, uint32_t store,
                                 llvm::function_ref<bool(const Task &, const Argument &)> covers) {
  for (const Task &task : pending) {
    bool isOverwritten = false;
    for (const Argument &argument : task.arguments) {
      if (argument.store != store)
        continue;
      if (argument.privilege != Privilege::Write)
        return true;
      isOverwritten |= covers(task, argument);
    }
    if (isOverwritten)
      return false;
  }
  return false;
}
