#define KITH_SCALAR double
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engines/kdtree/search_double.cpp"
#include "engines/kdtree/search_cpu.ipp"
