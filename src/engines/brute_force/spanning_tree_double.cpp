#define KITH_SCALAR double
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engines/brute_force/spanning_tree_double.cpp"
#include "engines/brute_force/spanning_tree_cpu.ipp"
