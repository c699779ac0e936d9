/*===- Device.h - Devices that run compiled kernels ---------------*- C -*-===*\
|*
|* One interface for CUDA devices and for the emulated device. Nothing here needs a driver to link or to load: the CUDA
|* driver is opened when a CUDA device is. Every function returns a status; fusion_rt_last_error() has the text. A device
|* may be used from several threads; work in one stream runs in order.
|*
\*===----------------------------------------------------------------------===*/

#ifndef FUSION_RUNTIME_DEVICE_H
#define FUSION_RUNTIME_DEVICE_H

#include "fusion/Runtime/Runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* More of FusionStatus. */
enum {
  FUSION_NO_DEVICE = 16,     /* no driver, or no such device */
  FUSION_DEVICE_FAILED = 17, /* a call of the driver failed */
  FUSION_KERNEL_FAULTY = 18, /* the emulator found a fault in a kernel */
};

typedef struct FusionDevice FusionDevice;
typedef struct FusionModule FusionModule;
typedef struct FusionKernel FusionKernel;
typedef struct FusionStream FusionStream;
typedef struct FusionEvent FusionEvent;

/*===-- Devices --------------------------------------------------------------===*/

/* Opens "cuda", "cuda:N", or "emulator:CHIP" ("emulator" alone is sm_80). The caller closes it. */
FUSION_RT_EXPORT FusionStatus fusion_rt_device_open(const char *name, FusionDevice **device);
/* Frees everything that belongs to the device. Null is allowed. */
FUSION_RT_EXPORT void fusion_rt_device_close(FusionDevice *device);

typedef struct FusionDeviceInfo {
  char name[128];           /* of the product */
  char chip[32];            /* "sm_90" */
  int32_t multiprocessors;
  int32_t max_threads;      /* of a block */
  uint64_t shared_bytes;    /* that a block may have, with opting in */
  uint64_t memory_bytes;
} FusionDeviceInfo;
FUSION_RT_EXPORT FusionStatus fusion_rt_device_info(FusionDevice *device, FusionDeviceInfo *info);

/* Number of devices that fusion_rt_device_open can open by "cuda:N"; 0 without a driver, which is no failure. */
FUSION_RT_EXPORT FusionStatus fusion_rt_cuda_device_count(int32_t *count);

/*===-- Memory and streams -----------------------------------------------------===*/

/* Addresses are aligned to 256 bytes; memory is not initialised. */
FUSION_RT_EXPORT FusionStatus fusion_rt_device_alloc(FusionDevice *device, uint64_t bytes, void **address);
FUSION_RT_EXPORT FusionStatus fusion_rt_device_free(FusionDevice *device, void *address);

/* A null stream is the device's own, and then calls return when the work is done. With a stream, host memory must stay
   until the stream has been waited for. */
FUSION_RT_EXPORT FusionStatus fusion_rt_copy_to_device(FusionDevice *device, void *to, const void *from, uint64_t bytes,
                                                       FusionStream *stream);
FUSION_RT_EXPORT FusionStatus fusion_rt_copy_to_host(FusionDevice *device, void *to, const void *from, uint64_t bytes,
                                                     FusionStream *stream);
FUSION_RT_EXPORT FusionStatus fusion_rt_copy_on_device(FusionDevice *device, void *to, const void *from, uint64_t bytes,
                                                       FusionStream *stream);

FUSION_RT_EXPORT FusionStatus fusion_rt_stream_create(FusionDevice *device, FusionStream **stream);
FUSION_RT_EXPORT FusionStatus fusion_rt_stream_destroy(FusionDevice *device, FusionStream *stream);
FUSION_RT_EXPORT FusionStatus fusion_rt_stream_synchronize(FusionDevice *device, FusionStream *stream);
FUSION_RT_EXPORT FusionStatus fusion_rt_event_create(FusionDevice *device, FusionEvent **event);
FUSION_RT_EXPORT FusionStatus fusion_rt_event_destroy(FusionDevice *device, FusionEvent *event);
FUSION_RT_EXPORT FusionStatus fusion_rt_event_record(FusionDevice *device, FusionEvent *event, FusionStream *stream);
/* The stream's later work waits for the event. */
FUSION_RT_EXPORT FusionStatus fusion_rt_stream_wait(FusionDevice *device, FusionStream *stream, FusionEvent *event);
FUSION_RT_EXPORT FusionStatus fusion_rt_event_elapsed(FusionDevice *device, FusionEvent *from, FusionEvent *to,
                                                      double *seconds);
/* Waits for everything on the device. */
FUSION_RT_EXPORT FusionStatus fusion_rt_device_synchronize(FusionDevice *device);

/*===-- Kernels ----------------------------------------------------------------===*/

/* Loads PTX, a cubin or a fatbin on CUDA, LLVM bitcode for NVPTX on the emulated device. The image is copied. */
FUSION_RT_EXPORT FusionStatus fusion_rt_module_load(FusionDevice *device, const void *image, uint64_t bytes,
                                                    FusionModule **module);
FUSION_RT_EXPORT FusionStatus fusion_rt_module_unload(FusionDevice *device, FusionModule *module);
/* The kernel belongs to the module. */
FUSION_RT_EXPORT FusionStatus fusion_rt_module_kernel(FusionDevice *device, FusionModule *module, const char *name,
                                                      FusionKernel **kernel);

typedef struct FusionLaunch {
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t shared_bytes; /* dynamic shared memory; more than 48 KiB is opted in to */
} FusionLaunch;
/* `arguments` has the address of each argument's value, as for cuLaunchKernel. The values are read before the call
   returns. On the emulated device a fault found in the kernel is FUSION_KERNEL_FAULTY, and the text is the first one. */
FUSION_RT_EXPORT FusionStatus fusion_rt_kernel_launch(FusionDevice *device, FusionKernel *kernel,
                                                      const FusionLaunch *launch, void **arguments,
                                                      FusionStream *stream);

/*===-- Launches of compiled host programs --------------------------------------===*/

/* The device and module that fusion_rt_launch uses on this thread; null for none. */
FUSION_RT_EXPORT FusionStatus fusion_rt_set_module(FusionDevice *device, FusionModule *module);

/* Called by compiled host code: launches a kernel of the current module on a one-dimensional grid and waits for it. No
   blocks are no work. A failure inside of a guarded call ends that call (see fusion_rt_invoke). */
FUSION_RT_EXPORT FusionStatus fusion_rt_launch(const char *kernel, int64_t blocks, int64_t threads,
                                               int64_t shared_bytes, void **arguments, int64_t count);

/* An argument of a launch whose buffers are in host memory. */
typedef struct FusionStagedArgument {
  void *data;     /* a buffer, or the value */
  uint64_t bytes; /* of either */
  int64_t access; /* 0: passed by value; of a buffer 1: read, 2: written completely, 3: both */
} FusionStagedArgument;
/* The same as fusion_rt_launch for buffers of the host: copies to the device what the kernel reads, and back what it
   writes. */
FUSION_RT_EXPORT FusionStatus fusion_rt_launch_staged(const char *kernel, int64_t blocks, int64_t threads,
                                                      int64_t shared_bytes, const FusionStagedArgument *arguments,
                                                      int64_t count);

/*===-- Descriptions of tensors for the copy engine (TMA, sm_90 and later) --------===*/

enum { FUSION_SWIZZLE_NONE = 0, FUSION_SWIZZLE_32 = 1, FUSION_SWIZZLE_64 = 2, FUSION_SWIZZLE_128 = 3 };

typedef struct FusionTensorMap {
  uint32_t element_bytes; /* 1, 2, 4 or 8 */
  uint32_t rank;          /* 1 to 5; the first dimension is the contiguous one */
  void *address;          /* on the device, aligned to 16 bytes */
  uint64_t extents[5];    /* elements */
  uint64_t strides[5];    /* bytes; strides[0] is not read */
  uint32_t box[5];        /* elements */
  int32_t swizzle;        /* FUSION_SWIZZLE_...; elements outside of the tensor are read as zeros */
} FusionTensorMap;
/* Fills the 128 bytes, aligned to 64, that a kernel is given. */
FUSION_RT_EXPORT FusionStatus fusion_rt_tensor_map_encode(FusionDevice *device, const FusionTensorMap *map,
                                                          void *encoded);

#ifdef __cplusplus
}
#endif

#endif /* FUSION_RUNTIME_DEVICE_H */
