//===- GraphProgram.h - Graphs for tests, written briefly --------*- C++ -*-===//

#ifndef FUSION_TEST_UNIT_TEMPORAL_GRAPHPROGRAM_H
#define FUSION_TEST_UNIT_TEMPORAL_GRAPHPROGRAM_H

#include "fusion/Execution/HostArray.h"
#include "fusion/SpaceMap/SpaceMap.h"
#include "fusion/Spaces/TemporalSlice.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace fusion::test {

/// A space of a program under construction.
struct Space {
  std::string name;
  std::string dims; ///< one letter per dimension, in the graph's order
  std::string type;
};

/// Writes the text of a function `main` around one graph. Dimensions have one-letter names. Operands of maps are
/// broadcast to all dimensions of the operands.
class GraphProgram {
public:
  /// "m=5 l=7"; "l=?7" is a dynamic extent of 7.
  explicit GraphProgram(const std::string &dims);

  Space input(const std::string &dims, const std::string &type = "f32");
  Space constant(const std::string &value, const std::string &type = "f32");
  /// A map of one operation: `%0`, `%1`, ... stand for the operands, as in "arith.cmpf olt, %0, %1 : f32".
  Space map(const std::string &operation, const std::vector<Space> &operands, const std::string &type);
  /// A map of an operation that is written `name %0, %1 : type`, with the type of the last operand.
  Space operator()(const std::string &name, const std::vector<Space> &operands);
  Space index(char dim);
  Space broadcast(Space space, const std::string &dims);
  Space reduce(Space space, const std::string &along, const std::string &reducer);
  void output(Space space);

  std::string text() const;
  /// The extents of an input.
  std::vector<int64_t> shape(const std::string &dims) const;

  struct Input {
    std::string dims, type;
  };
  std::vector<Input> inputs;

private:
  std::string fresh() { return "%v" + std::to_string(counter++); }
  std::string spaceType(const std::string &dims, const std::string &type) const;
  std::string tensorType(const std::string &dims, const std::string &type) const;
  std::string sorted(const std::string &dims) const;

  std::string order;
  std::vector<int64_t> extents;
  std::vector<bool> isDynamic;
  std::string body;
  std::vector<Space> outputs;
  unsigned counter = 0;
};

/// Arguments drawn from a normal distribution; booleans are true with probability 2/3.
std::vector<HostArray> randomInputs(const GraphProgram &program, unsigned seed, double mean = 0, double deviation = 1);

/// Parsed, verified; null after a message.
mlir::OwningOpRef<mlir::ModuleOp> parse(mlir::MLIRContext &context, const GraphProgram &program);
spacemap::GraphOp getGraph(mlir::ModuleOp module);

/// Runs `main`; extents of dynamic dimensions are taken from the arguments.
std::vector<HostArray> run(mlir::ModuleOp module, const std::vector<HostArray> &inputs);

/// The first difference in words, or nothing.
std::string difference(const std::vector<HostArray> &got, const std::vector<HostArray> &want, double rtol, double atol);

} // namespace fusion::test

#endif // FUSION_TEST_UNIT_TEMPORAL_GRAPHPROGRAM_H
