// Status 77 if no test ran, which ctest has as skipped; 2 if the filter matches none, which is a mistake.
#include <gtest/gtest.h>

#include <cstdio>

int main(int argc, char** argv) {
  constexpr int skipped = 77;
  constexpr int usage = 2;
  testing::InitGoogleTest(&argc, argv);
  const int status = RUN_ALL_TESTS();
  if (testing::GTEST_FLAG(list_tests)) return status;
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  if (all.test_to_run_count() == 0) {
    std::fputs("no test matches the filter\n", stderr);
    return usage;
  }
  return status == 0 && all.successful_test_count() == 0 ? skipped : status;
}
