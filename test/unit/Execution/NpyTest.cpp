//===- NpyTest.cpp - NumPy's .npy files -------------------------------------===//
//
// What each sound or broken file says is tested with fusion-run; here are round trips and a sweep over damaged files.
//
//===------------------------------------------------------------------------===//

#include "fusion/Execution/Npy.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <gtest/gtest.h>

#include <random>

using namespace fusion;

namespace {

class Npy : public testing::Test {
protected:
  void SetUp() override { ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("fusion", "npy", path)); }
  void TearDown() override { llvm::sys::fs::remove(path); }

  std::string write(const HostArray &array) {
    llvm::cantFail(writeNpy(path, array));
    auto file = llvm::MemoryBuffer::getFile(path, false, false);
    return (*file)->getBuffer().str();
  }

  llvm::SmallString<128> path;
};

TEST_F(Npy, RoundTrip) {
  for (unsigned number = 0; number <= unsigned(ElementKind::Index); ++number) {
    ElementKind kind = ElementKind(number);
    for (llvm::SmallVector<int64_t> shape : {llvm::SmallVector<int64_t>{}, {5}, {0, 4}, {2, 3, 1, 2}}) {
      auto array = llvm::cantFail(HostArray::create(kind, shape));
      for (int64_t i = 0; i < array.getNumElements(); ++i)
        array.setInteger(i, i % 2 ? -i : i);
      std::string bytes = write(array);
      EXPECT_EQ((bytes.size() - array.getSizeInBytes()) % 64, 0u);
      llvm::Expected<HostArray> read = readNpy(path, kind);
      ASSERT_TRUE(bool(read)) << llvm::toString(read.takeError());
      EXPECT_EQ(read->getKind(), kind);
      EXPECT_EQ(read->getShape(), llvm::ArrayRef<int64_t>(shape));
      EXPECT_EQ(std::memcmp(read->getData(), array.getData(), array.getSizeInBytes()), 0);
    }
  }
}

TEST_F(Npy, DamagedFilesAreErrors) {
  auto array = llvm::cantFail(HostArray::create(ElementKind::F32, {3, 4}));
  std::string bytes = write(array);
  auto parse = [](llvm::StringRef data) { return parseNpy(llvm::MemoryBufferRef(data, "damaged"), ElementKind::F32); };
  for (size_t length = 0; length < bytes.size(); ++length) {
    llvm::Expected<HostArray> read = parse(llvm::StringRef(bytes).take_front(length));
    ASSERT_FALSE(bool(read)) << length;
    std::string text = llvm::toString(read.takeError());
    EXPECT_EQ(text.find("damaged: "), 0u) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  }
  std::mt19937 random(2);
  for (int i = 0; i < 20000; ++i) {
    std::string copy = bytes;
    for (int change = random() % 4; change >= 0; --change)
      copy[random() % 128] = char(random());
    llvm::Expected<HostArray> read = parse(copy);
    if (read)
      EXPECT_EQ(read->getSizeInBytes(), array.getSizeInBytes());
    else
      llvm::consumeError(read.takeError());
  }
}

} // namespace
