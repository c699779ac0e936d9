//===- BoxCopy.cpp - Boxes between windows and messages ---------------------===//

#include "fusion/Analysis/BoxPlan.h"

#include <cstring>

using namespace fusion::boxes;

namespace {

/// The longest run that is copied as if it were one element.
constexpr int64_t maxElement = 32;

/// One loop of a copy; strides in bytes.
struct Loop {
  int64_t extent, from, to;
};

template <size_t count>
struct Bytes {
  char bytes[count];
};

template <typename Element>
void copyStrided(const char *from, char *to, const Loop &loop) {
  for (int64_t i = 0; i < loop.extent; ++i)
    std::memcpy(to + i * loop.to, from + i * loop.from, sizeof(Element));
}

void copyRow(const char *from, char *to, const Loop &loop, int64_t elementBytes) {
  if (loop.from == elementBytes && loop.to == elementBytes) {
    std::memcpy(to, from, loop.extent * elementBytes);
    return;
  }
  switch (elementBytes) {
  case 1:
    return copyStrided<Bytes<1>>(from, to, loop);
  case 2:
    return copyStrided<Bytes<2>>(from, to, loop);
  case 4:
    return copyStrided<Bytes<4>>(from, to, loop);
  case 8:
    return copyStrided<Bytes<8>>(from, to, loop);
  case 16:
    return copyStrided<Bytes<16>>(from, to, loop);
  case 24:
    return copyStrided<Bytes<24>>(from, to, loop);
  case 32:
    return copyStrided<Bytes<32>>(from, to, loop);
  default:
    for (int64_t i = 0; i < loop.extent; ++i)
      std::memcpy(to + i * loop.to, from + i * loop.from, elementBytes);
  }
}

void copyLoops(const char *from, char *to, const Loop *loop, size_t depth, int64_t elementBytes) {
  if (depth == 1)
    return copyRow(from, to, *loop, elementBytes);
  for (int64_t i = 0; i < loop->extent; ++i)
    copyLoops(from + i * loop->from, to + i * loop->to, loop + 1, depth - 1, elementBytes);
}

char *getAddress(const Box &box, const Window &window, int64_t elementBytes) {
  int64_t offset = 0;
  for (size_t d = 0; d < box.lower.size(); ++d)
    offset += (box.lower[d] - window.origin[d]) * window.strides[d];
  return window.data + offset * elementBytes;
}

/// A window of the box's own size without gaps.
Window makeDense(const Box &box, char *data) {
  Window window = {data, box.lower, box.lower, box.lower};
  int64_t stride = 1;
  for (size_t d = box.lower.size(); d-- > 0;) {
    window.sizes[d] = box.upper[d] - box.lower[d];
    window.strides[d] = stride;
    stride *= window.sizes[d];
  }
  return window;
}

} // namespace

Box Window::getBox() const {
  Box box = {origin, origin};
  for (size_t d = 0; d < origin.size(); ++d)
    box.upper[d] += sizes[d];
  return box;
}

void fusion::boxes::copyBox(const Box &box, const Window &from, const Window &to, int64_t elementBytes) {
  if (box.isEmpty())
    return;
  const char *source = getAddress(box, from, elementBytes);
  char *target = getAddress(box, to, elementBytes);
  // Loops that run over memory without a gap become one.
  std::vector<Loop> loops;
  for (size_t d = 0; d < box.lower.size(); ++d) {
    Loop inner = {box.upper[d] - box.lower[d], from.strides[d] * elementBytes, to.strides[d] * elementBytes};
    if (inner.extent == 1)
      continue;
    if (!loops.empty() && loops.back().from == inner.from * inner.extent && loops.back().to == inner.to * inner.extent)
      loops.back() = {loops.back().extent * inner.extent, inner.from, inner.to};
    else
      loops.push_back(inner);
  }
  // A few columns: a short run without gaps is copied like one wide element.
  if (loops.size() > 1 && loops.back().from == elementBytes && loops.back().to == elementBytes &&
      loops.back().extent * elementBytes <= maxElement) {
    elementBytes *= loops.back().extent;
    loops.pop_back();
  }
  if (loops.empty())
    loops.push_back({1, elementBytes, elementBytes});
  copyLoops(source, target, loops.data(), loops.size(), elementBytes);
}

void fusion::boxes::packBox(const Box &box, const Window &from, char *to, int64_t elementBytes) {
  copyBox(box, from, makeDense(box, to), elementBytes);
}

void fusion::boxes::unpackBox(const Box &box, const char *from, const Window &to, int64_t elementBytes) {
  // Only read through.
  copyBox(box, makeDense(box, const_cast<char *>(from)), to, elementBytes);
}

char *fusion::boxes::getContiguous(const Box &box, const Window &window, int64_t elementBytes) {
  int64_t expected = 1;
  for (size_t d = box.lower.size(); d-- > 0;) {
    int64_t extent = box.upper[d] - box.lower[d];
    if (extent != 1 && window.strides[d] != expected)
      return nullptr;
    expected *= extent;
  }
  return getAddress(box, window, elementBytes);
}
