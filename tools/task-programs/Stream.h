//===- Stream.h - Recording array programs as streams of tasks ------------===//
//
// A small array language: every operation on arrays, every assignment to a slice and every reduction is recorded as one
// launch of a `dist` program, the way array libraries issue tasks. Operations follow NumPy: operands are broadcast
// along missing leading dimensions and along extents of 1.
//
// Arrays are cut into blocks of rows, one block per point: along their only dimension, or the last but one.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_TOOLS_TASKPROGRAMS_STREAM_H
#define FUSION_TOOLS_TASKPROGRAMS_STREAM_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace task_programs {

using Shape = llvm::SmallVector<int64_t>;
class Stream;

/// A store or a slice of one. Copies are the same array.
class Array {
public:
  Array() = default;

  /// Extents, without the dimensions that were picked.
  Shape getShape() const;
  /// The box `[offsets, offsets + extents)`; a negative offset counts from the end.
  Array slice(llvm::ArrayRef<int64_t> offsets, llvm::ArrayRef<int64_t> extents) const;
  /// Element `index` of the first dimension, which vanishes.
  Array pick(int64_t index) const;

  Stream *getStream() const { return stream; }

private:
  friend class Stream;
  Stream *stream = nullptr;
  std::string store, elementType;
  /// Of the store; offset and extent of the slice; the dimensions that were picked.
  Shape storeShape, offset, extent;
  llvm::SmallVector<bool> picked;
};

/// An array, or a number that becomes a constant of the task.
struct Operand {
  Operand(Array array) : array(std::move(array)), isConstant(false) {}
  Operand(double constant) : constant(constant), isConstant(true) {}

  Array array;
  double constant = 0;
  bool isConstant;
};

class Stream {
public:
  /// A program on a domain of `points` points.
  explicit Stream(int64_t points) : points(points) {}

  /// A new array, with undefined elements.
  Array create(Shape shape, llvm::StringRef elementType = "f64");
  /// An array whose elements are computed by the host from their coordinates: `body` gives the lines of a function from
  /// the index values `%i0`, `%i1`, ... to the element `%r`.
  Array fromIndices(Shape shape, llvm::StringRef elementType, llvm::StringRef body);
  /// An array with the content of a tensor of the host program.
  Array fromTensor(llvm::StringRef tensor, Shape shape, llvm::StringRef elementType);

  /// Sets all elements of a new array. Not counted as a task.
  void fill(Array target, double value);
  /// The task that sets all elements of a slice.
  void assign(Array target, double value);
  /// A scalar under another name. Not counted as a task.
  void rename(Array source, Array target);
  /// The task that copies `source` to `target`, broadcast.
  void assign(Array target, Array source);

  /// One task: `body` gives the lines of a function from `%a0`, `%a1`, ... (and constants of the same names) to `%r`.
  /// Tasks of the same name and text are the same. The result is a new array, or `target`, which may be an operand.
  Array apply(llvm::StringRef name, llvm::StringRef body, llvm::ArrayRef<Operand> operands,
              llvm::StringRef elementType = "f64");
  void applyTo(Array target, llvm::StringRef name, llvm::StringRef body, llvm::ArrayRef<Operand> operands);

  /// The task that adds the products of all elements to the scalar `target`, which is set to 0 first.
  void dotTo(Array target, Array a, Array b);
  Array dot(Array a, Array b);
  /// The product of a dense matrix and a vector: one task.
  Array matvec(Array matrix, Array vector);

  /// A sparse matrix by rows: `range[i]` to `range[i+1]` are the entries of row `i`.
  struct Csr {
    Array range, columns, values;
    int64_t rows;
  };
  /// The product with a vector: one opaque task.
  Array multiply(const Csr &matrix, Array vector);

  void beginLoop(int64_t steps);
  void endLoop();
  /// What follows, until endIf, is done if the scalar `condition` of type i1 is true.
  void beginIf(Array condition);
  void endIf();

  /// A line of the host program, as it is; `%` names in it must not be `%t` followed by a number.
  void host(llvm::StringRef text);

  /// The text of the module; `results` are returned.
  std::string finish(llvm::StringRef comment, llvm::ArrayRef<Array> results);

private:
  std::string newName() { return "%t" + std::to_string(numNames++); }
  void line(const llvm::Twine &text);
  std::string getPartition(const Array &array);
  std::string getStoreType(const Array &array);
  /// The symbol of the task with this text after its name.
  std::string getTask(llvm::StringRef name, const std::string &text);
  struct Argument {
    Array array;
    const char *privilege;
  };
  void launch(llvm::StringRef task, llvm::ArrayRef<Argument> arguments);
  void emitElementwise(llvm::StringRef name, const llvm::Twine &body, llvm::ArrayRef<Operand> operands, Array target);

  int64_t points;
  unsigned numNames = 0, depth = 1;
  std::string tasks, body;
  llvm::StringMap<std::string> taskSymbols;
  llvm::StringMap<unsigned> taskNames;
};

/// Elementwise operations on f64: one task each.
Array operator+(Operand a, Operand b);
Array operator-(Operand a, Operand b);
Array operator*(Operand a, Operand b);
Array operator/(Operand a, Operand b);
Array operator+=(Array target, Operand operand);
Array operator-=(Array target, Operand operand);
Array exp(Array a);
Array log(Array a);
Array sqrt(Array a);
Array abs(Array a);
Array negate(Array a);
Array square(Array a);
Array maximum(Operand a, Operand b);
Array minimum(Operand a, Operand b);
/// Elements of type i1; `predicate` is one of arith.cmpf.
Array compare(llvm::StringRef predicate, Operand a, Operand b);
Array where(Array condition, Operand a, Operand b);

} // namespace task_programs

#endif // FUSION_TOOLS_TASKPROGRAMS_STREAM_H
