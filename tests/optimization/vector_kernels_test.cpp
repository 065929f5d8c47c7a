/// The products behind the solver of quadratic programs: what they are, and with which bits.
#include "optimization/vector_kernels.h"

#include <gtest/gtest.h>

#include <numeric>

#include "optimization/random_programs.h"

namespace retrace::optimization {
namespace {

using Eigen::Index;

/// A matrix with rows of zeros under it, as the solver keeps its basis, and a vector for either side.
struct Sample {
  explicit Sample(Index rows, Index columns) : matrix(Eigen::MatrixXd::Zero(RoundUp(rows), columns)) {
    RandomStream random(5, RandomStage::kTest, static_cast<uint32_t>(rows), static_cast<uint32_t>(columns));
    matrix.topRows(rows) = AnyMatrix(random, rows, columns);
    of_columns = AnyMatrix(random, columns, 1);
    of_rows = Eigen::VectorXd::Zero(matrix.rows());
    of_rows.head(rows) = AnyMatrix(random, rows, 1);
  }
  Eigen::MatrixXd matrix;
  Eigen::VectorXd of_columns, of_rows;
};

TEST(VectorKernels, HaveTheBitsOfEigenWithEveryInstructionSet) {
  for (const simd::InstructionSet set : {simd::InstructionSet::kBaseline, simd::InstructionSet::kAvx2}) {
    const VectorKernels* kernels = kVectorKernels.Find(set);
    if (kernels == nullptr) continue;  // a processor without AVX2
    for (const Index rows : {2, 3, 4, 5, 8, 31, 32, 33, 50, 101}) {
      // Eigen takes a product with one row or column in another order.
      for (const Index columns : {2, 3, 7, 16, 17, 35, 101}) {
        const Sample s(rows, columns);
        const Index padded = s.matrix.rows();
        Eigen::VectorXd sum(padded), expected_sum = s.matrix.topRows(rows) * s.of_columns;
        kernels->combine(s.matrix.data(), padded, padded, columns, s.of_columns.data(), sum.data());
        EXPECT_EQ(Eigen::VectorXd(sum.head(rows)), expected_sum) << rows << " x " << columns;

        Eigen::MatrixXd reduced = s.matrix, expected = s.matrix;
        kernels->subtract_product(reduced.data(), padded, padded, columns, s.of_columns.data(), s.of_rows.data());
        for (Index k = 0; k < columns; ++k) expected.col(k) -= s.of_columns[k] * s.of_rows;
        EXPECT_EQ(reduced, expected) << rows << " x " << columns;

        std::vector<int> backwards(static_cast<size_t>(columns));
        std::iota(backwards.rbegin(), backwards.rend(), 0);
        Eigen::VectorXd products(columns);
        const Eigen::VectorXd expected_products = s.matrix.topRows(rows).transpose() * s.of_rows.head(rows);
        kernels->multiply(s.matrix.data(), padded, rows, backwards.data(), columns, s.of_rows.data(), products.data());
        EXPECT_EQ(Eigen::VectorXd(products.reverse()), expected_products) << rows << " x " << columns;
      }
    }
  }
}

}  // namespace
}  // namespace retrace::optimization
