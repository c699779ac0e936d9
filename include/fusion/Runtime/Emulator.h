/*===- Emulator.h - What the emulated device has seen -------------*- C -*-===*\
|*
|* The emulated device executes the device code of kernels on the host, checks every access and counts what the memory
|* system and the units of a GPU would do. It is opened and used through fusion/Runtime/Device.h as "emulator:sm_80" and
|* so on; here is what it tells beyond that. Counts are exact and repeatable.
|*
\*===----------------------------------------------------------------------===*/

#ifndef FUSION_RUNTIME_EMULATOR_H
#define FUSION_RUNTIME_EMULATOR_H

#include "fusion/Runtime/Device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of one launch, or of a loop in it. "Instructions" are those of a warp. */
typedef struct FusionEmulatorCounters {
  uint64_t load_bytes, store_bytes;            /* global memory, bytes that lanes asked for; atomics are both */
  uint64_t load_sectors, store_sectors;        /* 32-byte sectors that instructions touched */
  uint64_t load_ideal_sectors, store_ideal_sectors; /* the least that their distinct bytes need */
  uint64_t global_accesses, wide_accesses;     /* accesses of lanes to global memory, those of them of 16 bytes */
  uint64_t uncoalesced;                        /* global instructions over scattered bytes that touch more sectors than needed */
  uint64_t shared_load_bytes, shared_store_bytes;
  uint64_t shared_wavefronts, bank_conflicts;  /* passes over the banks, those of them beyond the least possible */
  uint64_t local_accesses;                     /* accesses of lanes to local memory (spills, arrays) */
  uint64_t mma;                                /* mma.sync instructions */
  uint64_t wgmma;                              /* wgmma.mma_async instructions (of a group of four warps) */
  uint64_t multiply_adds;                      /* of both, scalar */
  uint64_t ldmatrix, barriers, shuffles;
  uint64_t special_functions;                  /* results of special-function units, per lane */
  uint64_t async_copies;                       /* cp.async by lanes, and bulk copies */
  uint64_t atomics;                            /* by lanes */
} FusionEmulatorCounters;

/* Counters of the last launch of the kernel with that name on the device, or with null of the last launch at all. */
FUSION_RT_EXPORT FusionStatus fusion_rt_emulator_counters(FusionDevice *device, const char *kernel,
                                                          FusionEmulatorCounters *counters);

/* Everything about the launches since the last reset, as JSON: a list of objects with the kernel's name, the launch, the
   counters of the kernel ("total") and of each of its loops ("loops", inner loops are part of outer ones), the traffic of
   each buffer, and the findings. The text is valid until the next call for this device. */
FUSION_RT_EXPORT FusionStatus fusion_rt_emulator_report(FusionDevice *device, const char **json);
FUSION_RT_EXPORT FusionStatus fusion_rt_emulator_reset(FusionDevice *device);

#ifdef __cplusplus
}
#endif

#endif /* FUSION_RUNTIME_EMULATOR_H */
