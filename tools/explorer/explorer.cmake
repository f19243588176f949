# The explorer: tcq itself as a WebAssembly module, and one html file that holds module, style and script.
#
# The compiler is zig's (PyPI's ziglang: clang, libc++ and a C library for wasm32-wasi in one package). Its libc++ comes
# without exceptions, its sources with them: three files of it are compiled here, so that the verbs throw in a browser
# as they do everywhere. What the module leaves out: elsewhere.cc. Next: explorer.js, wasi.js, pack.py
set(TCQ_ZIG "" CACHE FILEPATH "zig of the package ziglang; empty: installed from PyPI into a venv of the build")
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(explorer ${PROJECT_BINARY_DIR}/explorer)
set(explorer_venv ${explorer}/venv)
if(NOT TCQ_ZIG)
  if(NOT EXISTS ${explorer_venv}/ready)  # websockets: the test's way to Chromium
    execute_process(COMMAND ${Python3_EXECUTABLE} -m venv ${explorer_venv} COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND ${explorer_venv}/bin/pip install --quiet ziglang==0.17.1 websockets
                    COMMAND_ERROR_IS_FATAL ANY)
    file(TOUCH ${explorer_venv}/ready)
  endif()
  execute_process(COMMAND ${explorer_venv}/bin/python -c "import ziglang; print(ziglang.__path__[0])"
                  OUTPUT_VARIABLE zig_folder OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(TCQ_ZIG ${zig_folder}/zig CACHE FILEPATH "" FORCE)
endif()
get_filename_component(zig_folder ${TCQ_ZIG} DIRECTORY)
# Another clone takes what the same text gave before. A compiler cache knows compilers of one word, and takes another
# path for another compiler.
execute_process(COMMAND ${TCQ_ZIG} version OUTPUT_VARIABLE zig_version OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
foreach(language cc c++)
  file(CONFIGURE OUTPUT ${explorer}/zig_${language} CONTENT "#!/bin/sh\nexec '${TCQ_ZIG}' ${language} \"$@\"\n")
  file(CHMOD ${explorer}/zig_${language} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endforeach()
set(zig_cached "")
if(TCQ_CACHED)
  set(zig_cached ${CMAKE_COMMAND} -E env CCACHE_COMPILERTYPE=clang "CCACHE_COMPILERCHECK=string:zig ${zig_version}" ${TCQ_CACHED})
endif()
set(wasm_target -target wasm32-wasi -mcpu=generic+exception_handling -fwasm-exceptions -Os -DNDEBUG)

# zig compiles its libraries when it first links, by one core: meanwhile the other one has sources.
file(CONFIGURE OUTPUT ${explorer}/empty.cc CONTENT "int main() {}\n")
add_custom_command(OUTPUT ${explorer}/empty.wasm VERBATIM COMMAND_EXPAND_LISTS
  COMMAND ${TCQ_ZIG} c++ ${wasm_target} ${explorer}/empty.cc -o ${explorer}/empty.wasm)

# Header-only libraries, without the rest of the host's headers beside them.
file(MAKE_DIRECTORY ${explorer}/include)
foreach(header fmt/format.h nlohmann/json.hpp CLI/CLI.hpp)
  get_filename_component(library ${header} DIRECTORY)
  find_path(explorer_${library} NAMES ${header} REQUIRED)
  file(CREATE_LINK ${explorer_${library}}/${library} ${explorer}/include/${library} SYMBOLIC)
endforeach()

set(explorer_objects "")
# explorer_object(SOURCE OPTIONS...): compiled for the module; paths are the tree's or absolute.
function(explorer_object source)
  cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE path)
  string(MAKE_C_IDENTIFIER ${source} name)
  set(object ${explorer}/objects/${name}.o)
  set(compiler cc)
  set(depends "")
  set(depfile "")
  if(NOT source MATCHES "\\.s$")
    set(depends -MMD -MF ${object}.d)
    set(compiler c++)
    set(depfile DEPFILE ${object}.d)
  endif()
  add_custom_command(OUTPUT ${object} DEPENDS ${path} ${depfile} COMMAND_EXPAND_LISTS VERBATIM
    COMMAND ${zig_cached} ${explorer}/zig_${compiler} ${wasm_target} ${ARGN} ${depends} -c ${path} -o ${object})
  set(explorer_objects ${explorer_objects} ${object} PARENT_SCOPE)
endfunction()

file(GLOB explorer_sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
     sim/isa/*/*.cc sim/ptx/*.cc sim/num/*.cc sim/alu/*.cc oracle/*.cc oracle/answer/*.cc oracle/explain/*.cc
     oracle/ptx/*.cc oracle/map/*.cc oracle/tile/*.cc oracle/descriptor/*.cc oracle/sum/*.cc)
list(FILTER explorer_sources EXCLUDE REGEX "oracle/answer/(svg|pending_file)|oracle/sum/gemm_")
file(GLOB explorer_orders RELATIVE ${PROJECT_SOURCE_DIR} sim/async/tmem_*.cc sim/async/wgmma_order*.cc)
# First, so that the archive's empty ones are not taken.
set(abi ${zig_folder}/lib/libcxxabi)
foreach(source cxa_exception cxa_personality)
  explorer_object(${abi}/src/${source}.cpp -std=c++23 -w -D_LIBCXXABI_BUILDING_LIBRARY -D_LIBCPP_BUILDING_LIBRARY
                  -D_LIBCXXABI_HAS_NO_THREADS -I${abi}/include -I${zig_folder}/lib/libcxx/src
                  -I${zig_folder}/lib/libunwind/include)
endforeach()
explorer_object(${zig_folder}/lib/libunwind/src/Unwind-wasm.c -xc -w -D_LIBUNWIND_HIDE_SYMBOLS
                -I${zig_folder}/lib/libunwind/include -I${zig_folder}/lib/libunwind/src)
explorer_object(tools/explorer/exception_tag.s)

set(options -std=c++20 -w -I${PROJECT_SOURCE_DIR} -I${explorer}/include -DFMT_HEADER_ONLY)
# Sources of a folder compile together where they do so elsewhere.
foreach(folder ${together})
  set(sources ${explorer_sources} ${explorer_orders})
  list(FILTER sources INCLUDE REGEX "^${folder}/[^/]*$")
  list(REMOVE_ITEM explorer_sources ${sources})
  list(REMOVE_ITEM explorer_orders ${sources})
  string(MAKE_C_IDENTIFIER ${folder} name)
  tcq_together(sources explorer_${name} ${sources})
  foreach(source ${sources})
    explorer_object(${source} ${options})
  endforeach()
endforeach()
unset(sources)
foreach(source ${explorer_sources} ${explorer_orders} ${prose})
  explorer_object(${source} ${options})
endforeach()
foreach(source tools/tcq.cc oracle/gemm/command_line.cc tools/explorer/elsewhere.cc)  # CLI11 names std::ifstream, which zig configures away
  explorer_object(${source} ${options} -DTCQ_VERSION="${PROJECT_VERSION}" -DTCQ_COMMIT="${TCQ_COMMIT}"
                  -DTCQ_EVIDENCE="${evidence}" -U_LIBCPP_HAS_FILESYSTEM -D_LIBCPP_HAS_FILESYSTEM=1 -DCLI11_HAS_FILESYSTEM=0
                  -include fstream)
endforeach()

add_custom_command(OUTPUT ${explorer}/tcq.wasm DEPENDS ${explorer_objects} ${explorer}/empty.wasm COMMAND_EXPAND_LISTS VERBATIM
  COMMAND ${TCQ_ZIG} c++ ${wasm_target} -s -Wl,--gc-sections -Wl,-z,stack-size=1048576 ${explorer_objects}
          -o ${explorer}/tcq.wasm)

file(GLOB explorer_page CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/explorer/*.js ${PROJECT_SOURCE_DIR}/tools/explorer/page.*)
add_custom_command(OUTPUT ${explorer}/tcq.html VERBATIM
  DEPENDS ${explorer}/tcq.wasm ${explorer_page} ${PROJECT_SOURCE_DIR}/tools/explorer/pack.py
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/explorer/pack.py ${explorer}/tcq.wasm ${explorer}/tcq.html)
add_custom_target(explorer ALL DEPENDS ${explorer}/tcq.html)
