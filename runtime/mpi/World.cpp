//===- World.cpp - The ranks as this process sees them -----------------------===//

#include "World.h"

#include "Implementation.h"

#include <cstdio>
#include <cstring>
#include <unistd.h>

using namespace fusion::runtime;
using namespace fusion::runtime::mpi;

bool Buffer::reserve(int64_t bytes) {
  if (bytes <= capacity)
    return true;
  std::free(memory);
  capacity = 0;
  memory = static_cast<char *>(std::aligned_alloc(64, size_t(bytes + 63) / 64 * 64));
  if (memory)
    capacity = bytes;
  return memory;
}

World &World::get() {
  static World *world = new World;
  return *world;
}

FusionStatus World::fail(FusionStatus status, const std::string &text) const {
  std::string prefix;
  if (size > 1)
    prefix = "rank " + std::to_string(rank) + " of " + std::to_string(size) + ": ";
  return report(status, (prefix + text).c_str());
}

FusionStatus World::failCommunication(const char *operation, const char *text) const {
  return fail(FUSION_COMMUNICATION_FAILED, std::string(operation) + ": " + text);
}

FusionStatus fusion::runtime::mpi::conclude(FusionStatus status) {
  if (status != FUSION_OK && currentGuard())
    raise(status, fusion_rt_last_error());
  return status;
}

/// At the end of a process in which we initialised MPI. One that ends well waits for the others, as MPI wants it; one
/// that fails must not, since the others may wait for its messages.
static void endProcess(int status, void *) {
  World &world = World::get();
  // From inside of MPI nothing of it may be called; the launcher sees the status of this process.
  if (world.isInside || world.isAborting || world.isFinalized || world.transport->isFinalized())
    return;
  if (status != 0) {
    world.isAborting = true;
    world.transport->abort(status);
    return;
  }
  char text[textSize] = {};
  world.isFinalized = true;
  if (!world.transport->close(text))
    std::fprintf(stderr, "fusion: at the end of the process: %s\n", text);
}

FusionStatus World::enter(const void *communicator) {
  if (isFinalized && transport)
    return fail(FUSION_INVALID_ARGUMENT, "the ranks were used after fusion_mpi_finalize");
  if (isDecided) {
    if (transport && !transport->mayCall())
      return fail(FUSION_INVALID_ARGUMENT, "MPI was initialised by the host for calls from its main thread only");
    return FUSION_OK;
  }
  Choice choice;
  std::string text;
  if (!choose(communicator != nullptr, choice, text))
    return report(FUSION_INVALID_ARGUMENT, text.c_str());
  if (!choice.isAlone) {
    const Transport *loaded = load(choice.implementation, text);
    if (!loaded)
      return report(FUSION_INVALID_ARGUMENT, text.c_str());
    Opened opened = {};
    char words[textSize] = {};
    if (!loaded->open(communicator, &opened, words))
      return report(FUSION_COMMUNICATION_FAILED, (std::string("starting the ranks: ") + words).c_str());
    transport = loaded;
    rank = opened.rank;
    size = opened.size;
    hasInitialized = opened.initialized;
    if (hasInitialized)
      on_exit(endProcess, nullptr);
  }
  isDecided = true;
  return FUSION_OK;
}

static FusionStatus finalize() {
  World &world = World::get();
  Inside inside(world);
  if (!world.isDecided || world.isFinalized)
    return FUSION_OK;
  if (world.pending > 0)
    return world.fail(FUSION_INVALID_ARGUMENT, "fusion_mpi_finalize: exchanges have not been waited for");
  destroyPlans(world);
  if (!world.transport)
    return FUSION_OK;
  world.isFinalized = true;
  char text[textSize] = {};
  if (!world.transport->isFinalized() && !world.transport->close(text))
    return world.failCommunication("fusion_mpi_finalize", text);
  return FUSION_OK;
}

static FusionStatus initWith(const void *communicator) {
  World &world = World::get();
  Inside inside(world);
  if (!communicator)
    return report(FUSION_INVALID_ARGUMENT, "fusion_mpi_init_with: no communicator");
  if (world.isDecided)
    return world.fail(FUSION_INVALID_ARGUMENT, "fusion_mpi_init_with: the ranks are in use already");
  return world.enter(communicator);
}

static FusionStatus broadcast(void *data, int64_t bytes, int32_t root) {
  return withWorld([&](World &world) {
    if (bytes < 0 || (bytes > 0 && !data) || root < 0 || root >= world.size)
      return world.fail(FUSION_INVALID_ARGUMENT,
                        "fusion_mpi_broadcast: " + std::to_string(bytes) + " bytes from rank " + std::to_string(root));
    char text[textSize] = {};
    if (world.size > 1 && !world.transport->broadcast(data, bytes, root, world.chunk, text))
      return world.failCommunication("fusion_mpi_broadcast", text);
    if (world.rank == root) {
      world.statistics.messages += world.size - 1;
      world.statistics.bytes_sent += uint64_t(bytes) * (world.size - 1);
    } else {
      world.statistics.bytes_received += bytes;
    }
    return FusionStatus(FUSION_OK);
  });
}

static FusionStatus allGather(const void *mine, void *all, int64_t bytes) {
  return withWorld([&](World &world) {
    if (bytes < 0 || (bytes > 0 && (!mine || !all)))
      return world.fail(FUSION_INVALID_ARGUMENT, "fusion_mpi_all_gather: " + std::to_string(bytes) + " bytes");
    char *blocks = static_cast<char *>(all);
    if (bytes > 0)
      std::memmove(blocks + world.rank * bytes, mine, bytes);
    char text[textSize] = {};
    // Large blocks as a series of broadcasts: no count can overflow.
    if (world.size > 1 && bytes <= maxGather / world.size) {
      Buffer copy;
      if (!copy.reserve(bytes))
        return world.fail(FUSION_OUT_OF_MEMORY, "fusion_mpi_all_gather: out of memory");
      if (bytes > 0)
        std::memcpy(copy.get(), blocks + world.rank * bytes, bytes);
      if (!world.transport->allGather(copy.get(), all, bytes, text))
        return world.failCommunication("fusion_mpi_all_gather", text);
    } else {
      for (int32_t root = 0; root < world.size && world.size > 1; ++root)
        if (!world.transport->broadcast(blocks + root * bytes, bytes, root, world.chunk, text))
          return world.failCommunication("fusion_mpi_all_gather", text);
    }
    world.statistics.messages += world.size - 1;
    world.statistics.bytes_sent += uint64_t(bytes) * (world.size - 1);
    world.statistics.bytes_received += uint64_t(bytes) * (world.size - 1);
    return FusionStatus(FUSION_OK);
  });
}

extern "C" {

FusionMpiLauncher fusion_mpi_launcher(void) { return readLauncher(); }

FusionStatus fusion_mpi_init(void) {
  return conclude(withWorld([](World &) { return FusionStatus(FUSION_OK); }));
}

FusionStatus fusion_mpi_init_with(const void *communicator) { return conclude(initWith(communicator)); }

int32_t fusion_mpi_rank(void) { return fusion_mpi_init() == FUSION_OK ? World::get().rank : -1; }

int32_t fusion_mpi_size(void) { return fusion_mpi_init() == FUSION_OK ? World::get().size : 0; }

const char *fusion_mpi_implementation(void) {
  World &world = World::get();
  Inside inside(world);
  return world.transport ? world.transport->implementation : "none";
}

FusionStatus fusion_mpi_finalize(void) { return conclude(finalize()); }

void fusion_mpi_fail(const char *message) {
  // Not locked: another thread may be waiting inside for a message that never comes.
  World &world = World::get();
  FusionMpiLauncher launcher = readLauncher();
  int32_t rank = world.isDecided ? world.rank : launcher.rank;
  int32_t size = world.isDecided ? world.size : launcher.size;
  message = message ? message : "";
  std::fflush(stdout);
  // The texts of this part name the rank themselves.
  if (size == 1 || std::strncmp(message, "rank ", 5) == 0)
    std::fprintf(stderr, "fusion: %s\n", message);
  else
    std::fprintf(stderr, "fusion: rank %d of %d: %s\n", int(rank), int(size), message);
  std::fflush(stderr);
  if (world.transport && !world.isAborting.exchange(true) && !world.transport->isFinalized())
    world.transport->abort(1);
  // A launcher ends the job when one of its processes fails.
  _exit(1);
}

FusionStatus fusion_mpi_invoke(void (*function)(void *), void *argument) {
  FusionStatus status = fusion_rt_invoke(function, argument);
  if (status != FUSION_OK && (World::get().isDecided ? World::get().size : readLauncher().size) != 1)
    fusion_mpi_fail(fusion_rt_last_error());
  return status;
}

FusionStatus fusion_mpi_barrier(void) {
  return conclude(withWorld([](World &world) {
    char text[textSize] = {};
    if (world.size > 1 && !world.transport->barrier(text))
      return world.failCommunication("fusion_mpi_barrier", text);
    return FusionStatus(FUSION_OK);
  }));
}

FusionStatus fusion_mpi_broadcast(void *data, int64_t bytes, int32_t root) {
  return conclude(broadcast(data, bytes, root));
}

FusionStatus fusion_mpi_all_gather(const void *mine, void *all, int64_t bytes) {
  return conclude(allGather(mine, all, bytes));
}

FusionStatus fusion_mpi_statistics(FusionMpiStatistics *statistics) {
  if (!statistics)
    return conclude(report(FUSION_INVALID_ARGUMENT, "fusion_mpi_statistics: no place for the result"));
  World &world = World::get();
  Inside inside(world);
  *statistics = world.statistics;
  return FUSION_OK;
}

void fusion_mpi_reset_statistics(void) {
  World &world = World::get();
  Inside inside(world);
  world.statistics = {};
}

void fusion_mpi_set_chunk_bytes(int64_t bytes) {
  World &world = World::get();
  Inside inside(world);
  world.chunk = bytes > 0 && bytes < maxChunk ? bytes : maxChunk;
}

} // extern "C"
