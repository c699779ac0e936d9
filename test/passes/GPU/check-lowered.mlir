// RUN: fusion-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(fusion-gpu-check-lowered))'

gpu.module @good {
  llvm.func @f(%x: f32) -> f32 {
    %0 = nvvm.read.ptx.sreg.tid.x : i32
    llvm.return %x : f32
  }
}

// -----

gpu.module @bad {
  llvm.func @f(%x: f32) -> f32 {
    // expected-error@+1 {{'math.cbrt' op has no lowering to GPU code}}
    %0 = math.cbrt %x : f32
    llvm.return %0 : f32
  }
}
