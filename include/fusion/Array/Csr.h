//===- Csr.h - Sparse matrices on a session -----------------------*- C++ -*-===//
//
// A client library of fusion/Session/Session.h that knows nothing of others: matrices of f64 stored by rows, with 32-bit
// columns. Rows are cut into blocks; of a vector that is multiplied each block needs what its columns point at.
// Ownership, threads, errors: as the session.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_ARRAY_CSR_H
#define FUSION_ARRAY_CSR_H

#include "fusion/Session/Session.h"

namespace fusion {

class Csr {
public:
  /// Row i has the entries [ranges[i], ranges[i + 1]). Throws if the numbers are not those of a matrix.
  Csr(Session &session, int64_t rows, int64_t columns, const std::vector<int32_t> &ranges,
      const std::vector<int32_t> &columnNumbers, const std::vector<double> &values);

  /// The product with a vector of f64, a new store: one opaque task.
  Store multiply(const Store &vector) const;

  int64_t getNumRows() const { return rows; }
  int64_t getNumColumns() const { return columns; }

private:
  Session *session;
  int64_t rows, columns;
  Store range, column, value;
  Partition first, last, entries, points, result;
  TaskKind product;
};

} // namespace fusion

#endif // FUSION_ARRAY_CSR_H
