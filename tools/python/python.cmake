# The Python package `tcq`: one extension module over the oracle's libraries, and tcq/*.py around it.
#
# `pip install .` comes here by scikit-build-core (pyproject.toml), which builds this target alone; tools/python/build
# builds it beside everything else and has scikit-build-core pack it. From CPython 3.12 on the module has the stable
# ABI: one wheel for all of them. Next: module.cc, tcq/__init__.py
if(TCQ_PYTHON_BUILT)
  install(DIRECTORY ${TCQ_PYTHON_BUILT}/python/module/ DESTINATION tcq COMPONENT python)
  add_custom_target(_tcq_types)
  return()
endif()
set(python_module ${PROJECT_BINARY_DIR}/python/module)
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module
             OPTIONAL_COMPONENTS Development.SABIModule)
# nanobind: C++ functions as Python's, small and quick to import; from PyPI, beside the interpreter that builds.
execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir OUTPUT_VARIABLE nanobind_ROOT
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
find_package(nanobind CONFIG REQUIRED)

file(GLOB python_sources CONFIGURE_DEPENDS tools/python/*.cc)
nanobind_add_module(_tcq STABLE_ABI NB_STATIC NOMINSIZE NB_SUPPRESS_WARNINGS ${python_sources})
foreach(library nanobind-static nanobind-static-abi3)  # whose warnings are its authors'
  if(TARGET ${library})
    target_compile_options(${library} PRIVATE -w)
  endif()
endforeach()
tcq_include(_tcq PRIVATE tools/python)
target_link_libraries(_tcq PRIVATE oracle)
target_compile_options(_tcq PRIVATE ${TCQ_COLD})
target_compile_definitions(_tcq PRIVATE TCQ_VERSION="${PROJECT_VERSION}" TCQ_COMMIT="${TCQ_COMMIT}"
                                        TCQ_EVIDENCE="${evidence}")
set_target_properties(_tcq PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${python_module} EXCLUDE_FROM_ALL ON)
nanobind_add_stub(_tcq_types MODULE _tcq OUTPUT ${python_module}/_tcq.pyi PYTHON_PATH ${python_module} DEPENDS _tcq
                  EXCLUDE_FROM_ALL)
install(DIRECTORY ${python_module}/ DESTINATION tcq COMPONENT python EXCLUDE_FROM_ALL)
