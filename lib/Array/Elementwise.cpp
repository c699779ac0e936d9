//===- Elementwise.cpp - Operations on elements ---------------------------------===//

#include "Impl.h"

#include <algorithm>
#include <cstring>

using namespace fusion;
using namespace fusion::array;

using Op = ArrayLibrary::Op;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Of two arrays, as in NumPy; an i64 and an f32 meet in f64.
static ElementType promote(ElementType a, ElementType b) {
  if (a == b)
    return a;
  if (isFloating(a) && isFloating(b))
    return ElementType::F64;
  if (isFloating(b))
    std::swap(a, b);
  if (isFloating(a))
    return b == ElementType::Bool ? a : ElementType::F64;
  if (a == ElementType::Bool || b == ElementType::Bool)
    return a == ElementType::Bool ? b : a;
  return ElementType::I64;
}

static ElementType promote(const Operand *operands, unsigned count) {
  std::optional<ElementType> type;
  for (unsigned i = 0; i < count; ++i)
    if (operands[i].array)
      type = type ? promote(*type, operands[i].array.getType()) : operands[i].array.getType();
  for (unsigned i = 0; i < count; ++i) {
    if (operands[i].array || (type && isFloating(*type)))
      continue;
    if (!operands[i].isInteger)
      type = ElementType::F64;
    else if (!type || *type == ElementType::Bool)
      type = ElementType::I64;
  }
  return *type;
}

static bool isComparison(Op op) { return op >= Op::Equal && op <= Op::GreaterEqual; }
static bool isLogical(Op op) { return op >= Op::And && op <= Op::Not; }

static const char *getName(Op op) {
  static const char *const names[] = {
      "copy",     "cast",  "add",        "subtract", "multiply",      "divide", "power", "maximum",
      "minimum",  "equal", "not_equal",  "less",     "less_equal",    "greater", "greater_equal", "and",
      "or",       "xor",   "not",        "negative", "absolute",      "square", "sqrt",  "exp",
      "log",      "sin",   "cos",        "tanh",     "floor",         "where"};
  return names[unsigned(op)];
}

/// The type that an operation computes in.
static ElementType getComputeType(Op op, ElementType type) {
  if (op == Op::Divide || op == Op::Power || (op >= Op::Sqrt && op <= Op::Floor))
    return isFloating(type) ? type : ElementType::F64;
  if (isLogical(op) && isFloating(type))
    fail(std::string("'") + getName(op) + "' is of booleans or integers, not of " + getElementName(type));
  if ((op == Op::Subtract || op == Op::Negative) && type == ElementType::Bool)
    fail("booleans are not subtracted or negated; use ^ or ~");
  return type;
}

/// `%<result>` = the cast of `%<value>`.
static std::string formatCast(const std::string &result, const std::string &value, ElementType from, ElementType to) {
  auto line = [&](const char *op) {
    return result + " = " + op + " " + value + " : " + getElementName(from) + " to " + getElementName(to) + "\n";
  };
  if (isFloating(from) && isFloating(to))
    return line(from == ElementType::F32 ? "arith.extf" : "arith.truncf");
  if (to == ElementType::Bool) {
    std::string zero = result + "z";
    return formatConstant(zero, 0, from) + result + " = arith." + (isFloating(from) ? "cmpf une, " : "cmpi ne, ") + value +
           ", " + zero + " : " + getElementName(from) + "\n";
  }
  if (isFloating(to))
    return line(from == ElementType::Bool ? "arith.uitofp" : "arith.sitofp");
  if (isFloating(from))
    return line("arith.fptosi");
  if (from == ElementType::Bool)
    return line("arith.extui");
  return line(to == ElementType::I64 ? "arith.extsi" : "arith.trunci");
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

/// Lines that compute `%r` from values of the type `type` (the first of `where` is a boolean).
static std::string formatOp(Op op, ElementType type, const std::string *v) {
  bool isFloat = isFloating(type), isBool = type == ElementType::Bool;
  std::string suffix = std::string(" : ") + getElementName(type) + "\n";
  auto binary = [&](const char *forFloat, const char *forInteger) {
    return std::string("%r = ") + (isFloat ? forFloat : forInteger) + " " + v[0] + ", " + v[1] + suffix;
  };
  auto unary = [&](const char *name) { return std::string("%r = ") + name + " " + v[0] + suffix; };
  auto compare = [&](const char *forFloat, const char *forInteger, const char *forBool) {
    return std::string("%r = arith.") + (isFloat ? "cmpf " : "cmpi ") + (isFloat ? forFloat : isBool ? forBool : forInteger) +
           ", " + v[0] + ", " + v[1] + suffix;
  };
  switch (op) {
  case Op::Copy:
  case Op::Cast:
    return "";
  case Op::Add:
    return binary("arith.addf", isBool ? "arith.ori" : "arith.addi");
  case Op::Subtract:
    return binary("arith.subf", "arith.subi");
  case Op::Multiply:
    return binary("arith.mulf", isBool ? "arith.andi" : "arith.muli");
  case Op::Divide:
    return binary("arith.divf", "arith.divf");
  case Op::Power:
    return binary("math.powf", "math.powf");
  case Op::Maximum:
    return binary("arith.maximumf", isBool ? "arith.ori" : "arith.maxsi");
  case Op::Minimum:
    return binary("arith.minimumf", isBool ? "arith.andi" : "arith.minsi");
  case Op::Equal:
    return compare("oeq", "eq", "eq");
  case Op::NotEqual:
    return compare("une", "ne", "ne");
  case Op::Less:
    return compare("olt", "slt", "ult");
  case Op::LessEqual:
    return compare("ole", "sle", "ule");
  case Op::Greater:
    return compare("ogt", "sgt", "ugt");
  case Op::GreaterEqual:
    return compare("oge", "sge", "uge");
  case Op::And:
    return binary("arith.andi", "arith.andi");
  case Op::Or:
    return binary("arith.ori", "arith.ori");
  case Op::Xor:
    return binary("arith.xori", "arith.xori");
  case Op::Not:
    return formatConstant("%ones", isBool ? 1 : -1, type) + "%r = arith.xori " + v[0] + ", %ones" + suffix;
  case Op::Negative:
    return isFloat ? unary("arith.negf") : formatConstant("%z", 0, type) + "%r = arith.subi %z, " + v[0] + suffix;
  case Op::Absolute:
    return isBool ? "%r = arith.ori " + v[0] + ", " + v[0] + suffix : unary(isFloat ? "math.absf" : "math.absi");
  case Op::Square:
    return std::string("%r = ") + (isFloat ? "arith.mulf" : isBool ? "arith.andi" : "arith.muli") + " " + v[0] + ", " + v[0] + suffix;
  case Op::Sqrt:
    return unary("math.sqrt");
  case Op::Exp:
    return unary("math.exp");
  case Op::Log:
    return unary("math.log");
  case Op::Sin:
    return unary("math.sin");
  case Op::Cos:
    return unary("math.cos");
  case Op::Tanh:
    return unary("math.tanh");
  case Op::Floor:
    return unary("math.floor");
  case Op::Where:
    return "%r = arith.select " + v[0] + ", " + v[1] + ", " + v[2] + suffix;
  }
  return "";
}

namespace {

/// An operand of a launch and how it lies in the target's loops.
struct Placed {
  Array array;
  double constant = 0;
  bool isConstant = false, isOld = false;
  /// By dimension of the store: the loop, or none for coordinate 0.
  std::array<uint8_t, Array::maxRank> loops = {};
};

constexpr uint8_t noLoop = 15;

} // namespace

static std::string formatBody(Op op, ElementType compute, const std::vector<Placed> &operands, unsigned rank,
                              ElementType type) {
  std::string parameters, inputs, inputTypes, maps, elements, lines, old = "%old", values[3];
  for (size_t i = 0; i < operands.size(); ++i) {
    const Placed &operand = operands[i];
    std::string number = std::to_string(i), value = values[i] = "%v" + number;
    ElementType wanted = op == Op::Where && i == 0 ? ElementType::Bool : compute;
    if (operand.isConstant) {
      lines += formatConstant(value, operand.constant, wanted);
      continue;
    }
    ElementType given = operand.isOld ? type : operand.array.getType();
    std::string element = given == wanted ? value : "%a" + number;
    if (operand.isOld) {
      // Several operands may be it.
      element = old = "%before";
      if (given == wanted)
        values[i] = element;
    } else {
      std::vector<std::string> results;
      for (unsigned d = 0; d < operand.array.getStore().getShape().size(); ++d)
        results.push_back(operand.loops[d] == noLoop ? "0" : "d" + std::to_string(operand.loops[d]));
      std::string tensor = formatType(unsigned(results.size()), given);
      parameters += "%x" + number + ": " + tensor + " read, ";
      inputs += (inputs.empty() ? "%x" : ", %x") + number;
      inputTypes += (inputTypes.empty() ? "" : ", ") + tensor;
      maps += formatMap(rank, results) + ", ";
      elements += element + ": " + getElementName(given) + ", ";
    }
    if (given != wanted)
      lines += formatCast(value, element, given, wanted);
  }
  lines += formatOp(op, compute, values);
  std::string result = op == Op::Copy || op == Op::Cast ? values[0] : "%r";
  ElementType computed = isComparison(op) ? ElementType::Bool : compute;
  if (computed != type) {
    lines += formatCast("%out_element", result, computed, type);
    result = "%out_element";
  }
  std::string tensor = formatType(rank, type);
  return "(" + parameters + "%out: " + tensor + (old == "%old" ? " write" : " read_write") +
         ") {\n  %0 = linalg.generic {indexing_maps = [" + maps + formatIdentity(rank) + "], iterator_types = [" +
         formatIterators(rank, "parallel") + "]}" + (inputs.empty() ? "" : " ins(" + inputs + " : " + inputTypes + ")") +
         " outs(%out : " + tensor + ") {\n  ^bb0(" + elements + old + ": " + getElementName(type) + "):\n" + lines +
         "    linalg.yield " + result + " : " + getElementName(type) + "\n  } -> " + tensor + "\n  dist.yield %0 : " +
         tensor + "\n}";
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// Where the boxes of a point have to be, so that they fit those of the target.
static Partition fitPartition(Session &session, const Array &array, const Placed &placed,
                              const int64_t *offset, const int64_t *extent, unsigned rank, int64_t targetRows,
                              uint8_t targetRow, bool onePoint) {
  if (rank == 0)
    return session.getWhole();
  if (session.getPoints() == 1)
    return array.getPartition();
  unsigned row = rank >= 2 ? rank - 2 : 0;
  if (!onePoint && extent[row] == targetRows && placed.loops[row] == targetRow)
    return array.getPartition();
  Shape tile, color;
  for (unsigned d = 0; d < rank; ++d) {
    bool isRow = !onePoint && placed.loops[d] == targetRow;
    int64_t size = std::max<int64_t>(extent[d], 1);
    tile.push_back(isRow ? (size + session.getPoints() - 1) / session.getPoints() : size);
    color.push_back(isRow ? 0 : -1);
  }
  return session.getTiled(tile, Shape(offset, offset + rank), Shape(extent, extent + rank), color);
}

void ArrayLibrary::launch(Op op, ElementType compute, const Operand *given, unsigned count, const Array &target) {
  std::vector<Placed> operands(count);
  KindKey key;
  key.push_back(uint64_t(op) | uint64_t(compute) << 8 | uint64_t(target.type) << 16 | uint64_t(target.storeRank) << 24 |
                uint64_t(target.picked) << 32);
  uint8_t loops[Array::maxRank];
  unsigned numLoops = 0;
  for (unsigned d = 0; d < target.storeRank; ++d)
    if (!(target.picked >> d & 1))
      loops[numLoops++] = uint8_t(d);
  bool isScalar = target.storeRank == 0, hasOld = false;
  for (unsigned i = 0; i < count; ++i) {
    Placed &operand = operands[i];
    if (!given[i].array) {
      operand.isConstant = true;
      operand.constant = given[i].value;
      uint64_t bits;
      std::memcpy(&bits, &operand.constant, sizeof(bits));
      key.push_back(1);
      key.push_back(bits);
      continue;
    }
    operand.array = given[i].array;
    const Array *array = &operand.array;
    if (array->library != this)
      fail("an operand belongs to another library");
    if (array->store == target.store) {
      bool isSame = array->picked == target.picked && array->offset == target.offset && array->extent == target.extent;
      if (isSame) {
        operand.isOld = hasOld = true;
        key.push_back(2);
        continue;
      }
      bool isApart = false;
      for (unsigned d = 0; d < target.storeRank; ++d)
        isApart |= array->offset[d] + array->extent[d] <= target.offset[d] ||
                   target.offset[d] + target.extent[d] <= array->offset[d];
      // The elements as they were before.
      if (!isApart)
        operand.array = copy(operand.array);
    }
    isScalar &= array->storeRank == 0;
    unsigned kept = array->getRank(), next = numLoops - kept;
    uint64_t code = 3 | uint64_t(array->type) << 8 | uint64_t(array->storeRank) << 16;
    for (unsigned d = 0; d < array->storeRank; ++d) {
      operand.loops[d] = noLoop;
      if (!(array->picked >> d & 1)) {
        uint8_t loop = loops[next++];
        if (array->extent[d] != 1 || target.extent[loop] == 1)
          operand.loops[d] = loop;
      }
      code |= uint64_t(operand.loops[d]) << (24 + 4 * d);
    }
    key.push_back(code);
  }

  auto it = impl->kinds.find(key);
  if (it == impl->kinds.end()) {
    std::vector<TaskPrivilege> privileges;
    for (const Placed &operand : operands)
      if (!operand.isConstant && !operand.isOld)
        privileges.push_back(TaskPrivilege::Read);
    privileges.push_back(hasOld ? TaskPrivilege::ReadWrite : TaskPrivilege::Write);
    it = impl->kinds
             .emplace(key, session.registerTask(getName(op), std::move(privileges),
                                                formatBody(op, compute, operands, target.storeRank, target.type)))
             .first;
  }

  bool onePoint = target.storeRank == 0;
  uint8_t row = target.storeRank >= 2 ? uint8_t(target.storeRank - 2) : 0;
  const Store *stores[4];
  Partition partitions[4];
  size_t arguments = 0;
  for (const Placed &operand : operands) {
    if (operand.isConstant || operand.isOld)
      continue;
    const Array &array = operand.array;
    stores[arguments] = &array.store;
    partitions[arguments++] =
        fitPartition(session, array, operand, array.offset.data(), array.extent.data(), array.storeRank,
                     onePoint ? 1 : target.extent[row], row, onePoint);
  }
  stores[arguments] = &target.store;
  partitions[arguments++] = target.partition;
  Domain domain = isScalar   ? session.getScalarDomain()
                  : onePoint ? session.getDomain({1})
                             : session.getRowDomain();
  switch (arguments) {
  case 1:
    return session.launch(it->second, domain, {{*stores[0], partitions[0]}});
  case 2:
    return session.launch(it->second, domain, {{*stores[0], partitions[0]}, {*stores[1], partitions[1]}});
  case 3:
    return session.launch(it->second, domain,
                          {{*stores[0], partitions[0]}, {*stores[1], partitions[1]}, {*stores[2], partitions[2]}});
  default:
    return session.launch(it->second, domain,
                          {{*stores[0], partitions[0]},
                           {*stores[1], partitions[1]},
                           {*stores[2], partitions[2]},
                           {*stores[3], partitions[3]}});
  }
}

/// Broadcasts the shape of `array` into `extents`, which has the last `rank` dimensions so far.
static void broadcast(const Array &array, Shape &shape) {
  Shape other = array.getShape();
  if (other.size() > shape.size())
    shape.insert(shape.begin(), other.size() - shape.size(), 1);
  for (size_t i = 0; i < other.size(); ++i) {
    int64_t &extent = shape[shape.size() - other.size() + i];
    if (extent != other[i] && extent != 1 && other[i] != 1)
      fail("operands of shapes " + formatShape(shape) + " and " + formatShape(other) + " cannot be broadcast");
    if (extent == 1)
      extent = other[i];
  }
}

Array ArrayLibrary::apply(Op op, const Operand *operands, unsigned count, std::optional<ElementType> cast) {
  Shape shape;
  for (unsigned i = 0; i < count; ++i)
    if (operands[i].array)
      broadcast(operands[i].array, shape);
  bool isWhere = op == Op::Where;
  if (isWhere && operands[0].array.getType() != ElementType::Bool)
    fail("the condition of where is an array of booleans");
  ElementType compute = getComputeType(op, promote(operands + isWhere, count - isWhere));
  ElementType type = cast ? *cast : isComparison(op) ? ElementType::Bool : compute;
  Array target = makeTarget(shape.data(), unsigned(shape.size()), type);
  launch(op, compute, operands, count, target);
  return target;
}

void ArrayLibrary::applyTo(const Array &target, Op op, const Operand *operands, unsigned count) {
  Shape shape = target.getShape(), result = shape;
  for (unsigned i = 0; i < count; ++i)
    if (operands[i].array)
      broadcast(operands[i].array, result);
  if (result != shape)
    fail("a result of shape " + formatShape(result) + " does not fit an array of shape " + formatShape(shape));
  ElementType compute = getComputeType(op, promote(operands, count));
  bool isUpdate = op != Op::Copy;
  if (isUpdate && ((isFloating(compute) && !isFloating(target.type)) ||
                   (compute != ElementType::Bool && target.type == ElementType::Bool)))
    fail(std::string("a result of type ") + getElementName(compute) + " is not cast to " + getElementName(target.type) +
         " in place");
  // A number is set as it is, whatever its type.
  if (op == Op::Copy && !operands[0].array)
    compute = target.type;
  launch(op, compute, operands, count, target);
}

Array ArrayLibrary::copy(const Array &array) {
  array.getLibrary();
  Operand operand(array);
  return apply(Op::Copy, &operand, 1);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

void Array::assign(const Operand &source) const { getLibrary().applyTo(*this, Op::Copy, &source, 1); }

static Array applyUnary(Op op, const Array &a) {
  Operand operand(a);
  return a.getLibrary().apply(op, &operand, 1);
}

static Array applyBinary(Op op, const Operand &a, const Operand &b) {
  Operand operands[] = {a, b};
  return (a.array ? a.array : b.array).getLibrary().apply(op, operands, 2);
}

static const Array &update(const Array &target, Op op, const Operand &other) {
  Operand operands[] = {target, other};
  target.getLibrary().applyTo(target, op, operands, 2);
  return target;
}

const Array &Array::operator+=(const Operand &other) const { return update(*this, Op::Add, other); }
const Array &Array::operator-=(const Operand &other) const { return update(*this, Op::Subtract, other); }
const Array &Array::operator*=(const Operand &other) const { return update(*this, Op::Multiply, other); }
const Array &Array::operator/=(const Operand &other) const { return update(*this, Op::Divide, other); }

Array fusion::operator+(const Operand &a, const Operand &b) { return applyBinary(Op::Add, a, b); }
Array fusion::operator-(const Operand &a, const Operand &b) { return applyBinary(Op::Subtract, a, b); }
Array fusion::operator*(const Operand &a, const Operand &b) { return applyBinary(Op::Multiply, a, b); }
Array fusion::operator/(const Operand &a, const Operand &b) { return applyBinary(Op::Divide, a, b); }
Array fusion::operator-(const Array &a) { return applyUnary(Op::Negative, a); }
Array fusion::operator==(const Array &a, const Operand &b) { return applyBinary(Op::Equal, a, b); }
Array fusion::operator!=(const Array &a, const Operand &b) { return applyBinary(Op::NotEqual, a, b); }
Array fusion::operator<(const Array &a, const Operand &b) { return applyBinary(Op::Less, a, b); }
Array fusion::operator<=(const Array &a, const Operand &b) { return applyBinary(Op::LessEqual, a, b); }
Array fusion::operator>(const Array &a, const Operand &b) { return applyBinary(Op::Greater, a, b); }
Array fusion::operator>=(const Array &a, const Operand &b) { return applyBinary(Op::GreaterEqual, a, b); }
Array fusion::operator&(const Array &a, const Array &b) { return applyBinary(Op::And, a, b); }
Array fusion::operator|(const Array &a, const Array &b) { return applyBinary(Op::Or, a, b); }
Array fusion::operator^(const Array &a, const Array &b) { return applyBinary(Op::Xor, a, b); }
Array fusion::operator~(const Array &a) { return applyUnary(Op::Not, a); }
Array fusion::power(const Operand &a, const Operand &b) { return applyBinary(Op::Power, a, b); }
Array fusion::maximum(const Operand &a, const Operand &b) { return applyBinary(Op::Maximum, a, b); }
Array fusion::minimum(const Operand &a, const Operand &b) { return applyBinary(Op::Minimum, a, b); }
Array fusion::where(const Array &condition, const Operand &a, const Operand &b) {
  Operand operands[] = {condition, a, b};
  return condition.getLibrary().apply(Op::Where, operands, 3);
}
Array fusion::absolute(const Array &a) { return applyUnary(Op::Absolute, a); }
Array fusion::square(const Array &a) { return applyUnary(Op::Square, a); }
Array fusion::sqrt(const Array &a) { return applyUnary(Op::Sqrt, a); }
Array fusion::exp(const Array &a) { return applyUnary(Op::Exp, a); }
Array fusion::log(const Array &a) { return applyUnary(Op::Log, a); }
Array fusion::sin(const Array &a) { return applyUnary(Op::Sin, a); }
Array fusion::cos(const Array &a) { return applyUnary(Op::Cos, a); }
Array fusion::tanh(const Array &a) { return applyUnary(Op::Tanh, a); }
Array fusion::floor(const Array &a) { return applyUnary(Op::Floor, a); }
Array fusion::copy(const Array &a) { return a.getLibrary().copy(a); }
Array fusion::cast(const Array &a, ElementType type) {
  Operand operand(a);
  return a.getLibrary().apply(Op::Cast, &operand, 1, type);
}
