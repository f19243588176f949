# The GEMM: what it decides on the CPU, its kernels, and the C interface as a shared library. It needs CUDA, a C++
# compiler and nlohmann_json; nothing here needs the oracle (TCQ_ORACLE=OFF). Next: gemm.h, instances.cu.in
# What it decides on the CPU needs no CUDA.
set(gemm_host_names check describe estimate json maps path plan_tensor quantize run status tensor_time tune_cache)
list(TRANSFORM gemm_host_names REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/cuda/gemm/\\1.cc" OUTPUT_VARIABLE gemm_host_sources)
add_library(cuda_gemm_host STATIC ${gemm_host_sources})
tcq_include(cuda_gemm_host PUBLIC cuda/gemm)
target_link_libraries(cuda_gemm_host PUBLIC sim_num nlohmann_json::nlohmann_json)  # JSON: the file of tuned kernels
if(NOT TCQ_HAVE_CUDA)
  return()
endif()

set(gemm_bench_sources ${PROJECT_SOURCE_DIR}/cuda/gemm/bench.cu)  # for all architectures: at the end
tcq_cuda_layer(cuda/gemm cuda_runtime cuda_ptx cuda_gemm_host)
# tcq_gemm_undrawn(TARGET ARCHITECTURE): kernels that TCQ_DRAW has not drawn. They compile without a warning and link;
# optimising and assembling what no chip here runs would take three quarters of the time; and in two sources, one for
# each of two cores, as their headers would take two thirds of the rest.
function(tcq_gemm_undrawn target architecture)
  set(first "")
  set(second "")
  foreach(source ${ARGN})
    string(APPEND first "#include \"${source}\"\n")
    set(next "${second}")  # they take turns
    set(second "${first}")
    set(first "${next}")
  endforeach()
  set(sources "")
  foreach(half first second)
    set(source ${PROJECT_BINARY_DIR}/${target}/${half}.cu)
    file(CONFIGURE OUTPUT ${source} CONTENT "${${half}}" @ONLY)
    list(APPEND sources ${source})
  endforeach()
  add_library(${target} OBJECT ${sources})
  set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES ${architecture}-virtual)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--Ofast-compile=max>)
  target_link_libraries(${target} PRIVATE cuda_gemm_host cuda_runtime cuda_ptx)
  target_sources(cuda_gemm PRIVATE $<TARGET_OBJECTS:${target}>)
endfunction()
set(instances u8_General e5m2_General bf16_Middle f16_Middle)
foreach(type bf16 f16 tf32 s8 e4m3)
  list(APPEND instances ${type}_General ${type}_Large ${type}_Skinny ${type}_Pairs)
endforeach()
tcq_drawn(drawn_instances 6 ${instances})
set(undrawn "")
foreach(name ${instances})  # one source for each part of the table of kernels
  string(REGEX MATCH "^(.*)_(.*)$" name ${name})
  set(type ${CMAKE_MATCH_1})
  set(part ${CMAKE_MATCH_2})
  set(instance ${PROJECT_BINARY_DIR}/gemm_instances/${name}.cu)
  configure_file(cuda/gemm/instances.cu.in ${instance} @ONLY)
  if(NOT name IN_LIST drawn_instances)
    list(APPEND undrawn ${instance})
    continue()
  endif()
  target_sources(cuda_gemm PRIVATE ${instance})
  # Spills fail the build of few rows. In the others words are while C is read, of 16-bit types at 160 columns and
  # more: 88 bytes at most, at 208 columns 504; and of two kernels for the middle 136.
  if(part MATCHES "Skinny|Pairs")
    set_source_files_properties(${instance} PROPERTIES COMPILE_OPTIONS -Xptxas=-warn-spills)
  endif()
endforeach()
if(undrawn)
  tcq_gemm_undrawn(cuda_gemm_undrawn 90a ${undrawn})
endif()
# What ptxas says of serialised wgmmas fails the build, too.
set(launcher ${PROJECT_SOURCE_DIR}/tools/nvcc_strict ${CMAKE_CUDA_COMPILER_LAUNCHER})  # the second may be none
set_target_properties(cuda_gemm PROPERTIES CUDA_COMPILER_LAUNCHER "${launcher}")

# Kernels on tcgen05, cuda/gemm/tensor_table.h: a source for each row, for the architectures that have the instruction.
set(tensor_rows 31)
set(tensor_integer_rows 2)  # the last of them: 10.3 has no tcgen05.mma for 8-bit integers
option(TCQ_GEMM_TCGEN05 "Compile the GEMM's kernels for compute capability 10.0 and 10.3 besides" ON)
if(NOT TCQ_GEMM_TCGEN05 OR CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.9)
  set(tensor_rows 0)
endif()
set_source_files_properties(cuda/gemm/tensor_kernels.cc PROPERTIES
  COMPILE_DEFINITIONS "TCQ_TENSOR_ROWS=${tensor_rows};TCQ_TENSOR_INTEGER_ROWS=${tensor_integer_rows}")
# tcq_gemm_tensor(TARGET ARCHITECTURES SOURCES...): rows that are assembled, if there are any.
function(tcq_gemm_tensor target architectures)
  if(NOT ARGN)
    return()
  endif()
  add_library(${target} OBJECT ${ARGN})
  set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES "${architectures}")
  target_link_libraries(${target} PRIVATE cuda_gemm_host cuda_runtime cuda_ptx)
  target_sources(cuda_gemm PRIVATE $<TARGET_OBJECTS:${target}>)
endfunction()
if(tensor_rows GREATER 0)
  math(EXPR last_row "${tensor_rows} - 1")
  math(EXPR first_integer_row "${tensor_rows} - ${tensor_integer_rows}")
  set(rows "")
  foreach(row RANGE ${last_row})
    list(APPEND rows row_${row})
  endforeach()
  tcq_drawn(drawn_rows 4 ${rows})
  set(assembled "")
  set(integers "")
  set(undrawn "")
  foreach(row RANGE ${last_row})
    set(instance ${PROJECT_BINARY_DIR}/gemm_tensor_instances/row_${row}.cu)
    configure_file(cuda/gemm/tensor_instance.cu.in ${instance} @ONLY)
    if(NOT row_${row} IN_LIST drawn_rows)
      list(APPEND undrawn ${instance})
    elseif(row GREATER_EQUAL first_integer_row)
      list(APPEND integers ${instance})
    else()
      list(APPEND assembled ${instance})
    endif()
  endforeach()
  if(undrawn)
    tcq_gemm_undrawn(cuda_gemm_sm100_undrawn 100a ${undrawn})
  endif()
  tcq_gemm_tensor(cuda_gemm_sm100 "100a;103a" ${assembled})
  tcq_gemm_tensor(cuda_gemm_sm100_integers 100a ${integers})
endif()

# What benchmarks run beside the kernels, wherever these run.
add_library(cuda_gemm_bench OBJECT ${gemm_bench_sources})
set(bench_architectures 90a)
if(tensor_rows GREATER 0)
  list(APPEND bench_architectures 100a 103a)
endif()
set_target_properties(cuda_gemm_bench PROPERTIES CUDA_ARCHITECTURES "${bench_architectures}")
target_link_libraries(cuda_gemm_bench PRIVATE cuda_gemm_host cuda_runtime cuda_ptx)
target_sources(cuda_gemm PRIVATE $<TARGET_OBJECTS:cuda_gemm_bench>)

# The C interface alone. Two things are within, so that a process which has other versions of them is not disturbed,
# and may have an older one of C++'s: CUDA's runtime and libstdc++; no object of theirs crosses the interface.
set(exports ${CMAKE_CURRENT_LIST_DIR}/gemm_c.map)
add_library(gemm_c SHARED ${CMAKE_CURRENT_LIST_DIR}/gemm_c.cc)
tcq_include(gemm_c PUBLIC cuda/gemm)
target_link_libraries(gemm_c PRIVATE cuda_gemm)
target_link_options(gemm_c PRIVATE -Wl,--version-script=${exports} -static-libstdc++)
# What breaks callers raises SOVERSION; functions and fields that are added do not (gemm_c.h).
set_target_properties(gemm_c PROPERTIES OUTPUT_NAME tcq_gemm LINKER_LANGUAGE CXX LINK_DEPENDS ${exports}
                      VERSION ${PROJECT_VERSION} SOVERSION 0)
