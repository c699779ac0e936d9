//===- Module.cpp - The transport over one MPI implementation ---------------===//

#include "../Transport.h"

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <vector>

using namespace fusion::runtime::mpi;

namespace {

/// All messages have one tag: messages between two ranks arrive in the order in which they were sent, and all ranks
/// start exchanges in the same order. A program that differs between ranks then shows as a message of the wrong length.
constexpr int messageTag = 1;

MPI_Comm ours = MPI_COMM_NULL;
bool weInitialized = false;
int threadLevel = MPI_THREAD_SINGLE;

bool fail(char *text, const char *operation, int code) {
  char words[MPI_MAX_ERROR_STRING + 1] = {};
  int length = 0;
  if (MPI_Error_string(code, words, &length) != MPI_SUCCESS)
    std::snprintf(words, sizeof(words), "error %d", code);
  std::snprintf(text, textSize, "%s failed: %s", operation, words);
  return false;
}

bool check(char *text, const char *operation, int code) { return code == MPI_SUCCESS || fail(text, operation, code); }

} // namespace

namespace fusion::runtime::mpi {

struct Piece {
  int64_t bytes;
  int32_t peer;
  bool isReceive;
};

struct Batch {
  std::vector<MPI_Request> requests;
  std::vector<Piece> pieces;
};

} // namespace fusion::runtime::mpi

namespace {

bool isFinalized() {
  int finalized = 0;
  return MPI_Finalized(&finalized) == MPI_SUCCESS && finalized;
}

bool open(const void *communicator, Opened *opened, char *text) {
  if (isFinalized()) {
    std::snprintf(text, textSize, "MPI has been finalised already");
    return false;
  }
  int initialized = 0;
  if (!check(text, "MPI_Initialized", MPI_Initialized(&initialized)))
    return false;
  if (initialized) {
    if (!check(text, "MPI_Query_thread", MPI_Query_thread(&threadLevel)))
      return false;
  } else {
    if (!check(text, "MPI_Init_thread", MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &threadLevel)))
      return false;
    weInitialized = true;
  }
  MPI_Comm base = communicator ? *static_cast<const MPI_Comm *>(communicator) : MPI_COMM_WORLD;
  if (!check(text, "MPI_Comm_dup", MPI_Comm_dup(base, &ours)) ||
      !check(text, "MPI_Comm_set_errhandler", MPI_Comm_set_errhandler(ours, MPI_ERRORS_RETURN)))
    return false;
  int rank = 0, size = 0;
  if (!check(text, "MPI_Comm_rank", MPI_Comm_rank(ours, &rank)) ||
      !check(text, "MPI_Comm_size", MPI_Comm_size(ours, &size)))
    return false;
  *opened = {rank, size, weInitialized};
  return true;
}

bool close(char *text) {
  if (!check(text, "MPI_Comm_free", MPI_Comm_free(&ours)))
    return false;
  return !weInitialized || check(text, "MPI_Finalize", MPI_Finalize());
}

void abortJob(int32_t status) { MPI_Abort(ours == MPI_COMM_NULL ? MPI_COMM_WORLD : ours, status); }

bool mayCall() {
  if (threadLevel >= MPI_THREAD_SERIALIZED)
    return true;
  int isMain = 0;
  return MPI_Is_thread_main(&isMain) == MPI_SUCCESS && isMain;
}

Batch *createBatch() { return new Batch; }

void destroyBatch(Batch *batch) { delete batch; }

bool start(Batch *batch, char *data, int64_t bytes, int32_t peer, bool isReceive, int64_t chunk, char *text) {
  for (int64_t begin = 0; begin < bytes; begin += chunk) {
    int count = int(std::min(chunk, bytes - begin));
    MPI_Request request = MPI_REQUEST_NULL;
    int code = isReceive ? MPI_Irecv(data + begin, count, MPI_BYTE, peer, messageTag, ours, &request)
                         : MPI_Isend(data + begin, count, MPI_BYTE, peer, messageTag, ours, &request);
    if (code != MPI_SUCCESS) {
      char operation[96];
      std::snprintf(operation, sizeof(operation), "%s of %d bytes %s rank %d", isReceive ? "MPI_Irecv" : "MPI_Isend",
                    count, isReceive ? "from" : "to", int(peer));
      return fail(text, operation, code);
    }
    batch->requests.push_back(request);
    batch->pieces.push_back({count, peer, isReceive});
  }
  return true;
}

bool receive(Batch *batch, void *data, int64_t bytes, int32_t peer, int64_t chunk, char *text) {
  return start(batch, static_cast<char *>(data), bytes, peer, true, chunk, text);
}

bool send(Batch *batch, const void *data, int64_t bytes, int32_t peer, int64_t chunk, char *text) {
  return start(batch, static_cast<char *>(const_cast<void *>(data)), bytes, peer, false, chunk, text);
}

bool checkPiece(const Piece &piece, const MPI_Status &status, int code, char *text) {
  char operation[96];
  std::snprintf(operation, sizeof(operation), "message of %lld bytes %s rank %d", static_cast<long long>(piece.bytes),
                piece.isReceive ? "from" : "to", int(piece.peer));
  if (code != MPI_SUCCESS)
    return fail(text, operation, code);
  int count = 0;
  if (!piece.isReceive)
    return true;
  if (int error = MPI_Get_count(&status, MPI_BYTE, &count))
    return fail(text, operation, error);
  if (count == piece.bytes)
    return true;
  std::snprintf(text, textSize, "%s: %d bytes came; do all ranks run the same program on the same shapes?", operation,
                count);
  return false;
}

bool wait(Batch *batch, char *text) {
  size_t count = batch->requests.size();
  std::vector<MPI_Status> statuses(count);
  int code = count == 0 ? MPI_SUCCESS : MPI_Waitall(int(count), batch->requests.data(), statuses.data());
  bool ok = true;
  if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS)
    ok = fail(text, "MPI_Waitall", code);
  for (size_t i = 0; i < count && ok; ++i) {
    // A request that is pending when another has failed is not the cause.
    int own = code == MPI_ERR_IN_STATUS ? statuses[i].MPI_ERROR : MPI_SUCCESS;
    ok = own == MPI_ERR_PENDING || checkPiece(batch->pieces[i], statuses[i], own, text);
  }
  if (ok && code == MPI_ERR_IN_STATUS)
    ok = fail(text, "MPI_Waitall", code);
  batch->requests.clear();
  batch->pieces.clear();
  return ok;
}

bool barrier(char *text) { return check(text, "MPI_Barrier", MPI_Barrier(ours)); }

bool broadcast(void *data, int64_t bytes, int32_t root, int64_t chunk, char *text) {
  for (int64_t begin = 0; begin < bytes; begin += chunk) {
    int count = int(std::min(chunk, bytes - begin));
    if (!check(text, "MPI_Bcast", MPI_Bcast(static_cast<char *>(data) + begin, count, MPI_BYTE, root, ours)))
      return false;
  }
  return true;
}

bool allGather(const void *mine, void *all, int64_t bytes, char *text) {
  return check(text, "MPI_Allgather", MPI_Allgather(mine, int(bytes), MPI_BYTE, all, int(bytes), MPI_BYTE, ours));
}

const Transport table = {
    transportVersion,
    FUSION_MPI_IMPLEMENTATION,
    open,
    isFinalized,
    close,
    abortJob,
    mayCall,
    createBatch,
    destroyBatch,
    receive,
    send,
    wait,
    barrier,
    broadcast,
    allGather,
};

} // namespace

extern "C" __attribute__((visibility("default"))) const Transport *fusion_mpi_transport() { return &table; }
