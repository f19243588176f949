/* The GEMM from C: what a plan is refused for, and what it will do. */
#include <stdio.h>

#include "cuda/gemm/gemm_c.h"

int main(void) {
  tcq_gemm_problem problem;
  tcq_gemm_plan* plan = NULL;
  char text[2000];
  int status;
  tcq_gemm_defaults(&problem, sizeof problem);
  problem.m = problem.n = problem.k = 4096;
  status = tcq_gemm_make_plan(&problem, &plan);
  if (status == 0) tcq_gemm_describe(plan, text, sizeof text);
  puts(status == 0 ? text : tcq_gemm_sentence(status));
  tcq_gemm_destroy_plan(plan);
  return 0;
}
