#include "fusion/Spaces/Passes.h"
