#define KITH_SCALAR float
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "knn/search_float.cpp"
#include "knn/search_cpu.ipp"
