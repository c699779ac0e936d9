// RUN: fusion-opt %s --dist-lower --split-input-file --verify-diagnostics

func.func @view(%x: tensor<8xf64>) {
  %a = arith.constant 1.0 : f64
  %s = dist.from_tensor %x : tensor<8xf64> -> !dist.store<8xf64>
  // expected-error @below {{'dist.view' op is a view, which canonicalisation must have removed before the program is lowered}}
  %v = dist.view %s [2] : !dist.store<8xf64> -> !dist.store<4xf64>
  dist.fill %a into %v by #dist.none on [1] : f64, !dist.store<4xf64>
  return
}

// -----

func.func @element() {
  // expected-error @below {{'dist.create' op makes a store of 'i4'; elements of type f16, bf16, f32, f64, i1, i8, i16, i32, i64 and index can be run}}
  %s = dist.create : !dist.store<8xi4>
  return
}

// -----

// expected-error @below {{'dist.task' op calls the C function 'helper', but the module has a symbol of that name}}
dist.task @t(tensor<?xf64> read_write) external "helper"
func.func private @helper()
func.func @clash() {
  %s = dist.create : !dist.store<8xf64>
  dist.launch @t on [1] (%s read_write #dist.none) : !dist.store<8xf64>
  return
}

// -----

func.func @token(%t: !dist.token) {
  // expected-error @below {{'dist.exchange_wait' op waits for an exchange that is not started by a 'dist.exchange_start' in this function}}
  dist.exchange_wait %t
  return
}
