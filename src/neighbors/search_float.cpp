#define KITH_SCALAR float
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neighbors/search_float.cpp"
#include "neighbors/search_cpu.ipp"
