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
  explicit KeyWriter(GraphOp graph) : graph(graph), os(key) {}

  std::string run() {
    for (int64_t extent : graph.getStaticExtents())
      os << (ShapedType::isDynamic(extent) ? "?" : std::to_string(extent)) << ',';
    // Run-time extents may be equal.
    for (Value extent : graph.getDynamicExtents())
      os << number(extent) << ',';
    for (Value input : graph.getInputs())
      os << input.getType().getAsOpaquePointer() << ';';
    for (BlockArgument argument : graph.getBody().getArguments())
      number(argument);
    writeBlock(graph.getBody().front());
    return std::move(key);
  }

private:
  unsigned number(Value value) { return numbers.try_emplace(value, numbers.size()).first->second; }

  void writeType(Type type) {
    auto space = dyn_cast<SpaceType>(type);
    if (!space) {
      os << type.getAsOpaquePointer();
      return;
    }
    os << space.getElementType().getAsOpaquePointer();
    for (StringAttr dim : space.getDims())
      os << '.' << graph.getDimIndex(dim);
  }

  void writeAttribute(Attribute attribute) {
    if (auto name = dyn_cast<StringAttr>(attribute); name && graph.getDimIndex(name) >= 0) {
      os << graph.getDimIndex(name);
    } else if (auto list = dyn_cast<ArrayAttr>(attribute)) {
      for (Attribute element : list) {
        writeAttribute(element);
        os << ',';
      }
    } else {
      // Attributes, types and names of ops are unique in a context.
      os << attribute.getAsOpaquePointer();
    }
  }

  void writeBlock(Block &block) {
    for (BlockArgument argument : block.getArguments())
      number(argument);
    for (Operation &op : block) {
      os << '\n' << op.getName().getAsOpaquePointer();
      for (Value operand : op.getOperands())
        os << ' ' << number(operand);
      for (NamedAttribute attribute : op.getPropertiesAsAttribute()
                                          ? cast<DictionaryAttr>(op.getPropertiesAsAttribute())
                                          : op.getAttrDictionary()) {
        os << ' ' << attribute.getName().getAsOpaquePointer() << '=';
        writeAttribute(attribute.getValue());
      }
      for (Value result : op.getResults()) {
        number(result);
        os << ':';
        writeType(result.getType());
      }
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          writeBlock(inner);
    }
  }

  GraphOp graph;
  std::string key;
  llvm::raw_string_ostream os;
  llvm::DenseMap<Value, unsigned> numbers;
};

} // namespace

std::string fusion::getCanonicalKey(GraphOp graph) { return KeyWriter(graph).run(); }
