# Writes OUTPUT, the PAGES of FOLDER (separated by commas) as string literals: what pages() of prose.h gives.
string(REPLACE "," ";" pages "${PAGES}")
set(rows "")
foreach(page ${pages})
  file(READ ${FOLDER}/${page} text)
  string(APPEND rows "    {\"${page}\", R\"md(${text})md\"},\n")
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
