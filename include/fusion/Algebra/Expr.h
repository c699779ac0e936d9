//===- Expr.h - Symbolic scalar expressions -----------------------*- C++ -*-===//
//
// The scalar function of a chain of spaces as a symbolic expression over leaves, so that the temporal slicer can reason
// about it (SpaceFusion, section 4: broadcast postposition and update functions need the algebra of the body).
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_ALGEBRA_EXPR_H
#define FUSION_ALGEBRA_EXPR_H

#include "fusion/SpaceMap/SpaceMap.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/FoldingSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <deque>
#include <optional>
#include <string>

namespace fusion::algebra {

/// What a leaf stands for.
enum class Role {
  Varying,   ///< `x`: known without any earlier reduction, and different for every element along the reduced dimension
  Parameter, ///< `p`: known without any earlier reduction, and the same for every element
  State,     ///< `d`: an earlier reduction; it changes while the reduced dimension is walked
  NextState, ///< `d'`: the same reduction after the current slice
  Accumulated, ///< `y`: a partial result of the reduction under study
};

enum class ExprKind {
  Leaf,
  Constant,
  // One operand. `Cast` is any conversion of arith; `attribute` holds the name of the operation.
  Neg,
  Abs,
  Exp,
  Exp2,
  Log,
  Log2,
  Sqrt,
  Rsqrt,
  Tanh,
  Erf,
  Sin,
  Cos,
  Cast,
  // Two operands. Arithmetic is on floats or integers, as the type says; the order is signed on integers.
  Add,
  Sub,
  Mul,
  Div, ///< floats only
  Maximum,
  Minimum,
  MaxNum,
  MinNum,
  MaxUnsigned,
  MinUnsigned,
  Pow,
  IntegerPow, ///< a float to an integer power
  And,
  Or,
  Xor,
  Compare, ///< `attribute` holds the predicate of arith.cmpf or arith.cmpi
  // Three operands.
  Select,
  /// Any other operation on scalars with one result; known only as some function of its operands.
  Opaque,
};

class Expr;
class ExprContext;

/// What is known of a leaf beyond its type.
struct LeafFacts {
  /// Greater than zero, except that a reduction that has seen nothing may still be at its identity.
  bool positive = false;
  /// Not less than zero.
  bool notNegative = false;
  /// Whether the two above are all that can be known, so that the source need not be asked.
  bool signsAreKnown = false;
  /// The reducer, where the leaf is a reduction (`State`), else not set.
  std::optional<spacemap::Reducer> reducer;
  /// What that reduction reduces; null if not known. Over leaves of the same context.
  const struct Node *source = nullptr;
};

struct Node : llvm::FoldingSetNode {
  ExprKind op;
  unsigned id; ///< order of creation in the context
  mlir::Type type;
  llvm::SmallVector<const Node *, 3> operands;
  mlir::Attribute attribute; ///< value of a constant, predicate, name of a cast
  // Leaves only.
  Role role = Role::Varying;
  std::string name;
  LeafFacts facts;
  // Opaque operations only: how to make one.
  mlir::DictionaryAttr opaqueAttributes;

  static void profile(llvm::FoldingSetNodeID &id, ExprKind op, mlir::Type type, llvm::ArrayRef<const Node *> operands,
                      mlir::Attribute attribute, Role role, llvm::StringRef name,
                      mlir::DictionaryAttr opaqueAttributes);
  void Profile(llvm::FoldingSetNodeID &id) const;
};

/// A scalar expression: a cheap handle of a node that its `ExprContext` owns. Equal structure means equal handles
/// within one context. Null where an expression could not be made.
class Expr {
public:
  Expr() = default;
  Expr(const Node *node) : node(node) {}
  explicit operator bool() const { return node != nullptr; }
  bool operator==(Expr other) const { return node == other.node; }
  bool operator!=(Expr other) const { return node != other.node; }
  const Node *get() const { return node; }

  ExprKind op() const { return node->op; }
  mlir::Type type() const { return node->type; }
  bool isFloat() const { return llvm::isa<mlir::FloatType>(node->type); }
  unsigned size() const { return node->operands.size(); }
  Expr operator[](unsigned index) const { return node->operands[index]; }
  Role role() const { return node->role; }
  llvm::StringRef name() const { return node->name; }
  const LeafFacts &facts() const { return node->facts; }
  mlir::Attribute attribute() const { return node->attribute; }
  bool isLeaf() const { return node->op == ExprKind::Leaf; }
  bool isLeaf(Role role) const { return isLeaf() && node->role == role; }
  bool isConstant() const { return node->op == ExprKind::Constant; }
  bool isConstant(double value) const { return isConstant() && constantValue() == value; }
  /// Value of a constant as a double (booleans as 0 or 1).
  double constantValue() const;
  /// Whether this is a conversion between float types.
  bool isFloatCast() const { return op() == ExprKind::Cast && isFloat() && (*this)[0].isFloat(); }
  /// Whether this is a float conversion to a narrower type.
  bool isNarrowing() const;

  /// Whether a leaf of `role` occurs in the expression.
  bool contains(Role role) const;
  /// Whether it depends on an earlier reduction.
  bool dependsOnState() const { return contains(Role::State) || contains(Role::NextState); }
  /// Number of nodes if the expression is written out, or `limit` if there are more. What recurs into operands refuses
  /// large expressions first: a chain of n squares has 2^n.
  unsigned getTreeSize(unsigned limit = maxTreeSize) const;
  static constexpr unsigned maxTreeSize = 2048;
  /// Calls `function` once per distinct node, operands first.
  void walk(llvm::function_ref<void(Expr)> function) const;
  /// The distinct leaves in order of first use.
  llvm::SmallVector<Expr, 6> leaves() const;

  /// Prints in infix notation: `exp(x0 - d0) * x1`; a `NextState` has a prime: `d0'`. Float conversions are printed
  /// as calls: `f16(x0)`.
  void print(llvm::raw_ostream &os) const;
  /// As printed; a large expression is only named as a function of its leaves.
  std::string str() const;

private:
  const Node *node = nullptr;
};

/// Owns expressions, makes them unique and simplifies lightly: constants are folded on floats, neutral elements and
/// double negation vanish. No rule changes a value except for the sign of a zero. Not thread-safe; expressions must not
/// outlive it.
class ExprContext {
public:
  explicit ExprContext(mlir::MLIRContext *context) : context(context) {}
  ExprContext(const ExprContext &) = delete;
  ExprContext &operator=(const ExprContext &) = delete;

  mlir::MLIRContext *getContext() const { return context; }

  /// How many distinct expressions there are; grows with each new leaf, so that it can make names unique.
  unsigned size() const { return nodes.size(); }

  /// A leaf; two leaves are the same if role, name and type are.
  Expr leaf(Role role, llvm::StringRef name, mlir::Type type, LeafFacts facts = {});
  /// The `NextState` leaf that belongs to a `State` leaf.
  Expr next(Expr state);
  Expr constant(mlir::TypedAttr value);
  /// A constant of a float, integer or index type.
  Expr constant(double value, mlir::Type type);

  /// An operation with simplification. Operands of arithmetic have the type of the result.
  Expr make(ExprKind op, llvm::ArrayRef<Expr> operands);
  Expr neg(Expr a) { return make(ExprKind::Neg, a); }
  Expr exp(Expr a) { return make(ExprKind::Exp, a); }
  Expr add(Expr a, Expr b) { return make(ExprKind::Add, {a, b}); }
  Expr sub(Expr a, Expr b) { return make(ExprKind::Sub, {a, b}); }
  Expr mul(Expr a, Expr b) { return make(ExprKind::Mul, {a, b}); }
  Expr div(Expr a, Expr b) { return make(ExprKind::Div, {a, b}); }
  Expr select(Expr condition, Expr a, Expr b) { return make(ExprKind::Select, {condition, a, b}); }
  /// An ordered float or an integer comparison for equality.
  Expr equal(Expr a, Expr b);
  Expr compare(mlir::Attribute predicate, Expr a, Expr b);
  /// The conversion `name` ("arith.sitofp", ...) to `type`.
  Expr cast(llvm::StringRef name, Expr a, mlir::Type type);
  /// Converts between float types; the expression itself where the type is right already.
  Expr toFloat(Expr a, mlir::Type type);
  Expr opaque(llvm::StringRef name, llvm::ArrayRef<Expr> operands, mlir::Type type, mlir::DictionaryAttr attributes);

  /// `a (op) b` on floats of perhaps different width: the narrower one is widened.
  Expr promote(ExprKind op, Expr a, Expr b);

  /// What `reducer` does to two elements.
  Expr combine(spacemap::Reducer reducer, Expr a, Expr b);

  /// Replaces expressions by expressions, outermost first; the results are simplified again.
  Expr substitute(Expr expr, const llvm::DenseMap<const Node *, Expr> &replacements);
  /// Replaces each `State` leaf by the `NextState` leaf.
  Expr advance(Expr expr);

  /// The result that a body yields, over the expressions of its arguments, followed through operations on scalars.
  /// Null, with a text in `reason`, if an operation has regions, several results or operands from elsewhere.
  Expr fromBody(mlir::Block &body, llvm::ArrayRef<Expr> arguments, std::string &reason);

private:
  Expr unique(ExprKind op, mlir::Type type, llvm::ArrayRef<Expr> operands, mlir::Attribute attribute = {},
              Role role = Role::Varying, llvm::StringRef name = {}, LeafFacts facts = {},
              mlir::DictionaryAttr opaqueAttributes = {});
  Expr simplify(ExprKind op, llvm::ArrayRef<Expr> operands);

  mlir::MLIRContext *context;
  llvm::FoldingSet<Node> set;
  std::deque<Node> nodes;
};

/// Emits `expr` as operations of arith and math on scalars. `values` holds the value of each leaf, and may hold values
/// of inner expressions, which are then used; what is emitted is added. A leaf without a value is a programming error
/// that yields a null value.
mlir::Value emit(mlir::OpBuilder &builder, mlir::Location location, Expr expr,
                 llvm::DenseMap<const Node *, mlir::Value> &values);

/// Values of leaves for the evaluation.
using Assignment = llvm::DenseMap<const Node *, double>;

/// The value in double precision; float conversions are the identity, booleans 0 or 1, an opaque operation is an
/// arbitrary but fixed function. If `largest` is given it is raised to the largest finite magnitude of any intermediate
/// value. A leaf without a value is NaN.
double evaluate(Expr expr, const Assignment &values, double *largest = nullptr);

/// Whether `expr` is provably positive (or not negative, if `orZero`) for finite leaves.
bool isPositive(Expr expr, bool orZero = false);

} // namespace fusion::algebra

template <>
struct llvm::DenseMapInfo<fusion::algebra::Expr> {
  using Expr = fusion::algebra::Expr;
  using Node = fusion::algebra::Node;
  static Expr getEmptyKey() { return DenseMapInfo<const Node *>::getEmptyKey(); }
  static Expr getTombstoneKey() { return DenseMapInfo<const Node *>::getTombstoneKey(); }
  static unsigned getHashValue(Expr expr) { return DenseMapInfo<const Node *>::getHashValue(expr.get()); }
  static bool isEqual(Expr a, Expr b) { return a == b; }
};

#endif // FUSION_ALGEBRA_EXPR_H
