//===- Reduce.cpp - Reductions and products ---------------------------------------===//

#include "Impl.h"

#include <limits>

using namespace fusion;
using namespace fusion::array;

using Reduction = ArrayLibrary::Reduction;

static double getIdentity(Reduction reduction, ElementType type) {
  if (reduction == Reduction::Sum)
    return 0;
  double limit = isFloating(type) ? std::numeric_limits<double>::infinity()
                 : type == ElementType::I32 ? 0x7fffffff
                                            : 0x1p63;
  if (reduction == Reduction::Max)
    return isFloating(type) ? -limit : type == ElementType::I32 ? -0x1p31 : -0x1p63;
  return limit;
}

Array ArrayLibrary::reduce(Reduction reduction, const Array &given) {
  Array array = given;
  if (reduction != Reduction::Sum && array.getNumElements() == 0)
    fail("the largest or smallest of no elements");
  if (array.type == ElementType::Bool)
    array = fusion::cast(array, ElementType::I64);
  ElementType type = array.type;
  if (array.storeRank == 0)
    return copy(array);
  static const char *const names[] = {"sum", "max", "min"};
  static const char *const floating[] = {"arith.addf", "arith.maximumf", "arith.minimumf"};
  static const char *const integer[] = {"arith.addi", "arith.maxsi", "arith.minsi"};
  auto index = unsigned(reduction);
  KindKey key{uint64_t(0x100 + index) | uint64_t(type) << 16 | uint64_t(array.storeRank) << 24};
  auto it = impl->kinds.find(key);
  if (it == impl->kinds.end()) {
    unsigned rank = array.storeRank;
    std::string tensor = formatType(rank, type), scalar = formatType(0, type), element = getElementName(type);
    std::string text = "(%x: " + tensor + " read, %out: " + scalar + " reduce<" + names[index] +
                       ">) {\n  %0 = linalg.generic {indexing_maps = [" + formatIdentity(rank) + ", " +
                       formatMap(rank, {}) + "], iterator_types = [" + formatIterators(rank, "reduction") +
                       "]} ins(%x : " + tensor + ") outs(%out : " + scalar + ") {\n  ^bb0(%a: " + element +
                       ", %s: " + element + "):\n    %r = " + (isFloating(type) ? floating : integer)[index] +
                       " %a, %s : " + element + "\n    linalg.yield %r : " + element + "\n  } -> " + scalar +
                       "\n  dist.yield %0 : " + scalar + "\n}";
    it = impl->kinds
             .emplace(std::move(key),
                      session.registerTask(names[index],
                                           {TaskPrivilege::Read, TaskPrivilege(unsigned(TaskPrivilege::ReduceSum) + index)},
                                           text))
             .first;
  }
  Array result = wrap(session.createFilled({}, type, getIdentity(reduction, type)));
  session.launch(it->second, session.getRowDomain(), {{array.store, array.partition}, {result.store, result.partition}});
  return result;
}

Array ArrayLibrary::dot(const Array &a, const Array &b) {
  if (a.getRank() != 1 || b.getRank() != 1 || a.getShape() != b.getShape())
    fail("dot is of two vectors of one length; these are of shapes " + formatShape(a.getShape()) + " and " +
         formatShape(b.getShape()));
  if (a.type != b.type || a.type == ElementType::Bool)
    fail("dot is of two vectors of one type of numbers");
  // Rows of matrices are made vectors first.
  Array x = a.storeRank == 1 ? a : copy(a), y = b.storeRank == 1 ? b : copy(b);
  bool isSquare = x.store == y.store && x.offset == y.offset;
  KindKey key{uint64_t(isSquare ? 0x104 : 0x103) | uint64_t(a.type) << 16};
  auto it = impl->kinds.find(key);
  if (it == impl->kinds.end()) {
    std::string vector = formatType(1, a.type), scalar = formatType(0, a.type), element = getElementName(a.type);
    std::string suffix = " : " + element + "\n", f = isFloating(a.type) ? "f" : "i";
    std::string text = "(%x: " + vector + " read, " + (isSquare ? "" : "%y: " + vector + " read, ") + "%out: " + scalar +
                       " reduce<sum>) {\n  %0 = linalg.generic {indexing_maps = [" +
                       (isSquare ? "" : "affine_map<(i) -> (i)>, ") +
                       "affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = [\"reduction\"]} ins(%x" +
                       (isSquare ? " : " + vector : ", %y : " + vector + ", " + vector) + ") outs(%out : " + scalar +
                       ") {\n  ^bb0(%a: " + element + ", " + (isSquare ? "" : "%b: " + element + ", ") + "%s: " + element +
                       "):\n    %p = arith.mul" + f + " %a, " + (isSquare ? "%a" : "%b") + suffix + "    %r = arith.add" +
                       f + " %s, %p" + suffix + "    linalg.yield %r" + suffix + "  } -> " + scalar +
                       "\n  dist.yield %0 : " + scalar + "\n}";
    std::vector<TaskPrivilege> privileges(isSquare ? 1 : 2, TaskPrivilege::Read);
    privileges.push_back(TaskPrivilege::ReduceSum);
    it = impl->kinds.emplace(std::move(key), session.registerTask("dot", std::move(privileges), text)).first;
  }
  Array result = wrap(session.createFilled({}, a.type, 0));
  Domain rows = session.getRowDomain();
  if (isSquare)
    session.launch(it->second, rows, {{x.store, x.partition}, {result.store, result.partition}});
  else
    session.launch(it->second, rows,
                   {{x.store, x.partition}, {y.store, y.partition}, {result.store, result.partition}});
  return result;
}

/// All of a box at every point; also on one point another partition than that of the rows, so that groups are the same.
static Partition getReplicated(Session &session, const Array &array) {
  Shape extent = array.getShape(), tile = extent;
  for (int64_t &size : tile)
    size = std::max<int64_t>(size, 1);
  return session.getTiled(tile, Shape(extent.size(), 0), extent, Shape(extent.size(), -1));
}

Array ArrayLibrary::matmul(const Array &a, const Array &b) {
  Shape left = a.getShape(), right = b.getShape();
  if (left.size() != 2 || right.empty() || right.size() > 2 || left[1] != right[0])
    fail("matmul of shapes " + formatShape(left) + " and " + formatShape(right));
  if (a.type != b.type || a.type == ElementType::Bool)
    fail("matmul is of two arrays of one type of numbers");
  // Boxes of larger arrays are made arrays first.
  Array x = a.isWhole() ? a : copy(a), y = b.isWhole() ? b : copy(b);
  auto rank = unsigned(right.size());
  KindKey key{uint64_t(0x105) | uint64_t(a.type) << 16 | uint64_t(rank) << 24};
  auto it = impl->kinds.find(key);
  if (it == impl->kinds.end()) {
    std::string matrix = formatType(2, a.type), other = formatType(rank, a.type);
    std::string text = "(%a: " + matrix + " read, %b: " + other + " read, %out: " + other + " write) {\n" +
                       formatConstant("%z", 0, a.type) + "  %0 = linalg.fill ins(%z : " + getElementName(a.type) +
                       ") outs(%out : " + other + ") -> " + other + "\n  %1 = linalg." +
                       (rank == 2 ? "matmul" : "matvec") + " ins(%a, %b : " + matrix + ", " + other + ") outs(%0 : " +
                       other + ") -> " + other + "\n  dist.yield %1 : " + other + "\n}";
    it = impl->kinds
             .emplace(std::move(key),
                      session.registerTask("matmul", {TaskPrivilege::Read, TaskPrivilege::Read, TaskPrivilege::Write}, text))
             .first;
  }
  Shape shape{left[0]};
  if (rank == 2)
    shape.push_back(right[1]);
  Array result = empty(shape, a.type);
  session.launch(it->second, session.getRowDomain(),
                 {{x.store, x.partition}, {y.store, getReplicated(session, y)}, {result.store, result.partition}});
  return result;
}

Array fusion::sum(const Array &a) { return a.getLibrary().reduce(Reduction::Sum, a); }
Array fusion::max(const Array &a) { return a.getLibrary().reduce(Reduction::Max, a); }
Array fusion::min(const Array &a) { return a.getLibrary().reduce(Reduction::Min, a); }
Array fusion::dot(const Array &a, const Array &b) { return a.getLibrary().dot(a, b); }
Array fusion::matmul(const Array &a, const Array &b) { return a.getLibrary().matmul(a, b); }
