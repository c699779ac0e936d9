"""Random sliced graphs, lowered to tiles and compared with what the interpreter makes of the graph itself.

    graphs.py SEED                                prints the program of a seed
    graphs.py FUSION_RUN FIRST COUNT [options]    runs programs, with options of fusion-run; status 0 if all agree

States are updated by arbitrary functions here, read before and after, exchanged and collected: more than any slicer
makes, for the order in which a lowering reads and overwrites them is where it can go wrong.
"""

import random
import subprocess
import sys
import tempfile

FLOATS = {"f32": 32, "f64": 64}


class Space:
    def __init__(self, name, dims, element, inner=False):
        self.name, self.dims, self.element, self.inner = name, frozenset(dims), element, inner


class Graph:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.count = 0
        self.lines = []
        self.reduced = set()
        self.dims = list("abcd")[: self.random.randint(1, 4)]
        self.extents = {dim: self.random.choice([1, 2, 3, 4, 5, 7, 8, 9, 16]) for dim in self.dims}
        self.inputs = []
        for _ in range(self.random.randint(1, 4)):
            axes = [dim for dim in self.dims if self.random.random() < 0.7]
            self.random.shuffle(axes)
            self.inputs.append((axes, self.random.choice(["f32", "f32", "f64", "i32"])))
        self.flags = ["--input=%s=random:%d" % ("x".join([str(self.extents[a]) for a in axes] + [element]), seed + i)
                      for i, (axes, element) in enumerate(self.inputs)]

    # Names, types and text.

    def new(self):
        self.count += 1
        return "%%v%d" % self.count

    def sort(self, dims):
        return [dim for dim in self.dims if dim in dims]

    def type(self, dims, element):
        return "!spacemap.space<[%s], %s>" % (", ".join(self.sort(dims)), element)

    def type_of(self, space):
        return self.type(space.dims, space.element)

    def tensor(self, axes, element):
        return "tensor<%s>" % "x".join([str(self.extents[axis]) for axis in axes] + [element])

    # Operations; each appends to `self.lines` and to the pool of what may be read.

    def add(self, pool, text, dims, element, inner):
        """`text` lacks only the type of the result."""
        space = Space(self.new(), dims, element, inner)
        self.lines.append("%s = %s" % (space.name, text + self.type_of(space)))
        pool.append(space)
        return space

    def source(self, pool, inner):
        index = self.random.randrange(len(self.inputs))
        axes, element = self.inputs[index]
        text = "spacemap.source %%in%d [%s] : %s -> " % (index, ", ".join(axes), self.tensor(axes, element))
        return self.add(pool, text, axes, element, inner)

    def coordinate(self, pool, inner):
        dim = self.random.choice(self.dims)
        return self.add(pool, "spacemap.index %s : " % dim, [dim], "index", inner)

    def constant(self, pool, dims, element, inner):
        value = self.new()
        text = "spacemap.map () { %s = arith.constant %s : %s  spacemap.yield %s : %s } -> " % (
            value, self.random.choice(["0.0", "1.5", "-2.0"]), element, value, element)
        return self.add(pool, text, dims, element, inner)

    def broadcast(self, pool, space, dims, inner):
        along = self.sort(set(dims) - space.dims)
        if not along:
            return space
        text = "spacemap.one_to_all %s along [%s] : %s -> " % (space.name, ", ".join(along), self.type_of(space))
        return self.add(pool, text, dims, space.element, inner)

    def reduce(self, pool, space, along, inner, reducer=None):
        self.reduced.update(along)
        if not reducer:
            reducer = self.random.choice(["sum", "max", "min"] if space.element not in FLOATS
                                         else ["sum", "sum", "max", "maxnum"])
        text = "spacemap.all_to_one %s along [%s] %s : %s -> " % (space.name, ", ".join(along), reducer,
                                                                  self.type_of(space))
        return self.add(pool, text, space.dims - set(along), space.element, inner)

    def widen(self, body, value, element, wanted):
        if element == wanted:
            return value
        if element == "index":
            body.append("%s = arith.index_cast %s : index to i32" % (self.new(), value))
            value, element = "%%v%d" % self.count, "i32"
        kind = "sitofp" if element == "i32" else "extf" if FLOATS[element] < FLOATS[wanted] else "truncf"
        body.append("%s = arith.%s %s : %s to %s" % (self.new(), kind, value, element, wanted))
        return "%%v%d" % self.count

    def map(self, pool, operands, element, inner, steps=None):
        """`steps` gives the operations between operands; random ones, with functions around them, without."""
        arguments, body = [self.new() for _ in operands], []
        values = [self.widen(body, a, s.element, element) for a, s in zip(arguments, operands)]
        result = values[0]
        for index, value in enumerate(values[1:]):
            name = steps[index] if steps else self.random.choice(["addf", "mulf", "subf", "maximumf", "minimumf"])
            body.append("%s = arith.%s %s, %s : %s" % (self.new(), name, result, value, element))
            result = "%%v%d" % self.count
        if not steps and self.random.random() < 0.6:
            name = self.random.choice(["math.tanh", "math.absf", "math.sin", "arith.negf"])
            body.append("%s = %s %s : %s" % (self.new(), name, result, element))
            result = "%%v%d" % self.count
        text = "spacemap.map (%s : %s) {\n%s\nspacemap.yield %s : %s\n} -> " % (
            ", ".join("%s = %s" % (a, s.name) for a, s in zip(arguments, operands)),
            ", ".join(map(self.type_of, operands)), "\n".join(body), result, element)
        return self.add(pool, text, operands[0].dims, element, inner)

    def some(self, pool, number, sliced=None):
        """Random operations on spaces of `pool`; inside of a loop along `sliced` where that is given."""
        inner = sliced is not None
        for _ in range(number):
            kind = self.random.random()
            usable = [space for space in pool if space.inner == inner or sliced not in space.dims][-12:]
            if kind < 0.1 or not usable:
                self.source(pool, inner)
            elif kind < 0.18:
                self.coordinate(pool, inner)
            elif kind < 0.22 and inner:
                self.add(pool, "spacemap.seen %s : " % sliced, [], "index", inner)
            elif kind < 0.75:
                operands = [self.random.choice(usable) for _ in range(self.random.randint(1, 3))]
                dims = frozenset().union(*[operand.dims for operand in operands])
                if self.random.random() < 0.15:
                    dims |= {self.random.choice(self.dims)}
                operands = [self.broadcast(pool, operand, dims, inner) for operand in operands]
                self.map(pool, operands, self.random.choice(list(FLOATS)), inner)
            else:
                space = self.random.choice(usable)
                if space.dims:
                    along = self.random.sample(self.sort(space.dims), self.random.randint(1, min(2, len(space.dims))))
                    self.reduce(pool, space, self.sort(along), inner)

    def next_state(self, pool, state, sliced):
        def same():
            return [space for space in pool if (space.dims, space.element) == (state.dims, state.element) and
                    (space.inner or sliced not in space.dims)]
        larger = [space for space in pool if space.inner and space.dims > state.dims and space.element == state.element]
        if not larger or self.random.random() < 0.3:
            return self.random.choice(same()[-6:])
        space = self.random.choice(larger)
        reducer, combine = self.random.choice([("sum", "addf"), ("sum", "addf"), ("max", "maximumf"),
                                               ("sum", "maximumf")])
        part = self.reduce(pool, space, self.sort(space.dims - state.dims), True, reducer)
        operands, steps = [state, part], [combine]
        if self.random.random() < 0.6:
            operands.insert(1, self.random.choice(same()[:-1] or [state]))
            steps.insert(0, self.random.choice(["mulf", "subf", "addf"]))
        result = self.map(pool, operands, state.element, True, steps)
        if self.random.random() < 0.5:
            self.map(pool, [result, self.random.choice(same())], state.element, True)
        return result

    def loop(self, pool):
        sliced = self.random.choice(self.dims)
        self.reduced.add(sliced)
        inits, states = [], []
        for _ in range(self.random.randint(0, 4)):
            known = [space for space in pool if sliced not in space.dims and space.element in FLOATS]
            dims = [dim for dim in self.dims if dim != sliced and self.random.random() < 0.6]
            inits.append(self.random.choice(known) if known and self.random.random() < 0.4 else
                         self.constant(pool, dims, self.random.choice(list(FLOATS)), False))
            states.append(Space(self.new(), inits[-1].dims, inits[-1].element, True))
        outer, self.lines = self.lines, []
        inside = list(pool) + states
        self.source(inside, True)
        self.some(inside, self.random.randint(2, 8), sliced)
        after = [self.next_state(inside, state, sliced) for state in states]
        collected = [space for space in inside if space.inner and sliced in space.dims]
        collected = self.random.sample(collected, min(len(collected), self.random.choice([0, 0, 1, 2])))
        body, self.lines = self.lines, outer
        results = after + collected
        name = self.new()
        head = "%s = " % (name if len(results) == 1 else "%s:%d" % (name, len(results))) if results else ""
        bound = ", ".join("%s = %s" % (state.name, init.name) for state, init in zip(states, inits))
        listed = lambda spaces: "%s : %s" % (", ".join(s.name for s in spaces), ", ".join(map(self.type_of, spaces)))
        self.lines.append("%sspacemap.temporal along %s by %d (%s) {" % (
            head, sliced, self.random.choice([1, 2, 3, 5, 8]),
            bound + (" : " + ", ".join(map(self.type_of, inits)) if inits else "")))
        self.lines += body
        self.lines.append("spacemap.next %s %s" % (listed(after) if after else "",
                                                   "collect " + listed(collected) if collected else ""))
        self.lines.append("}" + (" -> (%s)" % ", ".join(map(self.type_of, results)) if results else ""))
        for index, space in enumerate(results):
            result = name if len(results) == 1 else "%s#%d" % (name, index)
            pool.append(Space(result, space.dims, space.element))

    def build(self):
        pool = []
        self.source(pool, False)
        self.some(pool, self.random.randint(1, 7))
        for _ in range(self.random.choice([0, 1, 1, 2])):
            self.loop(pool)
            self.some(pool, self.random.randint(0, 4))
        outputs = [self.random.choice(pool[-8:]) for _ in range(self.random.randint(1, 4))]
        axes = [self.sort(output.dims) for output in outputs]
        for order in axes:
            if self.random.random() < 0.3:
                self.random.shuffle(order)
        legal = self.sort(frozenset(self.dims).intersection(*[output.dims for output in outputs]) - self.reduced)
        blocks = ["%s = %d" % (dim, self.random.choice([1, 2, 3, 4, 8])) for dim in legal if self.random.random() < 0.8]
        results = ", ".join(self.tensor(order, output.element) for order, output in zip(axes, outputs))
        types = ", ".join(self.tensor(*pair) for pair in self.inputs)
        return "\n".join([
            "func.func @main(%s) -> (%s) {" % (
                ", ".join("%%A%d: %s" % (i, self.tensor(*pair)) for i, pair in enumerate(self.inputs)), results),
            "%%r:%d = spacemap.graph dims [%s] ins(%s : %s)%s {" % (
                len(outputs), ", ".join("%s = %d" % item for item in self.extents.items()),
                ", ".join("%%in%d = %%A%d" % (i, i) for i in range(len(self.inputs))), types,
                " blocks [%s]" % ", ".join(blocks) if blocks else ""),
            *self.lines,
            "spacemap.output %s : %s" % (
                ", ".join("%s [%s]" % (o.name, ", ".join(order)) for o, order in zip(outputs, axes)),
                ", ".join(map(self.type_of, outputs))),
            "} -> (%s)" % results,
            "return %s : %s" % (", ".join("%%r#%d" % i for i in range(len(outputs))), results), "}", ""])


def main():
    if len(sys.argv) == 2:
        print(Graph(int(sys.argv[1])).build())
        return
    tool, first, count, options = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
    failures = 0
    for seed in range(first, first + count):
        graph = Graph(seed)
        with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
            file.write(graph.build())
            file.flush()
            command = [tool, file.name, "--stage=spacemap-to-tiles", "--expected=reference", "--rtol=1e-3", "--atol=1e-3"]
            run = subprocess.run(command + graph.flags + options, capture_output=True, text=True, timeout=120)
        if run.returncode:
            failures += 1
            print("seed %d: status %d: %s" % (seed, run.returncode, (run.stderr or run.stdout).strip()[:300]))
    print("%d graphs, %d failures" % (count, failures))
    sys.exit(failures != 0)


if __name__ == "__main__":
    main()
