func.func @main(%x: tensor<3x20000xf32>) -> tensor<3x20000xf32> {
  %0 = tensor.empty() : tensor<3x20000xf32>
  %1 = linalg.softmax dimension(1) ins(%x : tensor<3x20000xf32>) outs(%0 : tensor<3x20000xf32>) -> tensor<3x20000xf32>
  return %1 : tensor<3x20000xf32>
}
