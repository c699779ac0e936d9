//===- WgmmaCheck.cpp - Accumulators that are read too early ----------------===//

#include "WgmmaCheck.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

#include <map>

using namespace llvm;

namespace fusion::emulator {

static StringRef getAssembly(const Instruction &instruction) {
  auto *call = dyn_cast<CallBase>(&instruction);
  auto *assembly = call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
  return assembly ? StringRef(assembly->getAsmString()) : StringRef();
}

static bool isWgmma(const Instruction &instruction) { return getAssembly(instruction).contains("wgmma.mma_async"); }

static StringRef getCallee(const Instruction &instruction) {
  auto *call = dyn_cast<CallBase>(&instruction);
  Function *callee = call ? call->getCalledFunction() : nullptr;
  return callee ? callee->getName() : StringRef();
}

static bool isCommit(const Instruction &instruction) {
  return getCallee(instruction).starts_with("llvm.nvvm.wgmma.commit") ||
         getAssembly(instruction).contains("wgmma.commit_group");
}

/// Groups that may stay in flight after this instruction; none if it is no wait.
static std::optional<unsigned> getWait(const Instruction &instruction) {
  if (getCallee(instruction).starts_with("llvm.nvvm.wgmma.wait")) {
    auto *count = dyn_cast<ConstantInt>(cast<CallBase>(instruction).getArgOperand(0));
    return count ? unsigned(count->getZExtValue()) : 0;
  }
  StringRef text = getAssembly(instruction);
  size_t at = text.find("wgmma.wait_group.sync.aligned");
  if (at == StringRef::npos)
    return std::nullopt;
  StringRef rest = text.substr(at).split(' ').second.trim();
  unsigned count = 0;
  if (!rest.consumeInteger(10, count))
    return count;
  auto &call = cast<CallBase>(instruction);
  auto *constant = call.arg_size() ? dyn_cast<ConstantInt>(call.getArgOperand(0)) : nullptr;
  return constant ? unsigned(constant->getZExtValue()) : 0;
}

/// Uses of the accumulators, through everything that only renames registers.
static SmallPtrSet<Instruction *, 32> findReads(Instruction &product) {
  SmallPtrSet<Instruction *, 32> reads;
  SetVector<Instruction *> names;
  names.insert(&product);
  for (size_t i = 0; i < names.size(); ++i)
    for (User *user : names[i]->users()) {
      auto *instruction = cast<Instruction>(user);
      if (isa<ExtractValueInst, InsertValueInst, PHINode>(instruction))
        names.insert(instruction);
      else if (!isWgmma(*instruction))
        reads.insert(instruction);
    }
  return reads;
}

SmallVector<Instruction *> findEarlyReads(Function &function) {
  SetVector<Instruction *> early;
  for (Instruction &product : instructions(function)) {
    if (!isWgmma(product))
      continue;
    SmallPtrSet<Instruction *, 32> reads = findReads(product);
    // Paths from the product; on each, the groups that were committed since, the product's own among them.
    constexpr unsigned most = 8;
    std::map<BasicBlock *, unsigned> fewest;
    SmallVector<std::pair<Instruction *, unsigned>> paths = {{product.getNextNode(), 0}};
    while (!paths.empty()) {
      auto [at, committed] = paths.pop_back_val();
      bool isOver = false;
      for (Instruction *next = at; next && !isOver; next = next->getNextNode()) {
        if (reads.contains(next))
          early.insert(next);
        if (isCommit(*next))
          committed = std::min(committed + 1, most);
        std::optional<unsigned> wait = getWait(*next);
        isOver = wait && committed > *wait;
      }
      if (isOver)
        continue;
      for (BasicBlock *successor : successors(at->getParent())) {
        auto it = fewest.find(successor);
        // Fewer commits wait for less: only such a path can see more.
        if (it != fewest.end() && it->second <= committed)
          continue;
        fewest[successor] = committed;
        paths.push_back({&successor->front(), committed});
      }
    }
  }
  return early.takeVector();
}

} // namespace fusion::emulator
