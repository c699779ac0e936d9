// Programs of the dist dialect in sequential order, and on simulated ranks, where nothing that is missing goes unnoticed.
// RUN: fusion-run --target=reference %s --input=10xf64=iota --input=2.0 | FileCheck %s --check-prefix=SEQUENTIAL
// RUN: fusion-run --target=reference %s --input=10xf64=iota --input=2.0 --ranks=1 | FileCheck %s --check-prefix=SEQUENTIAL
// RUN: fusion-run --target=reference %s --input=10xf64=iota --input=2.0 --ranks=3 | FileCheck %s --check-prefix=SEQUENTIAL
// RUN: fusion-run --target=reference %s --entry=csr | FileCheck %s --check-prefix=CSR
// RUN: not fusion-run --target=reference %s --entry=no_exchange --input=10xf64=iota --ranks=2 2>&1 | FileCheck %s --check-prefix=NEVER
// RUN: not fusion-run --target=reference %s --entry=old_value --input=10xf64=iota --ranks=2 2>&1 | FileCheck %s --check-prefix=OLD
// RUN: not fusion-run --target=reference %s --entry=old_source --input=10xf64=iota --ranks=2 2>&1 | FileCheck %s --check-prefix=SOURCE
// RUN: not fusion-run --target=reference %s --entry=no_all_reduce --input=10xf64=iota --ranks=2 2>&1 | FileCheck %s --check-prefix=PENDING
// RUN: not fusion-run --target=reference %s --entry=read_in_flight --input=10xf64=iota --ranks=2 2>&1 | FileCheck %s --check-prefix=FLIGHT
// RUN: not fusion-run --target=reference %s --entry=write_in_flight --input=10xf64=iota --ranks=2 2>&1 | FileCheck %s --check-prefix=SENT
// RUN: not fusion-run --target=reference %s --entry=unknown 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not fusion-run --target=reference %s --ranks=65 2>&1 | FileCheck %s --check-prefix=RANKS
// RUN: not fusion-run --target=cpu %s --ranks=2 2>&1 | FileCheck %s --check-prefix=RANKS

#rows = #dist.tiled<[3] offset [0] extent [10] by (d0) -> (d0)>
#halves = #dist.tiled<[5] offset [0] extent [10] by (d0) -> (d0)>
#first = #dist.placement<#dist.none on [1]>

dist.task @axpy(%a: tensor<f64> read, %x: tensor<?xf64> read, %y: tensor<?xf64> read_write) {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> ()>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
      ins(%a, %x : tensor<f64>, tensor<?xf64>) outs(%y : tensor<?xf64>) {
  ^bb0(%s: f64, %u: f64, %v: f64):
    %1 = arith.mulf %s, %u : f64
    %2 = arith.addf %1, %v : f64
    linalg.yield %2 : f64
  } -> tensor<?xf64>
  dist.yield %0 : tensor<?xf64>
}
dist.task @dot(%x: tensor<?xf64> read, %acc: tensor<f64> reduce<sum>) {
  %0 = linalg.reduce ins(%x : tensor<?xf64>) outs(%acc : tensor<f64>) dimensions = [0]
    (%in: f64, %old: f64) {
      %1 = arith.addf %in, %old : f64
      linalg.yield %1 : f64
    }
  dist.yield %0 : tensor<f64>
}

// y = x + 2 x; s = 5 + sum y.
// SEQUENTIAL: result 0: 10xf64 = [0, 3, 6, 9, 12, 15, 18, 21, 24, 27]
// SEQUENTIAL: result 1: f64 = [140]
func.func @main(%x: tensor<10xf64>, %a: f64) -> (tensor<10xf64>, tensor<f64>) {
  %five = arith.constant 5.0 : f64
  %X = dist.from_tensor %x : tensor<10xf64> -> !dist.store<10xf64>
  %Y = dist.create : !dist.store<10xf64>
  %A = dist.create : !dist.store<f64>
  %S = dist.create : !dist.store<f64>
  dist.fill %a into %A by #dist.none on [1] : f64, !dist.store<f64>
  dist.fill %five into %S by #dist.none on [1] : f64, !dist.store<f64>
  dist.exchange %X from [#first] to [#dist.placement<#rows on [4]>] : !dist.store<10xf64>
  dist.copy %X by #rows to %Y by #rows on [4] : !dist.store<10xf64>, !dist.store<10xf64>
  dist.launch @axpy on [4] (%A read #dist.none, %X read #rows, %Y read_write #rows)
      : !dist.store<f64>, !dist.store<10xf64>, !dist.store<10xf64>
  dist.launch @dot on [4] (%Y read #rows, %S reduce<sum> #dist.none) : !dist.store<10xf64>, !dist.store<f64>
  dist.exchange %Y from [#dist.placement<#rows on [4]>] to [#first] : !dist.store<10xf64>
  dist.all_reduce %S sum <#dist.none on [4]> : !dist.store<f64>
  %r = dist.to_tensor %Y : !dist.store<10xf64> -> tensor<10xf64>
  %s = dist.to_tensor %S : !dist.store<f64> -> tensor<f64>
  return %r, %s : tensor<10xf64>, tensor<f64>
}

dist.task @spmv(tensor<?xi32> read, tensor<?xi32> read, tensor<?xi32> read, tensor<?xf64> read, tensor<?xf64> read,
                tensor<?xf64> write) external "fusion_spmv_csr_f64"
// The matrix [1 2 0; 0 3 0; 0 0 4] times [1, 10, 100].
// CSR: result 0: 3xf64 = [21, 30, 400]
func.func @csr() -> tensor<3xf64> {
  %pos = arith.constant dense<[0, 2, 3, 4]> : tensor<4xi32>
  %crd = arith.constant dense<[0, 1, 1, 2]> : tensor<4xi32>
  %values = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf64>
  %x = arith.constant dense<[1.0, 10.0, 100.0]> : tensor<3xf64>
  %P = dist.from_tensor %pos : tensor<4xi32> -> !dist.store<4xi32>
  %C = dist.from_tensor %crd : tensor<4xi32> -> !dist.store<4xi32>
  %V = dist.from_tensor %values : tensor<4xf64> -> !dist.store<4xf64>
  %X = dist.from_tensor %x : tensor<3xf64> -> !dist.store<3xf64>
  %Y = dist.create : !dist.store<3xf64>
  dist.launch @spmv on [2] (%P read #dist.tiled<[2] offset [0] extent [3] by (d0) -> (d0)>,
                            %P read #dist.tiled<[2] offset [1] extent [3] by (d0) -> (d0)>,
                            %C read #dist.image<range 0, 1>, %V read #dist.image<range 0, 1>,
                            %X read #dist.image<points 2>,
                            %Y write #dist.tiled<[2] offset [0] extent [3] by (d0) -> (d0)>)
      : !dist.store<4xi32>, !dist.store<4xi32>, !dist.store<4xi32>, !dist.store<4xf64>, !dist.store<3xf64>,
        !dist.store<3xf64>
  %y = dist.to_tensor %Y : !dist.store<3xf64> -> tensor<3xf64>
  return %y : tensor<3xf64>
}

// NEVER: dist.mlir:[[#@LINE+4]]:3: error: 'dist.copy' op argument 0 at point [1] reads element [5] on rank 1 of 2, which has never got it
func.func @no_exchange(%x: tensor<10xf64>) {
  %X = dist.from_tensor %x : tensor<10xf64> -> !dist.store<10xf64>
  %Y = dist.create : !dist.store<10xf64>
  dist.copy %X by #halves to %Y by #halves on [2] : !dist.store<10xf64>, !dist.store<10xf64>
  return
}

// OLD: error: 'dist.copy' op argument 0 at point [1] reads element [6] on rank 1 of 2, which has an old value of it
func.func @old_value(%x: tensor<10xf64>) {
  %two = arith.constant 2.0 : f64
  %X = dist.from_tensor %x : tensor<10xf64> -> !dist.store<10xf64>
  %Y = dist.create : !dist.store<10xf64>
  dist.exchange %X from [#first] to [#dist.placement<#halves on [2]>] : !dist.store<10xf64>
  dist.fill %two into %X by #dist.tiled<[1] offset [6] extent [1] by (d0) -> (0)> on [1] : f64, !dist.store<10xf64>
  dist.copy %X by #halves to %Y by #halves on [2] : !dist.store<10xf64>, !dist.store<10xf64>
  return
}

// SOURCE: error: 'dist.exchange' op takes element [5] from rank 0 of 2, which the sources name, but which has an old value of it
func.func @old_source(%x: tensor<10xf64>) {
  %two = arith.constant 2.0 : f64
  %X = dist.from_tensor %x : tensor<10xf64> -> !dist.store<10xf64>
  dist.fill %two into %X by #halves on [2] : f64, !dist.store<10xf64>
  dist.exchange %X from [#first] to [#dist.placement<#dist.none on [2]>] : !dist.store<10xf64>
  return
}

// PENDING: error: 'dist.to_tensor' op of the whole store is read, but contributions to the store are not combined yet: a 'dist.all_reduce' is missing
func.func @no_all_reduce(%x: tensor<10xf64>) -> tensor<f64> {
  %zero = arith.constant 0.0 : f64
  %X = dist.from_tensor %x : tensor<10xf64> -> !dist.store<10xf64>
  %S = dist.create : !dist.store<f64>
  dist.fill %zero into %S by #dist.none on [1] : f64, !dist.store<f64>
  dist.exchange %X from [#first] to [#dist.placement<#halves on [2]>] : !dist.store<10xf64>
  dist.launch @dot on [2] (%X read #halves, %S reduce<sum> #dist.none) : !dist.store<10xf64>, !dist.store<f64>
  %s = dist.to_tensor %S : !dist.store<f64> -> tensor<f64>
  return %s : tensor<f64>
}

// FLIGHT: error: 'dist.copy' op argument 0 at point [1] reads element [5] on rank 1 of 2, which an exchange under way may overwrite
func.func @read_in_flight(%x: tensor<10xf64>) {
  %X = dist.from_tensor %x : tensor<10xf64> -> !dist.store<10xf64>
  %Y = dist.create : !dist.store<10xf64>
  %t = dist.exchange_start %X from [#first] to [#dist.placement<#halves on [2]>] : !dist.store<10xf64>
  dist.copy %X by #halves to %Y by #halves on [2] : !dist.store<10xf64>, !dist.store<10xf64>
  dist.exchange_wait %t
  return
}

// SENT: error: 'dist.fill' op writes element [9] on rank 0 of 2, which an exchange under way sends or receives
func.func @write_in_flight(%x: tensor<10xf64>) {
  %two = arith.constant 2.0 : f64
  %X = dist.from_tensor %x : tensor<10xf64> -> !dist.store<10xf64>
  %t = dist.exchange_start %X from [#first] to [#dist.placement<#halves on [2]>] : !dist.store<10xf64>
  dist.fill %two into %X by #dist.none on [1] : f64, !dist.store<10xf64>
  dist.exchange_wait %t
  return
}

dist.task @mystery(tensor<?xf64> write) external "mystery"
// UNKNOWN: error: 'dist.launch' op calls the C function 'mystery', which the reference interpreter does not know
func.func @unknown() {
  %X = dist.create : !dist.store<10xf64>
  dist.launch @mystery on [2] (%X write #halves) : !dist.store<10xf64>
  return
}

// RANKS: error: --ranks takes at most 64, and needs --target=reference
