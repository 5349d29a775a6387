#define KITH_SCALAR double
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neighbors/search_double.cpp"
#include "neighbors/search_cpu.ipp"
