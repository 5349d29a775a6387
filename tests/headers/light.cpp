// Headers for code of a user's that is compiled with flags of its own bring nothing of what the library is built with.
#include <kith/device/kdtree.hpp>
#include <kith/walk.hpp>

#if defined(TBB_VERSION_MAJOR) || defined(HWY_MAJOR) || defined(CUDART_VERSION) || defined(CUB_VERSION)
#error "the headers for loops of one's own include oneTBB, Highway or CUDA"
#endif
