//===- Swizzle.cpp - Where a tile's elements are in shared memory ---------===//

#include "fusion/Layout/Swizzle.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace fusion {

constexpr int64_t chunkBytes = 16;
/// All 32 banks of 4 bytes.
constexpr int64_t waveBytes = 128;
constexpr int64_t chunksPerWave = waveBytes / chunkBytes;

int64_t SharedTile::getOffset(int64_t row, int64_t byte) const {
  int64_t chunk = byte / chunkBytes ^ (row / rowsPerPhase) % phases;
  return row * pitch + chunk * chunkBytes + byte % chunkBytes;
}

SharedTile getSharedTile(int64_t rows, int64_t rowBytes) {
  SharedTile tile;
  tile.rows = rows;
  tile.rowBytes = tile.pitch = alignTo(std::max<int64_t>(rowBytes, chunkBytes), chunkBytes);
  int64_t chunks = tile.rowBytes / chunkBytes;
  if (chunks % chunksPerWave == 0) {
    tile.phases = chunksPerWave;
  } else if (isPowerOf2_64(chunks)) {
    // Several rows share a wave; they differ in their banks by themselves.
    tile.phases = chunks;
    tile.rowsPerPhase = chunksPerWave / chunks;
  } else if (chunks % 2 == 0) {
    // An odd number of chunks from row to row visits all banks.
    tile.pitch += chunkBytes;
  }
  return tile;
}

bool isConflictFree(const SharedTile &tile) {
  DenseSet<int64_t> offsets;
  for (int64_t row = 0; row < tile.rows; ++row)
    for (int64_t byte = 0; byte < tile.rowBytes; byte += chunkBytes) {
      int64_t offset = tile.getOffset(row, byte);
      if (offset < 0 || offset + chunkBytes > tile.getBytes() || !offsets.insert(offset).second)
        return false;
    }
  auto collides = [&](SmallBitVector &banks, int64_t row, int64_t chunk) {
    int64_t bank = tile.getOffset(row, chunk * chunkBytes) % waveBytes / chunkBytes;
    bool taken = banks.test(bank);
    banks.set(bank);
    return taken;
  };
  int64_t chunks = tile.rowBytes / chunkBytes;
  for (int64_t chunk = 0; chunk < chunks; ++chunk)
    for (int64_t row = 0; row + chunksPerWave <= tile.rows; row += chunksPerWave) {
      SmallBitVector banks(chunksPerWave);
      for (int64_t i = 0; i < chunksPerWave; ++i)
        if (collides(banks, row + i, chunk))
          return false;
    }
  // Rows that are padded between are written row by row: only eight chunks of one row meet.
  for (int64_t row = 0; row < tile.rows; ++row)
    for (int64_t first = 0; first < chunks; first += chunksPerWave) {
      SmallBitVector banks(chunksPerWave);
      for (int64_t chunk = first; chunk < std::min(first + chunksPerWave, chunks); ++chunk)
        if (collides(banks, row, chunk))
          return false;
    }
  return true;
}

} // namespace fusion
