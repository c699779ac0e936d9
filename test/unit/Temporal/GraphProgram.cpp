//===- GraphProgram.cpp - Graphs for tests, written briefly ----------------===//

#include "test/unit/Temporal/GraphProgram.h"

#include "fusion/Execution/Compare.h"
#include "fusion/Reference/Interpreter.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <random>
#include <sstream>

using namespace fusion;
using namespace fusion::test;

GraphProgram::GraphProgram(const std::string &dims) {
  std::istringstream stream(dims);
  for (std::string item; stream >> item;) {
    order += item[0];
    isDynamic.push_back(item[2] == '?');
    extents.push_back(std::stoll(item.substr(isDynamic.back() ? 3 : 2)));
  }
}

std::string GraphProgram::sorted(const std::string &dims) const {
  std::string result;
  for (char dim : order)
    if (dims.find(dim) != std::string::npos)
      result += dim;
  return result;
}

static std::string list(const std::string &dims) {
  std::string text;
  for (char dim : dims)
    text += (text.empty() ? "" : ", ") + std::string(1, dim);
  return "[" + text + "]";
}

std::string GraphProgram::spaceType(const std::string &dims, const std::string &type) const {
  return "!spacemap.space<" + list(sorted(dims)) + ", " + type + ">";
}

std::string GraphProgram::tensorType(const std::string &dims, const std::string &type) const {
  std::string text = "tensor<";
  for (char dim : dims) {
    size_t index = order.find(dim);
    text += (isDynamic[index] ? "?" : std::to_string(extents[index])) + "x";
  }
  return text + type + ">";
}

std::vector<int64_t> GraphProgram::shape(const std::string &dims) const {
  std::vector<int64_t> shape;
  for (char dim : dims)
    shape.push_back(extents[order.find(dim)]);
  return shape;
}

Space GraphProgram::input(const std::string &dims, const std::string &type) {
  Space space{fresh(), sorted(dims), type};
  std::string tensor = tensorType(dims, type);
  body += space.name + " = spacemap.source %in" + std::to_string(inputs.size()) + " " + list(dims) + " : " + tensor +
          " -> " + spaceType(dims, type) + "\n";
  inputs.push_back({dims, type});
  return space;
}

Space GraphProgram::constant(const std::string &value, const std::string &type) {
  Space space{fresh(), "", type};
  body += space.name + " = spacemap.map () {\n%c = arith.constant " + value + " : " + type +
          "\nspacemap.yield %c : " + type + "\n} -> " + spaceType("", type) + "\n";
  return space;
}

Space GraphProgram::index(char dim) {
  Space space{fresh(), std::string(1, dim), "index"};
  body += space.name + " = spacemap.index " + dim + " : " + spaceType(space.dims, "index") + "\n";
  return space;
}

Space GraphProgram::broadcast(Space source, const std::string &dims) {
  std::string along;
  for (char dim : dims)
    if (source.dims.find(dim) == std::string::npos)
      along += dim;
  if (along.empty())
    return source;
  Space space{fresh(), sorted(dims), source.type};
  body += space.name + " = spacemap.one_to_all " + source.name + " along " + list(along) + " : " +
          spaceType(source.dims, source.type) + " -> " + spaceType(space.dims, space.type) + "\n";
  return space;
}

Space GraphProgram::map(const std::string &operation, const std::vector<Space> &operands, const std::string &type) {
  std::string dims;
  for (const Space &operand : operands)
    dims += operand.dims;
  dims = sorted(dims);
  std::string names, types, text = operation;
  for (size_t i = 0; i < operands.size(); ++i) {
    Space operand = broadcast(operands[i], dims);
    std::string argument = "%a" + std::to_string(i);
    names += (i ? ", " : "") + argument + " = " + operand.name;
    types += (i ? ", " : "") + spaceType(dims, operand.type);
    std::string placeholder = "%" + std::to_string(i);
    for (size_t at = 0; (at = text.find(placeholder, at)) != std::string::npos; at += argument.size())
      text.replace(at, placeholder.size(), argument);
  }
  Space space{fresh(), dims, type};
  body += space.name + " = spacemap.map (" + names + " : " + types + ") {\n%r = " + text +
          "\nspacemap.yield %r : " + type + "\n} -> " + spaceType(dims, type) + "\n";
  return space;
}

Space GraphProgram::operator()(const std::string &name, const std::vector<Space> &operands) {
  std::string text = name + " ";
  for (size_t i = 0; i < operands.size(); ++i)
    text += (i ? ", %" : "%") + std::to_string(i);
  return map(text + " : " + operands.back().type, operands, operands.back().type);
}

Space GraphProgram::reduce(Space source, const std::string &along, const std::string &reducer) {
  std::string dims;
  for (char dim : source.dims)
    if (along.find(dim) == std::string::npos)
      dims += dim;
  Space space{fresh(), dims, source.type};
  body += space.name + " = spacemap.all_to_one " + source.name + " along " + list(sorted(along)) + " " + reducer +
          " : " + spaceType(source.dims, source.type) + " -> " + spaceType(dims, space.type) + "\n";
  return space;
}

void GraphProgram::output(Space space) { outputs.push_back(space); }

std::string GraphProgram::text() const {
  std::string arguments, bindings, types, dims, prologue, results, resultTypes, axes, outputTypes;
  auto separate = [](std::string &text) { text += text.empty() ? "" : ", "; };
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::string type = tensorType(inputs[i].dims, inputs[i].type), number = std::to_string(i);
    separate(arguments);
    arguments += "%arg" + number + ": " + type;
    separate(bindings);
    bindings += "%in" + number + " = %arg" + number;
    separate(types);
    types += type;
  }
  for (size_t i = 0; i < order.size(); ++i) {
    separate(dims);
    dims += order[i];
    dims += " = ";
    if (!isDynamic[i]) {
      dims += std::to_string(extents[i]);
      continue;
    }
    for (size_t k = 0; k < inputs.size(); ++k) {
      size_t axis = inputs[k].dims.find(order[i]);
      if (axis == std::string::npos)
        continue;
      std::string name = std::string("%extent_") + order[i];
      prologue += name + "_axis = arith.constant " + std::to_string(axis) + " : index\n" + name + " = tensor.dim %arg" +
                  std::to_string(k) + ", " + name + "_axis : " + tensorType(inputs[k].dims, inputs[k].type) + "\n";
      dims += name;
      break;
    }
  }
  for (const Space &space : outputs) {
    separate(resultTypes);
    resultTypes += tensorType(space.dims, space.type);
    separate(axes);
    axes += space.name + " " + list(space.dims);
    separate(outputTypes);
    outputTypes += spaceType(space.dims, space.type);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    separate(results);
    results += "%g#" + std::to_string(i);
  }
  return "func.func @main(" + arguments + ") -> (" + resultTypes + ") {\n" + prologue +
         "%g:" + std::to_string(outputs.size()) + " = spacemap.graph dims [" + dims + "] ins(" + bindings + " : " +
         types + ") {\n" + body + "spacemap.output " + axes + " : " + outputTypes + "\n} -> (" + resultTypes +
         ")\nreturn " + results + " : " + resultTypes + "\n}\n";
}

std::vector<HostArray> fusion::test::randomInputs(const GraphProgram &program, unsigned seed, double mean,
                                                  double deviation) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(mean, deviation);
  std::vector<HostArray> arrays;
  for (const GraphProgram::Input &input : program.inputs) {
    HostArray array = llvm::cantFail(HostArray::create(*parseElementKind(input.type), program.shape(input.dims)));
    for (int64_t i = 0; i < array.getNumElements(); ++i) {
      if (isFloat(array.getKind()))
        array.setDouble(i, normal(random));
      else
        array.setInteger(i, input.type == "i1" ? random() % 3 != 0 : static_cast<int64_t>(random() % 19) - 9);
    }
    arrays.push_back(array);
  }
  return arrays;
}

mlir::OwningOpRef<mlir::ModuleOp> fusion::test::parse(mlir::MLIRContext &context, const GraphProgram &program) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(program.text(), &context);
  EXPECT_TRUE(module) << program.text();
  return module;
}

spacemap::GraphOp fusion::test::getGraph(mlir::ModuleOp module) {
  spacemap::GraphOp result;
  module.walk([&](spacemap::GraphOp graph) { result = graph; });
  return result;
}

std::vector<HostArray> fusion::test::run(mlir::ModuleOp module, const std::vector<HostArray> &inputs) {
  llvm::SmallVector<HostArray> results;
  bool isRun = mlir::succeeded(mlir::verify(module)) && mlir::succeeded(interpret(module, "main", inputs, results));
  EXPECT_TRUE(isRun);
  if (!isRun)
    module.dump();
  return {results.begin(), results.end()};
}

std::string fusion::test::difference(const std::vector<HostArray> &got, const std::vector<HostArray> &want, double rtol,
                                     double atol) {
  if (got.size() != want.size())
    return "number of results";
  for (size_t i = 0; i < got.size(); ++i) {
    Tolerance tolerance;
    tolerance.rtol = rtol;
    tolerance.atol = atol;
    Comparison comparison = compare(got[i], want[i], tolerance);
    if (!comparison.ok)
      return "result " + std::to_string(i) + ": " + comparison.problem;
  }
  return "";
}
