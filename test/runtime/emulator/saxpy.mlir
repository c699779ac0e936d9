// One thread for four elements: 16-byte accesses, whole sectors, and the buffers read and written once.
// RUN: fusion-emulate %s --grid=2 --arg=256xf32=iota --arg=256xf32=ones --arg=f32:2 --print=1 --json | FileCheck %s

// CHECK: "kernel": "saxpy", "chip": "sm_80", "grid": [2, 1, 1], "block": [32, 1, 1]
// CHECK-SAME: "load_bytes": 2048, "store_bytes": 1024, "load_sectors": 64, "store_sectors": 32, "load_ideal_sectors": 64, "store_ideal_sectors": 32
// CHECK-SAME: "global_accesses": 192, "wide_accesses": 192, "uncoalesced": 0
// CHECK-SAME: "buffers": [{"argument": 0, "bytes": 1024, "loaded": 1024, "stored": 0, "distinct_loaded": 1024, "distinct_stored": 0}, {"argument": 1, "bytes": 1024, "loaded": 1024, "stored": 1024, "distinct_loaded": 1024, "distinct_stored": 1024}]
// CHECK-SAME: "findings": []
// CHECK: 1: 1 3 5 7 9 {{.*}} 509 511
gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
  llvm.func @saxpy(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %a: f32) attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
    %c32 = llvm.mlir.constant(32 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %bid = nvvm.read.ptx.sreg.ctaid.x : i32
    %0 = llvm.mul %bid, %c32 : i32
    %1 = llvm.add %0, %tid : i32
    %i = llvm.mul %1, %c4 : i32
    %px = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %py = llvm.getelementptr %y[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %vx = llvm.load %px {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
    %vy = llvm.load %py {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
    %undef = llvm.mlir.undef : vector<4xf32>
    %k0 = llvm.mlir.constant(0 : i32) : i32
    %a0 = llvm.insertelement %a, %undef[%k0 : i32] : vector<4xf32>
    %as = llvm.shufflevector %a0, %undef [0, 0, 0, 0] : vector<4xf32>
    %p = llvm.fmul %vx, %as : vector<4xf32>
    %s = llvm.fadd %p, %vy : vector<4xf32>
    llvm.store %s, %py {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
    llvm.return
  }
}
