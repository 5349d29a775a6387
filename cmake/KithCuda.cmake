# Whether and how kith is built for NVIDIA GPUs: sets KITH_HAS_CUDA.
#
# AUTO builds for GPUs wherever nvcc is found; no GPU is needed for that. CMAKE_CUDA_ARCHITECTURES chooses the kinds of
# GPU; where it is not given, it is this machine's GPU's, or where there is none, 9.0 and code for all from 8.0 on.
set(KITH_HAS_CUDA OFF)

# Adds what the modules do on a GPU to a target, a file for every type and each of the dimensions, with the extension: cu,
# or cpp where the emulator runs it.
function(kith_add_device_instances target extension)
    foreach(dimension IN LISTS ARGN)
        foreach(scalar float double)
            set(defined "#define KITH_SCALAR ${scalar}\n#define KITH_DIMENSION ${dimension}\n")
            set(points "#include \"points/part_points_instance.ipp\"\n")
            set(text "${defined}")
            if(extension STREQUAL "cpp") # for the emulator they are not worth reading all headers once more
                string(APPEND text "${points}")
            else()
                set(points_file "${CMAKE_CURRENT_BINARY_DIR}/points_${scalar}_${dimension}.${extension}")
                file(CONFIGURE OUTPUT "${points_file}" CONTENT "${defined}${points}" @ONLY)
                target_sources(${target} PRIVATE "${points_file}")
            endif()
            foreach(module tree/build neighbors/search neighbors/radius neighbors/neighbor_sums groups/link groups/dbscan mst/spanning_tree mst/reachability
                    pairs/pair_counts engines/brute_force/brute_force engines/kdtree/kdtree engines/clover/clover)
                string(APPEND text "#include \"${module}_instance.ipp\"\n")
            endforeach()
            set(instance "${CMAKE_CURRENT_BINARY_DIR}/instance_${scalar}_${dimension}.${extension}")
            file(CONFIGURE OUTPUT "${instance}" CONTENT "${text}" @ONLY)
            target_sources(${target} PRIVATE "${instance}")
        endforeach()
    endforeach()
    kith_dimension_mask(mask ${ARGN})
    target_compile_definitions(${target} PRIVATE KITH_CUDA_DIMENSION_MASK=${mask})
endfunction()

if(KITH_CUDA STREQUAL "OFF")
    return()
endif()

include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
    if(KITH_CUDA STREQUAL "ON")
        message(FATAL_ERROR "KITH_CUDA=ON needs nvcc, of CUDA 12.4 or later: put it on PATH or name it in "
            "CMAKE_CUDA_COMPILER; or configure with KITH_CUDA=OFF")
    endif()
    message(STATUS "kith is not built for GPUs: nvcc was not found")
    return()
endif()

if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
        OUTPUT_VARIABLE kith_gpus ERROR_QUIET RESULT_VARIABLE kith_no_gpus)
    if(kith_no_gpus EQUAL 0 AND kith_gpus MATCHES "[0-9]")
        string(REGEX MATCHALL "[0-9]+\\.[0-9]+" kith_gpus "${kith_gpus}")
        string(REPLACE "." "" kith_gpus "${kith_gpus}")
        list(REMOVE_DUPLICATES kith_gpus)
        set(CMAKE_CUDA_ARCHITECTURES ${kith_gpus})
    else()
        # Machine code for Hopper; for others, code that their driver finishes when it is first used.
        set(CMAKE_CUDA_ARCHITECTURES 90-real 80-virtual)
    endif()
endif()
enable_language(CUDA)
if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.4)
    if(KITH_CUDA STREQUAL "ON")
        message(FATAL_ERROR "KITH_CUDA=ON needs CUDA 12.4 or later, this is ${CMAKE_CUDA_COMPILER_VERSION}")
    endif()
    message(STATUS "kith is not built for GPUs: nvcc is ${CMAKE_CUDA_COMPILER_VERSION}, and 12.4 is needed")
    return()
endif()
find_package(CUDAToolkit REQUIRED)
set(KITH_HAS_CUDA ON)
if(KITH_CUDA_DIMS STREQUAL "")
    set(KITH_CUDA_DIMS ${KITH_DIMS})
endif()
