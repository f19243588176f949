// The families of operations: each function gives what it knows of a Form, null for the rest.
//
// One source file for each; alu.cc asks the one that has the opcode.
#pragma once

#include "sim/alu/alu.h"

namespace tcq::alu {

Evaluate integer_operation(
    const ptx::Form& form);                       // add, mul, mad, div, min, sad, dp4a of integers
Evaluate carry_operation(const ptx::Form& form);  // add.cc, addc, sub.cc, subc, mad.cc, madc
Evaluate logic_operation(const ptx::Form& form);  // and, lop3, shl, shf of words and predicates
Evaluate bit_operation(const ptx::Form& form);    // bfe, bfi, bfind, popc, prmt, fns
Evaluate compare_operation(const ptx::Form& form);         // setp, set, testp
Evaluate select_operation(const ptx::Form& form);          // mov, selp, slct
Evaluate convert_operation(const ptx::Form& form);         // cvt between integers
Operation convert_float_operation(const ptx::Form& form);  // cvt from and to floats
Evaluate float_operation(const ptx::Form& form);        // add, mul, fma, div, sqrt of f32 and f64
Evaluate float_order_operation(const ptx::Form& form);  // min, max, neg, abs of all floats
Evaluate half_operation(const ptx::Form& form);         // add, sub, mul, fma of f16 and bf16
Evaluate approximate_operation(const ptx::Form& form);  // .approx and .full
Evaluate warp_operation(const ptx::Form& form);         // shfl, vote, match, redux, elect
Evaluate double_operation(const ptx::Form& form);       // f64 with .rz, .rm, .rp
Evaluate matrix_operation(const ptx::Form& form);       // mma.sync, movmatrix
Evaluate integer_product(const ptx::Form& form);  // mma.sync of 4 bits and 1, and m8n8 of bytes
Evaluate fp8_product(const ptx::Form& form);      // mma.sync of e4m3 and e5m2
Evaluate double_product(const ptx::Form& form);   // mma.sync of f64
Operation wmma_product(const ptx::Form& form);    // wmma.mma
Operation convert_random_operation(const ptx::Form& form);  // cvt.rs
bool draws_random_bits(const ptx::Form& form);
bool takes_random(const ptx::Form& form, std::size_t outs, std::size_t ins);  // alu.h, takes()
Operation sparse_product(const ptx::Form& form);                              // mma.sp
bool is_sparse(const ptx::Form& form);
bool takes_sparse(const ptx::Form& form, std::size_t outs, std::size_t ins);  // alu.h, takes()
bool takes_selector(const ptx::Form& form, std::size_t i, std::optional<std::uint64_t> constant);
Operation scaled_product(const ptx::Form& form);  // mma.sync with a kind
bool has_mma_kind(const ptx::Form& form);
bool takes_scaled(const ptx::Form& form, std::size_t outs, std::size_t ins);  // alu.h, takes()
bool takes_factor_selector(const ptx::Form& form, std::size_t i, std::uint64_t constant);
bool takes_wmma(const ptx::Form& form, std::size_t outs, std::size_t ins);  // alu.h, takes()
Operation video_operation(const ptx::Form& form);  // video instructions, cvt.pack

}  // namespace tcq::alu
