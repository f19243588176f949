#include "cuda/gemm/gemm.h"

namespace tcq::gemm {

const char* name(Status status) noexcept {
  switch (status) {
    case Status::Ok: return "Ok";
    case Status::NegativeSize: return "NegativeSize";
    case Status::SizeTooLarge: return "SizeTooLarge";
    case Status::UnsupportedTypes: return "UnsupportedTypes";
    case Status::UnsupportedEpilogue: return "UnsupportedEpilogue";
    case Status::KernelDoesNotFit: return "KernelDoesNotFit";
    case Status::LeadingDimensionTooSmall: return "LeadingDimensionTooSmall";
    case Status::BadBatchStride: return "BadBatchStride";
    case Status::NoPlan: return "NoPlan";
    case Status::NullPointer: return "NullPointer";
    case Status::Misaligned: return "Misaligned";
    case Status::WorkspaceTooSmall: return "WorkspaceTooSmall";
    case Status::NotDeviceMemory: return "NotDeviceMemory";
    case Status::MixedDevices: return "MixedDevices";
    case Status::NoDevice: return "NoDevice";
    case Status::WrongArchitecture: return "WrongArchitecture";
    case Status::WrongDevice: return "WrongDevice";
    case Status::NoMemory: return "NoMemory";
    case Status::CudaFailed: return "CudaFailed";
    case Status::BadTuneOptions: return "BadTuneOptions";
    case Status::StreamCaptured: return "StreamCaptured";
    case Status::NothingToTune: return "NothingToTune";
    case Status::TuneFileMissing: return "TuneFileMissing";
    case Status::TuneFileUnreadable: return "TuneFileUnreadable";
    case Status::TuneFileDamaged: return "TuneFileDamaged";
    case Status::TuneFileForeign: return "TuneFileForeign";
    case Status::TuneFileNewer: return "TuneFileNewer";
    case Status::TuneFileNotWritten: return "TuneFileNotWritten";
    case Status::UnsupportedMajor: return "UnsupportedMajor";
    case Status::CIsNotD: return "CIsNotD";
    case Status::BadSmLimit: return "BadSmLimit";
    case Status::BadStructSize: return "BadStructSize";
    case Status::UnknownField: return "UnknownField";
    case Status::UnsupportedScaling: return "UnsupportedScaling";
    case Status::UnsupportedGrouping: return "UnsupportedGrouping";
    case Status::NeedsTcgen05: return "NeedsTcgen05";
    case Status::NotOnTcgen05: return "NotOnTcgen05";
    case Status::UnsupportedSchedule: return "UnsupportedSchedule";
  }
  return "?";
}

const char* sentence(Status status) noexcept {
  switch (status) {
    case Status::Ok: return "all is well";
    case Status::NegativeSize: return "m, n, k or the batch is negative";
    case Status::SizeTooLarge:
      return "m, n or k is above 2147418112, there are 2^30 tiles or more, or a matrix reaches "
             "beyond 2^60 bytes";
    case Status::UnsupportedTypes:
      return "no kernel multiplies these types: f16 gives f16 or f32; bf16 gives bf16 or f32; tf32 "
             "gives f32; e4m3 and e5m2, in either place, and e2m1 give bf16, f16 or f32; s8 and u8 "
             "give s32, f32 or bf16";
    case Status::UnsupportedEpilogue:
      return "an s32 result takes no alpha, beta, bias or activation, a gated activation no beta "
             "and an even "
             "N, or the activation does not exist";
    case Status::KernelDoesNotFit:
      return "this kernel computes other types, majors, strides or epilogues than the problem's";
    case Status::LeadingDimensionTooSmall:
      return "a leading dimension is smaller than the extent it steps over";
    case Status::BadBatchStride:
      return "a batch stride is negative, or that of D lets matrices of the batch overlap";
    case Status::NoPlan: return "the plan was not made by make_plan on a device";
    case Status::NullPointer:
      return "A, B or D is null, or C with a beta other than 0, or a bias that the problem has";
    case Status::Misaligned:
      return "an address is not a multiple of its element's size, or of 16 for factors of blocks";
    case Status::WorkspaceTooSmall:
      return "the workspace is not null and smaller than workspace_bytes of the plan";
    case Status::NotDeviceMemory: return "a pointer is not to the memory of a device";
    case Status::MixedDevices:
      return "a pointer is to the memory of another device than the plan's";
    case Status::NoDevice: return "there is no CUDA device, or no driver, or the device has no SM";
    case Status::WrongArchitecture:
      return "the device has none of the compute capabilities for which the kernels are compiled: "
             "9.0, and 10.0 and 10.3 if the compiler knew them";
    case Status::WrongDevice: return "the current device is not the one the plan was made for";
    case Status::NoMemory: return "the host has no memory left; nothing that writes D was launched";
    case Status::CudaFailed: return "a CUDA call failed; run() launched nothing that writes D";
    case Status::BadTuneOptions: return "a tuner times at least one kernel in at least one round";
    case Status::StreamCaptured:
      return "the stream is being captured: a tuner has to wait for what it launches";
    case Status::NothingToTune:
      return "A or B is no multiple of 16 and is not copied to a workspace, or D is none, or "
             "sizes of groups are the device's: make_plan knows the kernel without a measurement";
    case Status::TuneFileMissing: return "there is no such file of tuned kernels";
    case Status::TuneFileUnreadable:
      return "the file of tuned kernels cannot be read, is no regular file, or has more than 256 "
             "MiB";
    case Status::TuneFileDamaged:
      return "the file of tuned kernels is not JSON, or a field is missing, unknown or wrong, or a "
             "problem occurs twice; nothing was read or written";
    case Status::TuneFileForeign:
      return "the file is JSON, but not of tuned kernels; nothing was read or written";
    case Status::TuneFileNewer:
      return "a newer version of the library wrote the file of tuned kernels; nothing was read or "
             "written";
    case Status::TuneFileNotWritten:
      return "the file of tuned kernels cannot be written; the old one, if any, is as it was";
    case Status::UnsupportedMajor: return "a major is neither K nor MN";
    case Status::CIsNotD:
      return "C is where D is, but not with D's strides: what is read would be overwritten before";
    case Status::BadSmLimit: return "the limit of SMs is negative; 0 is none";
    case Status::BadStructSize:
      return "a struct's size field is no size that this library knows: set it to the struct's "
             "sizeof, which tcq_gemm_defaults does for a problem";
    case Status::UnknownField:
      return "a struct has a field that this library does not know, or a reserved one, and it is "
             "not 0";
    case Status::UnsupportedScaling:
      return "factors and promotion are for e4m3 and e5m2 alone, or the scaling or its major does "
             "not exist; factors of blocks are ue8m0 of 32 for these and e2m1, or ue4m3 of 16 for "
             "e2m1, which has no product without them, both operands K-major with an even K, of "
             "e2m1 also even strides, and others besides are of tensors or of rows and columns; "
             "those of a quantized D are of "
             "the blocks that the operands have, if these are not bf16, and e2m1 has an even "
             "number of columns and even strides";
    case Status::UnsupportedGrouping:
      return "groups of rows are of f16, bf16 or FP8 operands, or of such with factors of blocks, "
             "both K-major, but B of 16 bits of either major; those along K of f16, bf16 or FP8 "
             "without such, and D is not quantized; or the grouping does not exist";
    case Status::NeedsTcgen05:
      return "factors of blocks (MXFP8, MXFP4, NVFP4) and dynamic schedules want tcgen05: compute "
             "capability 10.0 or 10.3";
    case Status::NotOnTcgen05:
      return "no kernel on tcgen05 does this: they take pointers and strides of A and B that are "
             "multiples of 16 bytes or a workspace for copies; groups of rows K-major; s8 and u8 "
             "only on "
             "10.0, as 10.3 has no tcgen05.mma for them; a dynamic schedule for bf16 and FP8, "
             "whose factors may be of 128 columns";
    case Status::UnsupportedSchedule:
      return "a dynamic schedule is for dense products, and keeps no limit of SMs";
  }
  return "?";
}

}  // namespace tcq::gemm
