//===- CanonicalKey.cpp - When two graphs are the same problem ------------===//

#include "fusion/Schedule/Schedule.h"

#include "mlir/IR/OpImplementation.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace fusion;
using namespace fusion::spacemap;

namespace {

/// Writes a graph with values numbered in order of definition and dimensions by their position.
class KeyWriter {
public:
  explicit KeyWriter(GraphOp graph) : graph(graph) {}

  std::string run() {
    for (int64_t extent : graph.getStaticExtents())
      write(extent);
    // Run-time extents may be equal.
    for (Value extent : graph.getDynamicExtents())
      write(number(extent));
    for (Value input : graph.getInputs())
      write(input.getType().getAsOpaquePointer());
    for (BlockArgument argument : graph.getBody().getArguments())
      number(argument);
    writeBlock(graph.getBody().front());
    return std::move(key);
  }

private:
  int64_t number(Value value) { return numbers.try_emplace(value, numbers.size()).first->second; }

  /// Bytes, not text: keys are made for every part that is tried. Lists say how long they are, so that no two graphs
  /// have the same bytes.
  void write(int64_t word) { key.append(reinterpret_cast<const char *>(&word), sizeof(word)); }
  /// Attributes, types and names of ops are unique in a context.
  void write(const void *pointer) { write(static_cast<int64_t>(reinterpret_cast<intptr_t>(pointer))); }

  void writeType(Type type) {
    auto space = dyn_cast<SpaceType>(type);
    if (!space) {
      write(type.getAsOpaquePointer());
      return;
    }
    write(space.getElementType().getAsOpaquePointer());
    write(static_cast<int64_t>(space.getDims().size()));
    for (StringAttr dim : space.getDims())
      write(graph.getDimIndex(dim));
  }

  void writeAttribute(Attribute attribute) {
    if (auto name = dyn_cast<StringAttr>(attribute)) {
      int64_t dim = graph.getDimIndex(name);
      write(dim);
      if (dim >= 0)
        return;
    } else if (auto list = dyn_cast<ArrayAttr>(attribute)) {
      write(static_cast<int64_t>(list.size()));
      for (Attribute element : list)
        writeAttribute(element);
      return;
    }
    write(attribute.getAsOpaquePointer());
  }

  void writeBlock(Block &block) {
    for (BlockArgument argument : block.getArguments())
      number(argument);
    for (Operation &op : block) {
      write(op.getName().getAsOpaquePointer());
      write(static_cast<int64_t>(op.getNumOperands()));
      for (Value operand : op.getOperands())
        write(number(operand));
      auto properties = dyn_cast_or_null<DictionaryAttr>(op.getPropertiesAsAttribute());
      DictionaryAttr attributes = properties ? properties : op.getAttrDictionary();
      write(static_cast<int64_t>(attributes.size()));
      for (NamedAttribute attribute : attributes) {
        write(attribute.getName().getAsOpaquePointer());
        writeAttribute(attribute.getValue());
      }
      write(static_cast<int64_t>(op.getNumResults()));
      for (Value result : op.getResults()) {
        number(result);
        writeType(result.getType());
      }
      write(static_cast<int64_t>(op.getNumRegions()));
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          writeBlock(inner);
    }
    write(int64_t(-2));
  }

  GraphOp graph;
  std::string key;
  llvm::DenseMap<Value, int64_t> numbers;
};

} // namespace

std::string fusion::getCanonicalKey(GraphOp graph) { return KeyWriter(graph).run(); }
