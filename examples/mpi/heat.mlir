// Heat in a rod of 1000 cells whose ends keep their temperature, in explicit steps; the rod is cut into 6 blocks. Returns the
// temperatures and their sum.

#inner = #dist.tiled<[167] offset [1] extent [998] by (d0) -> (d0)>
#left = #dist.tiled<[167] offset [0] extent [998] by (d0) -> (d0)>
#right = #dist.tiled<[167] offset [2] extent [998] by (d0) -> (d0)>
#block = #dist.tiled<[167] offset [0] extent [1000] by (d0) -> (d0)>
#i = affine_map<(i) -> (i)>
#scalar = affine_map<(i) -> ()>

dist.task @sum_of_neighbours(%a: tensor<?xf64> read, %b: tensor<?xf64> read, %out: tensor<?xf64> write) {
  %0 = linalg.add ins(%a, %b : tensor<?xf64>, tensor<?xf64>) outs(%out : tensor<?xf64>) -> tensor<?xf64>
  dist.yield %0 : tensor<?xf64>
}
dist.task @step(%s: tensor<?xf64> read, %u: tensor<?xf64> read, %r: tensor<f64> read, %out: tensor<?xf64> write) {
  %0 = linalg.generic {indexing_maps = [#i, #i, #scalar, #i], iterator_types = ["parallel"]}
      ins(%s, %u, %r : tensor<?xf64>, tensor<?xf64>, tensor<f64>) outs(%out : tensor<?xf64>) {
  ^bb0(%sum: f64, %old: f64, %rate: f64, %unused: f64):
    %two = arith.constant 2.0 : f64
    %1 = arith.mulf %two, %old : f64
    %2 = arith.subf %sum, %1 : f64
    %3 = arith.mulf %rate, %2 : f64
    %4 = arith.addf %old, %3 : f64
    linalg.yield %4 : f64
  } -> tensor<?xf64>
  dist.yield %0 : tensor<?xf64>
}
dist.task @total(%u: tensor<?xf64> read, %t: tensor<f64> reduce<sum>) {
  %0 = linalg.generic {indexing_maps = [#i, #scalar], iterator_types = ["reduction"]}
      ins(%u : tensor<?xf64>) outs(%t : tensor<f64>) {
  ^bb0(%a: f64, %sum: f64):
    %1 = arith.addf %sum, %a : f64
    linalg.yield %1 : f64
  } -> tensor<f64>
  dist.yield %0 : tensor<f64>
}

func.func @simulate(%start: tensor<1000xf64>, %rate: f64, %steps: index) -> (tensor<1000xf64>, tensor<f64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %u = dist.from_tensor %start : tensor<1000xf64> -> !dist.store<1000xf64>
  %new = dist.create : !dist.store<1000xf64>
  %r = dist.create : !dist.store<f64>
  %t = dist.create : !dist.store<f64>
  dist.fill %rate into %r by #dist.none on [1] : f64, !dist.store<f64>
  dist.fill %zero into %t by #dist.none on [1] : f64, !dist.store<f64>
  scf.for %step = %c0 to %steps step %c1 {
    %sums = dist.create : !dist.store<1000xf64>
    dist.launch @sum_of_neighbours on [6] (%u read #left, %u read #right, %sums write #inner)
        : !dist.store<1000xf64>, !dist.store<1000xf64>, !dist.store<1000xf64>
    dist.launch @step on [6] (%sums read #inner, %u read #inner, %r read #dist.none, %new write #inner)
        : !dist.store<1000xf64>, !dist.store<1000xf64>, !dist.store<f64>, !dist.store<1000xf64>
    dist.copy %new by #inner to %u by #inner on [6] : !dist.store<1000xf64>, !dist.store<1000xf64>
  }
  dist.launch @total on [6] (%u read #block, %t reduce<sum> #dist.none) : !dist.store<1000xf64>, !dist.store<f64>
  %result = dist.to_tensor %u : !dist.store<1000xf64> -> tensor<1000xf64>
  %sum = dist.to_tensor %t : !dist.store<f64> -> tensor<f64>
  return %result, %sum : tensor<1000xf64>, tensor<f64>
}
