// scalar_ptx: the kernels of cuda/probe/scalar_text_sm90.h as one module of PTX, on stdout, for ptxas.
#include <cstdio>

#include "cuda/probe/scalar_text_sm90.h"

int main() {
  const std::string text = tcq::cuda::scalar_module_text();
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}
