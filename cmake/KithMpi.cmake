# What is asked of an MPI beyond find_package(MPI); installed with kith, whose package file asks it of the MPI of users.

# Sets the variable to the implementation of MPI::MPI_CXX: "Open MPI", "MPICH" (and those with its ABI: Intel MPI,
# MVAPICH, Cray) or "unknown". Its headers tell; nothing is run.
function(kith_mpi_implementation variable)
    include(CheckCXXSourceCompiles)
    set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_CXX)
    set(CMAKE_REQUIRED_QUIET ON)
    set(implementation "unknown")
    foreach(candidate "Open MPI|OPEN_MPI" "MPICH|MPICH_NUMVERSION")
        string(REPLACE "|" ";" candidate "${candidate}")
        list(GET candidate 0 name)
        list(GET candidate 1 macro)
        # No cache: another MPI may have been chosen since.
        unset(kith_mpi_defines_${macro} CACHE)
        check_cxx_source_compiles("#include <mpi.h>
#ifndef ${macro}
#error another MPI
#endif
int main() {}" kith_mpi_defines_${macro})
        if(kith_mpi_defines_${macro})
            set(implementation "${name}")
        endif()
        unset(kith_mpi_defines_${macro} CACHE)
    endforeach()
    set(${variable} "${implementation}" PARENT_SCOPE)
endfunction()

# Sets the variable to whether find_package(MPI) can be called at all: FindMPI ends the whole configuration with an error
# if a compiler wrapper names folders that do not exist. So a project of its own, in another process, calls it first.
function(kith_probe_mpi variable)
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/mpi_probe")
    file(WRITE "${folder}/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)
project(mpi_probe LANGUAGES CXX)
find_package(MPI 3.0 QUIET COMPONENTS CXX)
")
    set(settings "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}")
    get_cmake_property(names CACHE_VARIABLES)
    list(FILTER names INCLUDE REGEX "^MPI_[^R]|^CMAKE_(TOOLCHAIN_FILE|PREFIX_PATH|MAKE_PROGRAM|CXX_FLAGS|SYSROOT)$")
    foreach(name IN LISTS names)
        if(NOT "${${name}}" STREQUAL "")
            string(REPLACE ";" "\\;" value "${${name}}") # what an earlier search has found are lists
            list(APPEND settings "-D${name}=${value}")
        endif()
    endforeach()
    execute_process(COMMAND "${CMAKE_COMMAND}" -S "${folder}" -B "${folder}/build" -G "${CMAKE_GENERATOR}" ${settings}
        RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
    if(status EQUAL 0)
        set(${variable} ON PARENT_SCOPE)
    else()
        set(${variable} OFF PARENT_SCOPE)
    endif()
endfunction()
