# The manual page and the completions, from what `tcq help` prints: cmake -DTCQ=PROGRAM -DOUTPUT=FOLDER -P pages.cmake
function(ask result)
  execute_process(COMMAND ${TCQ} ${ARGN} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

ask(overview help)
string(REGEX MATCHALL "\n  [a-z]+ +[^\n]+" lines "${overview}")
string(REGEX MATCHALL "--[a-z]+" options "${overview}")
list(REMOVE_DUPLICATES options)
list(JOIN options " " options)

# As it stands, without a meaning for roff.
function(roff result text)
  string(REPLACE "\\" "\\e" text "${text}")
  string(REPLACE "-" "\\-" text "${text}")
  string(REGEX REPLACE "(^|\n)([.'])" "\\1\\\\&\\2" text "${text}")
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

ask(version --version)
string(REGEX MATCH "^tcq [0-9.]+" version "${version}")
roff(page "${overview}")
set(manual ".TH TCQ 1 \"\" \"${version}\" \"User Commands\"\n.SH NAME\ntcq \\- questions about tensor-core instructions\n")
string(APPEND manual ".SH DESCRIPTION\n.nf\n${page}.fi\n")
set(verbs "")
set(fish "complete -c tcq -f\n")
set(zsh "")
foreach(line ${lines})
  string(REGEX MATCH "([a-z]+) +(.*)" line "${line}")
  set(verb ${CMAKE_MATCH_1})
  set(question "${CMAKE_MATCH_2}")
  list(APPEND verbs ${verb})
  ask(help help ${verb})
  roff(help "${help}")
  string(TOUPPER ${verb} title)
  string(APPEND manual ".SH ${title}\n.nf\n${help}.fi\n")
  string(APPEND fish "complete -c tcq -n __fish_use_subcommand -a ${verb} -d '${question}'\n")
  string(APPEND zsh "    '${verb}:${question}'\n")
endforeach()
list(JOIN verbs " " verbs)

string(REPLACE " " ";" each "${options}")
foreach(option ${each})
  string(SUBSTRING ${option} 2 -1 name)
  string(APPEND fish "complete -c tcq -l ${name}\n")
endforeach()
string(APPEND fish "complete -c tcq -n 'test (count (commandline -opc)) -eq 2' -a '(tcq list 2>/dev/null)'\n")

file(WRITE ${OUTPUT}/man/tcq.1 "${manual}")
file(WRITE ${OUTPUT}/completion/fish "${fish}")
# The word behind the verb is an instruction: what list prints.
file(WRITE ${OUTPUT}/completion/bash "_tcq() {
  local cur prev words cword candidates=''
  _init_completion -n : || return  # opcodes have colons
  case $cword in
    1) candidates='${verbs} help' ;;
    2) if [[ $prev == help ]]; then candidates='${verbs}'; else candidates=$(tcq list; tcq list --arch sm_100a); fi ;;
  esac
  if [[ $cur == -* ]]; then candidates='${options}'; fi
  mapfile -t COMPREPLY < <(compgen -W \"$candidates\" -- \"$cur\")
  __ltrimcolon_completions \"$cur\"
}
complete -o default -F _tcq tcq
")
file(WRITE ${OUTPUT}/completion/zsh "#compdef tcq
local -a verbs
if ((CURRENT == 2)); then
  verbs=(
${zsh}  )
  _describe verb verbs
elif ((CURRENT == 3)); then
  compadd -- \${(f)\"$(tcq list; tcq list --arch sm_100a)\"}
fi
compadd -- ${options}
")
