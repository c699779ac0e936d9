// RUN: fusion-opt %s --split-input-file --verify-diagnostics --dist-plan-communication

#rows = #dist.tiled<[4] offset [0] extent [8] by (d0) -> (d0)>
func.func @fill_with_local_value(%x: tensor<8xf64>) {
  %zero = arith.constant 0 : index
  %X = dist.from_tensor %x : tensor<8xf64> -> !dist.store<8xf64>
  %t = dist.to_tensor %X : !dist.store<8xf64> -> tensor<8xf64>
  %v = tensor.extract %t[%zero] : tensor<8xf64>
  // expected-error@+1 {{fills with a value that only the first rank knows}}
  dist.fill %v into %X by #rows on [2] : f64, !dist.store<8xf64>
  return
}

// -----

#rows = #dist.tiled<[4] offset [0] extent [8] by (d0) -> (d0)>
func.func @branch_on_local_value(%x: tensor<8xi1>, %one: i1) {
  %zero = arith.constant 0 : index
  %X = dist.from_tensor %x : tensor<8xi1> -> !dist.store<8xi1>
  %t = dist.to_tensor %X : !dist.store<8xi1> -> tensor<8xi1>
  %v = tensor.extract %t[%zero] : tensor<8xi1>
  // expected-error@+1 {{has operations on stores inside, but depends on a value that only the first rank knows}}
  scf.if %v {
    dist.fill %one into %X by #rows on [2] : i1, !dist.store<8xi1>
  }
  return
}

// -----

#rows = #dist.tiled<[4] offset [0] extent [8] by (d0) -> (d0)>
func.func @loop_from_local_value(%x: tensor<8xindex>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %X = dist.from_tensor %x : tensor<8xindex> -> !dist.store<8xindex>
  %t = dist.to_tensor %X : !dist.store<8xindex> -> tensor<8xindex>
  %v = tensor.extract %t[%zero] : tensor<8xindex>
  %n = arith.addi %v, %one : index
  // expected-error@+1 {{depends on a value that only the first rank knows}}
  scf.for %i = %zero to %n step %one {
    dist.fill %i into %X by #rows on [2] : index, !dist.store<8xindex>
  }
  return
}

// -----

#rows = #dist.tiled<[4] offset [0] extent [8] by (d0) -> (d0)>
func.func @other_control_flow(%n: index, %value: f64) {
  %X = dist.create : !dist.store<8xf64>
  // expected-error@+1 {{has operations on stores inside, which is not supported; scf.for, scf.while and scf.if may have them}}
  scf.execute_region {
    dist.fill %value into %X by #rows on [2] : f64, !dist.store<8xf64>
    scf.yield
  }
  return
}

// -----

#rows = #dist.tiled<[4] offset [0] extent [8] by (d0) -> (d0)>
// expected-error@+1 {{has operations on stores and several blocks}}
func.func @blocks(%value: f64) {
  %X = dist.create : !dist.store<8xf64>
  cf.br ^next
^next:
  dist.fill %value into %X by #rows on [2] : f64, !dist.store<8xf64>
  return
}

// -----

#rows = #dist.tiled<[2] offset [0] extent [4] by (d0) -> (d0)>
dist.task @use(tensor<?xi32> read, tensor<?xf64> read, tensor<?xf64> write) external "use"
func.func @image_of_view(%p: tensor<4xi32>, %x: tensor<8xf64>) {
  %P = dist.from_tensor %p : tensor<4xi32> -> !dist.store<4xi32>
  %X = dist.from_tensor %x : tensor<8xf64> -> !dist.store<8xf64>
  %V = dist.view %X [1] : !dist.store<8xf64> -> !dist.store<7xf64>
  %Y = dist.create : !dist.store<4xf64>
  // expected-error@+1 {{argument 1 is an image of a view; images are of whole stores}}
  dist.launch @use on [2] (%P read #rows, %V read #dist.image<points 0>, %Y write #rows)
      : !dist.store<4xi32>, !dist.store<7xf64>, !dist.store<4xf64>
  return
}
