#define KITH_SCALAR float
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engines/kdtree/search_float.cpp"
#include "engines/kdtree/search_cpu.ipp"
