# tcq_stage(NAME SECONDS n [SKIPPED status] [NEEDS stages...] ASSUMES sentence [MORE command] COMMAND ...)
# A test of ctest that runs after the stages that it needs, and only if none of them failed. ctest's own fixtures order
# and stop, as they do it well, and a stage can be asked for by its name; the script beside this says why a stage ended.
set(TCQ_STAGE ${CMAKE_CURRENT_LIST_DIR}/stage)
function(tcq_stage name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SECONDS;SKIPPED;ASSUMES;MORE" "NEEDS;COMMAND")
  if(NOT arg_SKIPPED)
    set(arg_SKIPPED 77)
  endif()
  if(NOT arg_MORE)
    list(JOIN arg_COMMAND " " arg_MORE)
  endif()
  add_test(NAME ${name} COMMAND ${TCQ_STAGE} ${name} ${arg_SECONDS} ${arg_SKIPPED} "${arg_ASSUMES}" "${arg_MORE}"
                                ${arg_COMMAND})
  math(EXPR net "${arg_SECONDS} + 60")  # for what not even SIGKILL ends
  set_tests_properties(${name} PROPERTIES LABELS "live;blackwell" RUN_SERIAL ON SKIP_RETURN_CODE 77 TIMEOUT ${net}
                       FIXTURES_SETUP ${name} FIXTURES_REQUIRED "${arg_NEEDS}")
endfunction()
