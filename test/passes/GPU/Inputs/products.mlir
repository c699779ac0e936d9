// Products of two matrices: types, orders of dimensions, shapes that fit no instruction.
func.func @nn(%x: tensor<64x160xf16>, %y: tensor<160x96xf16>) -> tensor<64x96xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x96xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x96xf32>) -> tensor<64x96xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<64x160xf16>, tensor<160x96xf16>) outs(%f : tensor<64x96xf32>) {
  ^bb0(%a: f16, %b: f16, %c: f32):
    %e0 = arith.extf %a : f16 to f32
    %e1 = arith.extf %b : f16 to f32
    %p = arith.mulf %e0, %e1 : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<64x96xf32>
  return %r : tensor<64x96xf32>
}
func.func @nt(%x: tensor<64x160xf16>, %y: tensor<96x160xf16>) -> tensor<64x96xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x96xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x96xf32>) -> tensor<64x96xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<64x160xf16>, tensor<96x160xf16>) outs(%f : tensor<64x96xf32>) {
  ^bb0(%a: f16, %b: f16, %c: f32):
    %e0 = arith.extf %a : f16 to f32
    %e1 = arith.extf %b : f16 to f32
    %p = arith.mulf %e0, %e1 : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<64x96xf32>
  return %r : tensor<64x96xf32>
}
func.func @tn(%x: tensor<160x64xf16>, %y: tensor<160x96xf16>) -> tensor<64x96xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x96xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x96xf32>) -> tensor<64x96xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<160x64xf16>, tensor<160x96xf16>) outs(%f : tensor<64x96xf32>) {
  ^bb0(%a: f16, %b: f16, %c: f32):
    %e0 = arith.extf %a : f16 to f32
    %e1 = arith.extf %b : f16 to f32
    %p = arith.mulf %e0, %e1 : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<64x96xf32>
  return %r : tensor<64x96xf32>
}
func.func @tt(%x: tensor<160x64xf16>, %y: tensor<96x160xf16>) -> tensor<64x96xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x96xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x96xf32>) -> tensor<64x96xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<160x64xf16>, tensor<96x160xf16>) outs(%f : tensor<64x96xf32>) {
  ^bb0(%a: f16, %b: f16, %c: f32):
    %e0 = arith.extf %a : f16 to f32
    %e1 = arith.extf %b : f16 to f32
    %p = arith.mulf %e0, %e1 : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<64x96xf32>
  return %r : tensor<64x96xf32>
}
func.func @bf16(%x: tensor<64x64xbf16>, %y: tensor<64x64xbf16>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%f : tensor<64x64xf32>) {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %e0 = arith.extf %a : bf16 to f32
    %e1 = arith.extf %b : bf16 to f32
    %p = arith.mulf %e0, %e1 : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
func.func @ragged(%x: tensor<37x83xf16>, %y: tensor<83x51xf16>) -> tensor<37x51xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<37x51xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<37x51xf32>) -> tensor<37x51xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<37x83xf16>, tensor<83x51xf16>) outs(%f : tensor<37x51xf32>) {
  ^bb0(%a: f16, %b: f16, %c: f32):
    %e0 = arith.extf %a : f16 to f32
    %e1 = arith.extf %b : f16 to f32
    %p = arith.mulf %e0, %e1 : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<37x51xf32>
  return %r : tensor<37x51xf32>
}
func.func @ragged_t(%x: tensor<83x37xf16>, %y: tensor<51x83xf16>) -> tensor<37x51xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<37x51xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<37x51xf32>) -> tensor<37x51xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<83x37xf16>, tensor<51x83xf16>) outs(%f : tensor<37x51xf32>) {
  ^bb0(%a: f16, %b: f16, %c: f32):
    %e0 = arith.extf %a : f16 to f32
    %e1 = arith.extf %b : f16 to f32
    %p = arith.mulf %e0, %e1 : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<37x51xf32>
  return %r : tensor<37x51xf32>
}
func.func @ragged_16b(%x: tensor<40x200xf16>, %y: tensor<72x200xf16>) -> tensor<40x72xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<40x72xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<40x72xf32>) -> tensor<40x72xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<40x200xf16>, tensor<72x200xf16>) outs(%f : tensor<40x72xf32>) {
  ^bb0(%a: f16, %b: f16, %c: f32):
    %e0 = arith.extf %a : f16 to f32
    %e1 = arith.extf %b : f16 to f32
    %p = arith.mulf %e0, %e1 : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<40x72xf32>
  return %r : tensor<40x72xf32>
}
func.func @long(%x: tensor<32x1536xf16>, %y: tensor<32x1536xf16>) -> tensor<32x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x32xf32>) -> tensor<32x32xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<32x1536xf16>, tensor<32x1536xf16>) outs(%f : tensor<32x32xf32>) {
  ^bb0(%a: f16, %b: f16, %c: f32):
    %e0 = arith.extf %a : f16 to f32
    %e1 = arith.extf %b : f16 to f32
    %p = arith.mulf %e0, %e1 : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<32x32xf32>
  return %r : tensor<32x32xf32>
}
func.func @f32(%x: tensor<48x72xf32>, %y: tensor<72x80xf32>) -> tensor<48x80xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<48x80xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<48x80xf32>) -> tensor<48x80xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<48x72xf32>, tensor<72x80xf32>) outs(%f : tensor<48x80xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<48x80xf32>
  return %r : tensor<48x80xf32>
}
func.func @f32_t(%x: tensor<72x48xf32>, %y: tensor<80x72xf32>) -> tensor<48x80xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<48x80xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<48x80xf32>) -> tensor<48x80xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<72x48xf32>, tensor<80x72xf32>) outs(%f : tensor<48x80xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<48x80xf32>
  return %r : tensor<48x80xf32>
}
func.func @f32_ragged(%x: tensor<37x83xf32>, %y: tensor<51x83xf32>) -> tensor<37x51xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<37x51xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<37x51xf32>) -> tensor<37x51xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<37x83xf32>, tensor<51x83xf32>) outs(%f : tensor<37x51xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<37x51xf32>
  return %r : tensor<37x51xf32>
}
func.func @f64(%x: tensor<24x36xf64>, %y: tensor<36x20xf64>) -> tensor<24x20xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<24x20xf64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<24x20xf64>) -> tensor<24x20xf64>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<24x36xf64>, tensor<36x20xf64>) outs(%f : tensor<24x20xf64>) {
  ^bb0(%a: f64, %b: f64, %c: f64):
    %p = arith.mulf %a, %b : f64
    %s = arith.addf %c, %p : f64
    linalg.yield %s : f64
  } -> tensor<24x20xf64>
  return %r : tensor<24x20xf64>
}
func.func @one(%x: tensor<1x64xf16>, %y: tensor<64x64xf16>) -> tensor<1x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x64xf32>) -> tensor<1x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<1x64xf16>, tensor<64x64xf16>) outs(%f : tensor<1x64xf32>) {
  ^bb0(%a: f16, %b: f16, %c: f32):
    %e0 = arith.extf %a : f16 to f32
    %e1 = arith.extf %b : f16 to f32
    %p = arith.mulf %e0, %e1 : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<1x64xf32>
  return %r : tensor<1x64xf32>
}
