//===- Ptx.h - From device code to PTX and machine code -------------------===//
//
// Translates the `gpu.module` described in docs/rationale/gpu.md to PTX with LLVM's back end, and lets NVIDIA's tools
// assemble it. The toolkit is found once per call; nothing here keeps state, and all functions may be called from any
// thread as long as nobody changes the module. The same input gives the same bytes.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_TARGET_PTX_H
#define FUSION_TARGET_PTX_H

#include "fusion/Target/GpuChip.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

#include <string>
#include <vector>

namespace fusion {

/// The CUDA toolkit: `root` if it is not empty, else the first of CUDA_ROOT, CUDA_HOME, CUDA_PATH that is set, the
/// folder of `ptxas` on PATH, /usr/local/cuda.
struct CudaToolkit {
  std::string root;

  static CudaToolkit find(llvm::StringRef root = "");
  /// The full path of a program of the toolkit; the error says where it was looked for.
  llvm::Expected<std::string> getTool(llvm::StringRef name) const;
  /// The bitcode of libdevice.
  llvm::Expected<std::string> getLibDevice() const;
};

struct PtxOptions {
  unsigned optLevel = 3;
  CudaToolkit toolkit;
};

/// PTX of all kernels of `module`, which must hold the LLVM and NVVM dialects only. libdevice is linked where it is
/// called.
llvm::Expected<std::string> translateToPtx(mlir::gpu::GPUModuleOp module, const GpuChip &chip,
                                           const PtxOptions &options);

/// What ptxas says of a kernel.
struct PtxasReport {
  std::string kernel;
  int64_t registers = 0, spillStores = 0, spillLoads = 0, stackBytes = 0, staticShared = 0;
};

/// Machine code of `ptx` for `chip`. `report`, if not null, gets one entry per kernel. A ptxas that is missing or does
/// not know the chip is an error that says so in one line.
llvm::Expected<std::string> assemblePtx(llvm::StringRef ptx, const GpuChip &chip, const CudaToolkit &toolkit,
                                        std::vector<PtxasReport> *report = nullptr);

/// One binary image of a fat binary.
struct CudaImage {
  GpuChip chip;
  std::string cubin;
  /// Also embedded where it is not empty, for later chips.
  std::string ptx;
};

/// A fat binary of `images`, which must be for different chips.
llvm::Expected<std::string> makeFatBinary(llvm::ArrayRef<CudaImage> images, const CudaToolkit &toolkit);

} // namespace fusion

#endif // FUSION_TARGET_PTX_H
