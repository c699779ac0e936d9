//===- Layout.cpp - Which register of which thread holds which element ----===//

#include "fusion/Layout/Layout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace fusion {

constexpr unsigned numLaneBits = 5;

Layout::Layout(Bits registers, Bits lanes, Bits warps, ArrayRef<int64_t> repeats)
    : registers(std::move(registers)), lanes(std::move(lanes)), warps(std::move(warps)), repeats(repeats),
      numBits(repeats.size(), 0) {
  this->lanes.resize(std::max<size_t>(numLaneBits, this->lanes.size()));
  for (const Bits *bits : {&this->registers, &this->lanes, &this->warps})
    for (CoordinateBit bit : *bits)
      if (!bit.isBroadcast() && unsigned(bit.dim) < numBits.size())
        ++numBits[bit.dim];
}

int64_t Layout::getNumRegisters() const {
  int64_t number = int64_t(1) << registers.size();
  for (int64_t repeat : repeats)
    number *= repeat;
  return number;
}

static void addBits(const Layout::Bits &bits, int64_t number, Layout::Point &point) {
  for (auto [i, bit] : enumerate(bits))
    if (!bit.isBroadcast() && (number >> i & 1))
      point[bit.dim] += int64_t(1) << bit.position;
}

Layout::Point Layout::getRegisterPart(int64_t number) const {
  Point point(getRank(), 0);
  addBits(registers, number, point);
  int64_t repetition = number >> registers.size();
  for (unsigned dim = getRank(); dim-- > 0;) {
    point[dim] += repetition % repeats[dim] * getAtom(dim);
    repetition /= repeats[dim];
  }
  return point;
}

Layout::Point Layout::getThreadPart(int64_t lane, int64_t warp) const {
  Point point(getRank(), 0);
  addBits(lanes, lane, point);
  addBits(warps, warp, point);
  return point;
}

Layout::Point Layout::getPoint(int64_t number, int64_t lane, int64_t warp) const {
  Point point = getRegisterPart(number);
  for (auto [sum, part] : zip(point, getThreadPart(lane, warp)))
    sum += part;
  return point;
}

std::optional<int64_t> Layout::findRegister(ArrayRef<int64_t> part) const {
  int64_t repetition = 0, number = 0;
  Point rest;
  for (unsigned dim = 0; dim < getRank(); ++dim) {
    int64_t repeat = part[dim] / getAtom(dim);
    if (part[dim] < 0 || repeat >= repeats[dim])
      return std::nullopt;
    repetition = repetition * repeats[dim] + repeat;
    rest.push_back(part[dim] % getAtom(dim));
  }
  for (auto [i, bit] : enumerate(registers)) {
    if (bit.isBroadcast() || !(rest[bit.dim] >> bit.position & 1))
      continue;
    number |= int64_t(1) << i;
    rest[bit.dim] -= int64_t(1) << bit.position;
  }
  if (any_of(rest, [](int64_t left) { return left != 0; }))
    return std::nullopt;
  return repetition << registers.size() | number;
}

bool Layout::isValid() const {
  if (lanes.size() != numLaneBits || any_of(repeats, [](int64_t repeat) { return repeat < 1; }))
    return false;
  SmallVector<SmallBitVector> seen;
  for (int bits : numBits)
    seen.emplace_back(bits);
  for (const Bits *bits : {&registers, &lanes, &warps})
    for (CoordinateBit bit : *bits) {
      if (bit.isBroadcast())
        continue;
      if (unsigned(bit.dim) >= getRank() || bit.position < 0 || bit.position >= numBits[bit.dim] ||
          seen[bit.dim].test(bit.position))
        return false;
      seen[bit.dim].set(bit.position);
    }
  // A register that holds what another one of the same thread holds is a waste that nobody asked for.
  return none_of(registers, [](CoordinateBit bit) { return bit.isBroadcast(); });
}

Layout Layout::project(ArrayRef<unsigned> dims) const {
  auto move = [&](const Bits &bits, bool keepBroadcasts) {
    Bits result;
    for (CoordinateBit bit : bits) {
      CoordinateBit moved;
      if (!bit.isBroadcast())
        if (const auto *found = find(dims, unsigned(bit.dim)); found != dims.end())
          moved = {int(found - dims.begin()), bit.position};
      if (keepBroadcasts || !moved.isBroadcast())
        result.push_back(moved);
    }
    return result;
  };
  SmallVector<int64_t> kept;
  for (unsigned dim : dims)
    kept.push_back(repeats[dim]);
  return Layout(move(registers, false), move(lanes, true), move(warps, true), kept);
}

Layout Layout::expand(unsigned rank, ArrayRef<unsigned> dims, ArrayRef<int64_t> extents) const {
  auto move = [&](Bits bits) {
    for (CoordinateBit &bit : bits)
      if (!bit.isBroadcast())
        bit.dim = dims[bit.dim];
    return bits;
  };
  SmallVector<int64_t> all(extents.begin(), extents.begin() + rank);
  for (auto [i, dim] : enumerate(dims))
    all[dim] = repeats[i];
  return Layout(move(registers), move(lanes), move(warps), all);
}

int64_t Layout::getVectorLength(unsigned dim) const {
  int64_t length = 1;
  for (auto [i, bit] : enumerate(registers)) {
    if (bit.dim != int(dim) || bit.position != int(i))
      break;
    length *= 2;
  }
  return length;
}

bool Layout::operator==(const Layout &other) const {
  return registers == other.registers && lanes == other.lanes && warps == other.warps && repeats == other.repeats;
}

std::string Layout::print() const {
  std::string text;
  raw_string_ostream os(text);
  auto printBits = [&](StringRef name, const Bits &bits) {
    os << name << "[";
    interleave(
        bits, os,
        [&](CoordinateBit bit) {
          if (bit.isBroadcast())
            os << "-";
          else
            os << bit.dim << "." << bit.position;
        },
        " ");
    os << "] ";
  };
  printBits("regs", registers);
  printBits("lanes", lanes);
  printBits("warps", warps);
  os << "x[";
  interleave(repeats, os, " ");
  os << "]";
  return text;
}

std::optional<Layout> Layout::parse(StringRef text) {
  SmallVector<StringRef, 8> words[4];
  constexpr StringRef names[] = {"regs[", "lanes[", "warps[", "x["};
  for (auto [index, name] : enumerate(names)) {
    text = text.ltrim();
    size_t end = text.find(']');
    if (!text.consume_front(name) || end == StringRef::npos)
      return std::nullopt;
    auto [list, rest] = text.split(']');
    list.split(words[index], ' ', -1, /*KeepEmpty=*/false);
    text = rest;
  }
  if (!text.trim().empty())
    return std::nullopt;
  Bits bits[3];
  for (unsigned i = 0; i < 3; ++i)
    for (StringRef word : words[i]) {
      CoordinateBit bit;
      auto [dim, position] = word.split('.');
      if (word != "-" && (dim.getAsInteger(10, bit.dim) || position.getAsInteger(10, bit.position)))
        return std::nullopt;
      bits[i].push_back(bit);
    }
  SmallVector<int64_t> repeats;
  for (StringRef word : words[3])
    if (word.getAsInteger(10, repeats.emplace_back()))
      return std::nullopt;
  Layout layout(bits[0], bits[1], bits[2], repeats);
  if (!layout.isValid())
    return std::nullopt;
  return layout;
}

/// Registers, lanes and warps with a bit for the same coordinate bit, for both layouts.
Conversion getConversion(const Layout &from, const Layout &to) {
  if (from == to)
    return Conversion::None;
  bool sameExtents = from.getRank() == to.getRank() && from.getNumWarps() == to.getNumWarps();
  for (unsigned dim = 0; sameExtents && dim < from.getRank(); ++dim)
    sameExtents = from.getExtent(dim) == to.getExtent(dim);
  if (!sameExtents)
    return Conversion::Shared;
  // A thread finds in its own registers what it needs exactly if its part of the coordinates is among those that it
  // holds: every thread bit of `from` is the same in `to`. Threads hold more in `from` where it broadcasts less.
  auto isThreadSame = [](const Layout::Bits &from, const Layout::Bits &to) { return from == to; };
  if (isThreadSame(from.getLaneBits(), to.getLaneBits()) && isThreadSame(from.getWarpBits(), to.getWarpBits()))
    return Conversion::Registers;
  return isThreadSame(from.getWarpBits(), to.getWarpBits()) ? Conversion::Shuffle : Conversion::Shared;
}

SmallVector<int64_t> getRegisterMap(const Layout &from, const Layout &to) {
  SmallVector<int64_t> map;
  for (int64_t number = 0, count = to.getNumRegisters(); number < count; ++number)
    map.push_back(from.findRegister(to.getRegisterPart(number)).value_or(-1));
  return map;
}

} // namespace fusion
