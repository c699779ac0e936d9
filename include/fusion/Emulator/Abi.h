//===- Abi.h - Between compiled device code and the emulator ------*- C++ -*-===//
//
// The emulator has two halves. The compiler (lib/Emulator, needs LLVM) turns the device module into host code in which
// every memory access and every device operation is a call; the run-time (runtime/emulator, no LLVM) executes those
// calls for the threads of a block. This header is all that the two share: descriptions of sites, and the functions that
// compiled code calls. It is not an interface for embedders; those use fusion/Runtime/Device.h and
// fusion/Runtime/Emulator.h.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_EMULATOR_ABI_H
#define FUSION_EMULATOR_ABI_H

#include "fusion/Runtime/Runtime.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace fusion::emulator {

/// Address spaces as NVPTX numbers them.
enum class Space : uint8_t { Generic = 0, Global = 1, Shared = 3, Constant = 4, Local = 5, Cluster = 7 };

/// What a site does. Parameters are in Site::params, in the order given here.
enum class OpKind : uint16_t {
  // Accesses of a thread: Site::bytes, Site::align, Site::space.
  Load,
  Store,
  Atomic,
  // Counted only: arithmetic on the special-function units, local variables.
  SpecialFunction,
  // Collectives of a warp.
  Shuffle,  // mode (0 idx, 1 up, 2 down, 3 bfly), 1 if a predicate is returned
  Vote,     // 0 all, 1 any, 2 uni, 3 ballot
  Redux,    // ReduxOp
  Match,    // 0 any, 1 all
  Elect,    //
  WarpSync, //
  Ldmatrix, // number of 8x8 matrices, 1 if transposed
  Stmatrix, // the same
  Mma,      // m, n, k, MatrixType of A, of B, of the accumulator (in), of the result
  // Block.
  Barrier,       // 1 if the number of threads is an operand; id and count are operands
  BarrierArrive, // id and count are operands
  BarrierReduce, // 0 popc, 1 and, 2 or
  // Asynchronous copies of a thread (cp.async).
  CpAsync,           // bytes, 1 if the source size is an operand, id of the site for the shared side
  CpAsyncCommit,     //
  CpAsyncWait,       // groups that may stay in flight; ~0u: wait_all
  Fence,             // FenceKind
  MbarrierInit,      //
  MbarrierInval,     //
  MbarrierArrive,    // 1 if the count is an operand; 1 if it drops
  MbarrierExpectTx,  // 1 if it also arrives
  MbarrierTest,      // 1 if by parity, 1 if it may suspend (try_wait)
  MbarrierWait,      // 1 if by parity: test and loop in one
  TmaLoad,           // rank, 1 if a cache hint, 1 if a multicast mask
  TmaStore,          // rank
  BulkLoad,          //
  BulkStore,         //
  BulkCommit,        //
  BulkWait,          // groups that may stay in flight, 1 if only reads are awaited
  TmaPrefetch,       //
  Wgmma,             // n, k, MatrixType of A, of B, of D, 1 if A is in registers, then trans A, trans B, neg A, neg B
  WgmmaFence,        //
  WgmmaCommit,       //
  WgmmaWait,         // groups that may stay in flight
  SetMaxRegisters,   // registers, 1 if increase
  NanoSleep,         //
};

enum class ReduxOp : uint32_t { Add, UMin, UMax, SMin, SMax, And, Or, Xor };
enum class FenceKind : uint32_t { Memory, ProxyAsync, ProxyTensorMap, MbarrierInit };
enum class MatrixType : uint32_t { F16, BF16, TF32, F32, F64, S8, U8, S32, E4M3, E5M2 };

/// One place in the device code that the run-time is called from.
struct Site {
  uint32_t id = 0;
  /// Index into KernelModule::loops; the function itself is a loop of one trip.
  uint32_t loop = 0;
  OpKind kind = OpKind::Load;
  Space space = Space::Generic;
  uint32_t bytes = 0;
  uint32_t align = 1;
  uint32_t params[10] = {};
  /// The operation as the device code names it: "load", "llvm.nvvm.shfl.sync.bfly.f32", ...
  std::string name;
  /// "file:line:column", or empty.
  std::string location;
};

/// A natural loop of a function, or the function itself (parent == own index).
struct Loop {
  uint32_t parent = 0;
  unsigned depth = 0;
  std::string function;
  std::string location;
};

/// The first member of a thread, laid out for compiled code.
struct ThreadHeader {
  uint32_t tid[3];
  uint32_t ntid[3];
  uint32_t ctaid[3];
  uint32_t nctaid[3];
  uint32_t lane;
  uint32_t warp;
  /// Executions of each site by single lanes.
  uint64_t *laneCounts;
  /// Trips of each loop by this thread.
  uint64_t *loopTrips;
  /// Start of the block's shared memory. The low 32 bits are zero, so that a 32-bit shared address is an offset.
  char *shared;
};

struct Parameter {
  uint32_t bytes = 0;
  bool isPointer = false;
  /// A pointer to the parameter itself, which is constant memory.
  bool isByValue = false;
};

struct Kernel {
  std::string name;
  /// Loads the parameters, each from its own address, and runs one thread.
  void (*entry)(void **parameters) = nullptr;
  std::vector<Parameter> parameters;
  /// Threads of a block as the code requires them, 0 where it does not say.
  uint32_t requiredThreads[3] = {0, 0, 0};
  uint32_t maxThreads = 0;
};

struct DeviceVariable {
  std::string name;
  char *address = nullptr;
  uint64_t bytes = 0;
  bool isConstant = false;
};

/// What the compiler makes of a device module. Constant once made; owns the machine code.
class KernelModule {
public:
  virtual ~KernelModule() = default;

  std::vector<Kernel> kernels;
  /// Addresses of sites are in the machine code.
  std::vector<std::unique_ptr<Site>> sites;
  std::vector<Loop> loops;
  std::vector<DeviceVariable> globals;
  /// Bytes of shared memory that have a static size; dynamic shared memory follows.
  uint32_t staticShared = 0;
};

/// Compiles a device module (LLVM bitcode or assembly for NVPTX) for the emulation of `chip`. Returns null and says in
/// `error` what is wrong.
using CompileFunction = std::unique_ptr<KernelModule> (*)(const void *image, uint64_t bytes, const char *chip,
                                                          std::string &error);

/// Installs the compiler; lib/Emulator does so once (registerEmulatorCompiler).
FUSION_RT_EXPORT void setCompiler(CompileFunction compile);
CompileFunction getCompiler();

struct RuntimeFunction {
  const char *name;
  void *address;
};
/// All functions that compiled code may call.
FUSION_RT_EXPORT const RuntimeFunction *getRuntimeFunctions(size_t &count);

} // namespace fusion::emulator

#endif // FUSION_EMULATOR_ABI_H
