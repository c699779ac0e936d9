/* Opaque tasks of the test external.mlir. */
#include "fusion/Runtime/Dist.h"

/* y = x + index of the element in the store. */
int32_t add_index(const FusionTile *tiles, int32_t count) {
  if (count != 2 || tiles[0].rank != 2 || tiles[0].type != FUSION_MPI_F32 || tiles[1].privilege != FUSION_DIST_WRITE)
    return fusion_dist_task_error("not the arguments of add_index");
  for (int64_t i = 0; i < tiles[0].sizes[0]; ++i)
    for (int64_t j = 0; j < tiles[0].sizes[1]; ++j) {
      float x = ((const float *)tiles[0].data)[i * tiles[0].strides[0] + j * tiles[0].strides[1]];
      float *y = (float *)tiles[1].data + i * tiles[1].strides[0] + j * tiles[1].strides[1];
      *y = x + (float)((tiles[0].offsets[0] + i) * tiles[0].shape[1] + tiles[0].offsets[1] + j);
    }
  return 0;
}

/* Fails where the box does not begin at 0. */
int32_t only_first(const FusionTile *tiles, int32_t count) {
  (void)count;
  return tiles[0].offsets[0] == 0 ? 0 : fusion_dist_task_error("I only know the first box");
}
