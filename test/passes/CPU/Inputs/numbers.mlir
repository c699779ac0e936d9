// Operations on ragged shapes, whose results are printed. Inputs are small multiples of 1/4.

func.func private @printMemrefF32(memref<*xf32>) attributes {llvm.emit_c_interface}

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#flip = affine_map<(i, j) -> (j, i)>

func.func @input(%m: index, %n: index, %seed: index) -> memref<?x?xf32> {
  %x = memref.alloc(%m, %n) : memref<?x?xf32>
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%x : memref<?x?xf32>) {
  ^bb0(%out: f32):
    %c7 = arith.constant 7 : index
    %c13 = arith.constant 13 : index
    %c17 = arith.constant 17 : index
    %c8 = arith.constant 8 : index
    %quarter = arith.constant 0.25 : f32
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %0 = arith.muli %i, %c7 : index
    %1 = arith.muli %j, %c13 : index
    %2 = arith.addi %0, %1 : index
    %3 = arith.addi %2, %seed : index
    %4 = arith.remui %3, %c17 : index
    %5 = arith.subi %4, %c8 : index
    %6 = arith.index_cast %5 : index to i32
    %7 = arith.sitofp %6 : i32 to f32
    %8 = arith.mulf %7, %quarter : f32
    linalg.yield %8 : f32
  }
  return %x : memref<?x?xf32>
}

func.func @print(%x: memref<?x?xf32>) {
  %0 = memref.cast %x : memref<?x?xf32> to memref<*xf32>
  func.call @printMemrefF32(%0) : (memref<*xf32>) -> ()
  return
}

func.func @matmul(%m: index, %n: index, %k: index) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = func.call @input(%m, %k, %c1) : (index, index, index) -> memref<?x?xf32>
  %b = func.call @input(%k, %n, %c2) : (index, index, index) -> memref<?x?xf32>
  %bt = func.call @input(%n, %k, %c2) : (index, index, index) -> memref<?x?xf32>
  %c = func.call @input(%m, %n, %c1) : (index, index, index) -> memref<?x?xf32>
  linalg.matmul ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) outs(%c : memref<?x?xf32>)
  func.call @print(%c) : (memref<?x?xf32>) -> ()
  linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %bt : memref<?x?xf32>, memref<?x?xf32>) outs(%c : memref<?x?xf32>)
  func.call @print(%c) : (memref<?x?xf32>) -> ()
  return
}

// Row softmax, the transposed of it, and its column sums, on a strided view.
func.func @softmax(%m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %wide = arith.addi %n, %c3 : index
  %whole = func.call @input(%m, %wide, %c3) : (index, index, index) -> memref<?x?xf32>
  %x = memref.subview %whole[%c0, %c1] [%m, %n] [%c1, %c1] : memref<?x?xf32> to memref<?x?xf32, strided<[?, ?], offset: ?>>
  %e = memref.alloc(%m, %n) : memref<?x?xf32>
  %t = memref.alloc(%n, %m) : memref<?x?xf32>
  %max = memref.alloc(%m) : memref<?xf32>
  %sum = memref.alloc(%m) : memref<?xf32>
  %columns = memref.alloc(%c1, %n) : memref<?x?xf32>
  linalg.fill ins(%lowest : f32) outs(%max : memref<?xf32>)
  linalg.fill ins(%zero : f32) outs(%sum : memref<?xf32>)
  linalg.fill ins(%zero : f32) outs(%columns : memref<?x?xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<?x?xf32, strided<[?, ?], offset: ?>>) outs(%max : memref<?xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %0 = arith.maximumf %acc, %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %max : memref<?x?xf32, strided<[?, ?], offset: ?>>, memref<?xf32>) outs(%e, %sum : memref<?x?xf32>, memref<?xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32, %acc: f32):
    %0 = arith.subf %a, %b : f32
    %1 = math.exp %0 : f32
    %2 = arith.addf %acc, %1 : f32
    linalg.yield %1, %2 : f32, f32
  }
  linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%sum : memref<?xf32>) outs(%e : memref<?x?xf32>) {
  ^bb0(%s: f32, %a: f32):
    %0 = arith.divf %a, %s : f32
    linalg.yield %0 : f32
  }
  linalg.transpose ins(%e : memref<?x?xf32>) outs(%t : memref<?x?xf32>) permutation = [1, 0]
  linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> (0, j)>], iterator_types = ["reduction", "parallel"]}
      ins(%e : memref<?x?xf32>) outs(%columns : memref<?x?xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %0 = arith.addf %acc, %a : f32
    linalg.yield %0 : f32
  }
  func.call @print(%e) : (memref<?x?xf32>) -> ()
  func.call @print(%t) : (memref<?x?xf32>) -> ()
  func.call @print(%columns) : (memref<?x?xf32>) -> ()
  return
}

// Functions, types and operands across the grain.
func.func @mixture(%m: index, %n: index) {
  %c5 = arith.constant 5 : index
  %x = func.call @input(%m, %n, %c5) : (index, index, index) -> memref<?x?xf32>
  %y = func.call @input(%n, %m, %c5) : (index, index, index) -> memref<?x?xf32>
  %h = memref.alloc(%m, %n) : memref<?x?xf16>
  %on = memref.alloc(%m, %n) : memref<?x?xi1>
  %z = memref.alloc(%m, %n) : memref<?x?xf32>
  linalg.generic {indexing_maps = [#id, #flip, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : memref<?x?xf32>, memref<?x?xf32>) outs(%h, %on : memref<?x?xf16>, memref<?x?xi1>) {
  ^bb0(%a: f32, %b: f32, %out: f16, %out_1: i1):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.truncf %0 : f32 to f16
    %2 = arith.cmpf ogt, %a, %b : f32
    linalg.yield %1, %2 : f16, i1
  }
  linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %h, %on : memref<?x?xf32>, memref<?x?xf16>, memref<?x?xi1>) outs(%z : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f16, %c: i1, %out: f32):
    %j = linalg.index 1 : index
    %i = linalg.index 0 : index
    %one = arith.constant 1.0 : f32
    %wide = arith.extf %b : f16 to f32
    %0 = math.tanh %a : f32
    %1 = math.erf %wide : f32
    %2 = math.absf %a : f32
    %3 = arith.addf %2, %one : f32
    %4 = math.log %3 : f32
    %5 = math.sin %wide : f32
    %6 = math.powf %3, %0 : f32
    %7 = arith.select %c, %0, %1 : f32
    %8 = arith.addf %7, %4 : f32
    %9 = arith.addf %5, %6 : f32
    %10 = arith.subf %8, %9 : f32
    %below = arith.cmpi ule, %j, %i : index
    %11 = arith.select %below, %10, %one : f32
    linalg.yield %11 : f32
  }
  func.call @print(%z) : (memref<?x?xf32>) -> ()
  return
}

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c13 = arith.constant 13 : index
  %c17 = arith.constant 17 : index
  %c31 = arith.constant 31 : index
  %c37 = arith.constant 37 : index
  %c64 = arith.constant 64 : index
  func.call @matmul(%c1, %c1, %c1) : (index, index, index) -> ()
  func.call @matmul(%c37, %c31, %c17) : (index, index, index) -> ()
  func.call @matmul(%c3, %c64, %c13) : (index, index, index) -> ()
  func.call @matmul(%c13, %c3, %c0) : (index, index, index) -> ()
  func.call @softmax(%c1, %c1) : (index, index) -> ()
  func.call @softmax(%c3, %c64) : (index, index) -> ()
  func.call @softmax(%c37, %c31) : (index, index) -> ()
  func.call @mixture(%c1, %c3) : (index, index) -> ()
  func.call @mixture(%c17, %c37) : (index, index) -> ()
  return
}
