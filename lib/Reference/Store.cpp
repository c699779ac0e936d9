//===- Store.cpp - Stores of the dist dialect at run time -------------------===//

#include "Store.h"

using namespace fusion;
using namespace fusion::reference;

Shape StoreBox::getSizes() const {
  Shape sizes;
  for (auto [from, to] : llvm::zip(lower, upper))
    sizes.push_back(std::max<int64_t>(to - from, 0));
  return sizes;
}

bool StoreBox::isEmpty() const { return llvm::is_contained(getSizes(), 0); }

void reference::forEachElement(llvm::ArrayRef<int64_t> shape, const StoreBox &box,
                               llvm::function_ref<void(int64_t)> body) {
  if (box.isEmpty())
    return;
  Shape strides = getContiguousStrides(shape), index = box.lower;
  while (true) {
    int64_t element = 0;
    for (auto [coordinate, stride] : llvm::zip(index, strides))
      element += coordinate * stride;
    body(element);
    size_t axis = index.size();
    while (axis > 0 && ++index[axis - 1] == box.upper[axis - 1]) {
      index[axis - 1] = box.lower[axis - 1];
      --axis;
    }
    if (axis == 0)
      return;
  }
}

std::string reference::getElementText(llvm::ArrayRef<int64_t> shape, int64_t element) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "[";
  Shape strides = getContiguousStrides(shape);
  llvm::interleaveComma(llvm::zip(shape, strides), os, [&](auto axis) {
    auto [extent, stride] = axis;
    os << element / stride % extent;
  });
  os << "]";
  return text;
}

StoreBox StoreView::toRoot(StoreBox box) const {
  for (auto [axis, offset] : llvm::enumerate(offsets)) {
    box.lower[axis] += offset;
    box.upper[axis] += offset;
  }
  return box;
}
