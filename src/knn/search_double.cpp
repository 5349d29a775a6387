#define KITH_SCALAR double
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "knn/search_double.cpp"
#include "knn/search_cpu.ipp"
