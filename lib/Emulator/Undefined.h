//===- Undefined.h - Registers that nobody has written ------------*- C++ -*-===//
//
// Which elements of which values may be undef or poison, and whether they are when the code runs. Undefined values come
// from constants only (loads of data that nobody has written are found by the run-time), flow through arithmetic, and
// matter where they are stored, passed on, branched on or used as an address.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_LIB_EMULATOR_UNDEFINED_H
#define FUSION_LIB_EMULATOR_UNDEFINED_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"

namespace fusion::emulator {

class UndefinedValues {
public:
  explicit UndefinedValues(llvm::Function &function);

  /// An i1, computed in front of `user`, that is true when an element of the value is undefined; null if none ever is.
  llvm::Value *getAny(llvm::Value *value, llvm::Instruction &user);

private:
  enum State : uint8_t { Unknown = 0, Defined = 1, Undefined = 2, Maybe = 3 };
  /// An element of a value.
  using Element = std::pair<llvm::Value *, unsigned>;

  State getState(Element element) const;
  State compute(llvm::Instruction &instruction, unsigned element);
  llvm::Value *getShadow(Element element);
  llvm::Value *buildShadow(llvm::Instruction &instruction, unsigned element);
  /// The elements that one is computed from. `index` is set where a run-time index selects among them.
  llvm::SmallVector<Element, 4> getSources(llvm::Instruction &instruction, unsigned element,
                                           llvm::Value **index = nullptr) const;

  llvm::DenseMap<llvm::Value *, llvm::SmallVector<State, 4>> states;
  llvm::DenseMap<Element, llvm::Value *> shadows;
};

} // namespace fusion::emulator

#endif // FUSION_LIB_EMULATOR_UNDEFINED_H
