"""lit configuration of the whole suite.

Environment variables:
  FUSION_VERIFY_ROUNDTRIP=1  every run of fusion-opt also checks that its input survives printing and parsing,
                             as text and as bytecode.
  FUSION_THREADS=N           passed on to the tools: threads of the CPU run-time.

Features: the optional tools, ranks (any MPI), openmpi, mpich, instruction sets of this machine.

Substitutions: %fusion_src, %fusion_obj, %fusion_bin (folders), %fusion_plugin (shared library), %python, %cmake, %cxx, %cc,
%mlir_dir, %fusion_version, %mpirun-openmpi, %mpirun-mpich, %mpicc-openmpi, %mpicc-mpich (where they were found), and
fusion-opt, fusion-run, ..., mlir-opt-22, FileCheck, not, count, split-file by name.
"""

import os
import re
import shutil

import lit.formats

config.name = "Fusion"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["inputs", "Inputs", "unit"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.fusion_binary_dir, "test")

config.environment["FILECHECK_OPTS"] = "-enable-var-scope --dump-input-filter=annotation"
config.environment["LC_ALL"] = "C.UTF-8"
for name in ("FUSION_THREADS", "ASAN_OPTIONS", "UBSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

fusion_bin = os.path.join(config.fusion_binary_dir, "bin")
config.environment["PATH"] = os.pathsep.join([fusion_bin, config.llvm_tools_dir, config.environment.get("PATH", "")])


def add_tool(name, path, options=""):
    """Replaces `name` by `path`, but not inside of a longer word, path or pass name."""
    config.substitutions.append((r"(?<![\w./%=:-])" + re.escape(name) + r"(?![\w./=:-])", path + options))


roundtrip = os.environ.get("FUSION_VERIFY_ROUNDTRIP", "0") not in ("", "0")
add_tool("fusion-opt", os.path.join(fusion_bin, "fusion-opt"), " --verify-roundtrip" if roundtrip else "")
for tool in ("fusion-run", "fusion-translate", "fusion-lsp-server", "task-programs"):
    add_tool(tool, os.path.join(fusion_bin, tool))
add_tool("mlir-opt-22", os.path.join(config.llvm_tools_dir, "mlir-opt"))
for tool in ("FileCheck", "not", "count", "split-file", "mlir-tblgen"):
    add_tool(tool, os.path.join(config.llvm_tools_dir, tool))

config.substitutions += [
    ("%fusion_src", config.fusion_source_dir),
    ("%fusion_obj", config.fusion_binary_dir),
    ("%fusion_bin", fusion_bin),
    ("%fusion_plugin", os.path.join(config.fusion_library_dir, "FusionPlugin.so")),
    ("%fusion_version", config.fusion_version),
    ("%python", config.python),
    ("%cmake", config.cmake),
    ("%cxx", config.cxx_compiler),
    ("%cc", config.c_compiler),
    ("%mlir_dir", config.mlir_cmake_dir),
    ("%llvm_tools", config.llvm_tools_dir),
]

config.available_features.update(config.fusion_features)
if roundtrip:
    config.available_features.add("verify-roundtrip")

# Each MPI implementation that the build found. Tests use more ranks than there are processors, may run as root, and may
# run where processes cannot read each other's memory. Ranks that wait for each other must not hold up the suite.
for implementation in filter(None, config.mpi_implementations):
    config.available_features.update(["ranks", implementation])
    config.substitutions += [
        (f"%mpirun-{implementation}", f"timeout 300 {config.mpi_launchers[implementation]}"),
        (f"%mpicc-{implementation}", config.mpi_compilers[implementation]),
    ]
config.environment.update(
    OMPI_ALLOW_RUN_AS_ROOT="1",
    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
    OMPI_MCA_rmaps_base_oversubscribe="1",
    OMPI_MCA_hwloc_base_binding_policy="none",
    OMPI_MCA_btl_vader_single_copy_mechanism="none",
)

# Processors of this machine, for tests of code for one instruction set.
try:
    with open("/proc/cpuinfo") as cpuinfo:
        flags = next((line for line in cpuinfo if line.startswith("flags")), "").split()
except OSError:
    flags = []
for feature in ("avx2", "fma", "avx512f", "f16c"):
    if feature in flags:
        config.available_features.add(feature)

# The CUDA toolkit, which assembles but needs no device.
cuda = [os.environ.get(name, "") for name in ("CUDA_ROOT", "CUDA_HOME", "CUDA_PATH")] + ["/usr/local/cuda"]
if shutil.which("ptxas") or any(path and os.access(os.path.join(path, "bin", "ptxas"), os.X_OK) for path in cuda):
    config.available_features.add("cuda")
