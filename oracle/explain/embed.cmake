# Writes OUTPUT, the PAGES of FOLDER (separated by commas) as string literals: what pages() of prose.h gives. Those of
# GUIDE are called guide/NAME and keep no commands: what is between fences is left out.
string(REPLACE "," ";" pages "${PAGES}")
set(rows "")
foreach(page ${pages})
  file(READ ${FOLDER}/${page} text)
  string(APPEND rows "    {\"${page}\", R\"md(${text})md\"},\n")
endforeach()
string(REPLACE "," ";" guide "${GUIDE}")
foreach(page ${guide})
  file(READ ${page} text)
  string(REGEX REPLACE "```[^`]*```" "```\n```" text "${text}")
  get_filename_component(name ${page} NAME)
  string(APPEND rows "    {\"guide/${name}\", R\"md(${text})md\"},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"oracle/explain/prose.h\"

namespace tcq::oracle {
namespace {

constexpr Page all[] = {
${rows}};

}  // namespace

std::span<const Page> pages() { return all; }

}  // namespace tcq::oracle
")
