# What `cmake --install` installs, and what another project gets from find_package(tcq) or add_subdirectory():
#
#   tcq::isa      headers for host and device: fields, shapes, layouts, legality
#   tcq::num      the arithmetic, for host and device
#   tcq::machine  instructions and programs on a simulated machine
#   tcq::oracle   questions and answers
#   tcq::gemm     the GEMM, in C++ and C; where CUDA was there
#   tcq::gemm_c   the same in C, as a shared library that needs nothing but CUDA's driver; pkg-config: tcq_gemm
#
# machine, oracle and the command are not there with TCQ_ORACLE=OFF.
#
# The target tcq_installable builds what is installed and nothing else: without it, or everything, `cmake --install` finds
# no libraries.
#
# Libraries lie in a folder of their own: their names are the folders' here. example/ is a project outside that
# uses all of it (tests/cli/install_test.cc). Next: tcqConfig.cmake.in
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(config ${CMAKE_INSTALL_LIBDIR}/cmake/tcq)
set(headers ${CMAKE_INSTALL_INCLUDEDIR}/tcq)

add_custom_target(tcq_installable)

# tcq_export(SET TARGETS...): so that a user of one set needs nothing of what the others were built with.
function(tcq_export set)
  foreach(target ${ARGN})
    target_include_directories(${target} INTERFACE $<INSTALL_INTERFACE:${headers}>)
    target_compile_features(${target} INTERFACE cxx_std_20)
    get_target_property(type ${target} TYPE)
    if(NOT type STREQUAL INTERFACE_LIBRARY)
      add_dependencies(tcq_installable ${target})
    endif()
  endforeach()
  install(TARGETS ${ARGN} EXPORT ${set} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/tcq)
  install(EXPORT ${set} FILE ${set}.cmake NAMESPACE tcq:: DESTINATION ${config})
endfunction()

get_property(layers GLOBAL PROPERTY TCQ_LAYERS)
set(facts ${layers})
list(FILTER facts INCLUDE REGEX "^sim_(isa_.*|num|num_inputs)$")
list(REMOVE_ITEM layers ${facts} cuda_ptx)
tcq_export(tcq_facts ${facts})
add_library(tcq::isa ALIAS sim_isa_copy)
add_library(tcq::num ALIAS sim_num)
set(installed_sources sim/isa sim/num)
set(left_out PATTERN fast EXCLUDE)
if(TCQ_ORACLE)
  tcq_export(tcq_oracle ${layers})
  set(installed_sources sim oracle)
  set(left_out "")
  add_library(tcq::machine ALIAS sim_async)
  add_library(tcq::oracle ALIAS oracle)
endif()
if(TCQ_HAVE_CUDA)
  tcq_export(tcq_gemm cuda_ptx cuda_runtime cuda_gemm_host cuda_gemm)
  list(APPEND installed_sources cuda/ptx cuda/runtime cuda/gemm)
  add_library(tcq::gemm ALIAS cuda_gemm)
  add_library(tcq::gemm_c ALIAS gemm_c)
  target_include_directories(gemm_c INTERFACE $<INSTALL_INTERFACE:${headers}>)
  add_dependencies(tcq_installable gemm_c)
  install(TARGETS gemm_c EXPORT tcq_gemm_c LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT tcq_gemm_c FILE tcq_gemm_c.cmake NAMESPACE tcq:: DESTINATION ${config})
  file(RELATIVE_PATH pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  configure_file(tools/install/tcq_gemm.pc.in ${PROJECT_BINARY_DIR}/tcq_gemm.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/tcq_gemm.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
foreach(folder ${installed_sources})
  get_filename_component(parent ${folder} DIRECTORY)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} DESTINATION ${headers}/${parent}
          FILES_MATCHING REGEX "\\.(h|cuh|inc)$" ${left_out})
endforeach()

configure_package_config_file(tools/install/tcqConfig.cmake.in ${PROJECT_BINARY_DIR}/tcqConfig.cmake
                              INSTALL_DESTINATION ${config})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tcqConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tcqConfig.cmake ${PROJECT_BINARY_DIR}/tcqConfigVersion.cmake
        DESTINATION ${config})

install(FILES ${PROJECT_SOURCE_DIR}/README.md TYPE DOC)
if(NOT TCQ_ORACLE)
  return()
endif()

# The command, with a manual page and completions that it writes itself.
set(written ${PROJECT_BINARY_DIR}/installed)
set(pages man/tcq.1 completion/bash completion/zsh completion/fish)
list(TRANSFORM pages PREPEND ${written}/ OUTPUT_VARIABLE page_files)
add_custom_command(OUTPUT ${page_files} DEPENDS tcq ${CMAKE_CURRENT_LIST_DIR}/pages.cmake
  COMMAND ${CMAKE_COMMAND} -DTCQ=$<TARGET_FILE:tcq> -DOUTPUT=${written} -P ${CMAKE_CURRENT_LIST_DIR}/pages.cmake
  VERBATIM)
add_custom_target(tcq_pages ALL DEPENDS ${page_files})
add_dependencies(tcq_installable tcq tcq_pages)
install(TARGETS tcq RUNTIME)
install(FILES ${written}/man/tcq.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${written}/completion/bash RENAME tcq
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${written}/completion/zsh RENAME _tcq DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${written}/completion/fish RENAME tcq.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

# cpack -G DEB
if(PROJECT_IS_TOP_LEVEL)
  set(CPACK_PACKAGE_CONTACT "the tcq project")
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY
      "bit-exact simulator and layout oracle for WGMMA and tcgen05, and a GEMM for Hopper")
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_SECTION devel)
  # For find_package(tcq COMPONENTS oracle).
  set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libfmt-dev, libhwy-dev, nlohmann-json3-dev, libpugixml-dev, libeigen3-dev")
  set(CPACK_VERBATIM_VARIABLES ON)
  include(CPack)
endif()
