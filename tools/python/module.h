// The extension module `_tcq`: what the Python of tcq/ is made of, and what never throws past a Reply.
//
// A Reply is what the command line would say: a status, an answer, a complaint. Python makes data and
// exceptions of it in one place (tcq/_reply.py). Functions take plain strings and bytes, let go of the
// interpreter's lock while they compute, and keep nothing: they may be called from any thread.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "oracle/answer/answer.h"
#include "oracle/answer/pending_file.h"

namespace tcq::python {

struct Reply {
  int status = 0;
  std::string text;
  std::string complaint;
};

inline Reply refused(oracle::Status status, std::string complaint) {
  return {static_cast<int>(status), "", std::move(complaint)};
}

// Calls `reply()`; what the oracle throws becomes a Reply. What is no answer goes on: no memory, Ctrl-C.
template <class Make>
Reply caught(Make&& reply) {
  try {
    return reply();
  } catch (const oracle::UsageError& error) {
    return refused(oracle::Status::Usage, error.what());
  } catch (const oracle::FileError& error) {
    return refused(oracle::Status::Usage, error.what());
  } catch (const oracle::FaultError& error) {
    return refused(error.status(), error.what());
  } catch (const oracle::UnmodelledError& error) {
    return refused(oracle::Status::Unmodelled, error.what());
  }
}

// (status, text, complaint), printable whatever was quoted. Requires: the interpreter's lock.
nanobind::tuple to_python(const Reply& reply);

void add_questions(nanobind::module_& m);  // questions.cc: every verb
void add_maps(nanobind::module_& m);       // maps.cc: where all elements of a matrix lie
void add_sums(nanobind::module_& m);       // sums.cc: products of matrices, whole GEMMs

}  // namespace tcq::python
