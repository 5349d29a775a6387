#define KITH_SCALAR double
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "groups/link_double.cpp"
#include "groups/link_cpu.ipp"
