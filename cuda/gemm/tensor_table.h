// The configurations of the GEMM on tcgen05 that are compiled, in a fixed order: rows of the table of kernels for compute
// capability 10.x.
//
// Few, as each takes seconds to compile for each architecture: of the kinds that models use, a pair of CTAs, which loads the
// least, at 256 columns and, as some models' 7168 come in fewer waves of these, at 224, a wide tile, narrow ones, which
// fill the device with fewer columns of D, and such of its transpose for few rows. Which one a problem gets: cuda/gemm/plan_tensor.h. A row of bf16 multiplies f16
// as well, one of e4m3 e5m2 in either place, one of s8 u8, and all but those of groups of rows and of factors of blocks take operands of
// either major (TensorOperands). Each row has a source of its own, made of tensor_instance.cu.in, many of which are compiled
// together; tests compile the same rows to PTX and run them on the machine. Rows of 8-bit integers stand last:
// 10.3 has no instruction for them, and gemm.cmake compiles them for 10.0 alone. Shapes: cuda/gemm/tensor_config.h.
#pragma once

#include <array>
#include <cstddef>
#include <tuple>
#include <utility>

#include "cuda/gemm/kernels.h"
#include "cuda/gemm/tensor_config.h"

namespace tcq::gemm {

template <Type In, int BlockN, int Stages, tcgen05::ScaleVec Factors = tcgen05::ScaleVec::Default>
using TensorRow = TensorConfig<In, BlockN, Stages, In, Factors>;

// 256 rows of D by a pair of CTAs.
template <Type In, int BlockN, int Stages, tcgen05::ScaleVec Factors = tcgen05::ScaleVec::Default>
using PairRow = TensorConfig<In, BlockN, Stages, In, Factors, 2>;

// FP8 whose sums of 128 of K are added in f32.
template <int BlockN, int Stages, Promotion Promotes, int Ctas>
using PromotingRow = TensorConfig<Type::e4m3, BlockN, Stages, Type::e4m3,
                                  tcgen05::ScaleVec::Default, Ctas, Promotes>;

// Groups of rows: a pair for large ones, and tiles that rows with numbers can have.
template <Type In, int BlockN, int Stages, int Ctas, Promotion Promotes = Promotion::None,
          tcgen05::ScaleVec Factors = tcgen05::ScaleVec::Default>
using GroupedRow = TensorConfig<In, BlockN, Stages, In, Factors, Ctas, Promotes, true>;

template <Type In, int BlockN, int Stages, int Ctas, tcgen05::ScaleVec Factors>
using ScaledGroupedRow = GroupedRow<In, BlockN, Stages, Ctas, Promotion::None, Factors>;

// Groups along K, of gradients of weights.
template <Type In, int BlockN, int Stages, int Ctas, Promotion Promotes = Promotion::None>
using AlongKRow = TensorConfig<In, BlockN, Stages, In, tcgen05::ScaleVec::Default, Ctas, Promotes,
                               false, 1, false, tcgen05::ScaleVec::Default, false, true>;

// FP8 of D; where two columns make one of D with 256, which share a factor.
template <int BlockN, int Stages, int Ctas, Promotion Promotes = Promotion::None,
          bool Grouped = false>
using QuantizingRow = TensorConfig<Type::e4m3, BlockN, Stages, Type::e4m3,
                                   tcgen05::ScaleVec::Default, Ctas, Promotes, Grouped, 1, true>;

// MXFP8, MXFP4 or NVFP4 of D, of operands of 16 bits or with factors of the same blocks.
template <Type In, int BlockN, int Stages, int Ctas, tcgen05::ScaleVec FactorsD,
          tcgen05::ScaleVec Factors = FactorsD, bool Grouped = false>
using CodingRow = TensorConfig<In, BlockN, Stages, In, Factors, Ctas, Promotion::None, Grouped, 1,
                               true, FactorsD>;

template <int BlockN, int Stages, int Ctas, tcgen05::ScaleVec FactorsD>
using PlainCodingRow =
    CodingRow<Type::bf16, BlockN, Stages, Ctas, FactorsD, tcgen05::ScaleVec::Default>;

// The same of groups.
template <Type In, int BlockN, int Stages, int Ctas, tcgen05::ScaleVec FactorsD,
          tcgen05::ScaleVec Factors = FactorsD>
using GroupedCodingRow = CodingRow<In, BlockN, Stages, Ctas, FactorsD, Factors, true>;
template <int BlockN, int Stages, int Ctas, tcgen05::ScaleVec FactorsD>
using PlainGroupedCodingRow =
    GroupedCodingRow<Type::bf16, BlockN, Stages, Ctas, FactorsD, tcgen05::ScaleVec::Default>;

// K shared by several CTAs, for few tiles.
template <Type In, int BlockN, int Stages, int Split,
          tcgen05::ScaleVec Factors = tcgen05::ScaleVec::Default>
using SplitRow = TensorConfig<In, BlockN, Stages, In, Factors, 1, Promotion::None, false, Split>;

template <int BlockN, int Stages, int Split>
using PromotingSplitRow =
    TensorConfig<Type::e4m3, BlockN, Stages, Type::e4m3, tcgen05::ScaleVec::Default, 1,
                 Promotion::ColumnBlocks, false, Split>;

// Few rows of D: its transpose by one CTA, or by several that share K; with factors of each token where sums are promoted. In
// groups, too.
template <Type In, int Tokens, int Stages, int Split = 1, Promotion Promotes = Promotion::None,
          tcgen05::ScaleVec Factors = tcgen05::ScaleVec::Default, bool Grouped = false>
using FewRow = TensorConfig<In, Tokens, Stages, In, Factors, 1, Promotes, Grouped, Split, false,
                            tcgen05::ScaleVec::Default, false, false, true>;

template <int Tokens, int Stages, int Split = 1>
using PromotingFewRow = FewRow<Type::e4m3, Tokens, Stages, Split, Promotion::EachColumn>;

template <Type In, int Tokens, int Stages, tcgen05::ScaleVec Factors, int Split = 1>
using ScaledFewRow = FewRow<In, Tokens, Stages, Split, Promotion::None, Factors>;

template <Type In, int Tokens, int Stages, Promotion Promotes = Promotion::None,
          tcgen05::ScaleVec Factors = tcgen05::ScaleVec::Default>
using GroupedFewRow = FewRow<In, Tokens, Stages, 1, Promotes, Factors, true>;

template <Type In, int Tokens, int Stages, tcgen05::ScaleVec Factors>
using ScaledGroupedFewRow = GroupedFewRow<In, Tokens, Stages, Promotion::None, Factors>;

// A cluster of the grid for each tile.
template <Type In, int BlockN, int Stages, int Ctas, Promotion Promotes = Promotion::None>
using DynamicRow = TensorConfig<In, BlockN, Stages, In, tcgen05::ScaleVec::Default, Ctas, Promotes,
                                false, 1, false, tcgen05::ScaleVec::Default, true>;

using TensorTable = std::tuple<
    TensorRow<Type::bf16, 256, 4>, TensorRow<Type::bf16, 128, 6>, TensorRow<Type::tf32, 128, 6>,
    TensorRow<Type::e4m3, 256, 4>, TensorRow<Type::e4m3, 128, 6, tcgen05::ScaleVec::Block32>,
    TensorRow<Type::e2m1, 128, 6, tcgen05::ScaleVec::Block32>,
    TensorRow<Type::e2m1, 128, 5, tcgen05::ScaleVec::Block16>, PairRow<Type::bf16, 256, 6>,
    PairRow<Type::bf16, 128, 8>, PairRow<Type::e4m3, 256, 6>,
    PromotingRow<128, 6, Promotion::ColumnBlocks, 1>,
    PromotingRow<256, 6, Promotion::ColumnBlocks, 2>,
    PromotingRow<128, 5, Promotion::EachColumn, 1>, PromotingRow<256, 5, Promotion::EachColumn, 2>,
    PairRow<Type::tf32, 256, 6>, TensorRow<Type::e4m3, 128, 6>,
    PairRow<Type::e4m3, 256, 5, tcgen05::ScaleVec::Block32>,
    PairRow<Type::e2m1, 256, 5, tcgen05::ScaleVec::Block32>,
    PairRow<Type::e2m1, 256, 5, tcgen05::ScaleVec::Block16>, PairRow<Type::bf16, 224, 6>,
    PairRow<Type::e4m3, 224, 6>, TensorRow<Type::bf16, 32, 10>, TensorRow<Type::e4m3, 32, 10>,
    TensorRow<Type::e4m3, 64, 8>, TensorRow<Type::e4m3, 64, 8, tcgen05::ScaleVec::Block32>,
    TensorRow<Type::e2m1, 64, 7, tcgen05::ScaleVec::Block16>,
    PromotingRow<64, 8, Promotion::ColumnBlocks, 1>, GroupedRow<Type::bf16, 256, 6, 2>,
    GroupedRow<Type::bf16, 128, 6, 1>, GroupedRow<Type::e4m3, 256, 6, 2>,
    GroupedRow<Type::e4m3, 128, 6, 1>, GroupedRow<Type::e4m3, 256, 6, 2, Promotion::ColumnBlocks>,

    GroupedRow<Type::e4m3, 128, 5, 1, Promotion::EachColumn>,
    GroupedRow<Type::e4m3, 256, 5, 2, Promotion::EachColumn>, SplitRow<Type::bf16, 128, 6, 2>,
    SplitRow<Type::bf16, 128, 6, 4>, SplitRow<Type::bf16, 64, 8, 4>,
    SplitRow<Type::e4m3, 128, 6, 2>, SplitRow<Type::e4m3, 128, 6, 4>,
    SplitRow<Type::e4m3, 64, 8, 4>, SplitRow<Type::e4m3, 128, 6, 2, tcgen05::ScaleVec::Block32>,
    SplitRow<Type::e4m3, 128, 6, 4, tcgen05::ScaleVec::Block32>,
    SplitRow<Type::e2m1, 128, 5, 2, tcgen05::ScaleVec::Block16>,
    SplitRow<Type::e2m1, 128, 5, 4, tcgen05::ScaleVec::Block16>, PromotingSplitRow<128, 6, 2>,
    PromotingSplitRow<128, 6, 4>, PromotingSplitRow<64, 8, 4>, QuantizingRow<256, 6, 2>,
    QuantizingRow<128, 6, 1>, QuantizingRow<256, 6, 2, Promotion::ColumnBlocks>,
    QuantizingRow<128, 6, 1, Promotion::ColumnBlocks>,
    QuantizingRow<128, 5, 1, Promotion::EachColumn>,
    QuantizingRow<256, 6, 2, Promotion::None, true>,
    QuantizingRow<256, 6, 2, Promotion::ColumnBlocks, true>,
    QuantizingRow<128, 6, 1, Promotion::ColumnBlocks, true>,
    CodingRow<Type::e4m3, 256, 5, 2, tcgen05::ScaleVec::Block32>,
    CodingRow<Type::e4m3, 128, 6, 1, tcgen05::ScaleVec::Block32>,
    CodingRow<Type::e2m1, 256, 5, 2, tcgen05::ScaleVec::Block32>,
    CodingRow<Type::e2m1, 128, 6, 1, tcgen05::ScaleVec::Block32>,
    CodingRow<Type::e2m1, 256, 5, 2, tcgen05::ScaleVec::Block16>,
    CodingRow<Type::e2m1, 128, 5, 1, tcgen05::ScaleVec::Block16>,
    PlainCodingRow<256, 6, 2, tcgen05::ScaleVec::Block32>,
    PlainCodingRow<128, 6, 1, tcgen05::ScaleVec::Block32>,
    PlainCodingRow<256, 6, 2, tcgen05::ScaleVec::Block16>,
    PlainCodingRow<128, 6, 1, tcgen05::ScaleVec::Block16>, DynamicRow<Type::bf16, 256, 6, 2>,
    DynamicRow<Type::bf16, 128, 6, 1>, DynamicRow<Type::e4m3, 256, 6, 2>,
    DynamicRow<Type::e4m3, 256, 6, 2, Promotion::ColumnBlocks>,
    ScaledGroupedRow<Type::e4m3, 256, 5, 2, tcgen05::ScaleVec::Block32>,
    ScaledGroupedRow<Type::e4m3, 128, 6, 1, tcgen05::ScaleVec::Block32>,
    ScaledGroupedRow<Type::e2m1, 256, 5, 2, tcgen05::ScaleVec::Block32>,
    ScaledGroupedRow<Type::e2m1, 128, 6, 1, tcgen05::ScaleVec::Block32>,
    ScaledGroupedRow<Type::e2m1, 256, 5, 2, tcgen05::ScaleVec::Block16>,
    ScaledGroupedRow<Type::e2m1, 128, 5, 1, tcgen05::ScaleVec::Block16>,
    AlongKRow<Type::bf16, 256, 6, 2>, AlongKRow<Type::bf16, 128, 6, 1>,

    AlongKRow<Type::e4m3, 256, 6, 2>, AlongKRow<Type::e4m3, 128, 6, 1>,
    AlongKRow<Type::e4m3, 128, 5, 1, Promotion::EachColumn>,
    GroupedCodingRow<Type::e4m3, 256, 5, 2, tcgen05::ScaleVec::Block32>,
    GroupedCodingRow<Type::e4m3, 128, 6, 1, tcgen05::ScaleVec::Block32>,
    GroupedCodingRow<Type::e2m1, 256, 5, 2, tcgen05::ScaleVec::Block32>,
    GroupedCodingRow<Type::e2m1, 128, 6, 1, tcgen05::ScaleVec::Block32>,
    GroupedCodingRow<Type::e2m1, 256, 5, 2, tcgen05::ScaleVec::Block16>,
    GroupedCodingRow<Type::e2m1, 128, 5, 1, tcgen05::ScaleVec::Block16>,
    PlainGroupedCodingRow<256, 6, 2, tcgen05::ScaleVec::Block32>,
    PlainGroupedCodingRow<128, 6, 1, tcgen05::ScaleVec::Block32>,
    PlainGroupedCodingRow<256, 6, 2, tcgen05::ScaleVec::Block16>,
    PlainGroupedCodingRow<128, 6, 1, tcgen05::ScaleVec::Block16>,
    QuantizingRow<128, 6, 1, Promotion::None, true>,
    QuantizingRow<256, 4, 1, Promotion::None, true>,
    QuantizingRow<128, 5, 1, Promotion::EachColumn, true>, QuantizingRow<256, 4, 1>,
    QuantizingRow<256, 3, 1, Promotion::EachColumn>,
    QuantizingRow<256, 3, 1, Promotion::EachColumn, true>, FewRow<Type::bf16, 32, 9>,
    FewRow<Type::bf16, 32, 9, 8>, FewRow<Type::bf16, 64, 7>, FewRow<Type::bf16, 64, 7, 4>,
    FewRow<Type::e4m3, 32, 9>, FewRow<Type::e4m3, 32, 9, 8>, FewRow<Type::e4m3, 64, 7>,
    FewRow<Type::e4m3, 64, 7, 4>, PromotingFewRow<32, 9>, PromotingFewRow<32, 9, 8>,
    PromotingFewRow<64, 6>, PromotingFewRow<64, 6, 4>,
    ScaledFewRow<Type::e4m3, 32, 8, tcgen05::ScaleVec::Block32>,
    ScaledFewRow<Type::e4m3, 32, 8, tcgen05::ScaleVec::Block32, 8>,
    ScaledFewRow<Type::e4m3, 64, 7, tcgen05::ScaleVec::Block32>,
    ScaledFewRow<Type::e4m3, 64, 7, tcgen05::ScaleVec::Block32, 4>,
    ScaledFewRow<Type::e2m1, 32, 8, tcgen05::ScaleVec::Block32>,
    ScaledFewRow<Type::e2m1, 32, 8, tcgen05::ScaleVec::Block32, 8>,
    ScaledFewRow<Type::e2m1, 64, 7, tcgen05::ScaleVec::Block32>,
    ScaledFewRow<Type::e2m1, 64, 7, tcgen05::ScaleVec::Block32, 4>,
    ScaledFewRow<Type::e2m1, 32, 8, tcgen05::ScaleVec::Block16>,
    ScaledFewRow<Type::e2m1, 32, 8, tcgen05::ScaleVec::Block16, 8>,
    ScaledFewRow<Type::e2m1, 64, 6, tcgen05::ScaleVec::Block16>,
    ScaledFewRow<Type::e2m1, 64, 6, tcgen05::ScaleVec::Block16, 4>,
    GroupedFewRow<Type::bf16, 32, 9>, GroupedFewRow<Type::bf16, 64, 7>,
    GroupedFewRow<Type::e4m3, 32, 9>, GroupedFewRow<Type::e4m3, 64, 7>,
    GroupedFewRow<Type::e4m3, 32, 9, Promotion::EachColumn>,
    GroupedFewRow<Type::e4m3, 64, 6, Promotion::EachColumn>,
    ScaledGroupedFewRow<Type::e4m3, 32, 8, tcgen05::ScaleVec::Block32>,
    ScaledGroupedFewRow<Type::e4m3, 64, 7, tcgen05::ScaleVec::Block32>,
    ScaledGroupedFewRow<Type::e2m1, 32, 8, tcgen05::ScaleVec::Block16>,
    ScaledGroupedFewRow<Type::e2m1, 64, 6, tcgen05::ScaleVec::Block16>, TensorRow<Type::s8, 128, 6>,
    PairRow<Type::s8, 256, 6>>;
inline constexpr std::size_t tensor_rows = std::tuple_size_v<TensorTable>;

template <std::size_t Row>
using TensorRowConfig = std::tuple_element_t<Row, TensorTable>;

// What the CUDA runtime calls the kernel of a row; defined where it is compiled.
template <std::size_t Row>
const void* tensor_function();

// `function`: (std::integral_constant<std::size_t, row>) -> const void*.
template <class Function>
constexpr std::array<Kernel, tensor_rows> tensor_table(Function function) {
  return [&]<std::size_t... Row>(std::index_sequence<Row...>) {
    return std::array{
        kernel_of<TensorRowConfig<Row>>(function(std::integral_constant<std::size_t, Row>{}))...};
  }
  (std::make_index_sequence<tensor_rows>{});
}

}  // namespace tcq::gemm
