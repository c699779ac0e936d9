//===- Backend.h - What a kind of device implements ---------------*- C++ -*-===//

#ifndef FUSION_RUNTIME_DEVICE_BACKEND_H
#define FUSION_RUNTIME_DEVICE_BACKEND_H

#include "fusion/Runtime/Device.h"

#include <memory>
#include <string>

/// Of the C interface; each backend derives its own.
struct FusionModule {
  virtual ~FusionModule() = default;
};
struct FusionKernel {
  virtual ~FusionKernel() = default;
};
struct FusionStream {
  virtual ~FusionStream() = default;
};
struct FusionEvent {
  virtual ~FusionEvent() = default;
};

/// Every function returns a status and records the text of a failure (fusion::device::fail).
struct FusionDevice {
  virtual ~FusionDevice() = default;

  virtual FusionStatus getInfo(FusionDeviceInfo &info) = 0;
  virtual FusionStatus allocate(uint64_t bytes, void *&address) = 0;
  virtual FusionStatus free(void *address) = 0;
  enum class Direction { ToDevice, ToHost, OnDevice };
  virtual FusionStatus copy(Direction direction, void *to, const void *from, uint64_t bytes, FusionStream *stream) = 0;
  virtual FusionStatus createStream(FusionStream *&stream) = 0;
  virtual FusionStatus destroyStream(FusionStream *stream) = 0;
  virtual FusionStatus synchronize(FusionStream *stream) = 0;
  virtual FusionStatus createEvent(FusionEvent *&event) = 0;
  virtual FusionStatus destroyEvent(FusionEvent *event) = 0;
  virtual FusionStatus record(FusionEvent *event, FusionStream *stream) = 0;
  virtual FusionStatus wait(FusionStream *stream, FusionEvent *event) = 0;
  virtual FusionStatus elapsed(FusionEvent *from, FusionEvent *to, double &seconds) = 0;
  virtual FusionStatus synchronize() = 0;
  virtual FusionStatus loadModule(const void *image, uint64_t bytes, FusionModule *&module) = 0;
  virtual FusionStatus unloadModule(FusionModule *module) = 0;
  virtual FusionStatus getKernel(FusionModule *module, const char *name, FusionKernel *&kernel) = 0;
  virtual FusionStatus launch(FusionKernel *kernel, const FusionLaunch &launch, void **arguments,
                              FusionStream *stream) = 0;
  virtual FusionStatus encode(const FusionTensorMap &map, void *encoded) = 0;
};

namespace fusion::device {

/// Records the text for fusion_rt_last_error() and returns the status.
FusionStatus fail(FusionStatus status, const std::string &text);

FusionStatus openEmulator(const std::string &chip, FusionDevice *&device);
FusionStatus openCuda(int32_t number, FusionDevice *&device);
FusionStatus countCuda(int32_t &count);

} // namespace fusion::device

#endif // FUSION_RUNTIME_DEVICE_BACKEND_H
