//===- Ranks.cpp - fusion-run under a launcher ------------------------------===//

#include "Ranks.h"

#include "Diagnostics.h"

#include "fusion/Dist/Dist.h"
#include "fusion/Runtime/Dist.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/DynamicLibrary.h"

#include <cstdlib>
#include <thread>

using namespace fusion;

int Ranks::start() {
  FusionMpiLauncher launcher = fusion_mpi_launcher();
  if (launcher.size == 1)
    return 0;
  // Only one may say why it fails.
  if (launcher.rank != 0)
    holdProblems();
  if (fusion_mpi_init() != FUSION_OK) {
    getProblemStream() << "fusion-run: error: " << fusion_rt_last_error() << '\n';
    return 2;
  }
  rank = fusion_mpi_rank();
  size = fusion_mpi_size();
  if (rank != 0)
    holdProblems();
  return 0;
}

int Ranks::finish(int status) {
  if (size > 1)
    fusion_mpi_finalize();
  return status;
}

unsigned Ranks::getDefaultThreads() const {
  unsigned available = unsigned(fusion_rt_thread_count());
  if (size == 1 || std::getenv("FUSION_THREADS"))
    return available;
  // A launcher that binds ranks to CPUs has shared them out.
  if (available < std::thread::hardware_concurrency())
    return available;
  unsigned here = unsigned(size);
  for (const char *name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"})
    if (const char *text = std::getenv(name)) {
      unsigned number;
      if (!llvm::StringRef(text).getAsInteger(10, number) && number > 0)
        here = number;
    }
  return std::max(1u, available / here);
}

int Ranks::agree(int status) {
  if (size == 1)
    return status;
  std::vector<int32_t> all(size);
  int32_t mine = status;
  if (fusion_mpi_all_gather(&mine, all.data(), sizeof(mine)) != FUSION_OK)
    return 2;
  int largest = *llvm::max_element(all);
  int first = int(llvm::find_if(all, [](int32_t other) { return other != 0; }) - all.begin());
  if (first == rank && rank != 0)
    releaseProblems();
  return largest;
}

llvm::Error Ranks::share(std::vector<HostArray> &arrays) {
  if (size == 1)
    return llvm::Error::success();
  auto check = [](FusionStatus status) {
    return status == FUSION_OK ? llvm::Error::success() : llvm::createStringError(fusion_rt_last_error());
  };
  constexpr uint64_t smallBytes = 4096;
  int64_t count = arrays.size();
  if (llvm::Error error = check(fusion_mpi_broadcast(&count, sizeof(count), 0)))
    return error;
  arrays.resize(count);
  for (HostArray &array : arrays) {
    int64_t header[2] = {int64_t(array.getKind()), array.getRank()};
    if (llvm::Error error = check(fusion_mpi_broadcast(header, sizeof(header), 0)))
      return error;
    llvm::SmallVector<int64_t> shape(array.getShape());
    shape.resize(header[1]);
    if (llvm::Error error = check(fusion_mpi_broadcast(shape.data(), header[1] * int64_t(sizeof(int64_t)), 0)))
      return error;
    if (!isRoot()) {
      auto made = HostArray::createUninitialized(ElementKind(header[0]), shape);
      if (!made)
        return made.takeError();
      array = std::move(*made);
    }
    if (array.getSizeInBytes() <= smallBytes)
      if (llvm::Error error = check(fusion_mpi_broadcast(array.getMutableData(), int64_t(array.getSizeInBytes()), 0)))
        return error;
  }
  return llvm::Error::success();
}

void Ranks::waitForAll() {
  if (size > 1)
    fusion_mpi_barrier();
}

RankTotals Ranks::getTotals(uint64_t peakBytes) {
  RankTotals totals = {0, 0, peakBytes};
  if (size == 1)
    return totals;
  FusionMpiStatistics statistics = {};
  fusion_mpi_statistics(&statistics);
  uint64_t mine[3] = {statistics.messages, statistics.bytes_sent, peakBytes};
  std::vector<uint64_t> all(size_t(size) * 3);
  fusion_mpi_all_gather(mine, all.data(), sizeof(mine));
  for (int i = 0; i < size; ++i) {
    totals.messages += all[3 * i];
    totals.bytesSent += all[3 * i + 1];
    totals.peakBytes = std::max(totals.peakBytes, all[3 * i + 2]);
  }
  return totals;
}

llvm::LogicalResult fusion::checkExternals(mlir::ModuleOp module) {
  llvm::StringSet<> known;
  size_t count = 0;
  const FusionDistSymbol *symbols = fusion_dist_symbols(&count);
  for (size_t i = 0; i < count; ++i)
    known.insert(symbols[i].name);
  for (auto task : module.getOps<dist::TaskOp>()) {
    std::optional<llvm::StringRef> name = task.getExternal();
    if (name && !known.contains(*name) && !llvm::sys::DynamicLibrary::SearchForAddressOfSymbol(name->str()))
      return task.emitOpError("names the C function '")
             << *name << "', which is neither in the run-time nor in a library given by --library";
  }
  return mlir::success();
}
