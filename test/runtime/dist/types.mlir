// Elements of all kinds: fills from scalars of the host, gathering.

// RUN: fusion-run %s --input=1.5 --input=-2.5 --input=true --input=-7 --input=123456789012 | FileCheck %s
// RUN: %if openmpi %{ %mpirun-openmpi -np 2 fusion-run %s --input=1.5 --input=-2.5 --input=true --input=-7 --input=123456789012 \
// RUN:   | FileCheck %s %}
// CHECK: result 0: 8xf16 = [1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5]
// CHECK: result 1: 8xbf16 = [-2.5, -2.5, -2.5, -2.5, -2.5, -2.5, -2.5, -2.5]
// CHECK: result 2: 8xi1 = [1, 1, 1, 1, 1, 1, 1, 1]
// CHECK: result 3: 8xi8 = [-7, -7, -7, -7, -7, -7, -7, -7]
// CHECK: result 4: 8xindex = [123456789012, 123456789012, 123456789012,
// CHECK: result 5: index = [123456789012]

#cut = #dist.tiled<[3] offset [0] extent [8] by (d0) -> (d0)>
func.func @main(%h: f16, %b: bf16, %i: i1, %c: i8, %x: index) -> (tensor<8xf16>, tensor<8xbf16>, tensor<8xi1>, tensor<8xi8>, tensor<8xindex>, tensor<index>) {
  %H = dist.create : !dist.store<8xf16>
  %B = dist.create : !dist.store<8xbf16>
  %I = dist.create : !dist.store<8xi1>
  %C = dist.create : !dist.store<8xi8>
  %X = dist.create : !dist.store<8xindex>
  %Z = dist.create : !dist.store<index>
  dist.fill %h into %H by #cut on [3] : f16, !dist.store<8xf16>
  dist.fill %b into %B by #cut on [3] : bf16, !dist.store<8xbf16>
  dist.fill %i into %I by #cut on [3] : i1, !dist.store<8xi1>
  dist.fill %c into %C by #cut on [3] : i8, !dist.store<8xi8>
  dist.fill %x into %X by #cut on [3] : index, !dist.store<8xindex>
  dist.fill %x into %Z by #dist.none on [1] : index, !dist.store<index>
  %h1 = dist.to_tensor %H : !dist.store<8xf16> -> tensor<8xf16>
  %b1 = dist.to_tensor %B : !dist.store<8xbf16> -> tensor<8xbf16>
  %i1 = dist.to_tensor %I : !dist.store<8xi1> -> tensor<8xi1>
  %c1 = dist.to_tensor %C : !dist.store<8xi8> -> tensor<8xi8>
  %x1 = dist.to_tensor %X : !dist.store<8xindex> -> tensor<8xindex>
  %z1 = dist.to_tensor %Z : !dist.store<index> -> tensor<index>
  return %h1, %b1, %i1, %c1, %x1, %z1 : tensor<8xf16>, tensor<8xbf16>, tensor<8xi1>, tensor<8xi8>, tensor<8xindex>, tensor<index>
}
