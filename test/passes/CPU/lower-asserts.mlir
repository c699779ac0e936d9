// RUN: fusion-opt %s --fusion-cpu-lower-asserts --verify-diagnostics

func.func @structured(%c: i1, %d: i1) {
  scf.if %d {
    // expected-error @+1 {{'cf.assert' op stands in structured control flow, which must be lowered first}}
    cf.assert %c, "text"
  }
  return
}
