# The first hour on a chip of compute capability 10.0 or 10.3, as stages: each assumes one thing more than those that it
# needs. One instruction, one tile, one CTA, a pair, scale factors, promotion, the library. Without such a chip each is
# skipped. docs/first_hour.md says how they are run and read.
include(blackwell/stage.cmake)

function(tcq_instruction_stage name stage assumption)
  tcq_stage(blackwell.${name} SECONDS 3600 SKIPPED 3 NEEDS ${ARGN} ASSUMES "${assumption}"
            MORE "build/tools/record check --stage ${stage} --keep-going"
            COMMAND $<TARGET_FILE:record> check --stage ${stage})
endfunction()
function(tcq_gemm_stage name test seconds assumption)
  tcq_stage(blackwell.${name} SECONDS ${seconds} NEEDS ${ARGN} ASSUMES "${assumption}"
            MORE "compute-sanitizer build/tests/blackwell_tests --gtest_filter=Blackwell.${test}"
            COMMAND $<TARGET_FILE:blackwell_tests> --gtest_filter=Blackwell.${test})
endfunction()

tcq_instruction_stage(01_ld_st ld-st
  "tcgen05.ld and st move Tensor Memory between the lanes and columns that PTX draws")
tcq_instruction_stage(02_cp cp "tcgen05.cp and shift read shared memory by the descriptor as it is modelled"
  blackwell.01_ld_st)
tcq_instruction_stage(03_mma mma "tcgen05.mma of one CTA reads descriptors as PTX says and sums with the modelled bits"
  blackwell.02_cp)
tcq_instruction_stage(04_pairs pairs "cta_group::2 lays operands and sums over two CTAs as it is modelled"
  blackwell.03_mma)
tcq_instruction_stage(05_alloc alloc "tcgen05.alloc gives the columns that it is modelled to give"
  blackwell.01_ld_st)

tcq_gemm_stage(06_one_tile OneTile 300
  "TMA, mbarriers, commit and epilogue carry one tile of one CTA, of each kind the narrowest" blackwell.03_mma)
tcq_gemm_stage(07_one_cta OneCta 300
  "ring and accumulators of one CTA go round: more blocks of K than stages, more tiles than accumulators"
  blackwell.06_one_tile)
tcq_gemm_stage(08_pair Pair 300 "two CTAs share barriers, commits and B as tensor_pair.cuh has it"
  blackwell.04_pairs blackwell.07_one_cta)
tcq_gemm_stage(09_factors Factors 300 "scale factors come by TMA and tcgen05.cp to the columns that the products read"
  blackwell.07_one_cta)
tcq_gemm_stage(10_factors_of_pairs FactorsOfPairs 300 "each CTA of a pair has the scale factors that its half needs"
  blackwell.08_pair blackwell.09_factors)
tcq_gemm_stage(11_promotion Promotion 300 "blocks of sums leave Tensor Memory in turns and are added in f32"
  blackwell.08_pair)
tcq_gemm_stage(12_shared_k SharedK 300 "CTAs of a cluster that share K send their sums to whom they belong"
  blackwell.09_factors blackwell.11_promotion)
tcq_gemm_stage(13_few_rows FewRows 300 "B's columns may be an instruction's rows, and D is stored transposed"
  blackwell.12_shared_k)
tcq_gemm_stage(14_library Library 900 "plans choose kernels that are right for any problem"
  blackwell.10_factors_of_pairs blackwell.13_few_rows)
tcq_gemm_stage(15_dynamic Dynamic 300 "clusters that have not begun are handed to those that ask, each to one of them"
  blackwell.11_promotion)
