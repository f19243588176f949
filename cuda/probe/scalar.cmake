# The kernels of scalar_text_sm90.h: written by a program, assembled by ptxas, part of cuda_probe as bytes.
add_executable(scalar_ptx tools/scalar_ptx.cc)
target_link_libraries(scalar_ptx PRIVATE tcq_probe_text)
set_target_properties(scalar_ptx PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tools)
set(scalar ${PROJECT_BINARY_DIR}/scalar_kernels)
add_custom_command(OUTPUT ${scalar}.ptx COMMAND scalar_ptx > ${scalar}.ptx DEPENDS scalar_ptx VERBATIM)
add_custom_command(OUTPUT ${scalar}.cubin DEPENDS ${scalar}.ptx VERBATIM
  COMMAND ${CUDAToolkit_BIN_DIR}/ptxas -arch=sm_90a ${scalar}.ptx -o ${scalar}.cubin)
# An ELF file wants to lie on 8 bytes.
file(CONFIGURE OUTPUT ${scalar}.cc @ONLY CONTENT [[
asm(".section .rodata\n.balign 16\n.global tcq_scalar_kernels\ntcq_scalar_kernels:\n.incbin \"@scalar@.cubin\"\n.previous\n");
]])
set_source_files_properties(${scalar}.cc PROPERTIES OBJECT_DEPENDS ${scalar}.cubin)
target_sources(cuda_probe PRIVATE ${scalar}.cc)
