# The tag of a C++ exception in WebAssembly, which libunwind uses and zig's libraries do not define.
  .globl __cpp_exception
  .tagtype __cpp_exception i32
__cpp_exception:
