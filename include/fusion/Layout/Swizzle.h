//===- Swizzle.h - Where a tile's elements are in shared memory -----------===//
//
// A tile of rows in shared memory, moved in chunks of 16 bytes. Rows whose chunk columns would meet in the same banks
// get their chunks exchanged: chunk c of row r is at chunk c xor ((r / rowsPerPhase) mod phases). The exchange stays
// inside of aligned groups of `phases` chunks, so that a row of any length is permuted within itself: nothing is moved
// out of bounds. Where a row's length has no power of two of chunks, rows are padded instead.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_LAYOUT_SWIZZLE_H
#define FUSION_LAYOUT_SWIZZLE_H

#include "mlir/Support/LLVM.h"

namespace fusion {

struct SharedTile {
  int64_t rows = 0;
  /// Bytes of a row that hold elements, and from one row to the next; both multiples of 16.
  int64_t rowBytes = 0, pitch = 0;
  /// A power of two; 1 is no exchange.
  int64_t phases = 1;
  int64_t rowsPerPhase = 1;

  int64_t getBytes() const { return rows * pitch; }
  /// The byte offset of byte `byte` of row `row`.
  int64_t getOffset(int64_t row, int64_t byte) const;
};

/// The best arrangement of a tile for accesses of eight rows at the same chunk (ldmatrix) and of eight chunks of the
/// same row (16-byte copies). `isConflictFree` holds for it whatever the shape.
SharedTile getSharedTile(int64_t rows, int64_t rowBytes);

/// Whether offsets are distinct and within getBytes(), and eight consecutive rows at the same chunk, and eight
/// consecutive chunks in the order of rows, never meet in a bank: by trying all of them.
bool isConflictFree(const SharedTile &tile);

} // namespace fusion

#endif // FUSION_LAYOUT_SWIZZLE_H
