#!/usr/bin/env bash
# Draws the pictures of the documentation, from programs in examples/ where a compiler's picture is shown. usage: make.sh <folder of the tools>
set -euo pipefail
tools=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
examples=$here/../../examples
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The graph of an attention layer after both slicings. The number of threads is that of no particular machine.
"$tools/fusion-opt" "$examples/demo/attention.mlir" --fusion-to-spaces=threads=8 \
  --spacemap-print-graph="file=$scratch/attention-graph.dot" -o /dev/null
command -v dot >/dev/null || { echo "make.sh: no 'dot': apt-get install graphviz" >&2; exit 1; }
dot -Tsvg "$scratch/attention-graph.dot" -o "$scratch/attention-graph.svg"
dot -Tsvg "$here/attention.dot" -o "$here/attention.svg"
mv "$scratch/attention-graph.svg" "$here/attention-graph.svg"
