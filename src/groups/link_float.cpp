#define KITH_SCALAR float
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "groups/link_float.cpp"
#include "groups/link_cpu.ipp"
