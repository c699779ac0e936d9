//===- Undefined.cpp - Registers that nobody has written --------------------===//

#include "Undefined.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace fusion::emulator {

/// Scalars in a type; types with very many are taken as one.
static unsigned countElements(Type *type) {
  constexpr unsigned most = 4096;
  uint64_t count = 1;
  if (auto *vector = dyn_cast<FixedVectorType>(type))
    count = vector->getNumElements();
  else if (auto *array = dyn_cast<ArrayType>(type))
    count = array->getNumElements() * countElements(array->getElementType());
  else if (auto *structure = dyn_cast<StructType>(type)) {
    count = 0;
    for (Type *element : structure->elements())
      count += countElements(element);
  }
  return count > most ? 1 : unsigned(count);
}

/// Where an element of an aggregate starts, and what type it has.
static unsigned getOffset(Type *&type, ArrayRef<unsigned> indices) {
  unsigned offset = 0;
  for (unsigned index : indices) {
    if (auto *structure = dyn_cast<StructType>(type)) {
      for (unsigned i = 0; i < index; ++i)
        offset += countElements(structure->getElementType(i));
      type = structure->getElementType(index);
    } else {
      type = cast<ArrayType>(type)->getElementType();
      offset += index * countElements(type);
    }
  }
  return offset;
}

/// Calls that only compute.
static bool isArithmetic(const Instruction &instruction) {
  auto *intrinsic = dyn_cast<IntrinsicInst>(&instruction);
  if (!intrinsic)
    return !isa<CallBase>(instruction);
  return !intrinsic->getCalledFunction()->getName().starts_with("llvm.nvvm.") && intrinsic->doesNotAccessMemory();
}

static bool isTracked(const Instruction &instruction) {
  return !instruction.getType()->isVoidTy() && !isa<LoadInst, AllocaInst, AtomicRMWInst, AtomicCmpXchgInst>(instruction) &&
         isArithmetic(instruction);
}

UndefinedValues::UndefinedValues(Function &function) {
  for (Instruction &instruction : instructions(function))
    if (isTracked(instruction))
      states[&instruction].assign(countElements(instruction.getType()), Unknown);
  for (bool changes = true; changes;) {
    changes = false;
    for (Instruction &instruction : instructions(function)) {
      auto it = states.find(&instruction);
      if (it == states.end())
        continue;
      for (unsigned element = 0; element < it->second.size(); ++element) {
        State state = State(it->second[element] | compute(instruction, element));
        changes |= state != it->second[element];
        it->second[element] = state;
      }
    }
  }
}

UndefinedValues::State UndefinedValues::getState(Element element) const {
  auto [value, number] = element;
  if (auto *constant = dyn_cast<Constant>(value)) {
    if (isa<UndefValue>(constant))
      return Undefined;
    if (auto *part = isa<ConstantAggregate>(constant) ? constant->getAggregateElement(number) : nullptr;
        part && constant->getType()->isVectorTy())
      return isa<UndefValue>(part) ? Undefined : Defined;
    if (auto *aggregate = dyn_cast<ConstantAggregate>(constant); aggregate && !constant->getType()->isVectorTy()) {
      unsigned offset = number;
      for (Use &operand : aggregate->operands()) {
        unsigned count = countElements(operand->getType());
        if (offset < count)
          return getState({operand.get(), offset});
        offset -= count;
      }
    }
    return Defined;
  }
  auto it = states.find(value);
  return it == states.end() || number >= it->second.size() ? Defined : it->second[number];
}

SmallVector<UndefinedValues::Element, 4> UndefinedValues::getSources(Instruction &instruction, unsigned element,
                                                                     Value **index) const {
  SmallVector<Element, 4> sources;
  if (auto *insert = dyn_cast<InsertElementInst>(&instruction)) {
    auto *constant = dyn_cast<ConstantInt>(insert->getOperand(2));
    if (!constant || constant->getZExtValue() != element)
      sources.push_back({insert->getOperand(0), element});
    if (!constant || constant->getZExtValue() == element)
      sources.push_back({insert->getOperand(1), 0});
    if (index && !constant)
      *index = insert->getOperand(2);
    return sources;
  }
  if (auto *extract = dyn_cast<ExtractElementInst>(&instruction)) {
    Value *vector = extract->getVectorOperand();
    if (auto *constant = dyn_cast<ConstantInt>(extract->getIndexOperand()))
      return {{vector, unsigned(constant->getZExtValue())}};
    for (unsigned i = 0; i < countElements(vector->getType()); ++i)
      sources.push_back({vector, i});
    if (index)
      *index = extract->getIndexOperand();
    return sources;
  }
  if (auto *shuffle = dyn_cast<ShuffleVectorInst>(&instruction)) {
    int from = shuffle->getMaskValue(element);
    int count = int(countElements(shuffle->getOperand(0)->getType()));
    if (from < 0)
      return {{PoisonValue::get(shuffle->getType()), element}};
    return {from < count ? Element{shuffle->getOperand(0), unsigned(from)}
                         : Element{shuffle->getOperand(1), unsigned(from - count)}};
  }
  if (auto *extract = dyn_cast<ExtractValueInst>(&instruction)) {
    Type *type = extract->getAggregateOperand()->getType();
    return {{extract->getAggregateOperand(), getOffset(type, extract->getIndices()) + element}};
  }
  if (auto *insert = dyn_cast<InsertValueInst>(&instruction)) {
    Type *type = insert->getType();
    unsigned offset = getOffset(type, insert->getIndices());
    if (element >= offset && element < offset + countElements(type))
      return {{insert->getInsertedValueOperand(), element - offset}};
    return {{insert->getAggregateOperand(), element}};
  }
  unsigned count = countElements(instruction.getType());
  for (Use &use : instruction.operands()) {
    if (!use->getType()->isSized() || isa<Function>(use.get()))
      continue;
    unsigned operandCount = countElements(use->getType());
    if (operandCount == count) {
      sources.push_back({use.get(), element});
      continue;
    }
    for (unsigned i = 0; i < operandCount; ++i)
      sources.push_back({use.get(), i});
  }
  return sources;
}

UndefinedValues::State UndefinedValues::compute(Instruction &instruction, unsigned element) {
  if (auto *phi = dyn_cast<PHINode>(&instruction)) {
    uint8_t state = Unknown;
    for (Value *incoming : phi->incoming_values())
      state |= getState({incoming, element});
    return State(state);
  }
  if (auto *select = dyn_cast<SelectInst>(&instruction)) {
    unsigned conditionElement = select->getCondition()->getType()->isVectorTy() ? element : 0;
    uint8_t state = getState({select->getTrueValue(), element}) | getState({select->getFalseValue(), element});
    return State(state | (getState({select->getCondition(), conditionElement}) & Undefined));
  }
  Value *index = nullptr;
  SmallVector<Element, 4> sources = getSources(instruction, element, &index);
  if (index) {
    uint8_t state = Unknown;
    for (Element source : sources)
      state |= getState(source);
    return State(state | (getState({index, 0}) & Undefined));
  }
  // Undefined when any source is.
  uint8_t canBeDefined = Defined, canBeUndefined = 0;
  for (Element source : sources) {
    State state = getState(source);
    if (state == Unknown)
      return Unknown;
    canBeDefined &= state;
    canBeUndefined |= state & Undefined;
  }
  return State(canBeDefined | canBeUndefined);
}

Value *UndefinedValues::getShadow(Element element) {
  State state = getState(element);
  LLVMContext &context = element.first->getContext();
  // A value that is never computed is never used.
  if (state == Defined || state == Unknown)
    return ConstantInt::getFalse(context);
  if (state == Undefined)
    return ConstantInt::getTrue(context);
  auto it = shadows.find(element);
  if (it != shadows.end())
    return it->second;
  Value *shadow = buildShadow(*cast<Instruction>(element.first), element.second);
  shadows[element] = shadow;
  return shadow;
}

Value *UndefinedValues::buildShadow(Instruction &instruction, unsigned element) {
  LLVMContext &context = instruction.getContext();
  if (auto *phi = dyn_cast<PHINode>(&instruction)) {
    auto *shadow = PHINode::Create(Type::getInt1Ty(context), phi->getNumIncomingValues(), "", phi->getIterator());
    shadows[{&instruction, element}] = shadow;
    for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i)
      shadow->addIncoming(getShadow({phi->getIncomingValue(i), element}), phi->getIncomingBlock(i));
    return shadow;
  }
  SmallVector<Value *, 4> values;
  Value *index = nullptr;
  SmallVector<Element, 4> sources;
  auto *select = dyn_cast<SelectInst>(&instruction);
  if (select)
    sources = {{select->getTrueValue(), element}, {select->getFalseValue(), element}};
  else
    sources = getSources(instruction, element, &index);
  for (Element source : sources)
    values.push_back(getShadow(source));
  Value *ofIndex = index ? getShadow({index, 0}) : nullptr;
  IRBuilder<> builder(&*std::next(instruction.getIterator()));
  if (select) {
    Value *condition = select->getCondition();
    Value *ofCondition = getShadow({condition, condition->getType()->isVectorTy() ? element : 0});
    if (condition->getType()->isVectorTy())
      condition = builder.CreateExtractElement(condition, element);
    return builder.CreateOr(ofCondition, builder.CreateSelect(condition, values[0], values[1]));
  }
  if (index) {
    // Insertion: the old element unless the index hits it. Extraction: the element that the index names.
    bool isInsertion = isa<InsertElementInst>(instruction);
    Value *result = isInsertion ? values[0] : builder.getFalse();
    for (unsigned i = 0; i < (isInsertion ? 1 : values.size()); ++i) {
      Value *hits = builder.CreateICmpEQ(index, ConstantInt::get(index->getType(), isInsertion ? element : i));
      result = builder.CreateSelect(hits, isInsertion ? values[1] : values[i], result);
    }
    return builder.CreateOr(result, ofIndex);
  }
  return builder.CreateOr(values);
}

Value *UndefinedValues::getAny(Value *value, Instruction &user) {
  SmallVector<Value *, 8> parts;
  for (unsigned i = 0; i < countElements(value->getType()); ++i) {
    Value *shadow = getShadow({value, i});
    if (auto *constant = dyn_cast<ConstantInt>(shadow)) {
      if (constant->isOne())
        return constant;
      continue;
    }
    parts.push_back(shadow);
  }
  if (parts.empty())
    return nullptr;
  return IRBuilder<>(&user).CreateOr(parts);
}

} // namespace fusion::emulator
