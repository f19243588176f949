# The Python package `tcq`: one extension module over the oracle's libraries, and tcq/*.py around it.
#
# `pip install .` comes here by scikit-build-core (pyproject.toml), which builds this target alone. From CPython 3.12 on
# the module has the stable ABI: one wheel for all of them. Next: module.cc, tcq/__init__.py
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
install(TARGETS _tcq LIBRARY DESTINATION tcq COMPONENT python)
nanobind_add_stub(_tcq_types MODULE _tcq OUTPUT ${PROJECT_BINARY_DIR}/_tcq.pyi PYTHON_PATH $<TARGET_FILE_DIR:_tcq> DEPENDS _tcq)
install(FILES ${PROJECT_BINARY_DIR}/_tcq.pyi DESTINATION tcq COMPONENT python)
