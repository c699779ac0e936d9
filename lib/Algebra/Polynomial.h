//===- Polynomial.h - Polynomials in earlier reductions -----------*- C++ -*-===//

#ifndef FUSION_LIB_ALGEBRA_POLYNOMIAL_H
#define FUSION_LIB_ALGEBRA_POLYNOMIAL_H

#include "fusion/Algebra/Update.h"

namespace fusion::algebra {

/// The update of a sum of elements `H(d) * P(x, u(d))` where P is a polynomial of degree at most 4 in functions `u_i`
/// of the states and the quotient of H is safe. With `T_a = sum (1/a!) d^a F/du^a` (H held fixed; `a` a multi-index)
/// and `delta = u(d') - u(d)`
///
///   T_a' = H(d')/H(d) * sum over b >= a of binomial(b, a) * delta^(b-a) * T_b.
///
/// The elements of T_a are derivatives of the expression as it is written, so that differences like `x - d` stay
/// differences: sums of raw powers of x would cancel badly.
std::optional<UpdatePlan> synthesizePolynomial(ExprContext &context, Expr f, unsigned maxStates, std::string &reason);

} // namespace fusion::algebra

#endif // FUSION_LIB_ALGEBRA_POLYNOMIAL_H
