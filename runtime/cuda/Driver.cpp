//===- Driver.cpp - Opening the CUDA driver ---------------------------------===//

#include "Driver.h"

#include <dlfcn.h>

using namespace fusion::cuda;

namespace {
struct Opened {
  Driver driver = {};
  std::string error;
};

template <typename Function>
bool find(void *library, const char *name, Function *&function) {
  function = reinterpret_cast<Function *>(dlsym(library, name));
  return function != nullptr;
}

Opened open() {
  Opened opened;
  Driver &d = opened.driver;
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    opened.error = "there is no CUDA driver on this machine (libcuda.so.1 was not found)";
    return opened;
  }
  const char *missing = nullptr;
  auto need = [&](const char *name, auto *&function) {
    if (!find(library, name, function) && !missing)
      missing = name;
  };
  need("cuInit", d.cuInit);
  need("cuGetErrorName", d.cuGetErrorName);
  need("cuGetErrorString", d.cuGetErrorString);
  need("cuDeviceGetCount", d.cuDeviceGetCount);
  need("cuDeviceGet", d.cuDeviceGet);
  need("cuDeviceGetName", d.cuDeviceGetName);
  need("cuDeviceGetAttribute", d.cuDeviceGetAttribute);
  need("cuDeviceTotalMem_v2", d.cuDeviceTotalMem);
  need("cuDevicePrimaryCtxRetain", d.cuDevicePrimaryCtxRetain);
  need("cuDevicePrimaryCtxRelease_v2", d.cuDevicePrimaryCtxRelease);
  need("cuCtxSetCurrent", d.cuCtxSetCurrent);
  need("cuCtxSynchronize", d.cuCtxSynchronize);
  need("cuMemAlloc_v2", d.cuMemAlloc);
  need("cuMemFree_v2", d.cuMemFree);
  need("cuMemcpyHtoDAsync_v2", d.cuMemcpyHtoDAsync);
  need("cuMemcpyDtoHAsync_v2", d.cuMemcpyDtoHAsync);
  need("cuMemcpyDtoDAsync_v2", d.cuMemcpyDtoDAsync);
  need("cuStreamCreate", d.cuStreamCreate);
  need("cuStreamDestroy_v2", d.cuStreamDestroy);
  need("cuStreamSynchronize", d.cuStreamSynchronize);
  need("cuStreamWaitEvent", d.cuStreamWaitEvent);
  need("cuEventCreate", d.cuEventCreate);
  need("cuEventDestroy_v2", d.cuEventDestroy);
  need("cuEventRecord", d.cuEventRecord);
  need("cuEventSynchronize", d.cuEventSynchronize);
  need("cuEventElapsedTime", d.cuEventElapsedTime);
  need("cuModuleLoadDataEx", d.cuModuleLoadDataEx);
  need("cuModuleUnload", d.cuModuleUnload);
  need("cuModuleGetFunction", d.cuModuleGetFunction);
  need("cuFuncSetAttribute", d.cuFuncSetAttribute);
  need("cuLaunchKernel", d.cuLaunchKernel);
  find(library, "cuTensorMapEncodeTiled", d.cuTensorMapEncodeTiled);
  if (missing)
    opened.error = std::string("the CUDA driver is too old: it has no function ") + missing;
  return opened;
}
} // namespace

const Driver *fusion::cuda::openDriver(std::string &error) {
  static const Opened opened = open();
  error = opened.error;
  return error.empty() ? &opened.driver : nullptr;
}
