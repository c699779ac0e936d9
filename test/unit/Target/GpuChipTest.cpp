//===- GpuChipTest.cpp - Descriptions of chips ----------------------------===//

#include "fusion/Target/GpuChip.h"
#include "fusion/Target/Target.h"

#include "gtest/gtest.h"

using namespace fusion;

TEST(GpuChip, AllAreFoundByTheirName) {
  std::vector<std::string> names;
  for (const GpuChip &chip : getGpuChips()) {
    names.push_back(chip.name.str());
    llvm::Expected<GpuChip> found = getGpuChip(chip.name);
    ASSERT_TRUE(bool(found));
    EXPECT_EQ(found->computeCapability, chip.computeCapability);
    EXPECT_LT(chip.sharedPerBlock, chip.sharedPerUnit + 1);
    llvm::Expected<Target> target = getTarget(chip.name);
    ASSERT_TRUE(bool(target));
    EXPECT_LT(target->blockBytes, chip.sharedPerBlock);
    EXPECT_GT(target->blockBytes, chip.sharedPerBlock / 2);
    EXPECT_EQ(target->kind, Target::Kind::GPU);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"sm_70", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100"}));
}

TEST(GpuChip, LimitsOfSharedMemory) {
  auto getShared = [](llvm::StringRef name) { return llvm::cantFail(getGpuChip(name)).sharedPerBlock >> 10; };
  EXPECT_EQ(getShared("sm_70"), 96);
  EXPECT_EQ(getShared("a100"), 163);
  EXPECT_EQ(getShared("sm_86"), 99);
  EXPECT_EQ(getShared("sm_89"), 99);
  EXPECT_EQ(getShared("h100"), 227);
  EXPECT_EQ(getShared("sm_100"), 227);
}

TEST(GpuChip, FeaturesComeWithTheirChip) {
  EXPECT_FALSE(llvm::cantFail(getGpuChip("sm_70")).hasMma16816);
  EXPECT_TRUE(llvm::cantFail(getGpuChip("sm_80")).hasAsyncCopy);
  EXPECT_FALSE(llvm::cantFail(getGpuChip("sm_86")).hasFloat8Mma);
  EXPECT_TRUE(llvm::cantFail(getGpuChip("sm_89")).hasFloat8Mma);
  EXPECT_FALSE(llvm::cantFail(getGpuChip("sm_90")).hasWarpgroupMma);
  EXPECT_TRUE(llvm::cantFail(getGpuChip("sm_90a")).hasWarpgroupMma);
  EXPECT_FALSE(llvm::cantFail(getGpuChip("sm_100")).hasWarpgroupMma);
}

TEST(GpuChip, AnUnknownChipIsOneLine) {
  llvm::Expected<GpuChip> chip = getGpuChip("sm_81");
  ASSERT_FALSE(bool(chip));
  EXPECT_EQ(llvm::toString(chip.takeError()),
            "unknown chip 'sm_81': accepted are sm_70, sm_80, sm_86, sm_89, sm_90, sm_90a, sm_100");
}
