#include "fusion/Tiles/Passes.h"
