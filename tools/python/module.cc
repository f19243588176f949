// The functions and classes of `_tcq`, and what it says of itself.
#include "tools/python/module.h"

#include "oracle/answer/words.h"
#include "tools/python/programs.h"

namespace tcq::python {

nanobind::tuple to_python(const Reply& reply) {
  return nanobind::make_tuple(reply.status, oracle::terminal_text(reply.text),
                              oracle::terminal_text(reply.complaint));
}

}  // namespace tcq::python

NB_MODULE(_tcq, m) {
  m.attr("version") = TCQ_VERSION;
  m.attr("commit") = TCQ_COMMIT;
  m.attr("evidence") = TCQ_EVIDENCE;
  tcq::python::add_questions(m);
  tcq::python::add_maps(m);
  tcq::python::add_sums(m);
  tcq::python::add_programs(m);
}
