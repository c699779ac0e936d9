//===- Transport.h - What libFusionMpi-<implementation>.so offers -*- C++ -*-===//
//
// The only part that is compiled against an mpi.h, once per MPI implementation; plain functions in a table, so that
// nothing of it is linked. Bytes only: boxes, element types and operators are the run-time's business. All functions
// are called by one thread at a time. Failures: false, and a text without the rank in `text` (textSize bytes).
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_RUNTIME_MPI_TRANSPORT_H
#define FUSION_RUNTIME_MPI_TRANSPORT_H

#include <cstddef>
#include <cstdint>

namespace fusion::runtime::mpi {

constexpr size_t textSize = 768;

struct Opened {
  int32_t rank, size;
  /// We called MPI_Init_thread, so we must finalise.
  bool initialized;
};

/// Messages under way.
struct Batch;

struct Transport {
  /// Of this table; others are refused.
  int32_t version;
  /// "openmpi", "mpich"
  const char *implementation;

  /// Initialises MPI unless that is done, and duplicates the communicator: *(MPI_Comm *)communicator, or the world for
  /// null.
  bool (*open)(const void *communicator, Opened *opened, char *text);
  /// Whether MPI has been finalised, by whomever.
  bool (*isFinalized)();
  /// Frees the communicator, finalises if `open` initialised.
  bool (*close)(char *text);
  /// Ends all ranks.
  void (*abort)(int32_t status);
  /// Whether MPI's thread level allows a call from this thread.
  bool (*mayCall)();

  Batch *(*createBatch)();
  void (*destroyBatch)(Batch *batch);
  /// Start a message from or to a peer; longer ones than the chunk size in several pieces.
  bool (*receive)(Batch *batch, void *data, int64_t bytes, int32_t peer, int64_t chunk, char *text);
  bool (*send)(Batch *batch, const void *data, int64_t bytes, int32_t peer, int64_t chunk, char *text);
  /// Waits for all messages of the batch, which is empty afterwards. A message that is shorter or longer than expected
  /// is an error.
  bool (*wait)(Batch *batch, char *text);

  bool (*barrier)(char *text);
  bool (*broadcast)(void *data, int64_t bytes, int32_t root, int64_t chunk, char *text);
  /// `bytes` times the number of ranks is at most `maxGather`.
  bool (*allGather)(const void *mine, void *all, int64_t bytes, char *text);
};

constexpr int32_t transportVersion = 1;
constexpr int64_t maxGather = int64_t(1) << 16;

/// What a count of MPI can hold.
constexpr int64_t maxChunk = INT32_MAX;

/// The library's one symbol.
constexpr const char *transportSymbol = "fusion_mpi_transport";
using GetTransport = const Transport *(*)();

} // namespace fusion::runtime::mpi

#endif // FUSION_RUNTIME_MPI_TRANSPORT_H
