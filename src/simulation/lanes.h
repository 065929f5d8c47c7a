/// Small vectors and matrices whose numbers belong to one simulation, or to several side by side: T is double, or a
/// vector of 4 or 8 doubles, one for each simulation (a lane).
///
/// Every lane sees the operations of a single simulation in the same order, and none is a fused multiply-add: its
/// results have the same bits. Sums of products are taken in a fixed order, which differs with the place for the sake
/// of speed in the scalar case (Product, TransposedProduct).
///
/// Sources that include this are compiled for one set of instructions each, and their code must not be taken for that
/// of another: everything here is inlined, or a template on T.
#pragma once

#if defined(__AVX2__)
#include <immintrin.h>
#endif

// Loops of constant length disappear, so that small matrices stay in registers.
// NOLINTNEXTLINE(bugprone-macro-parentheses): the name of a variable that is declared
#define RETRACE_FOR(index, count) _Pragma("GCC unroll 36") for (int index = 0; index < (count); ++index)
#define RETRACE_LANES_INLINE [[gnu::always_inline]] inline

namespace retrace::simulation::lanes {

template <class T>
inline constexpr int kLanes = static_cast<int>(sizeof(T) / sizeof(double));

template <class T>
RETRACE_LANES_INLINE T Sqrt(const T& x) {
  if constexpr (kLanes<T> == 1) {
    return __builtin_sqrt(x);
  } else {
    T root = {};
    RETRACE_FOR(l, kLanes<T>) root[l] = __builtin_sqrt(x[l]);
    return root;
  }
}

/// The lanes in which a condition holds, as bits.
template <class Mask>
RETRACE_LANES_INLINE unsigned Bits(const Mask& mask) {
#if defined(__AVX2__)
  if constexpr (sizeof(Mask) == 32) return static_cast<unsigned>(_mm256_movemask_pd(reinterpret_cast<__m256d>(mask)));
#endif
#if defined(__AVX512F__)
  if constexpr (sizeof(Mask) == 64) {
    return _mm512_test_epi64_mask(reinterpret_cast<__m512i>(mask), reinterpret_cast<__m512i>(mask));
  }
#endif
  if constexpr (sizeof(Mask) == sizeof(bool)) return mask ? 1 : 0;
}
template <class Mask>
RETRACE_LANES_INLINE bool Any(const Mask& mask) {
  return Bits(mask) != 0;
}

/// Stored by columns.
template <class T, int kRows, int kCols = 1>
struct Matrix {
  T numbers[kRows * kCols];
  RETRACE_LANES_INLINE T& operator()(int row, int col) { return numbers[row + col * kRows]; }
  RETRACE_LANES_INLINE const T& operator()(int row, int col) const { return numbers[row + col * kRows]; }
  RETRACE_LANES_INLINE T& operator[](int i) { return numbers[i]; }
  RETRACE_LANES_INLINE const T& operator[](int i) const { return numbers[i]; }
};
template <class T>
using Vector3 = Matrix<T, 3>;
template <class T>
using Vector6 = Matrix<T, 6>;
template <class T>
using Matrix3 = Matrix<T, 3, 3>;
template <class T>
using Matrix6 = Matrix<T, 6, 6>;
template <class T>
using Matrix63 = Matrix<T, 6, 3>;

/// Two neighbors of a column: in a single simulation they share a vector, which the compiler does not find by itself.
using Pair = double __attribute__((vector_size(16)));
RETRACE_LANES_INLINE Pair LoadPair(const double* from) {
  Pair pair;
  __builtin_memcpy(&pair, from, sizeof(Pair));
  return pair;
}
RETRACE_LANES_INLINE void StorePair(const Pair& pair, double* to) {
  __builtin_memcpy(to, &pair, sizeof(Pair));
}

template <class T, int R, int C>
RETRACE_LANES_INLINE Matrix<T, R, C> operator+(const Matrix<T, R, C>& a, const Matrix<T, R, C>& b) {
  Matrix<T, R, C> sum;
  if constexpr (kLanes<T> == 1 && R * C % 2 == 0) {
    RETRACE_FOR(i, R * C / 2) StorePair(LoadPair(&a[2 * i]) + LoadPair(&b[2 * i]), &sum[2 * i]);
  } else {
    RETRACE_FOR(i, R * C) sum[i] = a[i] + b[i];
  }
  return sum;
}
template <class T, int R, int C>
RETRACE_LANES_INLINE Matrix<T, R, C> operator-(const Matrix<T, R, C>& a, const Matrix<T, R, C>& b) {
  Matrix<T, R, C> difference;
  if constexpr (kLanes<T> == 1 && R * C % 2 == 0) {
    RETRACE_FOR(i, R * C / 2) StorePair(LoadPair(&a[2 * i]) - LoadPair(&b[2 * i]), &difference[2 * i]);
  } else {
    RETRACE_FOR(i, R * C) difference[i] = a[i] - b[i];
  }
  return difference;
}
template <class T, int R, int C>
RETRACE_LANES_INLINE Matrix<T, R, C> operator-(const Matrix<T, R, C>& a) {
  Matrix<T, R, C> negative;
  RETRACE_FOR(i, R * C) negative[i] = -a[i];
  return negative;
}
template <class T, int R, int C, class Factor>
RETRACE_LANES_INLINE Matrix<T, R, C> Scaled(const Factor& factor, const Matrix<T, R, C>& a) {
  Matrix<T, R, C> scaled;
  RETRACE_FOR(i, R * C) scaled[i] = factor * a[i];
  return scaled;
}

/// The same number in all lanes.
template <class T>
RETRACE_LANES_INLINE T Constant(double number) {
  if constexpr (kLanes<T> == 1) {
    return number;
  } else {
    T constant = {};
    RETRACE_FOR(l, kLanes<T>) constant[l] = number;
    return constant;
  }
}
template <class T, int R, int C = 1>
RETRACE_LANES_INLINE Matrix<T, R, C> Constant(const double* numbers) {
  Matrix<T, R, C> constant;
  RETRACE_FOR(i, R * C) constant[i] = Constant<T>(numbers[i]);
  return constant;
}

template <class T, int R, int C>
RETRACE_LANES_INLINE Matrix<T, C, R> Transpose(const Matrix<T, R, C>& a) {
  Matrix<T, C, R> transpose;
  RETRACE_FOR(r, R) RETRACE_FOR(c, C) transpose(c, r) = a(r, c);
  return transpose;
}

template <int kRows, int kCols, class T, int R, int C>
RETRACE_LANES_INLINE Matrix<T, kRows, kCols> Block(const Matrix<T, R, C>& a, int row, int col) {
  Matrix<T, kRows, kCols> block;
  RETRACE_FOR(c, kCols) RETRACE_FOR(r, kRows) block(r, c) = a(row + r, col + c);
  return block;
}
template <class T, int kRows, int kCols, int R, int C>
RETRACE_LANES_INLINE void SetBlock(Matrix<T, R, C>& a, int row, int col, const Matrix<T, kRows, kCols>& block) {
  RETRACE_FOR(c, kCols) RETRACE_FOR(r, kRows) a(row + r, col + c) = block(r, c);
}
template <class T, int R>
RETRACE_LANES_INLINE Matrix<T, R> Column(const Matrix<T, R, 3>& a, int col) {
  Matrix<T, R> column;
  RETRACE_FOR(r, R) column[r] = a(r, col);
  return column;
}
template <class T>
RETRACE_LANES_INLINE Vector3<T> Head(const Vector6<T>& a) {
  return {a[0], a[1], a[2]};
}
template <class T>
RETRACE_LANES_INLINE Vector3<T> Tail(const Vector6<T>& a) {
  return {a[3], a[4], a[5]};
}
template <class T>
RETRACE_LANES_INLINE Vector6<T> Joined(const Vector3<T>& head, const Vector3<T>& tail) {
  return {head[0], head[1], head[2], tail[0], tail[1], tail[2]};
}

template <class T>
RETRACE_LANES_INLINE Vector3<T> Cross(const Vector3<T>& a, const Vector3<T>& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

template <class T>
RETRACE_LANES_INLINE Matrix63<T> Stacked(const Matrix3<T>& top, const Matrix3<T>& bottom) {
  Matrix63<T> stacked;
  SetBlock(stacked, 0, 0, top);
  SetBlock(stacked, 3, 0, bottom);
  return stacked;
}

// ---- sums of products
// The orders are those in which a processor with vectors of two numbers takes them fastest, one simulation at a time.

template <class T>
RETRACE_LANES_INLINE T SumOfPairs(const Matrix<T, 3>& a) {
  return (a[0] + a[1]) + a[2];
}
template <class T>
RETRACE_LANES_INLINE T SumOfPairs(const Matrix<T, 4>& a) {
  return (a[0] + a[2]) + (a[1] + a[3]);
}
template <class T>
RETRACE_LANES_INLINE T SumOfPairs(const Matrix<T, 6>& a) {
  return (a[0] + (a[2] + a[4])) + (a[1] + (a[3] + a[5]));
}
template <class T>
RETRACE_LANES_INLINE T SumOfHalves(const Matrix<T, 3>& a) {
  return a[0] + (a[1] + a[2]);
}
template <class T>
RETRACE_LANES_INLINE T SumOfHalves(const Matrix<T, 6>& a) {
  return (a[0] + (a[1] + a[2])) + (a[3] + (a[4] + a[5]));
}

template <class T, int K>
RETRACE_LANES_INLINE T Dot(const Matrix<T, K>& a, const Matrix<T, K>& b) {
  Matrix<T, K> products;
  RETRACE_FOR(k, K) products[k] = a[k] * b[k];
  return SumOfPairs(products);
}

/// a b. Rows that have a neighbor in a pair: one product after another. The last of an odd number: halves.
template <class T, int R, int K, int C>
RETRACE_LANES_INLINE Matrix<T, R, C> Product(const Matrix<T, R, K>& a, const Matrix<T, K, C>& b) {
  Matrix<T, R, C> result;
  RETRACE_FOR(c, C) {
    if constexpr (kLanes<T> == 1) {
      RETRACE_FOR(r, R / 2) {
        Pair sum = LoadPair(&a(2 * r, 0)) * b(0, c);
        RETRACE_FOR(k, K - 1) sum = sum + LoadPair(&a(2 * r, k + 1)) * b(k + 1, c);
        StorePair(sum, &result(2 * r, c));
      }
    } else {
      RETRACE_FOR(r, R / 2 * 2) {
        T sum = a(r, 0) * b(0, c);
        RETRACE_FOR(k, K - 1) sum = sum + a(r, k + 1) * b(k + 1, c);
        result(r, c) = sum;
      }
    }
    if constexpr (R % 2 == 1) {
      Matrix<T, K> products;
      RETRACE_FOR(k, K) products[k] = a(R - 1, k) * b(k, c);
      result(R - 1, c) = SumOfHalves(products);
    }
  }
  return result;
}
/// a^T b, in pairs.
template <class T, int R, int K, int C>
RETRACE_LANES_INLINE Matrix<T, R, C> TransposedProduct(const Matrix<T, K, R>& a, const Matrix<T, K, C>& b) {
  Matrix<T, R, C> result;
  RETRACE_FOR(c, C) RETRACE_FOR(r, R) {
    Matrix<T, K> products;
    RETRACE_FOR(k, K) products[k] = a(k, r) * b(k, c);
    result(r, c) = SumOfPairs(products);
  }
  return result;
}

/// a b^T.
template <class T, int R, int C>
RETRACE_LANES_INLINE Matrix<T, R, C> OuterProduct(const Matrix<T, R>& a, const Matrix<T, C>& b) {
  Matrix<T, R, C> result;
  RETRACE_FOR(c, C) {
    if constexpr (kLanes<T> == 1) {
      RETRACE_FOR(r, R / 2) StorePair(LoadPair(&a[2 * r]) * b[c], &result(2 * r, c));
      if constexpr (R % 2 == 1) result(R - 1, c) = a[R - 1] * b[c];
    } else {
      RETRACE_FOR(r, R) result(r, c) = a[r] * b[c];
    }
  }
  return result;
}

/// a [v]x.
template <class T, int R>
RETRACE_LANES_INLINE Matrix<T, R, 3> TimesCross(const Matrix<T, R, 3>& a, const Vector3<T>& v) {
  Matrix<T, R, 3> result;
  if constexpr (kLanes<T> == 1 && R % 2 == 0) {
    RETRACE_FOR(r, R / 2) {
      const Pair x = LoadPair(&a(2 * r, 0)), y = LoadPair(&a(2 * r, 1)), z = LoadPair(&a(2 * r, 2));
      StorePair(y * v[2] - z * v[1], &result(2 * r, 0));
      StorePair(z * v[0] - x * v[2], &result(2 * r, 1));
      StorePair(x * v[1] - y * v[0], &result(2 * r, 2));
    }
    return result;
  }
  RETRACE_FOR(r, R) {
    result(r, 0) = a(r, 1) * v[2] - a(r, 2) * v[1];
    result(r, 1) = a(r, 2) * v[0] - a(r, 0) * v[2];
    result(r, 2) = a(r, 0) * v[1] - a(r, 1) * v[0];
  }
  return result;
}
/// [v]x a.
template <class T, int C>
RETRACE_LANES_INLINE Matrix<T, 3, C> CrossTimes(const Vector3<T>& v, const Matrix<T, 3, C>& a) {
  Matrix<T, 3, C> result;
  RETRACE_FOR(c, C) {
    result(0, c) = v[1] * a(2, c) - v[2] * a(1, c);
    result(1, c) = v[2] * a(0, c) - v[0] * a(2, c);
    result(2, c) = v[0] * a(1, c) - v[1] * a(0, c);
  }
  return result;
}

// ---- quaternions: x, y, z, w

/// a b.
template <class T>
RETRACE_LANES_INLINE Matrix<T, 4> QuaternionProduct(const Matrix<T, 4>& a, const Matrix<T, 4>& b) {
  return {(a[3] * b[0] + a[1] * b[2]) - (a[2] * b[1] - a[0] * b[3]),
          (a[3] * b[1] + a[1] * b[3]) + (a[2] * b[0] - a[0] * b[2]),
          (a[3] * b[2] - a[1] * b[0]) + (a[2] * b[3] + a[0] * b[1]),
          (a[3] * b[3] - a[1] * b[1]) - (a[2] * b[2] + a[0] * b[0])};
}
template <class T>
RETRACE_LANES_INLINE Matrix<T, 4> Conjugate(const Matrix<T, 4>& q) {
  return {-q[0], -q[1], -q[2], q[3]};
}

// ---- inverses

/// Inverse of a symmetric positive definite matrix.
template <class T>
RETRACE_LANES_INLINE Matrix3<T> InverseOf(const Matrix3<T>& m) {
  Matrix3<T> c;
  c(0, 0) = m(1, 1) * m(2, 2) - m(1, 2) * m(2, 1);
  c(1, 0) = m(1, 2) * m(2, 0) - m(1, 0) * m(2, 2);
  c(2, 0) = m(1, 0) * m(2, 1) - m(1, 1) * m(2, 0);
  c(1, 1) = m(0, 0) * m(2, 2) - m(0, 2) * m(2, 0);
  c(2, 1) = m(0, 1) * m(2, 0) - m(0, 0) * m(2, 1);
  c(2, 2) = m(0, 0) * m(1, 1) - m(0, 1) * m(1, 0);
  const T scale = 1.0 / (m(0, 0) * c(0, 0) + m(0, 1) * c(1, 0) + m(0, 2) * c(2, 0));
  RETRACE_FOR(k, 3) RETRACE_FOR(i, 3) {
    if (i >= k) c(i, k) = c(i, k) * scale;
  }
  c(0, 1) = c(1, 0);
  c(0, 2) = c(2, 0);
  c(1, 2) = c(2, 1);
  return c;
}

// ---- symmetric matrices

/// Three rows: the numbers on and below the diagonal, by columns.
template <class T>
struct Symmetric3 {
  Matrix<T, 6> numbers;
};
/// Six rows, by blocks: [mass, coupling; coupling^T, turning], as the inertia of a body that moves and turns.
template <class T>
struct Inertia {
  Symmetric3<T> mass;
  Matrix3<T> coupling;
  Symmetric3<T> turning;
};

template <class T>
RETRACE_LANES_INLINE Symmetric3<T> operator+(const Symmetric3<T>& a, const Symmetric3<T>& b) {
  return {a.numbers + b.numbers};
}
/// What is above the diagonal is not asked for, so that it is never computed.
template <class T>
RETRACE_LANES_INLINE Symmetric3<T> LowerOf(const Matrix3<T>& m) {
  return {{m(0, 0), m(1, 0), m(2, 0), m(1, 1), m(2, 1), m(2, 2)}};
}
template <class T>
RETRACE_LANES_INLINE Matrix3<T> Full(const Symmetric3<T>& m) {
  const Matrix<T, 6>& n = m.numbers;
  return {n[0], n[1], n[2], n[1], n[3], n[4], n[2], n[4], n[5]};
}
template <class T>
RETRACE_LANES_INLINE Matrix6<T> Full(const Inertia<T>& m) {
  Matrix6<T> full;
  SetBlock(full, 0, 0, Full(m.mass));
  SetBlock(full, 0, 3, m.coupling);
  SetBlock(full, 3, 0, Transpose(m.coupling));
  SetBlock(full, 3, 3, Full(m.turning));
  return full;
}
template <class T>
RETRACE_LANES_INLINE Vector6<T> Product(const Inertia<T>& m, const Vector6<T>& v) {
  const Vector3<T> head = Head(v), tail = Tail(v);
  return Joined(Product(Full(m.mass), head) + Product(m.coupling, tail),
                Product(Transpose(m.coupling), head) + Product(Full(m.turning), tail));
}

/// Inverse of a positive definite inertia.
template <class T>
RETRACE_LANES_INLINE Matrix6<T> InverseOf(const Inertia<T>& m) {
  const Matrix3<T> a = InverseOf(Full(m.mass));
  const Matrix3<T> ab = Product(a, m.coupling);
  const Matrix3<T> d = InverseOf(Full(LowerOf(Full(m.turning) - TransposedProduct(m.coupling, ab))));
  const Matrix3<T> abd = Product(ab, d);
  Matrix6<T> inverse;
  SetBlock(inverse, 0, 0, Full(LowerOf(a + Product(abd, Transpose(ab)))));
  SetBlock(inverse, 0, 3, -abd);
  SetBlock(inverse, 3, 0, -Transpose(abd));
  SetBlock(inverse, 3, 3, d);
  return inverse;
}

}  // namespace retrace::simulation::lanes
