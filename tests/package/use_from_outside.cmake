# Configures, builds and runs the project in OUTSIDE against kith, in the folder WORK. WAY is find_package (what
# KITH_BINARY installs; with the examples of users' own loops and kernels) or add_subdirectory (KITH_SOURCE itself, three
# dimensions only and unoptimized, to be quick). LAUNCHER is the command that starts two ranks,
# if kith::mpi is to be used.
function(run)
    execute_process(COMMAND ${ARGV} RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
        list(JOIN ARGV " " command)
        message(FATAL_ERROR "This failed (${status}): ${command}")
    endif()
endfunction()

file(REMOVE_RECURSE "${WORK}")
if(WAY STREQUAL "find_package")
    run(${CMAKE_COMMAND} --install "${KITH_BINARY}" --prefix "${WORK}/prefix")
    set(kith_from "-DCMAKE_PREFIX_PATH=${WORK}/prefix" "-DEXAMPLES=${KITH_SOURCE}/examples")
else()
    set(kith_from "-DKITH_SOURCE=${KITH_SOURCE}" -DKITH_DIMS=3 -DKITH_SIMD=NATIVE -DKITH_CUDA=OFF -DKITH_IO=OFF
        -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0)
endif()
set(with_mpi OFF)
if(LAUNCHER)
    set(with_mpi ON)
endif()
run(${CMAKE_COMMAND} -S "${OUTSIDE}" -B "${WORK}/build" -G "${GENERATOR}" ${kith_from} -DWITH_IO=${WITH_IO} -DWITH_MPI=${with_mpi}
    "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_CXX_FLAGS=${FLAGS}" "-DBUILD_SHARED_LIBS=${BUILD_SHARED_LIBS}")
run(${CMAKE_COMMAND} --build "${WORK}/build" --parallel 2)
run("${WORK}/build/outside")
if(WAY STREQUAL "find_package")
    run("${WORK}/build/own_loop")
endif()
if(WITH_IO)
    run("${WORK}/build/outside_io" "${WORK}/squares.npy")
    run("${WORK}/prefix/bin/kith" --version)
endif()
if(LAUNCHER)
    run(${LAUNCHER} "${WORK}/build/outside_mpi")
endif()
