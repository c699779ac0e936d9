//===- Matrix.cpp - ldmatrix, stmatrix and mma.sync -------------------------===//
//
// Lane maps after the PTX ISA, sections 'Warp-level matrix load instruction' and 'Matrix fragments for mma'. One formula
// covers them: a 32-bit register holds e elements that are neighbours along k; lane = 4 * group + member.
//
//   A: register r, element i:  row = group + 8 * (r mod 2), k = member * e + i + (r / 2) * 4 * e    (16 rows)
//   B: register r, element i:  k = member * e + i + r * 4 * e, column = group
//   C: element i:              row = group + 8 * (i / 2), column = member * 2 + i mod 2
//
//===------------------------------------------------------------------------===//

#include "Matrix.h"

#include "Access.h"

#include "BitCast.h"
#include "fusion/Runtime/HalfFloat.h"

#include <cmath>
#include <cstring>

using namespace fusion::emulator;

namespace {
double decodeF8(uint32_t bits, unsigned mantissaBits, int bias, bool hasInfinity) {
  uint32_t mantissa = bits & ((1u << mantissaBits) - 1);
  int exponent = int(bits >> mantissaBits & (0x7fu >> mantissaBits));
  int largest = int(0x7fu >> mantissaBits);
  double sign = bits & 0x80 ? -1 : 1;
  if (hasInfinity && exponent == largest)
    return mantissa ? NAN : sign * INFINITY;
  if (!hasInfinity && (bits & 0x7f) == 0x7f)
    return NAN;
  if (exponent == 0)
    return sign * std::ldexp(double(mantissa), 1 - bias - int(mantissaBits));
  return sign * std::ldexp(double(mantissa | 1u << mantissaBits), exponent - bias - int(mantissaBits));
}
} // namespace

double fusion::emulator::decode(MatrixType type, uint64_t bits) {
  switch (type) {
  case MatrixType::F16:
    return fusion_rt_half_to_float(uint16_t(bits));
  case MatrixType::BF16:
    return bitCast<float>(uint32_t(bits) << 16);
  case MatrixType::TF32:
    return bitCast<float>(uint32_t(bits) & ~0x1fffu);
  case MatrixType::F32:
    return bitCast<float>(uint32_t(bits));
  case MatrixType::F64:
    return bitCast<double>(bits);
  case MatrixType::S8:
    return int8_t(bits);
  case MatrixType::U8:
    return uint8_t(bits);
  case MatrixType::S32:
    return int32_t(bits);
  case MatrixType::E4M3:
    return decodeF8(uint32_t(bits) & 0xff, 3, 7, false);
  case MatrixType::E5M2:
    return decodeF8(uint32_t(bits) & 0xff, 2, 15, true);
  }
  return NAN;
}

unsigned fusion::emulator::getBits(MatrixType type) {
  switch (type) {
  case MatrixType::F16:
  case MatrixType::BF16:
    return 16;
  case MatrixType::TF32:
  case MatrixType::F32:
  case MatrixType::S32:
    return 32;
  case MatrixType::F64:
    return 64;
  case MatrixType::S8:
  case MatrixType::U8:
  case MatrixType::E4M3:
  case MatrixType::E5M2:
    return 8;
  }
  return 0;
}

static uint32_t roundTowardZero(double exact) {
  // Beyond the largest float the result is an infinity all the same.
  float nearest = float(exact);
  uint32_t bits = bitCast<uint32_t>(nearest);
  if (std::isfinite(nearest) && std::fabs(double(nearest)) > std::fabs(exact))
    --bits;
  else if (std::isinf(nearest) && std::fabs(exact) < 0x1p128)
    --bits;
  return bits;
}

uint64_t fusion::emulator::encodeAccumulator(MatrixType type, double exact) {
  switch (type) {
  case MatrixType::F16:
    return fusion_rt_double_to_half(exact);
  case MatrixType::F32:
    return roundTowardZero(exact);
  case MatrixType::S32:
    return uint32_t(int64_t(exact));
  default:
    return bitCast<uint64_t>(exact);
  }
}

namespace {
struct Shape {
  unsigned m, n, k;
};

/// The 8-byte slots that a lane passes.
struct Slots {
  const uint64_t *values;
  uint64_t element(unsigned slot, unsigned index, unsigned bits) const {
    return bits == 64 ? values[slot] : values[slot] >> (index * bits) & ((uint64_t(1) << bits) - 1);
  }
};
} // namespace

void fusion::emulator::multiplyMatrices(Block &block, Warp &warp, const Site &site) {
  const Shape shape{site.params[0], site.params[1], site.params[2]};
  const MatrixType typeA = MatrixType(site.params[3]), typeB = MatrixType(site.params[4]);
  const MatrixType typeC = MatrixType(site.params[5]), typeD = MatrixType(site.params[6]);
  const unsigned bitsA = getBits(typeA), bitsB = getBits(typeB);
  const unsigned perA = bitsA == 64 ? 1 : 32 / bitsA, perB = bitsB == 64 ? 1 : 32 / bitsB;
  const unsigned rowBlocks = shape.m / 8;
  const unsigned slotsA = shape.m * shape.k / warpSize / perA, slotsB = shape.k * shape.n / warpSize / perB;
  const unsigned elementsC = shape.m * shape.n / warpSize;
  const unsigned perC = typeC == MatrixType::F16 ? 2 : 1, perD = typeD == MatrixType::F16 ? 2 : 1;

  double a[16][32], b[32][8];
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    Slots in{static_cast<const uint64_t *>(block.getThread(warp, lane).in)};
    unsigned group = lane / 4, member = lane % 4;
    for (unsigned r = 0; r < slotsA; ++r)
      for (unsigned i = 0; i < perA; ++i)
        a[group + 8 * (r % rowBlocks)][member * perA + i + r / rowBlocks * 4 * perA] =
            decode(typeA, in.element(r, i, bitsA));
    for (unsigned r = 0; r < slotsB; ++r)
      for (unsigned i = 0; i < perB; ++i)
        b[member * perB + i + r * 4 * perB][group] = decode(typeB, in.element(slotsA + r, i, bitsB));
  }
  double d[16][8];
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    Slots in{static_cast<const uint64_t *>(block.getThread(warp, lane).in)};
    for (unsigned i = 0; i < elementsC; ++i)
      d[lane / 4 + 8 * (i / 2)][lane % 4 * 2 + i % 2] =
          decode(typeC, in.element(slotsA + slotsB + i / perC, i % perC, getBits(typeC)));
  }
  for (unsigned row = 0; row < shape.m; ++row)
    for (unsigned k = 0; k < shape.k; ++k)
      for (unsigned column = 0; column < 8; ++column)
        d[row][column] += a[row][k] * b[k][column];
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    uint64_t *out = static_cast<uint64_t *>(block.getThread(warp, lane).out);
    for (unsigned slot = 0; slot < elementsC / perD; ++slot)
      out[slot] = 0;
    for (unsigned i = 0; i < elementsC; ++i)
      out[i / perD] |= encodeAccumulator(typeD, d[lane / 4 + 8 * (i / 2)][lane % 4 * 2 + i % 2])
                       << (i % perD * getBits(typeD) % 64);
  }
}

void fusion::emulator::loadMatrix(Block &block, Warp &warp, const Site &site) {
  unsigned count = site.params[0];
  bool isTransposed = site.params[1];
  uint16_t rows[4][8][8];
  for (unsigned matrix = 0; matrix < count; ++matrix) {
    uint32_t offsets[8];
    for (unsigned row = 0; row < 8; ++row) {
      Thread &owner = block.getThread(warp, matrix * 8 + row);
      uint64_t address = *static_cast<const uint64_t *>(owner.in);
      offsets[row] = locateShared(owner, site, address, 16, 16);
      touchShared(owner, site, offsets[row], 16, AccessKind::Read);
      std::memcpy(rows[matrix][row], block.shared.getBase() + offsets[row], 16);
    }
    block.launch.traffic.accessRows(site, offsets, 8);
  }
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    uint64_t *out = static_cast<uint64_t *>(block.getThread(warp, lane).out);
    unsigned group = lane / 4, member = lane % 4;
    for (unsigned matrix = 0; matrix < count; ++matrix) {
      auto &m = rows[matrix];
      uint32_t low = isTransposed ? m[2 * member][group] : m[group][2 * member];
      uint32_t high = isTransposed ? m[2 * member + 1][group] : m[group][2 * member + 1];
      out[matrix] = low | high << 16;
    }
  }
}

void fusion::emulator::storeMatrix(Block &block, Warp &warp, const Site &site) {
  unsigned count = site.params[0];
  bool isTransposed = site.params[1];
  for (unsigned matrix = 0; matrix < count; ++matrix) {
    uint16_t m[8][8];
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      uint32_t value = uint32_t(static_cast<const uint64_t *>(block.getThread(warp, lane).in)[1 + matrix]);
      unsigned group = lane / 4, member = lane % 4;
      (isTransposed ? m[2 * member][group] : m[group][2 * member]) = uint16_t(value);
      (isTransposed ? m[2 * member + 1][group] : m[group][2 * member + 1]) = uint16_t(value >> 16);
    }
    uint32_t offsets[8];
    for (unsigned row = 0; row < 8; ++row) {
      Thread &owner = block.getThread(warp, matrix * 8 + row);
      uint64_t address = *static_cast<const uint64_t *>(owner.in);
      offsets[row] = locateShared(owner, site, address, 16, 16);
      touchShared(owner, site, offsets[row], 16, AccessKind::Write);
      std::memcpy(block.shared.getBase() + offsets[row], m[row], 16);
    }
    block.launch.traffic.accessRows(site, offsets, 8);
  }
}
