// Every way in which an array's file can be wrong is one located line.
// RUN: %python %S/Inputs/make_npy.py %t

// RUN: not fusion-run --target=reference %s --input=@%t/bigendian.npy 2>&1 | FileCheck %s --check-prefix=BIGENDIAN
// BIGENDIAN: npy-errors.mlir:{{[0-9]+}}:{{[0-9]+}}: error: argument 0 of 'main': {{.*}}bigendian.npy: big-endian element type '>f4' is not supported; convert with .astype('<f4')
// BIGENDIAN-NOT: {{.}}

// RUN: not fusion-run --target=reference %s --input=@%t/double.npy 2>&1 | FileCheck %s --check-prefix=DOUBLE
// DOUBLE: npy-errors.mlir:{{[0-9]+}}:{{[0-9]+}}: error: argument 0 of 'main': {{.*}}double.npy: element type '<f8' where f32 is expected
// DOUBLE-NOT: {{.}}

// RUN: not fusion-run --target=reference %s --input=@%t/wrong-shape.npy 2>&1 | FileCheck %s --check-prefix=WRONG-SHAPE
// WRONG-SHAPE: npy-errors.mlir:{{[0-9]+}}:{{[0-9]+}}: error: argument 0 of 'main': the type is tensor<2x3xf32>, the array is 3x2xf32
// WRONG-SHAPE-NOT: {{.}}

// RUN: not fusion-run --target=reference %s --input=@%t/short.npy 2>&1 | FileCheck %s --check-prefix=SHORT
// SHORT: npy-errors.mlir:{{[0-9]+}}:{{[0-9]+}}: error: argument 0 of 'main': {{.*}}short.npy: the file is truncated: 2x3xf32 takes 24 bytes, there are 23
// SHORT-NOT: {{.}}

// RUN: not fusion-run --target=reference %s --input=@%t/long.npy 2>&1 | FileCheck %s --check-prefix=LONG
// LONG: npy-errors.mlir:{{[0-9]+}}:{{[0-9]+}}: error: argument 0 of 'main': {{.*}}long.npy: the file is too long: 2x3xf32 takes 24 bytes, there are 25
// LONG-NOT: {{.}}

// RUN: not fusion-run --target=reference %s --input=@%t/huge.npy 2>&1 | FileCheck %s --check-prefix=HUGE
// HUGE: npy-errors.mlir:{{[0-9]+}}:{{[0-9]+}}: error: argument 0 of 'main': {{.*}}huge.npy: the extents are too large
// HUGE-NOT: {{.}}

// RUN: not fusion-run --target=reference %s --input=@%t/large.npy 2>&1 | FileCheck %s --check-prefix=LARGE
// LARGE: npy-errors.mlir:{{[0-9]+}}:{{[0-9]+}}: error: argument 0 of 'main': {{.*}}large.npy: the file is truncated: 1000000000x1000xf32 takes 4000000000000 bytes, there are 24
// LARGE-NOT: {{.}}

// RUN: not fusion-run --target=reference %s --input=@%t/digits.npy 2>&1 | FileCheck %s --check-prefix=DIGITS
// DIGITS: npy-errors.mlir:{{[0-9]+}}:{{[0-9]+}}: error: argument 0 of 'main': {{.*}}digits.npy: the header's 'shape' is not a tuple of non-negative integers
// DIGITS-NOT: {{.}}

// RUN: not fusion-run --target=reference %s --input=@%t/negative.npy 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: npy-errors.mlir:{{[0-9]+}}:{{[0-9]+}}: error: argument 0 of 'main': {{.*}}negative.npy: the header's 'shape' is not a tuple of non-negative integers
// NEGATIVE-NOT: {{.}}

// RUN: not fusion-run --target=reference %s --input=@%t/number.npy 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: npy-errors.mlir:{{[0-9]+}}:{{[0-9]+}}: error: argument 0 of 'main': {{.*}}number.npy: the header's 'shape' is not a tuple of non-negative integers
// NUMBER-NOT: {{.}}

// RUN: not fusion-run --target=reference %s --input=@%t/complex.npy 2>&1 | FileCheck %s --check-prefix=COMPLEX
// COMPLEX: npy-errors.mlir:{{[0-9]+}}:{{[0-9]+}}: error: argument 0 of 'main': {{.*}}complex.npy: element type '<c8' is not supported
// COMPLEX-NOT: {{.}}

// RUN: not fusion-run --target=reference %s --input=@%t/structured.npy 2>&1 | FileCheck %s --check-prefix=STRUCTURED
// STRUCTURED: npy-errors.mlir:{{[0-9]+}}:{{[0-9]+}}: error: argument 0 of 'main': {{.*}}structured.npy: structured element types are not supported
// STRUCTURED-NOT: {{.}}

// RUN: not fusion-run --target=reference %s --input=@%t/extra-key.npy 2>&1 | FileCheck %s --check-prefix=EXTRA-KEY
// EXTRA-KEY: npy-errors.mlir:{{[0-9]+}}:{{[0-9]+}}: error: argument 0 of 'main': {{.*}}extra-key.npy: the header has an unknown key 'evil'
// EXTRA-KEY-NOT: {{.}}

// RUN: not fusion-run --target=reference %s --input=@%t/twice.npy 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: npy-errors.mlir:{{[0-9]+}}:{{[0-9]+}}: error: argument 0 of 'main': {{.*}}twice.npy: the header has the key 'descr' twice
// TWICE-NOT: {{.}}

// RUN: not fusion-run --target=reference %s --input=@%t/lacking.npy 2>&1 | FileCheck %s --check-prefix=LACKING
// LACKING: npy-errors.mlir:{{[0-9]+}}:{{[0-9]+}}: error: argument 0 of 'main': {{.*}}lacking.npy: the header lacks one of 'descr', 'fortran_order', 'shape'
// LACKING-NOT: {{.}}

// RUN: not fusion-run --target=reference %s --input=@%t/code.npy 2>&1 | FileCheck %s --check-prefix=CODE
// CODE: npy-errors.mlir:{{[0-9]+}}:{{[0-9]+}}: error: argument 0 of 'main': {{.*}}code.npy: the header is not a dictionary
// CODE-NOT: {{.}}

// RUN: not fusion-run --target=reference %s --input=@%t/trailing.npy 2>&1 | FileCheck %s --check-prefix=TRAILING
// TRAILING: npy-errors.mlir:{{[0-9]+}}:{{[0-9]+}}: error: argument 0 of 'main': {{.*}}trailing.npy: there is text after the header's dictionary
// TRAILING-NOT: {{.}}

// RUN: not fusion-run --target=reference %s --input=@%t/order.npy 2>&1 | FileCheck %s --check-prefix=ORDER
// ORDER: npy-errors.mlir:{{[0-9]+}}:{{[0-9]+}}: error: argument 0 of 'main': {{.*}}order.npy: the header's 'fortran_order' is neither True nor False
// ORDER-NOT: {{.}}

// RUN: not fusion-run --target=reference %s --input=@%t/empty.npy 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: npy-errors.mlir:{{[0-9]+}}:{{[0-9]+}}: error: argument 0 of 'main': {{.*}}empty.npy: not a .npy file
// EMPTY-NOT: {{.}}

// RUN: not fusion-run --target=reference %s --input=@%t/magic.npy 2>&1 | FileCheck %s --check-prefix=MAGIC
// MAGIC: npy-errors.mlir:{{[0-9]+}}:{{[0-9]+}}: error: argument 0 of 'main': {{.*}}magic.npy: not a .npy file
// MAGIC-NOT: {{.}}

// RUN: not fusion-run --target=reference %s --input=@%t/cut-header.npy 2>&1 | FileCheck %s --check-prefix=CUT-HEADER
// CUT-HEADER: npy-errors.mlir:{{[0-9]+}}:{{[0-9]+}}: error: argument 0 of 'main': {{.*}}cut-header.npy: the file is truncated in its header
// CUT-HEADER-NOT: {{.}}

// RUN: not fusion-run --target=reference %s --input=@%t/version9.npy 2>&1 | FileCheck %s --check-prefix=VERSION9
// VERSION9: npy-errors.mlir:{{[0-9]+}}:{{[0-9]+}}: error: argument 0 of 'main': {{.*}}version9.npy: format version 9 is not supported
// VERSION9-NOT: {{.}}

// RUN: not fusion-run --target=reference %s --input=@%t/missing.npy 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: npy-errors.mlir:{{[0-9]+}}:{{[0-9]+}}: error: argument 0 of 'main': {{.*}}missing.npy: No such file or directory
// MISSING-NOT: {{.}}

// RUN: not fusion-run --target=reference %s --input=@%t 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: is a directory

// A result that cannot be written leaves nothing behind.
// RUN: rm -rf %t.out && mkdir %t.out
// RUN: not fusion-run --target=reference %s --input=ones --output=@%t.out/none/a.npy 2>&1 | FileCheck %s --check-prefix=WRITE
// WRITE: fusion-run: error: {{.*}}a.npy: {{.*}}No such file or directory
// RUN: ls %t.out | count 0

func.func @main(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  return %a : tensor<2x3xf32>
}
