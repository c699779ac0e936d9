//===- PrintGraph.cpp - spacemap-print-graph ------------------------------===//

#include "fusion/Report/Remarks.h"
#include "fusion/Schedule/Spatial.h"
#include "fusion/SpaceMap/SpaceMap.h"
#include "fusion/Spaces/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/ToolOutputFile.h"

namespace fusion {
#define GEN_PASS_DEF_SPACEMAPPRINTGRAPH
#include "fusion/Spaces/Passes.h.inc"
} // namespace fusion

using namespace mlir;
using namespace fusion;
using namespace fusion::spacemap;

namespace {

constexpr llvm::StringLiteral oneToOneColor = "#555555", oneToAllColor = "#b0413e", allToOneColor = "#2f6f9f",
                              tensorColor = "#888888";

/// Text of a label: Graphviz reads backslashes and quotes.
std::string escape(const Twine &text) {
  std::string result;
  for (char c : text.str()) {
    if (c == '"' || c == '\\')
      result += '\\';
    result += c;
  }
  return result;
}

std::string print(Type type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  type.print(os);
  return text;
}

/// The number alone: its type is the space's.
std::string printConstant(TypedAttr constant) {
  if (auto real = dyn_cast<FloatAttr>(constant)) {
    SmallString<16> digits;
    real.getValue().toString(digits, /*FormatPrecision=*/6);
    return digits.str().str();
  }
  if (auto integer = dyn_cast<IntegerAttr>(constant))
    return llvm::toString(integer.getValue(), 10, /*Signed=*/true);
  return "";
}

std::string join(ArrayRef<StringAttr> names) {
  return llvm::join(llvm::map_range(names, [](StringAttr name) { return name.getValue(); }), ", ");
}

/// Writes the graphs of one module. Nodes are numbered in the order of the text.
class DotWriter {
public:
  explicit DotWriter(raw_ostream &os) : os(os) {}

  void write(ModuleOp module) {
    os << "digraph spacemap {\n"
          "  rankdir=TB; nodesep=0.3; ranksep=0.4; fontname=\"Helvetica\"; labeljust=l;\n"
          "  node [fontname=\"Helvetica\", fontsize=11, shape=box, style=\"rounded,filled\", fillcolor=\"#eef3fb\", "
          "color=\"#5b7db1\"];\n"
          "  edge [fontname=\"Helvetica\", fontsize=10];\n";
    module.walk([&](func::FuncOp function) { writeFunction(function); });
    os << edges << "}\n";
  }

private:
  void writeFunction(func::FuncOp function) {
    SmallVector<GraphOp> graphs;
    function.walk([&](GraphOp graph) { graphs.push_back(graph); });
    for (auto [number, graph] : llvm::enumerate(graphs))
      writeGraph(graph, (function.getName() + "_kernel" + Twine(number)).str());
    // What connects the graphs.
    for (GraphOp graph : graphs)
      for (auto [argument, input] : llvm::zip_equal(graph.getBody().getArguments(), graph.getInputs()))
        for (const std::string &source : sources.lookup(argument))
          edge(getTensor(input), source, tensorColor, "");
    function.walk([&](func::ReturnOp op) {
      for (auto [number, value] : llvm::enumerate(op.getOperands()))
        if (isa<TensorType>(value.getType())) {
          std::string name = node("result " + Twine(number) + "\\n" + escape(print(value.getType())),
                                  "shape=cylinder, style=filled, fillcolor=white, color=\"" + tensorColor + "\"");
          edge(getTensor(value), name, tensorColor, "");
        }
    });
  }

  //===--- Text ---===//

  raw_ostream &line() { return os.indent(2 + 2 * depth); }

  /// A new node; `label` is escaped, with `\n` between lines.
  std::string node(const Twine &label, const Twine &attributes = "") {
    std::string name = "n" + std::to_string(numNodes++);
    line() << name << " [label=\"" << label << '"';
    if (!attributes.isTriviallyEmpty())
      os << ", " << attributes;
    os << "];\n";
    return name;
  }

  /// Edges stand behind all clusters: one inside of a cluster would draw both of its ends into it.
  void edge(const std::string &from, const std::string &to, StringRef color, const Twine &label,
            StringRef attributes = "") {
    llvm::raw_string_ostream out(edges);
    out << "  " << from << " -> " << to << " [color=\"" << color << "\", fontcolor=\"" << color << '"';
    if (!label.isTriviallyEmpty())
      out << ", label=\"" << label << '"';
    out << attributes << "];\n";
  }

  void open(const Twine &label, StringRef attributes) {
    line() << "subgraph cluster" << numClusters++ << " {\n";
    ++depth;
    line() << "label=\"" << label << "\"; " << attributes << '\n';
  }

  void close() {
    --depth;
    line() << "}\n";
  }

  //===--- Tensors between graphs ---===//

  /// The node of a tensor outside of graphs, seen through reshapes.
  std::string getTensor(Value value) {
    while (Operation *op = value.getDefiningOp()) {
      if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(op))
        value = op->getOperand(0);
      else if (auto transpose = dyn_cast<linalg::TransposeOp>(op))
        value = transpose.getInput();
      else
        break;
    }
    if (auto it = tensors.find(value); it != tensors.end())
      return it->second;
    std::string type = escape(print(value.getType()));
    Operation *op = value.getDefiningOp();
    if (auto argument = dyn_cast<BlockArgument>(value))
      return tensors[value] = node("argument " + Twine(argument.getArgNumber()) + "\\n" + type,
                                   "shape=cylinder, style=filled, fillcolor=white, color=\"" + tensorColor + "\"");
    // An operation that stays outside of kernels, with what it reads.
    std::string name = node(escape(describe(op)) + "\\n" + type,
                            "style=\"dashed,filled\", fillcolor=white, color=\"" + tensorColor + "\"" + getTooltip(op));
    for (Value result : op->getResults())
      tensors[result] = name;
    llvm::SetVector<Value> read;
    op->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands()) {
        Operation *definition = operand.getDefiningOp();
        bool isInside = op->isAncestor(operand.getParentBlock()->getParentOp());
        if (isa<TensorType>(operand.getType()) && !isInside && !isa_and_nonnull<tensor::EmptyOp>(definition))
          read.insert(operand);
      }
    });
    for (Value operand : read)
      edge(getTensor(operand), name, tensorColor, "");
    return name;
  }

  static std::string getTooltip(Operation *op) { return ", tooltip=\"" + escape(getShortPlace(op->getLoc())) + "\""; }

  //===--- One graph ---===//

  void writeGraph(GraphOp graph, const std::string &defaultName) {
    auto name = graph->getAttrOfType<StringAttr>("fusion.kernel");
    std::string label = escape(name ? name.getValue() : StringRef(defaultName)) + "\\l", blocks;
    llvm::interleave(
        getNames(graph.getDimNames()),
        [&](StringAttr dim) {
          int64_t extent = graph.getStaticExtent(dim);
          label += escape(dim.getValue()) + " = " + (ShapedType::isDynamic(extent) ? "?" : std::to_string(extent));
          if (int64_t block = graph.getBlockSize(dim))
            blocks += (blocks.empty() ? "blocks of " : ", ") + escape(dim.getValue()) + " by " + std::to_string(block);
        },
        [&] { label += ", "; });
    if (graph.getNumDims() != 0)
      label += "\\l";
    open(label + blocks + (blocks.empty() ? "" : "\\l"), "style=\"rounded\"; color=\"#3b6e3b\"; fontsize=12;");
    writeBody(graph.getBody().front());
    auto output = cast<OutputOp>(graph.getBody().front().getTerminator());
    for (auto [value, result] : llvm::zip_equal(output.getValues(), graph.getResults())) {
      std::string type = escape(print(result.getType()));
      std::string name = node("output\\n" + type, "shape=cylinder, style=filled, fillcolor=white");
      connect(value, name);
      tensors[result] = name;
    }
    close();
  }

  void writeBody(Block &block) {
    for (Operation &op : block) {
      if (auto temporal = dyn_cast<TemporalOp>(op))
        writeLoop(temporal);
      else if (!isa<OneToAllOp>(op) && op.getNumResults() == 1)
        writeSpace(&op);
    }
  }

  /// The node of a space, and the mappings that make it.
  void writeSpace(Operation *op) {
    auto type = cast<SpaceType>(op->getResult(0).getType());
    std::string text = describe(op), attributes;
    TypedAttr constant;
    if (auto source = dyn_cast<SourceOp>(op)) {
      auto argument = dyn_cast<BlockArgument>(source.getInput());
      text = argument ? ("input " + Twine(argument.getArgNumber())).str() : "input";
      attributes = "fillcolor=\"#ffffff\"";
    } else if (auto index = dyn_cast<IndexOp>(op)) {
      text = ("index " + index.getDim()).str();
      attributes = "shape=ellipse, fillcolor=\"#ffffff\"";
    } else if (auto seen = dyn_cast<SeenOp>(op)) {
      text = ("seen " + seen.getDim()).str();
      attributes = "shape=ellipse, fillcolor=\"#ffffff\"";
    } else if (auto reduction = dyn_cast<AllToOneOp>(op)) {
      text = stringifyReducer(reduction.getReducer()).str();
    } else if (auto map = dyn_cast<MapOp>(op)) {
      auto isContraction = [&](Operation *user) {
        auto reduction = dyn_cast<AllToOneOp>(user);
        return reduction && getContractionProduct(reduction) == map;
      };
      if (llvm::any_of(op->getUsers(), isContraction)) {
        // The iteration space of a contraction; it is never stored.
        text = "iteration space";
        attributes = "shape=box3d, style=filled, fillcolor=\"#f6eefb\"";
      } else if (matchPattern(map.getBody().front().getTerminator()->getOperand(0), m_Constant(&constant))) {
        text = "constant " + printConstant(constant);
        attributes = "shape=ellipse, fillcolor=\"#ffffff\"";
      }
    }
    std::string label = escape(text) + "\\n[" + escape(join(type.getDims())) + "] " + print(type.getElementType());
    std::string tooltip = getTooltip(op);
    std::string name = node(label, attributes.empty() ? StringRef(tooltip).drop_front(2).str() : attributes + tooltip);
    spaces[op->getResult(0)] = name;
    if (auto source = dyn_cast<SourceOp>(op)) {
      sources[source.getInput()].push_back(name);
    } else if (auto reduction = dyn_cast<AllToOneOp>(op)) {
      edge(getSpace(reduction.getSource()), name, allToOneColor,
           "A2O(" + escape(join(getNames(reduction.getAlong()))) + ", " + stringifyReducer(reduction.getReducer()) +
               ")");
    } else {
      for (Value operand : op->getOperands())
        if (isa<SpaceType>(operand.getType()))
          connect(operand, name);
    }
  }

  std::string getSpace(Value value) { return spaces.lookup(value); }

  /// A One-to-One or One-to-All mapping from `value` to node `name`.
  void connect(Value value, const std::string &name) {
    SmallVector<StringAttr> along;
    while (auto broadcast = value.getDefiningOp<OneToAllOp>()) {
      llvm::append_range(along, getNames(broadcast.getAlong()));
      value = broadcast.getSource();
    }
    if (along.empty())
      edge(getSpace(value), name, oneToOneColor, "O2O");
    else
      edge(getSpace(value), name, oneToAllColor, "O2A(" + escape(join(along)) + ")");
  }

  void writeLoop(TemporalOp loop) {
    Block &block = loop.getBody().front();
    open("serial loop along " + escape(loop.getDim()) + ", " + Twine(loop.getStep()) + " at a time",
         "style=\"rounded,dashed\"; color=\"#8a8a8a\"; fontsize=11;");
    for (auto [number, state] : llvm::enumerate(block.getArguments())) {
      auto type = cast<SpaceType>(state.getType());
      spaces[state] =
          node("state " + Twine(number) + "\\n[" + escape(join(type.getDims())) + "] " + print(type.getElementType()),
               "fillcolor=\"#fdf3d8\", color=\"#b99537\"");
    }
    writeBody(block);
    auto next = cast<NextOp>(block.getTerminator());
    for (auto [state, value] : llvm::zip_equal(block.getArguments(), next.getStates()))
      edge(getSpace(value), getSpace(state), "#b99537", "next", ", style=dashed, constraint=false");
    close();
    for (auto [state, init] : llvm::zip_equal(block.getArguments(), loop.getInits()))
      connect(init, getSpace(state));
    // After the loop a state is what the last slice made of it.
    for (auto [result, value] : llvm::zip_equal(loop.getFinalStates(), next.getStates()))
      spaces[result] = getSpace(value);
    for (auto [result, value] : llvm::zip_equal(loop.getCollected(), next.getCollected()))
      spaces[result] = getSpace(value);
  }

  raw_ostream &os;
  std::string edges;
  unsigned depth = 0, numNodes = 0, numClusters = 0;
  llvm::DenseMap<Value, std::string> spaces, tensors;
  /// For each argument of a graph, the nodes of its sources.
  llvm::DenseMap<Value, SmallVector<std::string>> sources;
};

struct PrintGraphPass : fusion::impl::SpaceMapPrintGraphBase<PrintGraphPass> {
  using SpaceMapPrintGraphBase::SpaceMapPrintGraphBase;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (file.empty()) {
      DotWriter(llvm::errs()).write(getOperation());
      return;
    }
    std::error_code error;
    llvm::ToolOutputFile output(file, error, llvm::sys::fs::OF_Text);
    if (!error) {
      DotWriter(output.os()).write(getOperation());
      output.os().flush();
      error = output.os().error();
      output.os().clear_error();
    }
    if (error) {
      emitError(getOperation().getLoc()) << "cannot write '" << file << "': " << error.message();
      return signalPassFailure();
    }
    output.keep();
  }
};

} // namespace
