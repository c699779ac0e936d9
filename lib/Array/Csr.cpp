//===- Csr.cpp - Sparse matrices on a session -----------------------------------===//

#include "fusion/Array/Csr.h"

using namespace fusion;

Csr::Csr(Session &session, int64_t rows, int64_t columns, const std::vector<int32_t> &ranges,
         const std::vector<int32_t> &columnNumbers, const std::vector<double> &values)
    : session(&session), rows(rows), columns(columns) {
  if (rows < 0 || columns < 0 || int64_t(ranges.size()) != rows + 1 || ranges.front() != 0 ||
      size_t(ranges.back()) != values.size() || columnNumbers.size() != values.size())
    throw SessionError("a sparse matrix has a range for each row, and as many columns as values");
  for (int64_t row = 0; row < rows; ++row)
    if (ranges[size_t(row)] > ranges[size_t(row) + 1])
      throw SessionError("row " + std::to_string(row) + " of a sparse matrix ends before it begins");
  for (int32_t number : columnNumbers)
    if (number < 0 || number >= columns)
      throw SessionError("a sparse matrix of " + std::to_string(columns) + " columns has no column " +
                         std::to_string(number));
  auto entriesCount = int64_t(values.size());
  range = session.createFrom({rows + 1}, ElementType::I32, ranges.data());
  column = session.createFrom({entriesCount}, ElementType::I32, columnNumbers.data());
  value = session.createFrom({entriesCount}, ElementType::F64, values.data());
  first = session.getRows({0}, {rows}, 0);
  last = session.getRows({1}, {rows}, 0);
  entries = session.getImageOfRange(0, 1);
  points = session.getImageOfPoints(2);
  result = session.getRows({0}, {rows}, 0);
  using P = TaskPrivilege;
  product = session.registerOpaque("spmv", {P::Read, P::Read, P::Read, P::Read, P::Read, P::Write}, fusion_spmv_csr_f64);
}

Store Csr::multiply(const Store &vector) const {
  if (vector.getElementType() != ElementType::F64 || vector.getShape() != std::vector<int64_t>{columns})
    throw SessionError("a sparse matrix of " + std::to_string(columns) +
                       " columns is multiplied by a vector of as many f64");
  Store out = session->createStore({rows}, ElementType::F64);
  session->launch(product, session->getRowDomain(),
                  {{range, first}, {range, last}, {column, entries}, {value, entries}, {vector, points}, {out, result}});
  return out;
}
