# Writes OUTPUT, the Markdown pages of FOLDER as string literals: what pages() of prose.h gives.
file(GLOB_RECURSE pages RELATIVE ${FOLDER} ${FOLDER}/*.md)
list(SORT pages)
set(rows "")
foreach(page ${pages})
  if(NOT page MATCHES "README")
    file(READ ${FOLDER}/${page} text)
    string(APPEND rows "    {\"${page}\", R\"md(${text})md\"},\n")
  endif()
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
