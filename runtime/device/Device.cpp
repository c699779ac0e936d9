//===- Device.cpp - The C interface of devices ------------------------------===//

#include "Backend.h"

#include "../Guard.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

using namespace fusion::device;

FusionStatus fusion::device::fail(FusionStatus status, const std::string &text) {
  return fusion::runtime::report(status, text.c_str());
}

namespace {
thread_local FusionDevice *currentDevice = nullptr;
thread_local FusionModule *currentModule = nullptr;

FusionStatus failNull(const char *what) { return fail(FUSION_INVALID_ARGUMENT, std::string(what) + " is null"); }
} // namespace

#define FUSION_NEEDS(pointer)                                                                                          \
  if (!(pointer))                                                                                                      \
  return failNull("'" #pointer "'")

extern "C" {

FusionStatus fusion_rt_device_open(const char *name, FusionDevice **device) {
  FUSION_NEEDS(name);
  FUSION_NEEDS(device);
  *device = nullptr;
  std::string text = name;
  std::string kind = text.substr(0, text.find(':'));
  bool hasRest = kind.size() < text.size();
  std::string rest = hasRest ? text.substr(kind.size() + 1) : "";
  if (kind == "emulator" && (!hasRest || !rest.empty()))
    return openEmulator(hasRest ? rest : "sm_80", *device);
  if (kind == "cuda") {
    char *end = nullptr;
    long number = hasRest ? std::strtol(rest.c_str(), &end, 10) : 0;
    if (!hasRest || (!rest.empty() && *end == 0 && number >= 0 && number < 1024))
      return openCuda(int32_t(number), *device);
  }
  return fail(FUSION_INVALID_ARGUMENT, "there is no device '" + text + "'; cuda, cuda:N and emulator:CHIP are accepted");
}

void fusion_rt_device_close(FusionDevice *device) {
  if (currentDevice == device)
    currentDevice = nullptr, currentModule = nullptr;
  delete device;
}

FusionStatus fusion_rt_device_info(FusionDevice *device, FusionDeviceInfo *info) {
  FUSION_NEEDS(device);
  FUSION_NEEDS(info);
  std::memset(info, 0, sizeof(*info));
  return device->getInfo(*info);
}

FusionStatus fusion_rt_cuda_device_count(int32_t *count) {
  FUSION_NEEDS(count);
  *count = 0;
  return countCuda(*count);
}

FusionStatus fusion_rt_device_alloc(FusionDevice *device, uint64_t bytes, void **address) {
  FUSION_NEEDS(device);
  FUSION_NEEDS(address);
  return device->allocate(bytes, *address);
}

FusionStatus fusion_rt_device_free(FusionDevice *device, void *address) {
  FUSION_NEEDS(device);
  return address ? device->free(address) : FUSION_OK;
}

FusionStatus fusion_rt_copy_to_device(FusionDevice *device, void *to, const void *from, uint64_t bytes,
                                      FusionStream *stream) {
  FUSION_NEEDS(device);
  return device->copy(FusionDevice::Direction::ToDevice, to, from, bytes, stream);
}

FusionStatus fusion_rt_copy_to_host(FusionDevice *device, void *to, const void *from, uint64_t bytes,
                                    FusionStream *stream) {
  FUSION_NEEDS(device);
  return device->copy(FusionDevice::Direction::ToHost, to, from, bytes, stream);
}

FusionStatus fusion_rt_copy_on_device(FusionDevice *device, void *to, const void *from, uint64_t bytes,
                                      FusionStream *stream) {
  FUSION_NEEDS(device);
  return device->copy(FusionDevice::Direction::OnDevice, to, from, bytes, stream);
}

FusionStatus fusion_rt_stream_create(FusionDevice *device, FusionStream **stream) {
  FUSION_NEEDS(device);
  FUSION_NEEDS(stream);
  return device->createStream(*stream);
}

FusionStatus fusion_rt_stream_destroy(FusionDevice *device, FusionStream *stream) {
  FUSION_NEEDS(device);
  return stream ? device->destroyStream(stream) : FUSION_OK;
}

FusionStatus fusion_rt_stream_synchronize(FusionDevice *device, FusionStream *stream) {
  FUSION_NEEDS(device);
  return device->synchronize(stream);
}

FusionStatus fusion_rt_event_create(FusionDevice *device, FusionEvent **event) {
  FUSION_NEEDS(device);
  FUSION_NEEDS(event);
  return device->createEvent(*event);
}

FusionStatus fusion_rt_event_destroy(FusionDevice *device, FusionEvent *event) {
  FUSION_NEEDS(device);
  return event ? device->destroyEvent(event) : FUSION_OK;
}

FusionStatus fusion_rt_event_record(FusionDevice *device, FusionEvent *event, FusionStream *stream) {
  FUSION_NEEDS(device);
  FUSION_NEEDS(event);
  return device->record(event, stream);
}

FusionStatus fusion_rt_stream_wait(FusionDevice *device, FusionStream *stream, FusionEvent *event) {
  FUSION_NEEDS(device);
  FUSION_NEEDS(event);
  return device->wait(stream, event);
}

FusionStatus fusion_rt_event_elapsed(FusionDevice *device, FusionEvent *from, FusionEvent *to, double *seconds) {
  FUSION_NEEDS(device);
  FUSION_NEEDS(from);
  FUSION_NEEDS(to);
  FUSION_NEEDS(seconds);
  return device->elapsed(from, to, *seconds);
}

FusionStatus fusion_rt_device_synchronize(FusionDevice *device) {
  FUSION_NEEDS(device);
  return device->synchronize();
}

FusionStatus fusion_rt_module_load(FusionDevice *device, const void *image, uint64_t bytes, FusionModule **module) {
  FUSION_NEEDS(device);
  FUSION_NEEDS(image);
  FUSION_NEEDS(module);
  *module = nullptr;
  return device->loadModule(image, bytes, *module);
}

FusionStatus fusion_rt_module_unload(FusionDevice *device, FusionModule *module) {
  FUSION_NEEDS(device);
  if (currentModule == module)
    currentModule = nullptr;
  return module ? device->unloadModule(module) : FUSION_OK;
}

FusionStatus fusion_rt_module_kernel(FusionDevice *device, FusionModule *module, const char *name,
                                     FusionKernel **kernel) {
  FUSION_NEEDS(device);
  FUSION_NEEDS(module);
  FUSION_NEEDS(name);
  FUSION_NEEDS(kernel);
  *kernel = nullptr;
  return device->getKernel(module, name, *kernel);
}

FusionStatus fusion_rt_kernel_launch(FusionDevice *device, FusionKernel *kernel, const FusionLaunch *launch,
                                     void **arguments, FusionStream *stream) {
  FUSION_NEEDS(device);
  FUSION_NEEDS(kernel);
  FUSION_NEEDS(launch);
  return device->launch(kernel, *launch, arguments, stream);
}

FusionStatus fusion_rt_set_module(FusionDevice *device, FusionModule *module) {
  currentDevice = device;
  currentModule = module;
  return FUSION_OK;
}

static FusionStatus launchByName(const char *name, int64_t blocks, int64_t threads, int64_t sharedBytes,
                                 void **arguments, int64_t count) {
  FUSION_NEEDS(name);
  if (!currentDevice || !currentModule)
    return fail(FUSION_NO_DEVICE,
                "kernel '" + std::string(name) + "' is launched, but no device module is current (fusion_rt_set_module)");
  // An empty tensor has no blocks.
  if (blocks == 0)
    return FUSION_OK;
  if (blocks < 0 || blocks > INT32_MAX || threads <= 0 || threads > 1024 || sharedBytes < 0 ||
      sharedBytes > INT32_MAX || (count > 0 && !arguments))
    return fail(FUSION_INVALID_ARGUMENT, "kernel '" + std::string(name) + "' is launched with an impossible size");
  FusionKernel *kernel = nullptr;
  if (FusionStatus status = currentDevice->getKernel(currentModule, name, kernel))
    return status;
  FusionLaunch launch = {{uint32_t(blocks), 1, 1}, {uint32_t(threads), 1, 1}, uint32_t(sharedBytes)};
  if (FusionStatus status = currentDevice->launch(kernel, launch, arguments, nullptr))
    return status;
  return currentDevice->synchronize();
}

/// A failure ends the guarded call: compiled code does not go on.
static FusionStatus endCall(FusionStatus status) {
  if (status != FUSION_OK && fusion::runtime::currentGuard()) {
    char text[fusion::runtime::maxMessage];
    std::snprintf(text, sizeof(text), "%s", fusion_rt_last_error());
    fusion::runtime::raise(status, text);
  }
  return status;
}

FusionStatus fusion_rt_launch(const char *name, int64_t blocks, int64_t threads, int64_t sharedBytes, void **arguments,
                              int64_t count) {
  return endCall(launchByName(name, blocks, threads, sharedBytes, arguments, count));
}

static FusionStatus launchStaged(const char *name, int64_t blocks, int64_t threads, int64_t sharedBytes,
                                 const FusionStagedArgument *arguments, int64_t count) {
  FusionDevice *device = currentDevice;
  if (count < 0 || (count > 0 && !arguments))
    return failNull("'arguments'");
  if (!device)
    return launchByName(name, blocks, threads, sharedBytes, nullptr, 0);
  /// Gives the buffers back, however the launch ends.
  struct Buffers {
    FusionDevice *device;
    std::vector<void *> addresses;
    ~Buffers() {
      for (void *address : addresses)
        if (address)
          (void)device->free(address);
    }
  } buffers{device, std::vector<void *>(count)};
  std::vector<void *> values;
  for (int64_t i = 0; i < count; ++i) {
    const FusionStagedArgument &argument = arguments[i];
    if (argument.access == 0) {
      values.push_back(argument.data);
      continue;
    }
    if (FusionStatus status = device->allocate(argument.bytes, buffers.addresses[i]))
      return status;
    if (argument.access & 1)
      if (FusionStatus status = device->copy(FusionDevice::Direction::ToDevice, buffers.addresses[i], argument.data,
                                             argument.bytes, nullptr))
        return status;
    values.push_back(&buffers.addresses[i]);
  }
  if (FusionStatus status = launchByName(name, blocks, threads, sharedBytes, values.data(), count))
    return status;
  for (int64_t i = 0; i < count; ++i)
    if (arguments[i].access & 2)
      if (FusionStatus status = device->copy(FusionDevice::Direction::ToHost, arguments[i].data, buffers.addresses[i],
                                             arguments[i].bytes, nullptr))
        return status;
  return FUSION_OK;
}

FusionStatus fusion_rt_launch_staged(const char *name, int64_t blocks, int64_t threads, int64_t sharedBytes,
                                     const FusionStagedArgument *arguments, int64_t count) {
  return endCall(launchStaged(name, blocks, threads, sharedBytes, arguments, count));
}

FusionStatus fusion_rt_tensor_map_encode(FusionDevice *device, const FusionTensorMap *map, void *encoded) {
  FUSION_NEEDS(device);
  FUSION_NEEDS(map);
  FUSION_NEEDS(encoded);
  return device->encode(*map, encoded);
}

} // extern "C"
