//===- ExtentFacts.h - What is known about run-time extents -------------------===//

#ifndef FUSION_PASSES_NORMALIZE_EXTENTFACTS_H
#define FUSION_PASSES_NORMALIZE_EXTENTFACTS_H

#include "Polynomial.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace fusion {

/// Values of index and integer type as polynomials over atoms: the extents of tensors whose shape is not computed from
/// something known, and scalars of unknown origin. Extents are non-negative. Products of extents are taken not to
/// overflow: exact division and comparison rest on that.
///
/// Indices of loops are known to be between 0 and an extent.
///
/// Facts are added while a block is walked and hold until the scope that they were added in ends. Values are known by
/// their address, so no operation may be erased as long as the facts are in use.
class ExtentFacts {
public:
  /// Ends with its lifetime all facts that were added meanwhile.
  class Scope {
  public:
    explicit Scope(ExtentFacts &facts);
    ~Scope();

  private:
    ExtentFacts &facts;
    size_t numEqualities, numNonNegative, numClauses, numLoopExtents;
  };

  /// The value of a scalar of index or i64 type, in normal form under the current facts.
  Polynomial evaluate(mlir::Value value);

  /// The extent of `axis` of `tensor`.
  Polynomial getExtent(mlir::Value tensor, int64_t axis);

  /// Whether a scalar is computed from nothing but extents, so that it is taken not to overflow.
  bool isMadeOfExtents(mlir::Value value) { return hasOnlyExtents(evaluate(value)); }

  /// What an i1 is known to be.
  std::optional<bool> evaluateCondition(mlir::Value condition);

  /// States that two values are equal from here on.
  void addEquality(const Polynomial &lhs, const Polynomial &rhs);

  /// States that an i1 is true from here on.
  void addCondition(mlir::Value condition);

  /// States that an index is at least 0 and less than `extent`, wherever it exists.
  void addRange(mlir::Value index, const Polynomial &extent);

  /// States the extent of a tensor that an operation of the caller's has made.
  void setExtent(mlir::Value tensor, int64_t axis, const Polynomial &extent);

  /// The tensor and axis whose extent atom `id` is; none for a scalar.
  std::optional<std::pair<mlir::Value, int64_t>> getExtentOfAtom(unsigned id) const;

private:
  using Key = std::pair<mlir::Value, int64_t>; // axis -1 is the scalar itself

  unsigned getAtom(Key key, bool isExtent);
  Polynomial normalize(Polynomial polynomial) const;
  /// The polynomial, or the atom where the polynomial is too large to reason with.
  Polynomial bounded(const Polynomial &polynomial, Key key, bool isExtent);
  Polynomial evaluateDefinition(mlir::Value value);
  Polynomial evaluateExtent(mlir::Value tensor, int64_t axis);
  /// The extent of a tensor that loop `op` carries, if no iteration changes it.
  std::optional<Polynomial> evaluateLoopExtent(mlir::scf::ForOp op, unsigned number, int64_t axis);
  void forgetLoopExtents(size_t keep);
  Polynomial evaluateAffine(mlir::AffineExpr expr, mlir::ValueRange operands, unsigned numDims, mlir::Value whole);
  std::optional<Polynomial> divide(const Polynomial &lhs, const Polynomial &rhs) const;
  std::optional<bool> compare(mlir::arith::CmpIPredicate predicate, const Polynomial &lhs, const Polynomial &rhs) const;
  /// 1 if certainly positive, 0 if certainly zero, -1 if certainly negative.
  std::optional<int> getSign(const Polynomial &polynomial) const;
  bool isNonNegative(const Polynomial &polynomial) const;
  bool hasOnlyExtents(const Polynomial &polynomial) const;
  /// Whether all atoms are extents or indices in a range, which products do not overflow.
  bool isPlain(const Polynomial &polynomial) const;
  /// At most `polynomial`, indices replaced by an end of their range.
  Polynomial atWorst(const Polynomial &polynomial) const;

  /// A comparison in a form that does not depend on how it is written.
  using Literal = std::tuple<mlir::arith::CmpIPredicate, Polynomial, Polynomial>;
  /// Comparisons of which one holds.
  using Clause = std::set<Literal>;
  Literal makeLiteral(mlir::arith::CmpIPredicate predicate, Polynomial lhs, Polynomial rhs) const;
  /// Adds the comparisons of a disjunction; false if it is anything else.
  bool addLiterals(mlir::Value condition, Clause &clause);
  bool isStated(mlir::Value condition);

  struct Atom {
    Key key;
    bool isExtent;
  };
  std::vector<Atom> atoms;
  llvm::DenseMap<Key, unsigned> atomOf;
  llvm::DenseMap<Key, Polynomial> stated;
  /// Those of `stated` that were found for loops, under the facts of the time.
  std::vector<Key> loopExtents;
  std::vector<std::pair<unsigned, Polynomial>> equalities;
  std::vector<unsigned> nonNegative;
  std::vector<Clause> clauses;
  llvm::DenseMap<unsigned, Polynomial> ranges;
  llvm::DenseMap<mlir::Value, Polynomial> cache;
  /// Of the evaluations in progress.
  unsigned depth = 0;
};

} // namespace fusion

#endif // FUSION_PASSES_NORMALIZE_EXTENTFACTS_H
