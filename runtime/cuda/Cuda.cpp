//===- Cuda.cpp - CUDA devices, the driver opened at first use --------------===//

#include "Driver.h"

#include "../device/Backend.h"

#include <cstdio>
#include <map>
#include <mutex>
#include <vector>

using namespace fusion::cuda;
using fusion::device::fail;

namespace {
struct CudaModule : FusionModule {
  CUmodule handle = nullptr;
};
struct CudaKernel : FusionKernel {
  CUfunction handle = nullptr;
  uint32_t allowedShared = 48 * 1024;
};
struct CudaStream : FusionStream {
  CUstream handle = nullptr;
};
struct CudaEvent : FusionEvent {
  CUevent handle = nullptr;
};

CUstream getHandle(FusionStream *stream) { return stream ? static_cast<CudaStream *>(stream)->handle : nullptr; }

FusionStatus check(const Driver &driver, CUresult result, const char *what) {
  if (result == 0)
    return FUSION_OK;
  const char *name = nullptr, *text = nullptr;
  driver.cuGetErrorName(result, &name);
  driver.cuGetErrorString(result, &text);
  return fail(result == cudaOutOfMemory ? FUSION_OUT_OF_MEMORY : FUSION_DEVICE_FAILED,
              std::string(what) + ": " + (text ? text : "unknown error") + " (" + (name ? name : "?") + ")");
}

#define FUSION_CUDA(call)                                                                                              \
  if (FusionStatus status = check(driver, driver.call, #call))                                                         \
  return status

/// Every call first makes the device's context current: the caller's thread may never have used it.
class CudaDevice : public FusionDevice {
public:
  CudaDevice(const Driver &driver, CUdevice device, CUcontext context)
      : driver(driver), device(device), context(context) {}
  ~CudaDevice() override {
    driver.cuCtxSetCurrent(context);
    for (auto &[handle, module] : modules)
      driver.cuModuleUnload(module->handle);
    for (auto &[bytes, address] : pool)
      driver.cuMemFree(address);
    driver.cuDevicePrimaryCtxRelease(device);
  }

  FusionStatus getInfo(FusionDeviceInfo &info) override {
    FUSION_CUDA(cuDeviceGetName(info.name, int(sizeof(info.name)), device));
    int major = 0, minor = 0, value = 0;
    FUSION_CUDA(cuDeviceGetAttribute(&major, attributeMajor, device));
    FUSION_CUDA(cuDeviceGetAttribute(&minor, attributeMinor, device));
    std::snprintf(info.chip, sizeof(info.chip), "sm_%d%d", major, minor);
    FUSION_CUDA(cuDeviceGetAttribute(&value, attributeMultiprocessors, device));
    info.multiprocessors = value;
    FUSION_CUDA(cuDeviceGetAttribute(&value, attributeMaxThreads, device));
    info.max_threads = value;
    FUSION_CUDA(cuDeviceGetAttribute(&value, attributeMaxSharedOptIn, device));
    info.shared_bytes = uint64_t(value);
    size_t total = 0;
    FUSION_CUDA(cuDeviceTotalMem(&total, device));
    info.memory_bytes = total;
    return FUSION_OK;
  }

  FusionStatus allocate(uint64_t bytes, void *&address) override;
  FusionStatus free(void *address) override;
  FusionStatus copy(Direction direction, void *to, const void *from, uint64_t bytes, FusionStream *stream) override;
  FusionStatus createStream(FusionStream *&stream) override {
    FUSION_CUDA(cuCtxSetCurrent(context));
    auto own = std::make_unique<CudaStream>();
    FUSION_CUDA(cuStreamCreate(&own->handle, streamNonBlocking));
    stream = own.release();
    return FUSION_OK;
  }
  FusionStatus destroyStream(FusionStream *stream) override {
    FUSION_CUDA(cuCtxSetCurrent(context));
    std::unique_ptr<CudaStream> own(static_cast<CudaStream *>(stream));
    FUSION_CUDA(cuStreamDestroy(own->handle));
    return FUSION_OK;
  }
  FusionStatus synchronize(FusionStream *stream) override {
    FUSION_CUDA(cuCtxSetCurrent(context));
    FUSION_CUDA(cuStreamSynchronize(getHandle(stream)));
    return FUSION_OK;
  }
  FusionStatus synchronize() override {
    FUSION_CUDA(cuCtxSetCurrent(context));
    FUSION_CUDA(cuCtxSynchronize());
    return FUSION_OK;
  }
  FusionStatus createEvent(FusionEvent *&event) override {
    FUSION_CUDA(cuCtxSetCurrent(context));
    auto own = std::make_unique<CudaEvent>();
    FUSION_CUDA(cuEventCreate(&own->handle, 0));
    event = own.release();
    return FUSION_OK;
  }
  FusionStatus destroyEvent(FusionEvent *event) override {
    FUSION_CUDA(cuCtxSetCurrent(context));
    std::unique_ptr<CudaEvent> own(static_cast<CudaEvent *>(event));
    FUSION_CUDA(cuEventDestroy(own->handle));
    return FUSION_OK;
  }
  FusionStatus record(FusionEvent *event, FusionStream *stream) override {
    FUSION_CUDA(cuCtxSetCurrent(context));
    FUSION_CUDA(cuEventRecord(static_cast<CudaEvent *>(event)->handle, getHandle(stream)));
    return FUSION_OK;
  }
  FusionStatus wait(FusionStream *stream, FusionEvent *event) override {
    FUSION_CUDA(cuCtxSetCurrent(context));
    FUSION_CUDA(cuStreamWaitEvent(getHandle(stream), static_cast<CudaEvent *>(event)->handle, 0));
    return FUSION_OK;
  }
  FusionStatus elapsed(FusionEvent *from, FusionEvent *to, double &seconds) override {
    FUSION_CUDA(cuCtxSetCurrent(context));
    float milliseconds = 0;
    FUSION_CUDA(cuEventSynchronize(static_cast<CudaEvent *>(to)->handle));
    FUSION_CUDA(cuEventElapsedTime(&milliseconds, static_cast<CudaEvent *>(from)->handle,
                                   static_cast<CudaEvent *>(to)->handle));
    seconds = double(milliseconds) * 1e-3;
    return FUSION_OK;
  }
  FusionStatus loadModule(const void *image, uint64_t bytes, FusionModule *&module) override;
  FusionStatus unloadModule(FusionModule *module) override;
  FusionStatus getKernel(FusionModule *module, const char *name, FusionKernel *&kernel) override;
  FusionStatus launch(FusionKernel *kernel, const FusionLaunch &launch, void **arguments,
                      FusionStream *stream) override;
  FusionStatus encode(const FusionTensorMap &map, void *encoded) override;

private:
  const Driver &driver;
  CUdevice device;
  CUcontext context;
  std::mutex mutex;
  /// Freed buffers are kept for the next allocation of their size: cuMemFree waits for the device.
  std::multimap<uint64_t, CUdeviceptr> pool;
  std::map<CUdeviceptr, uint64_t> sizes;
  std::map<FusionModule *, std::unique_ptr<CudaModule>> modules;
  std::map<std::pair<FusionModule *, std::string>, std::unique_ptr<CudaKernel>> kernels;
};
} // namespace

FusionStatus CudaDevice::allocate(uint64_t bytes, void *&address) {
  std::lock_guard<std::mutex> lock(mutex);
  FUSION_CUDA(cuCtxSetCurrent(context));
  bytes = (bytes + 511) / 512 * 512 + (bytes == 0 ? 512 : 0);
  CUdeviceptr pointer = 0;
  auto kept = pool.find(bytes);
  if (kept != pool.end()) {
    pointer = kept->second;
    pool.erase(kept);
  } else {
    CUresult result = driver.cuMemAlloc(&pointer, bytes);
    if (result == cudaOutOfMemory) {
      for (auto &[size, old] : pool)
        driver.cuMemFree(old);
      pool.clear();
      result = driver.cuMemAlloc(&pointer, bytes);
    }
    if (FusionStatus status = check(driver, result, "cuMemAlloc"))
      return status;
  }
  sizes[pointer] = bytes;
  address = reinterpret_cast<void *>(pointer);
  return FUSION_OK;
}

FusionStatus CudaDevice::free(void *address) {
  std::lock_guard<std::mutex> lock(mutex);
  auto it = sizes.find(reinterpret_cast<CUdeviceptr>(address));
  if (it == sizes.end())
    return fail(FUSION_INVALID_ARGUMENT, "the address to be freed is not the start of a buffer of this device");
  // Work that still uses the buffer may be in any stream.
  FUSION_CUDA(cuCtxSetCurrent(context));
  FUSION_CUDA(cuCtxSynchronize());
  pool.insert({it->second, it->first});
  sizes.erase(it);
  return FUSION_OK;
}

FusionStatus CudaDevice::copy(Direction direction, void *to, const void *from, uint64_t bytes, FusionStream *stream) {
  if (bytes == 0)
    return FUSION_OK;
  FUSION_CUDA(cuCtxSetCurrent(context));
  CUstream handle = getHandle(stream);
  switch (direction) {
  case Direction::ToDevice:
    FUSION_CUDA(cuMemcpyHtoDAsync(reinterpret_cast<CUdeviceptr>(to), from, bytes, handle));
    break;
  case Direction::ToHost:
    FUSION_CUDA(cuMemcpyDtoHAsync(to, reinterpret_cast<CUdeviceptr>(from), bytes, handle));
    break;
  case Direction::OnDevice:
    FUSION_CUDA(cuMemcpyDtoDAsync(reinterpret_cast<CUdeviceptr>(to), reinterpret_cast<CUdeviceptr>(from), bytes,
                                  handle));
    break;
  }
  if (!stream)
    FUSION_CUDA(cuStreamSynchronize(handle));
  return FUSION_OK;
}

FusionStatus CudaDevice::loadModule(const void *image, uint64_t bytes, FusionModule *&module) {
  FUSION_CUDA(cuCtxSetCurrent(context));
  // PTX must end with a zero.
  std::vector<char> text(static_cast<const char *>(image), static_cast<const char *>(image) + bytes);
  text.push_back(0);
  char log[4096] = {};
  int options[] = {jitErrorLogBuffer, jitErrorLogBufferSize};
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log))};
  auto own = std::make_unique<CudaModule>();
  CUresult result = driver.cuModuleLoadDataEx(&own->handle, text.data(), 2, options, values);
  if (result != 0 && log[0])
    return fail(FUSION_INVALID_ARGUMENT, std::string("the device module cannot be loaded: ") + log);
  if (FusionStatus status = check(driver, result, "cuModuleLoadData"))
    return status;
  std::lock_guard<std::mutex> lock(mutex);
  module = own.get();
  modules[module] = std::move(own);
  return FUSION_OK;
}

FusionStatus CudaDevice::unloadModule(FusionModule *module) {
  std::lock_guard<std::mutex> lock(mutex);
  auto it = modules.find(module);
  if (it == modules.end())
    return fail(FUSION_INVALID_ARGUMENT, "the module to be unloaded is not one of this device");
  for (auto kernel = kernels.begin(); kernel != kernels.end();)
    kernel = kernel->first.first == module ? kernels.erase(kernel) : std::next(kernel);
  FUSION_CUDA(cuCtxSetCurrent(context));
  CUmodule handle = it->second->handle;
  modules.erase(it);
  FUSION_CUDA(cuModuleUnload(handle));
  return FUSION_OK;
}

FusionStatus CudaDevice::getKernel(FusionModule *module, const char *name, FusionKernel *&kernel) {
  std::lock_guard<std::mutex> lock(mutex);
  auto it = kernels.find({module, name});
  if (it == kernels.end()) {
    FUSION_CUDA(cuCtxSetCurrent(context));
    auto own = std::make_unique<CudaKernel>();
    CUresult result = driver.cuModuleGetFunction(&own->handle, static_cast<CudaModule *>(module)->handle, name);
    if (FusionStatus status = check(driver, result, ("kernel '" + std::string(name) + "'").c_str()))
      return status;
    it = kernels.emplace(std::make_pair(module, std::string(name)), std::move(own)).first;
  }
  kernel = it->second.get();
  return FUSION_OK;
}

FusionStatus CudaDevice::launch(FusionKernel *kernel, const FusionLaunch &launch, void **arguments,
                                FusionStream *stream) {
  FUSION_CUDA(cuCtxSetCurrent(context));
  auto &own = *static_cast<CudaKernel *>(kernel);
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (launch.shared_bytes > own.allowedShared) {
      FUSION_CUDA(cuFuncSetAttribute(own.handle, functionMaxDynamicShared, int(launch.shared_bytes)));
      own.allowedShared = launch.shared_bytes;
    }
  }
  FUSION_CUDA(cuLaunchKernel(own.handle, launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0],
                             launch.block[1], launch.block[2], launch.shared_bytes, getHandle(stream), arguments,
                             nullptr));
  if (!stream)
    FUSION_CUDA(cuStreamSynchronize(nullptr));
  return FUSION_OK;
}

FusionStatus CudaDevice::encode(const FusionTensorMap &map, void *encoded) {
  if (!driver.cuTensorMapEncodeTiled)
    return fail(FUSION_DEVICE_FAILED, "the CUDA driver is too old for tensor maps; version 12 is needed");
  if (map.rank < 1 || map.rank > 5)
    return fail(FUSION_INVALID_ARGUMENT, "a tensor map: the rank must be 1 to 5");
  // Of CUtensorMapDataType: unsigned integers of 1, 2, 4 and 8 bytes; only the width matters to a copy.
  int types[] = {-1, 0, 1, -1, 2, -1, -1, -1, 4};
  if (map.element_bytes > 8 || types[map.element_bytes] < 0)
    return fail(FUSION_INVALID_ARGUMENT, "a tensor map: elements must have 1, 2, 4 or 8 bytes");
  uint32_t steps[5] = {1, 1, 1, 1, 1};
  FUSION_CUDA(cuTensorMapEncodeTiled(encoded, types[map.element_bytes], map.rank, map.address, map.extents,
                                     map.strides + 1, map.box, steps, /*interleave=*/0, map.swizzle,
                                     /*promotion=*/2, /*fill=*/0));
  return FUSION_OK;
}

FusionStatus fusion::device::countCuda(int32_t &count) {
  std::string error;
  const Driver *driver = openDriver(error);
  int number = 0;
  if (driver && driver->cuInit(0) == 0 && driver->cuDeviceGetCount(&number) == 0)
    count = number;
  return FUSION_OK;
}

FusionStatus fusion::device::openCuda(int32_t number, FusionDevice *&device) {
  std::string error;
  const Driver *opened = openDriver(error);
  if (!opened)
    return fail(FUSION_NO_DEVICE, error);
  const Driver &driver = *opened;
  CUresult result = driver.cuInit(0);
  if (result != 0) {
    const char *text = nullptr;
    driver.cuGetErrorString(result, &text);
    return fail(FUSION_NO_DEVICE, std::string("the CUDA driver finds no device: ") + (text ? text : "unknown error"));
  }
  int count = 0;
  FUSION_CUDA(cuDeviceGetCount(&count));
  if (number >= count)
    return fail(FUSION_NO_DEVICE, "there is no device cuda:" + std::to_string(number) + "; the driver has " +
                                      std::to_string(count));
  CUdevice handle = 0;
  CUcontext context = nullptr;
  FUSION_CUDA(cuDeviceGet(&handle, number));
  FUSION_CUDA(cuDevicePrimaryCtxRetain(&context, handle));
  device = new CudaDevice(driver, handle, context);
  return FUSION_OK;
}
