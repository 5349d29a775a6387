# Installs the libraries, the headers and the program, and exports kith::kith, kith::io and kith::mpi for find_package.
#
# Each library has its own export set, so that a project that wants the core alone never has to find HDF5:
#   find_package(kith)                 gives kith::kith
#   find_package(kith COMPONENTS io)   gives kith::io as well, where it was built
#   find_package(kith COMPONENTS mpi)  gives kith::mpi as well, where it was built
# Programs that link a static library link its dependencies, too; kithConfig.cmake finds them again.
include(CMakePackageConfigHelpers)

set(kith_package_directory "${CMAKE_INSTALL_LIBDIR}/cmake/kith")

# Builds whatever is installed.
add_custom_target(kith_installed)

function(kith_install_library target export_set)
    set_target_properties(${target} PROPERTIES VERSION ${PROJECT_VERSION}
        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} INSTALL_RPATH "$ORIGIN")
    install(TARGETS ${target} EXPORT ${export_set})
    add_dependencies(kith_installed ${target})
    install(EXPORT ${export_set} NAMESPACE kith:: DESTINATION "${kith_package_directory}")
endfunction()

set(kith_headers_left_out)
kith_install_library(kith kithTargets)
if(TARGET kith_io)
    kith_install_library(kith_io kithIoTargets)
else()
    foreach(header io snapshot result_file catalog_file catalog_reader cluster_file density_file halo_file snapshot_universe)
        list(APPEND kith_headers_left_out PATTERN ${header}.hpp EXCLUDE)
    endforeach()
endif()
if(TARGET kith_mpi)
    kith_install_library(kith_mpi kithMpiTargets)
else()
    list(APPEND kith_headers_left_out PATTERN mpi.hpp EXCLUDE)
endif()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/kith" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
    FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cuh" ${kith_headers_left_out})
if(TARGET kith_cli)
    set_target_properties(kith_cli PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
    install(TARGETS kith_cli)
    add_dependencies(kith_installed kith_cli)
endif()
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

get_target_property(kith_library_type kith TYPE)
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/kithConfig.cmake.in"
    "${PROJECT_BINARY_DIR}/kithConfig.cmake" INSTALL_DESTINATION "${kith_package_directory}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/kithConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/kithConfig.cmake" "${PROJECT_BINARY_DIR}/kithConfigVersion.cmake"
    "${CMAKE_CURRENT_LIST_DIR}/KithMpi.cmake" DESTINATION "${kith_package_directory}")

# kith.pc, for builds without CMake. Paths are relative to it, so that the prefix can be moved. A static library leaves
# its own dependencies to whoever links it.
set(kith_pkgconfig_directory "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
    set(kith_pkgconfig_prefix "${CMAKE_INSTALL_PREFIX}")
else()
    file(RELATIVE_PATH kith_pkgconfig_prefix "/${kith_pkgconfig_directory}" "/")
    string(REGEX REPLACE "/$" "" kith_pkgconfig_prefix "${kith_pkgconfig_prefix}")
    set(kith_pkgconfig_prefix "\${pcfiledir}/${kith_pkgconfig_prefix}")
endif()
set(kith_pkgconfig_libraries "-lkith")
if(kith_library_type STREQUAL "STATIC_LIBRARY")
    foreach(dependency TBB::tbb hwy::hwy)
        get_target_property(kith_dependency_file ${dependency} LOCATION)
        cmake_path(GET kith_dependency_file PARENT_PATH kith_dependency_directory)
        if(NOT kith_dependency_directory IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
            string(APPEND kith_pkgconfig_libraries " -L${kith_dependency_directory}")
        endif()
    endforeach()
    string(APPEND kith_pkgconfig_libraries " -ltbb -lhwy")
    if(KITH_HAS_CUDA)
        string(APPEND kith_pkgconfig_libraries " -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -ldl -lrt -lpthread")
    endif()
endif()
configure_file("${CMAKE_CURRENT_LIST_DIR}/kith.pc.in" "${PROJECT_BINARY_DIR}/kith.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/kith.pc" DESTINATION "${kith_pkgconfig_directory}")
