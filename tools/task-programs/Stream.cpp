//===- Stream.cpp - Recording array programs as streams of tasks ----------===//

#include "Stream.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <charconv>

using namespace task_programs;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// The shortest decimal that reads back as `value`, in the form that the program text has for floats.
static std::string formatFloat(double value) {
  char buffer[64];
  auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::scientific);
  std::string text(buffer, end);
  if (text.find('.') == std::string::npos)
    text.insert(text.find('e'), ".0");
  return text;
}

static std::string formatList(ArrayRef<int64_t> values) {
  return llvm::join(llvm::map_range(values, [](int64_t value) { return std::to_string(value); }), ", ");
}

static std::string formatTensorType(unsigned rank, StringRef elementType) {
  std::string type = "tensor<";
  for (unsigned i = 0; i < rank; ++i)
    type += "?x";
  return type + elementType.str() + ">";
}

static std::string formatShapedType(StringRef head, ArrayRef<int64_t> shape, StringRef elementType) {
  std::string type = head.str();
  for (int64_t extent : shape)
    type += std::to_string(extent) + "x";
  return type + elementType.str() + ">";
}

/// `affine_map<(d0, d1) -> (...)>` over `rank` dimensions.
static std::string formatMap(unsigned rank, ArrayRef<std::string> results) {
  std::string map = "affine_map<(";
  for (unsigned i = 0; i < rank; ++i)
    map += (i ? ", d" : "d") + std::to_string(i);
  return map + ") -> (" + llvm::join(results, ", ") + ")>";
}

static std::string indent(StringRef text, StringRef prefix) {
  std::string result;
  llvm::SmallVector<StringRef> lines;
  text.split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines)
    result += (prefix + line.trim() + "\n").str();
  return result;
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

Shape Array::getShape() const {
  Shape shape;
  for (auto [size, gone] : llvm::zip(extent, picked))
    if (!gone)
      shape.push_back(size);
  return shape;
}

Array Array::slice(ArrayRef<int64_t> offsets, ArrayRef<int64_t> extents) const {
  Array result = *this;
  unsigned kept = 0;
  for (unsigned dim = 0; dim < extent.size(); ++dim) {
    if (picked[dim])
      continue;
    int64_t start = offsets[kept] < 0 ? extent[dim] + offsets[kept] : offsets[kept];
    result.offset[dim] = offset[dim] + start;
    result.extent[dim] = extents[kept++];
  }
  return result;
}

Array Array::pick(int64_t index) const {
  Array result = *this;
  for (unsigned dim = 0; dim < extent.size(); ++dim) {
    if (picked[dim])
      continue;
    result.offset[dim] = offset[dim] + index;
    result.extent[dim] = 1;
    result.picked[dim] = true;
    break;
  }
  return result;
}

/// The map of an operand into the iteration space, which has a loop for each dimension of the target. Broadcast as in
/// NumPy: the dimensions of the operand that are not picked belong to the last ones of the target that are not.
static std::string getOperandMap(ArrayRef<int64_t> targetExtent, ArrayRef<bool> targetPicked, ArrayRef<int64_t> extent,
                                 ArrayRef<bool> picked) {
  llvm::SmallVector<unsigned> loops;
  for (auto [loop, gone] : llvm::enumerate(targetPicked))
    if (!gone)
      loops.push_back(loop);
  llvm::SmallVector<std::string> results;
  unsigned next = loops.size() - llvm::count(picked, false);
  for (auto [size, gone] : llvm::zip(extent, picked)) {
    if (gone) {
      results.push_back("0");
      continue;
    }
    unsigned loop = loops[next++];
    results.push_back(size == 1 && targetExtent[loop] != 1 ? "0" : "d" + std::to_string(loop));
  }
  return formatMap(targetExtent.size(), results);
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

void Stream::line(const Twine &text) { body += std::string(2 * depth, ' ') + text.str() + "\n"; }

void Stream::host(StringRef text) { body += indent(text, std::string(2 * depth, ' ')); }

std::string Stream::getStoreType(const Array &array) {
  return formatShapedType("!dist.store<", array.storeShape, array.elementType);
}

std::string Stream::getPartition(const Array &array) {
  unsigned rank = array.extent.size();
  if (rank == 0)
    return "#dist.none";
  unsigned rows = rank >= 2 ? rank - 2 : 0;
  Shape tile;
  llvm::SmallVector<std::string> projection;
  for (unsigned dim = 0; dim < rank; ++dim) {
    int64_t size = std::max<int64_t>(array.extent[dim], 1);
    tile.push_back(dim == rows ? int64_t(llvm::divideCeil(size, points)) : size);
    projection.push_back(dim == rows ? "d0" : "0");
  }
  return "#dist.tiled<[" + formatList(tile) + "] offset [" + formatList(array.offset) + "] extent [" +
         formatList(array.extent) + "] by (d0) -> (" + llvm::join(projection, ", ") + ")>";
}

std::string Stream::getTask(StringRef name, const std::string &text) {
  auto [it, isNew] = taskSymbols.try_emplace((name + "\n" + text).str());
  if (isNew) {
    unsigned number = taskNames[name]++;
    it->second = name.str() + (number ? "_" + std::to_string(number) : std::string());
    tasks += "dist.task private @" + it->second + text + "\n";
  }
  return it->second;
}

void Stream::launch(StringRef task, ArrayRef<Argument> arguments) {
  bool isScalar = llvm::all_of(arguments, [](const Argument &argument) { return argument.array.storeShape.empty(); });
  std::string text = "dist.launch @" + task.str() + " on [" + std::to_string(isScalar ? 1 : points) + "] (";
  for (auto [index, argument] : llvm::enumerate(arguments))
    text += (index ? ", " : "") + argument.array.store + " " + argument.privilege + " " + getPartition(argument.array);
  text += ") : ";
  for (auto [index, argument] : llvm::enumerate(arguments))
    text += (index ? ", " : "") + getStoreType(argument.array);
  line(text);
}

//===----------------------------------------------------------------------===//
// Arrays of the program
//===----------------------------------------------------------------------===//

Array Stream::create(Shape shape, StringRef elementType) {
  Array array;
  array.stream = this;
  array.store = newName();
  array.elementType = elementType.str();
  array.storeShape = array.extent = shape;
  array.offset.assign(shape.size(), 0);
  array.picked.assign(shape.size(), false);
  line(array.store + " = dist.create : " + getStoreType(array));
  return array;
}

Array Stream::fromTensor(StringRef tensor, Shape shape, StringRef elementType) {
  Array array;
  array.stream = this;
  array.store = newName();
  array.elementType = elementType.str();
  array.storeShape = array.extent = shape;
  array.offset.assign(shape.size(), 0);
  array.picked.assign(shape.size(), false);
  line(array.store + " = dist.from_tensor " + tensor.str() + " : " + formatShapedType("tensor<", shape, elementType) +
       " -> " + getStoreType(array));
  return array;
}

Array Stream::fromIndices(Shape shape, StringRef elementType, StringRef function) {
  std::string type = formatShapedType("tensor<", shape, elementType), empty = newName(), tensor = newName();
  llvm::SmallVector<std::string> identity, parallel;
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    identity.push_back("d" + std::to_string(dim));
    parallel.push_back("\"parallel\"");
  }
  line(empty + " = tensor.empty() : " + type);
  line(tensor + " = linalg.generic {indexing_maps = [" + formatMap(shape.size(), identity) + "], iterator_types = [" +
       llvm::join(parallel, ", ") + "]} outs(" + empty + " : " + type + ") {");
  line("^bb0(%old: " + elementType + "):");
  for (unsigned dim = 0; dim < shape.size(); ++dim)
    line("  %i" + Twine(dim) + " = linalg.index " + Twine(dim) + " : index");
  body += indent(function, std::string(2 * depth + 2, ' '));
  line("  linalg.yield %r : " + elementType);
  line("} -> " + type);
  return fromTensor(tensor, shape, elementType);
}

void Stream::fill(Array target, double value) {
  std::string constant = newName();
  line(constant + " = arith.constant " + formatFloat(value) + " : " + target.elementType);
  line("dist.fill " + constant + " into " + target.store + " by " + getPartition(target) + " on [" +
       std::to_string(target.storeShape.empty() ? 1 : points) + "] : " + target.elementType + ", " +
       getStoreType(target));
}

void Stream::rename(Array source, Array target) {
  line("dist.copy " + source.store + " by #dist.none to " + target.store +
       " by #dist.none on [1] : " + getStoreType(source) + ", " + getStoreType(target));
}

//===----------------------------------------------------------------------===//
// Elementwise tasks
//===----------------------------------------------------------------------===//

static std::string getIdentityMap(unsigned rank) {
  llvm::SmallVector<std::string> dims;
  for (unsigned dim = 0; dim < rank; ++dim)
    dims.push_back("d" + std::to_string(dim));
  return formatMap(rank, dims);
}

static std::string getIterators(unsigned rank, StringRef kind) {
  return llvm::join(llvm::SmallVector<std::string>(rank, ("\"" + kind + "\"").str()), ", ");
}

void Stream::emitElementwise(StringRef name, const llvm::Twine &body, ArrayRef<Operand> operands, Array target) {
  std::string function = body.str();
  unsigned rank = target.extent.size();
  llvm::SmallVector<std::string> inputs, inputTypes, maps, elements, parameters;
  std::vector<Argument> arguments;
  std::string constants, old = "%old";
  for (auto [index, operand] : llvm::enumerate(operands)) {
    std::string element = "%a" + std::to_string(index);
    if (operand.isConstant) {
      constants += element + " = arith.constant " + formatFloat(operand.constant) + " : f64\n";
      continue;
    }
    const Array &array = operand.array;
    if (array.store == target.store && array.offset == target.offset && array.extent == target.extent) {
      // The old element is that of the destination: one argument, read and written.
      if (old != "%old")
        llvm::report_fatal_error("an operation names the array that it updates once");
      old = element;
      continue;
    }
    std::string type = formatTensorType(array.extent.size(), array.elementType);
    inputs.push_back("%x" + std::to_string(index));
    inputTypes.push_back(type);
    parameters.push_back(inputs.back() + ": " + type + " read");
    maps.push_back(getOperandMap(target.extent, target.picked, array.extent, array.picked));
    elements.push_back(element + ": " + array.elementType);
    arguments.push_back({array, "read"});
  }
  const char *privilege = old == "%old" ? "write" : "read_write";
  std::string type = formatTensorType(rank, target.elementType);
  parameters.push_back("%out: " + type + " " + privilege);
  maps.push_back(getIdentityMap(rank));
  elements.push_back(old + ": " + target.elementType);
  arguments.push_back({target, privilege});

  std::string text = "(" + llvm::join(parameters, ", ") + ") {\n  %0 = linalg.generic {indexing_maps = [" +
                     llvm::join(maps, ", ") + "], iterator_types = [" + getIterators(rank, "parallel") + "]}\n";
  if (!inputs.empty())
    text += "      ins(" + llvm::join(inputs, ", ") + " : " + llvm::join(inputTypes, ", ") + ")\n";
  text += "      outs(%out : " + type + ") {\n  ^bb0(" + llvm::join(elements, ", ") + "):\n" +
          indent(constants, "    ") + indent(function, "    ") + "    linalg.yield %r : " + target.elementType +
          "\n  } -> " + type + "\n  dist.yield %0 : " + type + "\n}";
  launch(getTask(name, text), arguments);
}

Array Stream::apply(StringRef name, StringRef function, ArrayRef<Operand> operands, StringRef elementType) {
  Shape space;
  for (const Operand &operand : operands) {
    if (operand.isConstant)
      continue;
    Shape shape = operand.array.getShape();
    if (shape.size() > space.size())
      space.insert(space.begin(), shape.size() - space.size(), 1);
    for (unsigned i = 0; i < shape.size(); ++i) {
      int64_t &extent = space[space.size() - shape.size() + i];
      if (extent != shape[i] && extent != 1 && shape[i] != 1)
        llvm::report_fatal_error("operands of these shapes cannot be broadcast");
      extent = std::max(extent, shape[i]);
    }
  }
  Array target = create(space, elementType);
  emitElementwise(name, function, operands, target);
  return target;
}

void Stream::applyTo(Array target, StringRef name, StringRef function, ArrayRef<Operand> operands) {
  emitElementwise(name, function, operands, target);
}

void Stream::assign(Array target, Array source) {
  unsigned rank = target.extent.size();
  std::string sourceType = formatTensorType(source.extent.size(), source.elementType);
  std::string type = formatTensorType(rank, target.elementType);
  std::string text =
      "(%x: " + sourceType + " read, %out: " + type + " write) {\n  %0 = linalg.generic {indexing_maps = [" +
      getOperandMap(target.extent, target.picked, source.extent, source.picked) + ", " + getIdentityMap(rank) +
      "], iterator_types = [" + getIterators(rank, "parallel") + "]}\n      ins(%x : " + sourceType +
      ") outs(%out : " + type + ") {\n  ^bb0(%a: " + source.elementType + ", %old: " + target.elementType +
      "):\n    linalg.yield %a : " + source.elementType + "\n  } -> " + type + "\n  dist.yield %0 : " + type + "\n}";
  launch(getTask("copy", text), {{source, "read"}, {target, "write"}});
}

void Stream::assign(Array target, double value) {
  emitElementwise("set", "%r = arith.constant " + formatFloat(value) + " : f64", {}, target);
}

//===----------------------------------------------------------------------===//
// Reductions and products
//===----------------------------------------------------------------------===//

void Stream::dotTo(Array target, Array a, Array b) {
  fill(target, 0.0);
  std::string vector = formatTensorType(1, "f64"), scalar = "tensor<f64>";
  bool isSquare = a.store == b.store && a.offset == b.offset;
  std::string inputs = isSquare ? "%x : " + vector : "%x, %y : " + vector + ", " + vector;
  std::string text = "(%x: " + vector + " read, " + (isSquare ? "" : "%y: " + vector + " read, ") + "%out: " + scalar +
                     " reduce<sum>) {\n  %0 = linalg.generic {indexing_maps = [" +
                     (isSquare ? "" : "affine_map<(i) -> (i)>, ") +
                     "affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = [\"reduction\"]}\n      ins(" +
                     inputs + ") outs(%out : " + scalar + ") {\n  ^bb0(%a: f64, " + (isSquare ? "" : "%b: f64, ") +
                     "%sum: f64):\n    %p = arith.mulf %a, " + (isSquare ? "%a" : "%b") +
                     " : f64\n    %s = arith.addf %sum, %p : f64\n    linalg.yield %s : f64\n  } -> " + scalar +
                     "\n  dist.yield %0 : " + scalar + "\n}";
  if (isSquare)
    launch(getTask("square_sum", text), {{a, "read"}, {target, "reduce<sum>"}});
  else
    launch(getTask("dot", text), {{a, "read"}, {b, "read"}, {target, "reduce<sum>"}});
}

Array Stream::dot(Array a, Array b) {
  Array target = create({});
  dotTo(target, a, b);
  return target;
}

Array Stream::matvec(Array matrix, Array vector) {
  Array target = create({matrix.extent[0]});
  std::string matrixType = formatTensorType(2, "f64"), type = formatTensorType(1, "f64");
  std::string text =
      "(%m: " + matrixType + " read, %x: " + type + " read, %out: " + type +
      " write) {\n  %z = arith.constant 0.0 : f64\n  %0 = linalg.fill ins(%z : f64) outs(%out : " + type + ") -> " +
      type + "\n  %1 = linalg.matvec ins(%m, %x : " + matrixType + ", " + type + ") outs(%0 : " + type + ") -> " +
      type + "\n  dist.yield %1 : " + type + "\n}";
  std::string task = getTask("matvec", text);
  // Every point needs the whole vector.
  line("dist.launch @" + task + " on [" + std::to_string(points) + "] (" + matrix.store + " read " +
       getPartition(matrix) + ", " + vector.store + " read #dist.none, " + target.store + " write " +
       getPartition(target) + ") : " + getStoreType(matrix) + ", " + getStoreType(vector) + ", " +
       getStoreType(target));
  return target;
}

Array Stream::multiply(const Csr &matrix, Array vector) {
  Array target = create({matrix.rows});
  std::string i32 = formatTensorType(1, "i32"), f64 = formatTensorType(1, "f64");
  std::string task = getTask("spmv", "(" + i32 + " read, " + i32 + " read, " + i32 + " read, " + f64 + " read, " + f64 +
                                         " read, " + f64 + " write) external \"fusion_spmv_csr_f64\"");
  Array first = matrix.range.slice({0}, {matrix.rows}), last = matrix.range.slice({1}, {matrix.rows});
  line("dist.launch @" + task + " on [" + std::to_string(points) + "] (" + matrix.range.store + " read " +
       getPartition(first) + ", " + matrix.range.store + " read " + getPartition(last) + ", " + matrix.columns.store +
       " read #dist.image<range 0, 1>, " + matrix.values.store + " read #dist.image<range 0, 1>, " + vector.store +
       " read #dist.image<points 2>, " + target.store + " write " + getPartition(target) +
       ") : " + getStoreType(matrix.range) + ", " + getStoreType(matrix.range) + ", " + getStoreType(matrix.columns) +
       ", " + getStoreType(matrix.values) + ", " + getStoreType(vector) + ", " + getStoreType(target));
  return target;
}

//===----------------------------------------------------------------------===//
// Control flow and the module
//===----------------------------------------------------------------------===//

void Stream::beginLoop(int64_t steps) {
  std::string first = newName(), last = newName(), step = newName(), counter = newName();
  line(first + " = arith.constant 0 : index");
  line(last + " = arith.constant " + Twine(steps) + " : index");
  line(step + " = arith.constant 1 : index");
  line("scf.for " + counter + " = " + first + " to " + last + " step " + step + " {");
  ++depth;
}

void Stream::endLoop() {
  --depth;
  line("}");
}

void Stream::beginIf(Array condition) {
  std::string tensor = newName(), value = newName();
  line(tensor + " = dist.to_tensor " + condition.store + " : " + getStoreType(condition) + " -> tensor<i1>");
  line(value + " = tensor.extract " + tensor + "[] : tensor<i1>");
  line("scf.if " + value + " {");
  ++depth;
}

void Stream::endIf() { endLoop(); }

std::string Stream::finish(StringRef comment, ArrayRef<Array> results) {
  llvm::SmallVector<std::string> values, types;
  for (const Array &result : results) {
    std::string whole = newName(), type = formatShapedType("tensor<", result.storeShape, result.elementType);
    line(whole + " = dist.to_tensor " + result.store + " : " + getStoreType(result) + " -> " + type);
    values.push_back(whole);
    types.push_back(type);
    Shape shape = result.getShape();
    if (shape == result.storeShape)
      continue;
    values.back() = newName();
    types.back() = formatShapedType("tensor<", shape, result.elementType);
    line(values.back() + " = tensor.extract_slice " + whole + "[" + formatList(result.offset) + "] [" +
         formatList(result.extent) + "] [" + formatList(Shape(result.extent.size(), 1)) + "] : " + type + " to " +
         types.back());
  }
  line("return " + llvm::join(values, ", ") + " : " + llvm::join(types, ", "));
  return indent(comment, "// ") + "\n" + tasks + "\nfunc.func @main() -> (" + llvm::join(types, ", ") + ") {\n" + body +
         "}\n";
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

static Array binary(StringRef name, StringRef op, Operand a, Operand b) {
  const Array &any = a.isConstant ? b.array : a.array;
  return any.getStream()->apply(name, ("%r = " + op + " %a0, %a1 : f64").str(), {a, b});
}

Array task_programs::operator+(Operand a, Operand b) { return binary("add", "arith.addf", a, b); }
Array task_programs::operator-(Operand a, Operand b) { return binary("subtract", "arith.subf", a, b); }
Array task_programs::operator*(Operand a, Operand b) { return binary("multiply", "arith.mulf", a, b); }
Array task_programs::operator/(Operand a, Operand b) { return binary("divide", "arith.divf", a, b); }
Array task_programs::operator+=(Array target, Operand operand) {
  target.getStream()->applyTo(target, "add", "%r = arith.addf %a0, %a1 : f64", {target, operand});
  return target;
}
Array task_programs::operator-=(Array target, Operand operand) {
  target.getStream()->applyTo(target, "subtract", "%r = arith.subf %a0, %a1 : f64", {target, operand});
  return target;
}

static Array unary(StringRef name, StringRef op, Array a) {
  return a.getStream()->apply(name, ("%r = " + op + " %a0 : f64").str(), {a});
}

Array task_programs::exp(Array a) { return unary("exp", "math.exp", a); }
Array task_programs::log(Array a) { return unary("log", "math.log", a); }
Array task_programs::sqrt(Array a) { return unary("sqrt", "math.sqrt", a); }
Array task_programs::abs(Array a) { return unary("absolute", "math.absf", a); }
Array task_programs::negate(Array a) { return unary("negative", "arith.negf", a); }
Array task_programs::square(Array a) { return a.getStream()->apply("square", "%r = arith.mulf %a0, %a0 : f64", {a}); }
Array task_programs::maximum(Operand a, Operand b) { return binary("maximum", "arith.maximumf", a, b); }
Array task_programs::minimum(Operand a, Operand b) { return binary("minimum", "arith.minimumf", a, b); }

Array task_programs::compare(StringRef predicate, Operand a, Operand b) {
  const Array &any = a.isConstant ? b.array : a.array;
  return any.getStream()->apply(("compare_" + predicate).str(),
                                ("%r = arith.cmpf " + predicate + ", %a0, %a1 : f64").str(), {a, b}, "i1");
}

Array task_programs::where(Array condition, Operand a, Operand b) {
  return condition.getStream()->apply("where", "%r = arith.select %a0, %a1, %a2 : f64", {condition, a, b});
}
