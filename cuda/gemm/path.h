// Which launch of a plan run() takes, and the copies of operands that one of them reads.
//
// A copy keeps the operand's major, or is turned: K-major, where wgmma reads no other, or has faster kernels; its lines begin at lines
// of L2, where TMA can address them. The copies lie in the workspace one behind the other, A's first. The kernels that write them:
// cuda/gemm/realign.h. Example: s8, K-major, K = 5000: lines of 5000 bytes get a pitch of 5120.
#pragma once

#include <cstddef>

#include "cuda/gemm/check.h"
#include "cuda/gemm/gemm.h"

namespace tcq::gemm {

struct Copies {
  bool a = false;
  bool b = false;
  bool turns_a = false;  // its copy is K-major where it is not
  bool turns_b = false;
};

// Whose copies are made to be K-major.
struct Turning {
  bool a = false;
  bool b = false;
};

// wgmma reads operands of 8 and 32 bits K-major alone.
Turning turned_for_wgmma(const Problem& problem);

// What TMA cannot address: by its strides, or by its pointer; one that is null counts as aligned. And what is turned.
Copies copies_of(const Problem& problem, Turning turning, const Pointers& pointers = {});
Copies copies_of(const Plan& plan, const Pointers& pointers);

// Microseconds that they take.
double microseconds_of(const Copies& copies, const Problem& problem);

// The same problem with the copies' strides and majors. One matrix for the whole batch stays one.
Problem with_copies(const Problem& problem, const Copies& copies);

// Of one copy, whose strides these are; max_matrix_bytes if it is that or more.
std::int64_t copy_bytes(const Strides& copy, const View& view, std::int64_t batch);

// Of so many elements, of e2m1 an even number.
constexpr std::int64_t whole_bytes(Type type, std::int64_t elements) {
  return elements / elements_together(type) * element_bytes(type);
}

// Where the first line of L2 begins that lies in a workspace, less than a line behind its first byte; and whole lines for so many bytes.
std::uint8_t* first_line(void* workspace);
constexpr std::size_t whole_lines(std::size_t bytes) {
  constexpr std::size_t line = l2_line_bytes;
  return (bytes + line - 1) / line * line;
}

// How many matrices such strides tell apart.
std::int64_t matrices_of(const Strides& strides, std::int64_t batch);

// Of the workspace, with room for aligning it; 0 for none.
std::size_t workspace_bytes(const Problem& problem, const Copies& copies);

}  // namespace tcq::gemm
