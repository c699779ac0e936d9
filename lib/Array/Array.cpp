//===- Array.cpp - Making arrays, and views of them ---------------------------===//

#include "Impl.h"

#include <algorithm>
#include <cstring>

using namespace fusion;
using namespace fusion::array;

void fusion::array::fail(const std::string &text) { throw ArrayError(text); }

std::string fusion::array::formatShape(const Shape &shape) {
  std::string text = "(";
  for (size_t d = 0; d < shape.size(); ++d)
    text += (d ? ", " : "") + std::to_string(shape[d]);
  return text + ")";
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

ArrayLibrary &Array::getLibrary() const {
  if (!library)
    fail("the array is empty: it was not made by a library");
  return *library;
}

Shape Array::getShape() const {
  Shape shape;
  for (unsigned d = 0; d < storeRank; ++d)
    if (!(picked >> d & 1))
      shape.push_back(extent[d]);
  return shape;
}

unsigned Array::getRank() const { return storeRank - unsigned(__builtin_popcount(picked)); }

int64_t Array::getNumElements() const {
  int64_t count = 1;
  for (unsigned d = 0; d < storeRank; ++d)
    count *= extent[d];
  return count;
}

bool Array::isWhole() const {
  return !picked && std::equal(extent.begin(), extent.begin() + storeRank, store.getShape().begin());
}

Array Array::index(const std::vector<Slice> &slices) const {
  getLibrary();
  if (slices.size() > getRank())
    fail("too many indices: " + std::to_string(slices.size()) + " for an array of shape " + formatShape(getShape()));
  Array view = *this;
  unsigned next = 0;
  for (unsigned d = 0; d < storeRank && next < slices.size(); ++d) {
    if (picked >> d & 1)
      continue;
    const Slice &slice = slices[next++];
    int64_t size = extent[d];
    if (slice.isCoordinate) {
      int64_t at = *slice.start < 0 ? *slice.start + size : *slice.start;
      if (at < 0 || at >= size)
        fail("index " + std::to_string(*slice.start) + " is out of bounds for axis " + std::to_string(next - 1) +
             " with size " + std::to_string(size));
      view.offset[d] += at;
      view.extent[d] = 1;
      view.picked |= uint8_t(1 << d);
      continue;
    }
    if (slice.step != 1)
      fail("a slice has the step " + std::to_string(slice.step) + "; steps other than 1 are not supported");
    auto clamp = [size](std::optional<int64_t> bound, int64_t otherwise) {
      if (!bound)
        return otherwise;
      return std::clamp<int64_t>(*bound < 0 ? *bound + size : *bound, 0, size);
    };
    int64_t start = clamp(slice.start, 0), stop = clamp(slice.stop, size);
    view.offset[d] += start;
    view.extent[d] = std::max<int64_t>(stop - start, 0);
  }
  std::vector<int64_t> offsets(view.offset.begin(), view.offset.begin() + storeRank),
      extents(view.extent.begin(), view.extent.begin() + storeRank);
  view.partition = library->session.getRows(offsets, extents, storeRank >= 2 ? storeRank - 2 : 0);
  return view;
}

std::vector<double> Array::toVector() const {
  Session &session = getLibrary().getSession();
  size_t bytes = getElementBytes(type);
  int64_t count = 1;
  for (int64_t size : store.getShape())
    count *= size;
  std::vector<char> data(size_t(count) * bytes);
  session.read(store, data.data());
  std::vector<double> result;
  result.reserve(size_t(getNumElements()));
  const Shape &whole = store.getShape();
  std::array<int64_t, maxRank> at = {};
  for (int64_t left = getNumElements(); left > 0; --left) {
    int64_t linear = 0;
    for (unsigned d = 0; d < storeRank; ++d)
      linear = linear * whole[d] + offset[d] + at[d];
    const char *element = data.data() + size_t(linear) * bytes;
    auto load = [element](auto zero) {
      std::memcpy(&zero, element, sizeof(zero));
      return double(zero);
    };
    switch (type) {
    case ElementType::F64:
      result.push_back(load(double()));
      break;
    case ElementType::F32:
      result.push_back(load(float()));
      break;
    case ElementType::I64:
      result.push_back(load(int64_t()));
      break;
    case ElementType::I32:
      result.push_back(load(int32_t()));
      break;
    case ElementType::Bool:
      result.push_back(load(uint8_t()));
      break;
    }
    for (unsigned d = storeRank; d-- > 0;) {
      if (++at[d] < extent[d])
        break;
      at[d] = 0;
    }
  }
  return result;
}

double Array::item() const {
  if (getNumElements() != 1)
    fail("item() is of an array with one element; this one has the shape " + formatShape(getShape()));
  return toVector().front();
}

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

ArrayLibrary::ArrayLibrary(Session &session) : session(session), impl(std::make_unique<Impl>()) {}
ArrayLibrary::~ArrayLibrary() = default;

Array ArrayLibrary::wrap(Store store) {
  const Shape &shape = store.getShape();
  if (shape.size() > Array::maxRank)
    fail("arrays have at most " + std::to_string(Array::maxRank) + " dimensions");
  Array array;
  array.library = this;
  array.type = store.getElementType();
  array.storeRank = uint8_t(shape.size());
  std::copy(shape.begin(), shape.end(), array.extent.begin());
  if (!shape.empty()) {
    KindKey &key = impl->key;
    key.assign(shape.begin(), shape.end());
    auto it = impl->rows.find(key);
    if (it == impl->rows.end())
      it = impl->rows
               .emplace(key, session.getRows(Shape(shape.size(), 0), shape, shape.size() >= 2 ? shape.size() - 2 : 0))
               .first;
    array.partition = it->second;
  }
  array.store = std::move(store);
  return array;
}

Array ArrayLibrary::makeTarget(const int64_t *extents, unsigned rank, ElementType type) {
  return wrap(session.createStore(Shape(extents, extents + rank), type));
}

Array ArrayLibrary::empty(const Shape &shape, ElementType type) { return wrap(session.createStore(shape, type)); }

Array ArrayLibrary::full(const Shape &shape, double value, ElementType type) {
  return wrap(session.createFilled(shape, type, value));
}

template <typename T>
static Store makeStore(Session &session, const Shape &shape, ElementType type, const std::vector<double> &elements) {
  std::vector<T> data(elements.begin(), elements.end());
  return session.createFrom(shape, type, data.data());
}

Array ArrayLibrary::from(const Shape &shape, const std::vector<double> &elements, ElementType type) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  if (count != int64_t(elements.size()))
    fail("an array of shape " + formatShape(shape) + " has " + std::to_string(count) + " elements, " +
         std::to_string(elements.size()) + " are given");
  switch (type) {
  case ElementType::F64:
    return wrap(session.createFrom(shape, type, elements.data()));
  case ElementType::F32:
    return wrap(makeStore<float>(session, shape, type, elements));
  case ElementType::I64:
    return wrap(makeStore<int64_t>(session, shape, type, elements));
  case ElementType::I32:
    return wrap(makeStore<int32_t>(session, shape, type, elements));
  case ElementType::Bool:
    break;
  }
  std::vector<double> truth(elements.size());
  std::transform(elements.begin(), elements.end(), truth.begin(), [](double value) { return value != 0; });
  return wrap(makeStore<uint8_t>(session, shape, type, truth));
}

Array ArrayLibrary::arange(int64_t n, ElementType type) {
  if (n < 0)
    fail("arange counts to a number that is not negative");
  std::vector<double> elements(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i)
    elements[size_t(i)] = double(i);
  return from({n}, elements, type);
}

Array ArrayLibrary::random(const Shape &shape, uint64_t seed) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  std::vector<double> elements(static_cast<size_t>(std::max<int64_t>(count, 0)));
  for (size_t i = 0; i < elements.size(); ++i) {
    // A 64-bit mix of the position and the seed.
    uint64_t z = seed * 0xd1342543de82ef95 + (i + 1) * 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    elements[i] = double((z ^ z >> 31) >> 11) * 0x1p-53;
  }
  return from(shape, elements);
}
