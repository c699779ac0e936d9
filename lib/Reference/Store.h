//===- Store.h - Stores of the dist dialect at run time -----------*- C++ -*-===//
//
// In the sequential reading a store is one array. With simulated ranks each rank has a copy of its own that nothing but
// its own points and communication changes, and each element of a copy knows which write it comes from: an old or a
// missing element is found when it is read.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_LIB_REFERENCE_STORE_H
#define FUSION_LIB_REFERENCE_STORE_H

#include "RuntimeValue.h"
#include "fusion/Dist/Dist.h"

namespace fusion::reference {

/// The half-open box [lower, upper) of a store.
struct StoreBox {
  Shape lower, upper;

  Shape getSizes() const;
  bool isEmpty() const;
};

/// Calls `body` with the number, in row-major order of the whole store, of each element of a box.
void forEachElement(llvm::ArrayRef<int64_t> shape, const StoreBox &box, llvm::function_ref<void(int64_t)> body);

/// "[3, 4]": the coordinates of an element of a store.
std::string getElementText(llvm::ArrayRef<int64_t> shape, int64_t element);

/// Contributions of launches that reduce, until they are combined.
struct PendingReduction {
  mlir::Attribute reduction;
  dist::PlacementAttr placement;
  /// By rank; the identity where it has not contributed.
  std::vector<TensorValue> contributions;
  /// By rank and element: whether the rank has contributed.
  std::vector<std::vector<bool>> touched;
};

struct Store {
  Shape shape;
  ScalarType type;
  mlir::Type elementType;
  /// One, or one per simulated rank. Contiguous.
  std::vector<TensorValue> copies;

  // Simulated ranks only.
  /// By element: the number of the write that made its current value; 0 if there was none.
  std::vector<int64_t> current;
  /// By rank and element: the write that the rank's value comes from; 0 if it has none.
  std::vector<std::vector<int64_t>> held;
  /// By rank and element: how many exchanges under way send, or will overwrite, the rank's value.
  std::vector<std::vector<int>> sending, arriving;
  std::vector<PendingReduction> pending;
};

/// A store as a program sees it: all of it or a box.
struct StoreView {
  std::shared_ptr<Store> store;
  Shape offsets, shape;

  /// A box of the view as one of the root store.
  StoreBox toRoot(StoreBox box) const;
};

/// An exchange under way.
struct Transfer {
  struct Element {
    unsigned from, to;
    int64_t element;
  };
  std::shared_ptr<Store> store;
  std::vector<Element> elements;
};

} // namespace fusion::reference

#endif // FUSION_LIB_REFERENCE_STORE_H
