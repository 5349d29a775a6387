# kith as a subdirectory of OUTSIDE, only configured, in the folder WORK: the parent's build type stays empty, a part of an
# MPI is no error, what AUTO chose is said, and the parent can export a library that links kith.
file(REMOVE_RECURSE "${WORK}")
file(WRITE "${WORK}/mpicxx" "#!/bin/sh\necho \"c++ -I${WORK}/no_such_folder -lmpi\"\n")
file(CHMOD "${WORK}/mpicxx" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
function(configure expected)
    execute_process(COMMAND ${CMAKE_COMMAND} -S "${OUTSIDE}" -B "${WORK}/build" -G "${GENERATOR}"
        "-DKITH_SOURCE=${KITH_SOURCE}" "-DCMAKE_CXX_COMPILER=${COMPILER}" -DKITH_SIMD=ALL -DKITH_DIMS=3 -DKITH_CUDA=OFF
        -DKITH_IO=OFF "-DMPI_CXX_COMPILER=${WORK}/mpicxx" ${ARGN}
        RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
    string(REGEX REPLACE "[ \n]+" " " text "${text}")
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "This failed (${status}): ${text}")
    endif()
    foreach(part IN LISTS expected)
        string(FIND "${text}" "${part}" at)
        if(at EQUAL -1)
            message(FATAL_ERROR "Not said: ${part}\nSaid: ${text}")
        endif()
    endforeach()
endfunction()

configure("configure with -DKITH_MPI=OFF;kith::mpi: off (KITH_MPI=AUTO);code for NVIDIA GPUs: off (KITH_CUDA=OFF);\
dimensions 3 (KITH_DIMS);set KITH_INSTALL=ON")
file(STRINGS "${WORK}/build/CMakeCache.txt" build_type REGEX "^CMAKE_BUILD_TYPE:")
if(build_type MATCHES "=.")
    message(FATAL_ERROR "The parent got a build type: ${build_type}")
endif()
configure("kith::mpi: off (KITH_MPI=OFF)" -DKITH_MPI=OFF -DKITH_INSTALL=ON -DEXPORTED=ON)
