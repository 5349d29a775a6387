#define KITH_SCALAR double
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fof/link_double.cpp"
#include "fof/link_cpu.ipp"
