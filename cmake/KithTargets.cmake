# How every target of the project is compiled.

# What one directory finds, the others see: tests link what src links.
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)

find_package(TBB CONFIG REQUIRED)
find_package(HWY CONFIG REQUIRED)

# A second build of the same text costs nothing where ccache is installed.
find_program(KITH_CCACHE ccache)
mark_as_advanced(KITH_CCACHE)
if(KITH_CCACHE AND PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # Comments count: a precompiled header of other comments has other files in it, which #pragma once compares.
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
        CCACHE_COMMENTS=true "${KITH_CCACHE}")
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>) # for ccache, which wants it with such headers
    endif()
endif()

# Answers are the same bits everywhere: no contraction, no fast-math (docs/semantics.md).
add_library(kith_options INTERFACE)
target_compile_features(kith_options INTERFACE cxx_std_20)
target_compile_options(kith_options INTERFACE
    "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:>>:-O3>"
    "$<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off;-fno-fast-math;-fno-math-errno>"
    "$<$<COMPILE_LANGUAGE:CUDA>:-std=c++20;--fmad=false;--expt-relaxed-constexpr;-Xcompiler=-ffp-contract=off>")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC may use 512 MiB before it looks for memory to free, which takes a tenth of its time. What it compiles is the same.
    target_compile_options(kith_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=524288>")
endif()
if(KITH_WERROR)
    set(kith_warnings -Wall -Wextra -Wpedantic -Wconversion -Wno-sign-conversion -Wno-psabi -Werror)
    # In files compiled as one, a local name may be another file's. GCC warns of those of one function alone.
    set(kith_shadow_as_one "$<$<CXX_COMPILER_ID:GNU>:-Wshadow=local>")
    list(APPEND kith_warnings "$<IF:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>,${kith_shadow_as_one},-Wshadow>")
    target_compile_options(kith_options INTERFACE
        "$<$<COMPILE_LANGUAGE:CXX>:${kith_warnings}>"
        "$<$<COMPILE_LANGUAGE:CUDA>:--Werror=all-warnings;-Xcompiler=-Wall,-Wextra,-Werror>")
endif()

# The bits of dimensions, for KITH_DIMENSION_MASK and KITH_CUDA_DIMENSION_MASK: kith_dimension_mask(variable dimensions...)
function(kith_dimension_mask variable)
    set(mask 0)
    foreach(dimension IN LISTS ARGN)
        math(EXPR mask "${mask} | (1 << ${dimension})")
    endforeach()
    set(${variable} ${mask} PARENT_SCOPE)
endfunction()

function(kith_compile target)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:kith_options>)
    # Files are compiled as one only in the groups of kith_add_together, also for a project that sets CMAKE_UNITY_BUILD.
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON LINKER_LANGUAGE CXX UNITY_BUILD_MODE GROUP)
    # A shared kith shows its symbols: headers carry no export marks, and the tests reach inside.
    if(NOT BUILD_SHARED_LIBS)
        set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
    endif()
endfunction()

# Adds sources that share headers and instances: they are compiled as one, in two thirds of the time. A name of an unnamed
# namespace has one meaning in all of them. A group takes less than 20 s, for which an edit of one file waits.
option(KITH_TOGETHER "Compile sources that share headers together; OFF: each alone, as clang-tidy reads them" ON)
mark_as_advanced(KITH_TOGETHER)
function(kith_add_together target)
    target_sources(${target} PRIVATE ${ARGN})
    list(GET ARGN 0 first)
    string(MAKE_C_IDENTIFIER "${first}" group)
    set_source_files_properties(${ARGN} PROPERTIES UNITY_GROUP ${group})
    set_target_properties(${target} PROPERTIES UNITY_BUILD ${KITH_TOGETHER} UNITY_BUILD_MODE GROUP)
    if(KITH_TOGETHER AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        target_compile_options(${target} PRIVATE
            "$<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>") # GCC takes files that are compiled as one for headers
    endif()
endfunction()

# Of what GCC reads from a precompiled header it forgets that it is the system's, and warns of what it believes to happen
# there.
function(kith_quiet_precompiled_headers target)
    if(KITH_WERROR AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        target_compile_options(${target} PRIVATE
            "$<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds;-Wno-maybe-uninitialized;-Wno-restrict>"
            "$<$<COMPILE_LANGUAGE:CXX>:-Wno-stringop-overflow;-Wno-stringop-overread>")
    endif()
endfunction()

# The program, the readers, the tests and the benchmarks take longer to compile than to run, or wait for disks: to compile
# them sooner is worth more than -O3, and in development less optimization saves more.
set(KITH_PROGRAM_FLAGS "" CACHE STRING "More compiler flags for the program, the readers, the tests and the benchmarks")
mark_as_advanced(KITH_PROGRAM_FLAGS)
separate_arguments(kith_program_flags UNIX_COMMAND "${KITH_PROGRAM_FLAGS}")
set(kith_program_flags "$<$<COMPILE_LANGUAGE:CXX>:${kith_program_flags}>")
function(kith_compile_program target)
    kith_compile(${target})
    target_compile_options(${target} PRIVATE
        "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-O2>" "${kith_program_flags}")
endfunction()

# Instruction sets that Highway compiles and chooses from at run time: those with a true fused multiply-add. On x86-64
# these are AVX2 (bit 9) and AVX-512 (bit 8), on Arm NEON; everything else takes the scalar fallback, which uses
# std::fma. The bits are Highway's. NATIVE compiles the best of this machine alone, AVX2 that one alone where this machine
# has it, in less time; what they build runs on such machines only.
set(KITH_SIMD ALL CACHE STRING "Instruction sets to compile kernels for (ALL, NO_AVX512, AVX2, NATIVE)")
set_property(CACHE KITH_SIMD PROPERTY STRINGS ALL NO_AVX512 AVX2 NATIVE)
set(kith_simd_definitions HWY_BROKEN_EMU128=1)
set(kith_simd_options)
set(kith_simd_alone) # the one that is compiled, if it is one
if(NOT KITH_SIMD MATCHES "^(ALL|NO_AVX512|AVX2|NATIVE)$")
    message(FATAL_ERROR "KITH_SIMD is '${KITH_SIMD}'; it must be ALL, NO_AVX512, AVX2 or NATIVE")
endif()
# Whether this machine has instructions, by their names in the compiler's words.
function(kith_find_instructions result)
    list(TRANSFORM ARGN REPLACE "(.+)" "__builtin_cpu_supports(\"\\1\")" OUTPUT_VARIABLE all)
    list(JOIN all " && " all)
    check_cxx_source_runs("int main() { return ${all} ? 0 : 1; }" ${result})
endfunction()
if(KITH_SIMD MATCHES "^(AVX2|NATIVE)$")
    include(CheckCXXSourceRuns)
    kith_find_instructions(kith_machine_has_avx2 avx2 fma)
    if(KITH_SIMD STREQUAL "NATIVE" AND kith_machine_has_avx2)
        kith_find_instructions(kith_machine_has_avx512 avx512f avx512vl avx512bw avx512dq avx512cd)
    endif()
endif()
if(kith_machine_has_avx2 AND KITH_SIMD MATCHES "^(AVX2|NATIVE)$")
    set(kith_simd_alone AVX2)
    list(APPEND kith_simd_definitions HWY_COMPILE_ONLY_STATIC)
    set(kith_simd_options -mavx2 -mfma -mbmi -mbmi2 -mf16c -maes -mpclmul)
    if(KITH_SIMD STREQUAL "NATIVE" AND kith_machine_has_avx512)
        set(kith_simd_alone AVX-512)
        list(APPEND kith_simd_options -mavx512f -mavx512vl -mavx512bw -mavx512dq -mavx512cd)
    endif()
endif()
if(KITH_SIMD STREQUAL "ALL" OR kith_simd_alone STREQUAL "AVX-512")
    list(APPEND kith_simd_definitions HWY_DISABLED_TARGETS=0xF007CFF)
else()
    list(APPEND kith_simd_definitions HWY_DISABLED_TARGETS=0xF007DFF)
endif()

# Adds sources that are compiled for each scalar type on their own, KITH_SCALAR; Highway includes them once for every
# instruction set. Named without their ending, .ipp, from the include directory.
function(kith_add_scalar_instances target)
    foreach(source IN LISTS ARGN)
        foreach(scalar float double)
            set(instance "${CMAKE_CURRENT_BINARY_DIR}/instances/${source}_${scalar}.cpp")
            file(CONFIGURE OUTPUT "${instance}" @ONLY CONTENT
"#define KITH_SCALAR ${scalar}
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE \"${source}.ipp\"
#include \"${source}.ipp\"
")
            target_sources(${target} PRIVATE "${instance}")
        endforeach()
    endforeach()
endfunction()

# Compiles all of a target for the chosen instruction sets.
function(kith_use_simd target)
    target_compile_definitions(${target} PRIVATE ${kith_simd_definitions})
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${kith_simd_options}>")
endfunction()
