//===- Symbols.cpp - Addresses for code that is compiled in memory ----------===//

#include "fusion/Runtime/Dist.h"

#define FUSION_SYMBOL(name)                                                                                            \
  { #name, reinterpret_cast<void *>(name) }

static const FusionDistSymbol symbols[] = {
    FUSION_SYMBOL(fusion_dist_all_reduce),
    FUSION_SYMBOL(fusion_dist_begin),
    FUSION_SYMBOL(fusion_dist_borrow),
    FUSION_SYMBOL(fusion_dist_copy),
    FUSION_SYMBOL(fusion_dist_create),
    FUSION_SYMBOL(fusion_dist_destroy),
    FUSION_SYMBOL(fusion_dist_end),
    FUSION_SYMBOL(fusion_dist_exchange),
    FUSION_SYMBOL(fusion_dist_exchange_start),
    FUSION_SYMBOL(fusion_dist_exchange_wait),
    FUSION_SYMBOL(fusion_dist_fill),
    FUSION_SYMBOL(fusion_dist_from_tensor),
    FUSION_SYMBOL(fusion_dist_launch),
    FUSION_SYMBOL(fusion_dist_launch_external),
    FUSION_SYMBOL(fusion_dist_return),
    FUSION_SYMBOL(fusion_dist_to_tensor),
    FUSION_SYMBOL(fusion_mpi_invoke),
    FUSION_SYMBOL(fusion_spmv_csr_f32),
    FUSION_SYMBOL(fusion_spmv_csr_f64),
};

extern "C" const FusionDistSymbol *fusion_dist_symbols(size_t *count) {
  *count = sizeof(symbols) / sizeof(symbols[0]);
  return symbols;
}
