// Barriers that not all threads come to, and collective operations whose lanes do not agree. Each with a repaired twin.
// RUN: not fusion-emulate %s --kernel=half_barrier --block=64 --arg=i32:16 2>&1 | FileCheck %s --check-prefix=HALF
// RUN: fusion-emulate %s --kernel=half_barrier --block=64 --arg=i32:64 2>&1 | FileCheck %s --check-prefix=CLEAN --allow-empty
// RUN: not fusion-emulate %s --kernel=two_barriers --block=32 --arg=i32:16 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: fusion-emulate %s --kernel=two_barriers --block=64 --arg=i32:32 2>&1 | FileCheck %s --check-prefix=CLEAN --allow-empty
// RUN: not fusion-emulate %s --kernel=named --block=96 --arg=i32:64 2>&1 | FileCheck %s --check-prefix=NAMED
// RUN: fusion-emulate %s --kernel=named --block=64 --arg=i32:32 2>&1 | FileCheck %s --check-prefix=CLEAN --allow-empty
// RUN: not fusion-emulate %s --kernel=mask --block=32 --arg=i32:65535 2>&1 | FileCheck %s --check-prefix=OWN
// RUN: fusion-emulate %s --kernel=mask --block=32 --arg=i32:-1 2>&1 | FileCheck %s --check-prefix=CLEAN --allow-empty
// RUN: not fusion-emulate %s --kernel=other_mask --block=32 --arg=i32:65535 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: fusion-emulate %s --kernel=other_mask --block=32 --arg=i32:-1 2>&1 | FileCheck %s --check-prefix=CLEAN --allow-empty
// RUN: not fusion-emulate %s --kernel=ended --block=32 --arg=i32:16 2>&1 | FileCheck %s --check-prefix=ENDED
// RUN: fusion-emulate %s --kernel=ended --block=32 --arg=i32:32 2>&1 | FileCheck %s --check-prefix=CLEAN --allow-empty
// RUN: not fusion-emulate %s --kernel=source --block=32 --arg=i32:20 2>&1 | FileCheck %s --check-prefix=SOURCE
// RUN: fusion-emulate %s --kernel=source --block=32 --arg=i32:3 2>&1 | FileCheck %s --check-prefix=CLEAN --allow-empty
// RUN: not fusion-emulate %s --kernel=diverged --block=32 --arg=i32:16 2>&1 | FileCheck %s --check-prefix=DIVERGED
// RUN: fusion-emulate %s --kernel=diverged --block=32 --arg=i32:32 2>&1 | FileCheck %s --check-prefix=CLEAN --allow-empty
// RUN: not fusion-emulate %s --kernel=mask --block=48 --arg=i32:-65536 2>&1 | FileCheck %s --check-prefix=PARTIAL

// HALF: error: divergent barrier: 'llvm.nvvm.barrier.cta.sync.aligned.all': thread {{.*}} waits for all threads of its block, but thread (16, 0, 0) of block (0, 0, 0) has ended
// TWO: error: divergent barrier: 'llvm.nvvm.barrier.cta.sync.aligned.all': thread {{.*}} is at a barrier while lane 0 of its warp waits at another
// NAMED: error: deadlock: 'llvm.nvvm.barrier.cta.sync.aligned.count': thread (0, 0, 0) of block (0, 0, 0) waits for ever; 32 threads are at llvm.nvvm.barrier.cta.sync.aligned.count {{.*}}; 64 have ended
// OWN: error: mismatched lanes: 'llvm.nvvm.shfl.sync.bfly.i32': thread (16, 0, 0) of block (0, 0, 0) has the mask 0x0000ffff without its own lane
// OTHER: error: mismatched lanes: 'llvm.nvvm.vote.ballot.sync': thread {{.*}} has the mask 0x{{.*}}, lane {{.*}} has 0x
// ENDED: error: mismatched lanes: 'llvm.nvvm.shfl.sync.bfly.i32': thread {{.*}} waits for lane 16 of its warp, which has ended
// SOURCE: error: mismatched lanes: 'llvm.nvvm.shfl.sync.idx.i32': thread (0, 0, 0) of block (0, 0, 0) takes its value from lane 20, which does not take part
// DIVERGED: error: mismatched lanes: 'llvm.nvvm.shfl.sync.bfly.i32': thread (16, 0, 0) of block (0, 0, 0) waits for lane 0, which waits at llvm.nvvm.vote.ballot.sync {{.*}} for it: the lanes have diverged
// PARTIAL: error: mismatched lanes: {{.*}} has the mask 0xffff0000
// CLEAN-NOT: {{.}}
llvm.func @half_barrier(%n: i32) attributes {nvvm.kernel} {
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %comes = llvm.icmp "slt" %t, %n : i32
  llvm.cond_br %comes, ^barrier, ^exit
^barrier:
  nvvm.barrier0
  llvm.br ^exit
^exit:
  llvm.return
}
// Whole warps may meet at different instructions, the lanes of one warp may not.
llvm.func @two_barriers(%n: i32) attributes {nvvm.kernel} {
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %first = llvm.icmp "slt" %t, %n : i32
  llvm.cond_br %first, ^one, ^two
^one:
  nvvm.barrier0
  llvm.br ^exit
^two:
  nvvm.barrier0
  llvm.br ^exit
^exit:
  llvm.return
}
// The first warp waits for `count` threads alone.
llvm.func @named(%count: i32) attributes {nvvm.kernel} {
  %one = llvm.mlir.constant(1 : i32) : i32
  %c32 = llvm.mlir.constant(32 : i32) : i32
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %first = llvm.icmp "slt" %t, %c32 : i32
  llvm.cond_br %first, ^wait, ^exit
^wait:
  nvvm.barrier id = %one number_of_threads = %count
  llvm.br ^exit
^exit:
  llvm.return
}
llvm.func @mask(%mask: i32) attributes {nvvm.kernel} {
  %one = llvm.mlir.constant(1 : i32) : i32
  %clamp = llvm.mlir.constant(31 : i32) : i32
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %v = nvvm.shfl.sync bfly %mask, %t, %one, %clamp : i32 -> i32
  llvm.return
}
// Odd lanes name another mask than even ones; both have all lanes of the lower half.
llvm.func @other_mask(%mask: i32) attributes {nvvm.kernel} {
  %all = llvm.mlir.constant(-1 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %zero = llvm.mlir.constant(0 : i32) : i32
  %c16 = llvm.mlir.constant(16 : i32) : i32
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %bit = llvm.and %t, %one : i32
  %odd = llvm.icmp "eq" %bit, %one : i32
  %low = llvm.icmp "slt" %t, %c16 : i32
  %takes = llvm.and %odd, %low : i1
  %m = llvm.select %takes, %mask, %all : i1, i32
  %v = nvvm.vote.sync ballot %m, %odd -> i32
  llvm.return
}
llvm.func @ended(%n: i32) attributes {nvvm.kernel} {
  %all = llvm.mlir.constant(-1 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %clamp = llvm.mlir.constant(31 : i32) : i32
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %stays = llvm.icmp "slt" %t, %n : i32
  %ends = llvm.icmp "sge" %t, %n : i32
  llvm.cond_br %ends, ^exit, ^shuffle
^shuffle:
  %v = nvvm.shfl.sync bfly %all, %t, %one, %clamp : i32 -> i32
  llvm.br ^exit
^exit:
  llvm.return
}
// Only the lower half takes part.
llvm.func @source(%lane: i32) attributes {nvvm.kernel} {
  %half = llvm.mlir.constant(65535 : i32) : i32
  %c16 = llvm.mlir.constant(16 : i32) : i32
  %clamp = llvm.mlir.constant(31 : i32) : i32
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %takes = llvm.icmp "slt" %t, %c16 : i32
  llvm.cond_br %takes, ^shuffle, ^exit
^shuffle:
  %v = nvvm.shfl.sync idx %half, %t, %lane, %clamp : i32 -> i32
  llvm.br ^exit
^exit:
  llvm.return
}
llvm.func @diverged(%n: i32) attributes {nvvm.kernel} {
  %all = llvm.mlir.constant(-1 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %clamp = llvm.mlir.constant(31 : i32) : i32
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %low = llvm.icmp "slt" %t, %n : i32
  llvm.cond_br %low, ^vote, ^shuffle
^vote:
  %b = nvvm.vote.sync ballot %all, %low -> i32
  llvm.br ^exit
^shuffle:
  %v = nvvm.shfl.sync bfly %all, %t, %one, %clamp : i32 -> i32
  llvm.br ^exit
^exit:
  llvm.return
}
