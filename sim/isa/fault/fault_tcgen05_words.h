// What each Fault of a tcgen05 word means: descriptors, the zero-column mask, Tensor Memory addresses.
//
// Decides kind, sentence and source of a word that cannot be encoded or should not be decoded; what
// an instruction makes of a right word is sim/isa/tcgen05/shape.h. Example: a shared memory descriptor whose
// constant field is 0 is a Fault::DescriptorConstant.
//
// Source: the section named in each entry (PTX ISA 9.2).
#pragma once

#include "sim/isa/fault/fault_code.h"

namespace tcq {

// Kind None for all other faults.
HOST_DEVICE constexpr FaultInfo tcgen05_word_info(Fault fault) {
  using enum FaultKind;
  switch (fault) {
    case Fault::WordReserved:
      return {Undefined, "WordReserved",
              "reserved bits of a tcgen05 word must be 0: what others do is left open",
              "9.7.16.4.1; 9.7.16.4.2; 9.7.16.4.3"};
    case Fault::DescriptorConstant:
      return {Illegal, "DescriptorConstant",
              "the constant field of a tcgen05 shared memory descriptor must be 1", "9.7.16.4.1"};
    case Fault::DescriptorSwizzleCode:
      return {Illegal, "DescriptorSwizzleCode",
              "the swizzle codes of a tcgen05 shared memory descriptor are 0, 1, 2, 4 and 6",
              "9.7.16.4.1"};
    case Fault::DescriptorLboMode:
      return {Illegal, "DescriptorLboMode",
              "an absolute LBO needs a K-major operand of 48 bytes of K, 128B swizzle and base "
              "offset 0",
              "9.7.16.3.1.2"};
    case Fault::SwizzleOfOperand:
      return {Illegal, "SwizzleOfOperand",
              "MN-major 8- and 16-bit operands take no 32-byte swizzle atoms, MN-major tf32 takes "
              "nothing else, and 4- and 6-bit operands are K-major",
              "9.7.16.10.3"};
    case Fault::UnmodelledSwizzle:
      return {Unmodelled, "UnmodelledSwizzle",
              "32-byte swizzle atoms with a K-major operand: one table of the manual has them, "
              "another one does not",
              "9.7.16.10.3"};
    case Fault::IdescType:
      return {Illegal, "IdescType",
              "the instruction descriptor of this kind has no code for this element type",
              "9.7.16.4.2"};
    case Fault::IdescM:
      return {
          Illegal, "IdescM",
          "the M of an instruction descriptor must be a multiple of 16 in [16, 256], with scale "
          "factors 128 or 256",
          "9.7.16.4.2"};
    case Fault::IdescN:
      return {Illegal, "IdescN",
              "the N of an instruction descriptor must be a multiple of 8 in [8, 256]",
              "9.7.16.4.2"};
    case Fault::IdescField:
      return {Illegal, "IdescField",
              "a member of the instruction descriptor has a value that this kind's format cannot "
              "hold",
              "9.7.16.4.2"};
    case Fault::IdescScaleId:
      return {Illegal, "IdescScaleId",
              "a scale factor id is 0 to 3, in kinds mxf4 and mxf4nvf4 with K = 64 it is 0 or 2",
              "9.7.16.4.2; 9.7.16.10.7"};
    case Fault::ZeroMaskRange:
      return {Illegal, "ZeroMaskRange",
              "start counts are 0 to 255, spans 1 to 256 columns, the column shift at most 32, 16 "
              "if M is 32",
              "9.7.16.4.3"};
    case Fault::UnmodelledColumnShift:
      return {Unmodelled, "UnmodelledColumnShift",
              "what the column shift does to a zero-column mask is described in one sentence only",
              "9.7.16.4.3"};
    case Fault::TmemAddressRange:
      return {Illegal, "TmemAddressRange", "Tensor Memory has lanes 0 to 127 and columns 0 to 511",
              "9.7.16.1"};
    default: return {None, "?", "?", ""};
  }
}

}  // namespace tcq
