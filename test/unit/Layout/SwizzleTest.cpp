//===- SwizzleTest.cpp - Tiles in shared memory ---------------------------===//

#include "fusion/Layout/Swizzle.h"

#include "gtest/gtest.h"

using namespace fusion;

TEST(Swizzle, EveryRowLengthIsConflictFree) {
  for (int64_t rows : {1, 8, 16, 24, 64, 128})
    for (int64_t bytes = 16; bytes <= 1024; bytes += 16) {
      SharedTile tile = getSharedTile(rows, bytes);
      EXPECT_TRUE(isConflictFree(tile)) << rows << " rows of " << bytes << " bytes";
      EXPECT_LE(tile.pitch, tile.rowBytes + 16);
    }
}

TEST(Swizzle, RowsThatAreNoMultipleOfAChunkAreRoundedUp) {
  EXPECT_EQ(getSharedTile(4, 10).pitch, 16);
  EXPECT_EQ(getSharedTile(4, 34).pitch, 48);
}

TEST(Swizzle, PowersOfTwoAreNotPadded) {
  for (int64_t bytes : {16, 32, 64, 128, 256, 384, 512})
    EXPECT_EQ(getSharedTile(64, bytes).getBytes(), 64 * bytes);
}

/// 48 bytes: an exchange among four chunks would leave the row.
TEST(Swizzle, AnExchangeOutsideOfTheRowIsFound) {
  SharedTile tile = getSharedTile(16, 48);
  tile.phases = 4;
  EXPECT_FALSE(isConflictFree(tile));
}

TEST(Swizzle, ConflictsAreFound) {
  SharedTile tile = getSharedTile(16, 128);
  tile.phases = 1;
  EXPECT_FALSE(isConflictFree(tile));
  tile = getSharedTile(16, 64);
  tile.rowsPerPhase = 1;
  EXPECT_FALSE(isConflictFree(tile));
}
