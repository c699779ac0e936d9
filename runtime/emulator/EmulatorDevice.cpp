//===- EmulatorDevice.cpp - The emulated device behind Device.h -------------===//

#include "../device/Backend.h"
#include "BulkCopy.h"
#include "Launch.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>

using namespace fusion::emulator;
using fusion::device::fail;

static std::atomic<CompileFunction> compiler{nullptr};

void fusion::emulator::setCompiler(CompileFunction compile) { compiler = compile; }
CompileFunction fusion::emulator::getCompiler() { return compiler; }

namespace {
/// Opt-in shared memory of a block, by chip (CUDA programming guide, 'Technical specifications').
struct ChipEntry {
  const char *name;
  uint32_t version;
  bool hasArchitectureFeatures;
  uint32_t maxShared;
};
constexpr ChipEntry chips[] = {
    {"sm_70", 70, false, 96 * 1024},  {"sm_75", 75, false, 64 * 1024},  {"sm_80", 80, false, 163 * 1024},
    {"sm_86", 86, false, 99 * 1024},  {"sm_89", 89, false, 99 * 1024},  {"sm_90", 90, false, 227 * 1024},
    {"sm_90a", 90, true, 227 * 1024}, {"sm_100", 100, false, 227 * 1024},
};

struct EmulatedModule : FusionModule {
  std::unique_ptr<KernelModule> code;
};

struct EmulatedKernel : FusionKernel {
  EmulatedKernel(EmulatedModule &module, const Kernel &kernel) : module(module), kernel(kernel) {}
  EmulatedModule &module;
  const Kernel &kernel;
};

struct EmulatedStream : FusionStream {};
struct EmulatedEvent : FusionEvent {
  std::chrono::steady_clock::time_point time;
  bool isRecorded = false;
};

/// All work is done when a call returns, so streams are in order by themselves.
class EmulatedDevice : public FusionDevice {
public:
  explicit EmulatedDevice(const ChipEntry &entry)
      : chip{entry.name, entry.version, entry.hasArchitectureFeatures, entry.maxShared} {}

  FusionStatus getInfo(FusionDeviceInfo &info) override {
    std::snprintf(info.name, sizeof(info.name), "emulated %s", chip.name.c_str());
    std::snprintf(info.chip, sizeof(info.chip), "%s", chip.name.c_str());
    info.multiprocessors = 1;
    info.max_threads = 1024;
    info.shared_bytes = chip.maxShared;
    info.memory_bytes = uint64_t(1) << 40;
    return FUSION_OK;
  }

  FusionStatus allocate(uint64_t bytes, void *&address) override {
    std::lock_guard<std::mutex> lock(mutex);
    address = memory.allocate(bytes);
    return address ? FUSION_OK : fail(FUSION_OUT_OF_MEMORY, "no memory for a buffer of " + std::to_string(bytes) + " bytes");
  }

  FusionStatus free(void *address) override {
    std::lock_guard<std::mutex> lock(mutex);
    return memory.free(static_cast<char *>(address))
               ? FUSION_OK
               : fail(FUSION_INVALID_ARGUMENT, "the address to be freed is not the start of a buffer of this device");
  }

  FusionStatus copy(Direction direction, void *to, const void *from, uint64_t bytes, FusionStream *) override {
    std::lock_guard<std::mutex> lock(mutex);
    if (bytes == 0)
      return FUSION_OK;
    Allocation *source = nullptr, *target = nullptr;
    const char *data = static_cast<const char *>(from);
    if (direction != Direction::ToDevice && !(source = memory.find(data, bytes)))
      return fail(FUSION_INVALID_ARGUMENT, "a copy of " + std::to_string(bytes) + " bytes reads " +
                                               memory.describe(data));
    if (direction != Direction::ToHost && !(target = memory.find(static_cast<char *>(to), bytes)))
      return fail(FUSION_INVALID_ARGUMENT, "a copy of " + std::to_string(bytes) + " bytes writes " +
                                               memory.describe(static_cast<char *>(to)));
    if (direction == Direction::ToHost) {
      const uint8_t *known = source->flags.get() + (data - source->data);
      for (uint64_t i = 0; i < bytes; ++i)
        if (!(known[i] & byteInitialised))
          return fail(FUSION_KERNEL_FAULTY, "uninitialised data: a copy to the host reads byte " +
                                                std::to_string(data - source->data + i) + " of a buffer of " +
                                                std::to_string(source->bytes) + ", which nobody has written");
    }
    std::memmove(to, from, bytes);
    if (!target)
      return FUSION_OK;
    // Copies keep what is known of the bytes.
    uint8_t *flags = target->flags.get() + (static_cast<char *>(to) - target->data);
    if (source)
      std::memmove(flags, source->flags.get() + (data - source->data), bytes);
    else
      std::memset(flags, byteInitialised, bytes);
    return FUSION_OK;
  }

  FusionStatus createStream(FusionStream *&stream) override {
    stream = new EmulatedStream;
    return FUSION_OK;
  }
  FusionStatus destroyStream(FusionStream *stream) override {
    delete stream;
    return FUSION_OK;
  }
  FusionStatus synchronize(FusionStream *) override { return FUSION_OK; }
  FusionStatus synchronize() override { return FUSION_OK; }
  FusionStatus createEvent(FusionEvent *&event) override {
    event = new EmulatedEvent;
    return FUSION_OK;
  }
  FusionStatus destroyEvent(FusionEvent *event) override {
    delete event;
    return FUSION_OK;
  }
  FusionStatus record(FusionEvent *event, FusionStream *) override {
    auto *own = static_cast<EmulatedEvent *>(event);
    own->time = std::chrono::steady_clock::now();
    own->isRecorded = true;
    return FUSION_OK;
  }
  FusionStatus wait(FusionStream *, FusionEvent *) override { return FUSION_OK; }
  FusionStatus elapsed(FusionEvent *from, FusionEvent *to, double &seconds) override {
    auto *first = static_cast<EmulatedEvent *>(from), *second = static_cast<EmulatedEvent *>(to);
    if (!first->isRecorded || !second->isRecorded)
      return fail(FUSION_INVALID_ARGUMENT, "an event has not been recorded");
    seconds = std::chrono::duration<double>(second->time - first->time).count();
    return FUSION_OK;
  }

  FusionStatus loadModule(const void *image, uint64_t bytes, FusionModule *&module) override;
  FusionStatus unloadModule(FusionModule *module) override;
  FusionStatus getKernel(FusionModule *module, const char *name, FusionKernel *&kernel) override;
  FusionStatus launch(FusionKernel *kernel, const FusionLaunch &launch, void **arguments,
                      FusionStream *stream) override;
  FusionStatus encode(const FusionTensorMap &map, void *encoded) override {
    if (const char *problem = encodeTensorMap(map, encoded))
      return fail(FUSION_INVALID_ARGUMENT, std::string("a tensor map: ") + problem);
    return FUSION_OK;
  }

  // What fusion/Runtime/Emulator.h offers.
  std::mutex mutex;
  /// JSON of each launch since the last reset.
  std::vector<std::string> reports;
  std::map<std::string, FusionEmulatorCounters> counters;
  std::string lastKernel, reportText;

private:
  Chip chip;
  DeviceMemory memory;
  std::vector<std::unique_ptr<EmulatedModule>> modules;
  std::map<std::pair<FusionModule *, std::string>, std::unique_ptr<EmulatedKernel>> kernels;
};

} // namespace

FusionStatus EmulatedDevice::loadModule(const void *image, uint64_t bytes, FusionModule *&module) {
  if (!getCompiler())
    return fail(FUSION_NO_DEVICE, "the emulated device needs the compiler of the library FusionEmulator, which this "
                                  "program has not registered (fusion::registerEmulatorCompiler)");
  std::string error;
  auto own = std::make_unique<EmulatedModule>();
  own->code = getCompiler()(image, bytes, chip.name.c_str(), error);
  if (!own->code)
    return fail(FUSION_INVALID_ARGUMENT, error);
  std::lock_guard<std::mutex> lock(mutex);
  for (const DeviceVariable &global : own->code->globals)
    memory.add(global.address, global.bytes, global.isConstant, global.name);
  module = own.get();
  modules.push_back(std::move(own));
  return FUSION_OK;
}

FusionStatus EmulatedDevice::unloadModule(FusionModule *module) {
  std::lock_guard<std::mutex> lock(mutex);
  for (auto it = modules.begin(); it != modules.end(); ++it) {
    if (it->get() != module)
      continue;
    for (const DeviceVariable &global : (*it)->code->globals)
      memory.remove(global.address);
    for (auto kernel = kernels.begin(); kernel != kernels.end();)
      kernel = kernel->first.first == module ? kernels.erase(kernel) : std::next(kernel);
    modules.erase(it);
    return FUSION_OK;
  }
  return fail(FUSION_INVALID_ARGUMENT, "the module to be unloaded is not one of this device");
}

FusionStatus EmulatedDevice::getKernel(FusionModule *module, const char *name, FusionKernel *&kernel) {
  std::lock_guard<std::mutex> lock(mutex);
  auto &own = *static_cast<EmulatedModule *>(module);
  auto &slot = kernels[{module, name}];
  std::string known;
  for (const Kernel &candidate : own.code->kernels) {
    if (!slot && candidate.name == name)
      slot = std::make_unique<EmulatedKernel>(own, candidate);
    known += (known.empty() ? "" : ", ") + candidate.name;
  }
  kernel = slot.get();
  if (kernel)
    return FUSION_OK;
  kernels.erase({module, name});
  return fail(FUSION_INVALID_ARGUMENT,
              "there is no kernel '" + std::string(name) + "' in the module; there are: " + known);
}

FusionStatus EmulatedDevice::launch(FusionKernel *kernel, const FusionLaunch &request, void **arguments,
                                    FusionStream *) {
  std::lock_guard<std::mutex> lock(mutex);
  auto &own = *static_cast<EmulatedKernel *>(kernel);
  if (!arguments && !own.kernel.parameters.empty())
    return fail(FUSION_INVALID_ARGUMENT, "kernel '" + own.kernel.name + "' has parameters, but no arguments are given");
  Launch launch(*own.module.code, own.kernel, chip, memory);
  for (unsigned d = 0; d < 3; ++d) {
    launch.grid[d] = request.grid[d];
    launch.block[d] = request.block[d];
  }
  launch.sharedBytes = own.module.code->staticShared + request.shared_bytes;
  launch.parameters = arguments;
  std::string error;
  if (!launch.run(error))
    return fail(FUSION_INVALID_ARGUMENT, error);
  lastKernel = own.kernel.name;
  counters[lastKernel] = launch.count();
  reports.push_back(launch.toJson());
  if (launch.findings.empty())
    return FUSION_OK;
  const Finding &first = launch.findings.front();
  std::string text = "kernel '" + own.kernel.name + "': " + getName(first.kind) + ": " +
                     (first.location.empty() ? "" : first.location + ": ") + first.operation + ": " + first.text;
  if (launch.numFindings > 1)
    text += " (and " + std::to_string(launch.numFindings - 1) + " more)";
  return fail(FUSION_KERNEL_FAULTY, text);
}

FusionStatus fusion::device::openEmulator(const std::string &name, FusionDevice *&device) {
  std::string known;
  for (const ChipEntry &chip : chips) {
    if (name == chip.name) {
      device = new EmulatedDevice(chip);
      return FUSION_OK;
    }
    known += (known.empty() ? "" : ", ") + std::string(chip.name);
  }
  return fail(FUSION_INVALID_ARGUMENT, "the emulator does not know the chip '" + name + "'; it knows " + known);
}

/// Null, with the text recorded, for another kind of device. There is no run-time type information here.
static EmulatedDevice *getEmulated(FusionDevice *device) {
  FusionDeviceInfo info = {};
  if (device && device->getInfo(info) == FUSION_OK && std::strncmp(info.name, "emulated ", 9) == 0)
    return static_cast<EmulatedDevice *>(device);
  fail(FUSION_INVALID_ARGUMENT, "the device is not an emulated one");
  return nullptr;
}

extern "C" {

FusionStatus fusion_rt_emulator_counters(FusionDevice *device, const char *kernel, FusionEmulatorCounters *counters) {
  EmulatedDevice *emulated = getEmulated(device);
  if (!emulated || !counters)
    return FUSION_INVALID_ARGUMENT;
  std::lock_guard<std::mutex> lock(emulated->mutex);
  auto it = emulated->counters.find(kernel ? kernel : emulated->lastKernel);
  if (it == emulated->counters.end())
    return fail(FUSION_INVALID_ARGUMENT, "that kernel has not been launched");
  *counters = it->second;
  return FUSION_OK;
}

FusionStatus fusion_rt_emulator_report(FusionDevice *device, const char **json) {
  EmulatedDevice *emulated = getEmulated(device);
  if (!emulated || !json)
    return FUSION_INVALID_ARGUMENT;
  std::lock_guard<std::mutex> lock(emulated->mutex);
  emulated->reportText = "[";
  for (const std::string &report : emulated->reports)
    emulated->reportText += (emulated->reportText.size() == 1 ? "" : ",\n ") + report;
  emulated->reportText += "]";
  *json = emulated->reportText.c_str();
  return FUSION_OK;
}

FusionStatus fusion_rt_emulator_reset(FusionDevice *device) {
  EmulatedDevice *emulated = getEmulated(device);
  if (!emulated)
    return FUSION_INVALID_ARGUMENT;
  std::lock_guard<std::mutex> lock(emulated->mutex);
  emulated->reports.clear();
  emulated->counters.clear();
  emulated->lastKernel.clear();
  return FUSION_OK;
}

} // extern "C"
