#define KITH_SCALAR float
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fof/link_float.cpp"
#include "fof/link_cpu.ipp"
