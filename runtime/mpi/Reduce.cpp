//===- Reduce.cpp - Reductions of arrays over all ranks ---------------------===//
//
// MPI_Allreduce may combine in any order, and differently from run to run. Here every rank's values are brought
// together and combined in the order of ranks: small arrays by one all-gather, large ones in slices, of which each rank
// combines one.
//
//===------------------------------------------------------------------------===//

#include "Combine.h"
#include "Memref.h"
#include "World.h"

#include <cstring>
#include <vector>

using namespace fusion;
using namespace fusion::runtime;
using namespace fusion::runtime::mpi;

namespace {

struct Reduction {
  World &world;
  int32_t op, type, root;
  char *data;
  int64_t count, elementBytes;

  bool wantsResult(int32_t rank) const { return root == FUSION_MPI_ALL_RANKS || root == rank; }

  FusionStatus outOfMemory() const { return world.fail(FUSION_OUT_OF_MEMORY, "fusion_mpi_reduce: out of memory"); }
  FusionStatus failed(const char *text) const { return world.failCommunication("fusion_mpi_reduce", text); }

  FusionStatus run() {
    if (world.size == 1) {
      const void *input = data;
      combine(op, type, &input, 1, data, count);
      return FUSION_OK;
    }
    return count * elementBytes <= maxGather / world.size ? runSmall() : runLarge();
  }

  FusionStatus runSmall() {
    int64_t bytes = count * elementBytes;
    Buffer all;
    if (!all.reserve(bytes * world.size))
      return outOfMemory();
    char text[textSize] = {};
    if (!world.transport->allGather(data, all.get(), bytes, text))
      return failed(text);
    std::vector<const void *> inputs;
    for (int32_t rank = 0; rank < world.size; ++rank)
      inputs.push_back(all.get() + rank * bytes);
    if (wantsResult(world.rank))
      combine(op, type, inputs.data(), world.size, data, count);
    world.statistics.messages += world.size - 1;
    world.statistics.bytes_sent += uint64_t(bytes) * (world.size - 1);
    world.statistics.bytes_received += uint64_t(bytes) * (world.size - 1);
    return FUSION_OK;
  }

  /// The elements that `rank` combines.
  std::pair<int64_t, int64_t> getSlice(int32_t rank) const { return boxes::getBlock(count, rank, world.size); }

  FusionStatus runLarge() {
    Batch *batch = world.transport->createBatch();
    FusionStatus status = exchangeSlices(batch);
    world.transport->destroyBatch(batch);
    return status;
  }

  bool send(Batch *batch, int64_t begin, int64_t end, int32_t peer, char *text) {
    int64_t bytes = (end - begin) * elementBytes;
    if (bytes == 0)
      return true;
    ++world.statistics.messages;
    world.statistics.bytes_sent += bytes;
    return world.transport->send(batch, data + begin * elementBytes, bytes, peer, world.chunk, text);
  }

  bool receive(Batch *batch, char *to, int64_t bytes, int32_t peer, char *text) {
    world.statistics.bytes_received += bytes;
    return world.transport->receive(batch, to, bytes, peer, world.chunk, text);
  }

  FusionStatus exchangeSlices(Batch *batch) {
    auto [begin, end] = getSlice(world.rank);
    int64_t bytes = (end - begin) * elementBytes;
    Buffer others;
    if (!others.reserve(bytes * world.size))
      return outOfMemory();
    char text[textSize] = {};
    std::vector<const void *> inputs;
    for (int32_t peer = 0; peer < world.size; ++peer) {
      inputs.push_back(peer == world.rank ? data + begin * elementBytes : others.get() + peer * bytes);
      if (peer == world.rank)
        continue;
      auto [peerBegin, peerEnd] = getSlice(peer);
      if (!receive(batch, others.get() + peer * bytes, bytes, peer, text) ||
          !send(batch, peerBegin, peerEnd, peer, text))
        return failed(text);
    }
    if (!world.transport->wait(batch, text))
      return failed(text);
    // Where only the root wants the result, this rank's array must stay as it is.
    if (!wantsResult(world.rank))
      return sendToRoot(batch, inputs, others, bytes);
    combine(op, type, inputs.data(), world.size, data + begin * elementBytes, end - begin);
    for (int32_t peer = 0; peer < world.size; ++peer) {
      if (peer == world.rank)
        continue;
      auto [peerBegin, peerEnd] = getSlice(peer);
      if (!receive(batch, data + peerBegin * elementBytes, (peerEnd - peerBegin) * elementBytes, peer, text) ||
          (root == FUSION_MPI_ALL_RANKS && !send(batch, begin, end, peer, text)))
        return failed(text);
    }
    return world.transport->wait(batch, text) ? FusionStatus(FUSION_OK) : failed(text);
  }

  FusionStatus sendToRoot(Batch *batch, const std::vector<const void *> &inputs, Buffer &others, int64_t bytes) {
    char *result = others.get() + world.rank * bytes;
    combine(op, type, inputs.data(), world.size, result, bytes / elementBytes);
    if (bytes == 0)
      return FUSION_OK;
    ++world.statistics.messages;
    world.statistics.bytes_sent += bytes;
    char text[textSize] = {};
    if (!world.transport->send(batch, result, bytes, root, world.chunk, text) || !world.transport->wait(batch, text))
      return failed(text);
    return FUSION_OK;
  }
};

FusionStatus reduce(int32_t op, int32_t type, int64_t rank, const void *memref, int32_t root) {
  return withWorld([&](World &world) -> FusionStatus {
    if (const char *problem = checkOperator(op, type))
      return world.fail(FUSION_INVALID_ARGUMENT, std::string("fusion_mpi_reduce: ") + problem);
    if (!memref || rank < 0 || root < FUSION_MPI_ALL_RANKS || root >= world.size)
      return world.fail(FUSION_INVALID_ARGUMENT, "fusion_mpi_reduce: " + std::string(memref ? "" : "no array, ") +
                                                     "rank " + std::to_string(rank) + ", root " + std::to_string(root));
    int64_t elementBytes = fusion_mpi_type_size(type);
    boxes::Window window = readMemref(memref, nullptr, rank, elementBytes);
    boxes::Box box = window.getBox();
    ++world.statistics.reductions;
    if (box.isEmpty())
      return FUSION_OK;
    Buffer packed;
    char *data = boxes::getContiguous(box, window, elementBytes);
    bool isPacked = !data;
    if (isPacked) {
      if (!packed.reserve(box.getVolume() * elementBytes))
        return world.fail(FUSION_OUT_OF_MEMORY, "fusion_mpi_reduce: out of memory");
      data = packed.get();
      boxes::packBox(box, window, data, elementBytes);
    }
    Reduction reduction{world, op, type, root, data, box.getVolume(), elementBytes};
    FusionStatus status = reduction.run();
    if (status == FUSION_OK && isPacked)
      boxes::unpackBox(box, data, window, elementBytes);
    return status;
  });
}

} // namespace

extern "C" FusionStatus fusion_mpi_reduce(int32_t op, int32_t type, int64_t rank, const void *memref, int32_t root) {
  return conclude(reduce(op, type, rank, memref, root));
}
