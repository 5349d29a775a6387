#define KITH_SCALAR float
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engines/brute_force/spanning_tree_float.cpp"
#include "engines/brute_force/spanning_tree_cpu.ipp"
