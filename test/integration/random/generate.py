"""Random programs on tensors: chains of elementwise operations, broadcasts, reductions, contractions, masks, transposes
and reshapes over a few dimensions whose extents are ones, primes, powers of two and their neighbours, or zero.

    generate.py SEED            prints the program of a seed; its arguments and tolerance are in comments
    generate.py SEED --types f16,f32

The same seed gives the same program on every machine. Values are kept of order one (by tanh, by normalising), so that
a fixed tolerance is fair.
"""

import argparse
import random

EXTENTS = [1, 1, 2, 3, 5, 7, 8, 13, 16, 17, 31, 32, 33, 64, 65, 97, 128]


class Dim:
    def __init__(self, name, extent, dynamic):
        self.name, self.extent, self.dynamic = name, extent, dynamic


class Value:
    def __init__(self, name, dims, element):
        self.name, self.dims, self.element = name, tuple(dims), element


class Program:
    def __init__(self, seed, elements=("f32",)):
        self.random = random.Random(seed)
        self.seed = seed
        self.elements = elements
        self.lines = []
        self.args = []
        self.values = []
        self.next = 0
        r = self.random
        count = r.randint(2, 4)
        dynamic = r.random() < 0.3
        self.dims = []
        for i in range(count):
            extent = 0 if r.random() < 0.02 else r.choice(EXTENTS)
            self.dims.append(Dim("d%d" % i, extent, dynamic and r.random() < 0.5))
        while self.points() > 2_000_000:
            r.choice(self.dims).extent = r.choice([1, 2, 3, 5, 7])

    def points(self):
        n = 1
        for dim in self.dims:
            n *= max(dim.extent, 1)
        return n

    # Text.

    def name(self):
        self.next += 1
        return "%%v%d" % self.next

    def emit(self, text):
        self.lines.append("    " + text)

    def type(self, dims, element):
        return "tensor<" + "".join(("?" if d.dynamic else str(d.extent)) + "x" for d in dims) + element + ">"

    def constant(self, value, element):
        name = self.name()
        text = value if isinstance(value, str) else repr(float(value)) if element[0] in "fb" else str(int(value))
        self.emit("%s = arith.constant %s : %s" % (name, text, element))
        return name

    def extent(self, dim):
        return "%n_" + dim.name

    def empty(self, dims, element):
        name = self.name()
        sizes = ", ".join(self.extent(d) for d in dims if d.dynamic)
        self.emit("%s = tensor.empty(%s) : %s" % (name, sizes, self.type(dims, element)))
        return name

    def fill(self, dims, element, value):
        constant, empty, name = self.constant(value, element), self.empty(dims, element), self.name()
        type_ = self.type(dims, element)
        self.emit("%s = linalg.fill ins(%s : %s) outs(%s : %s) -> %s" % (name, constant, element, empty, type_, type_))
        return name

    def map(self, loops, dims):
        return "affine_map<(%s) -> (%s)>" % (", ".join(d.name for d in loops), ", ".join(d.name for d in dims))

    def generic(self, loops, operands, dims, element, init, body):
        """Loops in that order; `body` takes the names of the elements and yields the name of the result's."""
        maps = [self.map(loops, v.dims) for v in operands] + [self.map(loops, dims)]
        kinds = ", ".join('"%s"' % ("parallel" if d in dims else "reduction") for d in loops)
        name = self.name()
        ins = ""
        if operands:
            ins = "ins(%s : %s) " % (", ".join(v.name for v in operands),
                                     ", ".join(self.type(v.dims, v.element) for v in operands))
        type_ = self.type(dims, element)
        self.emit("%s = linalg.generic {indexing_maps = [%s], iterator_types = [%s]} %souts(%s : %s) {" %
                  (name, ", ".join(maps), kinds, ins, init, type_))
        scalars = ["%%s%d" % self.next + "_%d" % i for i in range(len(operands) + 1)]
        self.emit("^bb0(%s):" % ", ".join("%s: %s" % (s, e) for s, e in
                                          zip(scalars, [v.element for v in operands] + [element])))
        result = body(*scalars)
        self.emit("  linalg.yield %s : %s" % (result, element))
        self.emit("} -> " + type_)
        return Value(name, dims, element)

    def scalar(self, text):
        name = self.name()
        self.emit("  %s = %s" % (name, text))
        return name

    # Operations.

    def argument(self, dims, element):
        name = "%%arg%d" % len(self.args)
        value = Value(name, dims, element)
        self.args.append(value)
        return value

    def pick(self, predicate=lambda v: True):
        candidates = [v for v in self.values if predicate(v)]
        if not candidates or self.random.random() < 0.15:
            dims = [d for d in self.dims if self.random.random() < 0.7]
            self.random.shuffle(dims)
            value = self.argument(dims, self.random.choice(self.elements))
            self.values.append(value)
            if predicate(value):
                return value
        candidates = [v for v in self.values if predicate(v)]
        # Recent values more often: chains, not bushes.
        return self.random.choice(candidates[-3:]) if candidates else None

    def convert(self, value, element):
        if value.element == element:
            return value
        order = ["f16", "f32", "f64"]
        op = "extf" if order.index(value.element) < order.index(element) else "truncf"
        return self.generic(value.dims, [value], value.dims, element, self.empty(value.dims, element),
                            lambda x, _: self.scalar("arith.%s %s : %s to %s" % (op, x, value.element, element)))

    def unary(self):
        v = self.pick()
        e = v.element
        kind = self.random.choice(["tanh", "exp", "neg", "abs", "scale", "sigmoid", "relu", "square", "rsqrt"])
        one = self.constant(1.0, e)
        factor = self.constant(self.random.choice([0.5, -0.75, 1.25]), e)
        zero = self.constant(0.0, e)

        def body(x, _):
            s = self.scalar
            if kind == "tanh":
                return s("math.tanh %s : %s" % (x, e))
            if kind == "exp":
                return s("math.exp %s : %s" % (s("math.tanh %s : %s" % (x, e)), e))
            if kind == "neg":
                return s("arith.negf %s : %s" % (x, e))
            if kind == "abs":
                return s("math.absf %s : %s" % (x, e))
            if kind == "scale":
                return s("arith.mulf %s, %s : %s" % (x, factor, e))
            if kind == "square":
                t = s("math.tanh %s : %s" % (x, e))
                return s("arith.mulf %s, %s : %s" % (t, t, e))
            if kind == "rsqrt":
                a = s("math.absf %s : %s" % (x, e))
                return s("math.rsqrt %s : %s" % (s("arith.addf %s, %s : %s" % (a, one, e)), e))
            if kind == "relu":
                c = s("arith.cmpf ugt, %s, %s : %s" % (x, zero, e))
                return s("arith.select %s, %s, %s : %s" % (c, x, zero, e))
            n = s("math.exp %s : %s" % (s("arith.negf %s : %s" % (s("math.tanh %s : %s" % (x, e)), e)), e))
            return s("arith.divf %s, %s : %s" % (one, s("arith.addf %s, %s : %s" % (n, one, e)), e))

        return self.generic(v.dims, [v], v.dims, e, self.empty(v.dims, e), body)

    def binary(self):
        a = self.pick()
        b = self.pick()
        b = self.convert(b, a.element)
        e = a.element
        dims = list(a.dims) + [d for d in b.dims if d not in a.dims]
        if self.random.random() < 0.2:
            self.random.shuffle(dims)
        op = self.random.choice(["addf", "subf", "mulf", "maximumf", "minimumf"])
        return self.generic(dims, [a, b], dims, e, self.empty(dims, e),
                            lambda x, y, _: self.scalar("arith.%s %s, %s : %s" % (op, x, y, e)))

    def reduce(self, value=None, along=None, kind=None):
        v = value or self.pick(lambda v: v.dims)
        if v is None:
            return None
        e = v.element
        along = along or self.random.sample(v.dims, self.random.randint(1, min(2, len(v.dims))))
        kind = kind or self.random.choice(["sum", "sum", "max", "min", "mean"])
        dims = [d for d in v.dims if d not in along]
        identity = {"max": {"f16": "0xFC00", "f32": "0xFF800000"}[e], "min": {"f16": "0x7C00", "f32": "0x7F800000"}[e]}
        op = {"max": "maximumf", "min": "minimumf"}.get(kind, "addf")
        if kind in ("max", "min") and any(d.extent == 0 or d.dynamic for d in along):
            op = "addf"
        init = self.fill(dims, e, 0.0 if op == "addf" else identity[kind])
        r = self.generic(v.dims, [v], dims, e, init,
                         lambda x, acc: self.scalar("arith.%s %s, %s : %s" % (op, x, acc, e)))
        if op == "addf":
            n = 1
            for d in along:
                n *= max(d.extent, 1)
            f = self.constant(1.0 / n, e)
            r = self.generic(dims, [r], dims, e, self.empty(dims, e),
                             lambda x, _: self.scalar("arith.mulf %s, %s : %s" % (x, f, e)))
        return r

    def softmax(self):
        v = self.pick(lambda v: v.dims and all(d.extent > 0 for d in v.dims))
        if v is None:
            return None
        v = self.convert(v, "f32")
        d = self.random.choice(v.dims)
        dims = [x for x in v.dims if x is not d]
        init = self.fill(dims, "f32", "0xFF800000")
        m = self.generic(v.dims, [v], dims, "f32", init,
                         lambda x, acc: self.scalar("arith.maximumf %s, %s : f32" % (x, acc)))
        s = self.generic(v.dims, [v, m], v.dims, "f32", self.empty(v.dims, "f32"),
                         lambda x, y, _: self.scalar("arith.subf %s, %s : f32" % (x, y)))
        p = self.generic(v.dims, [s], v.dims, "f32", self.empty(v.dims, "f32"),
                         lambda x, _: self.scalar("math.exp %s : f32" % x))
        t = self.generic(v.dims, [p], dims, "f32", self.fill(dims, "f32", 0.0),
                         lambda x, acc: self.scalar("arith.addf %s, %s : f32" % (x, acc)))
        return self.generic(v.dims, [p, t], v.dims, "f32", self.empty(v.dims, "f32"),
                            lambda x, y, _: self.scalar("arith.divf %s, %s : f32" % (x, y)))

    def normalise(self):
        v = self.pick(lambda v: v.dims and all(d.extent > 0 for d in v.dims))
        if v is None:
            return None
        v = self.convert(v, "f32")
        d = self.random.choice(v.dims)
        m = self.reduce(v, [d], "mean")
        c = self.generic(v.dims, [v, m], v.dims, "f32", self.empty(v.dims, "f32"),
                         lambda x, y, _: self.scalar("arith.subf %s, %s : f32" % (x, y)))
        q = self.generic(v.dims, [c], v.dims, "f32", self.empty(v.dims, "f32"),
                         lambda x, _: self.scalar("arith.mulf %s, %s : f32" % (x, x)))
        w = self.reduce(q, [d], "mean")
        eps = self.constant(0.1, "f32")
        return self.generic(
            v.dims, [c, w], v.dims, "f32", self.empty(v.dims, "f32"),
            lambda x, y, _: self.scalar("arith.mulf %s, %s : f32" % (
                x, self.scalar("math.rsqrt %s : f32" % self.scalar("arith.addf %s, %s : f32" % (y, eps))))))

    def contract(self):
        a = self.pick(lambda v: v.dims)
        b = self.pick(lambda v: v.dims)
        if a is None or b is None:
            return None
        b = self.convert(b, a.element)
        e = a.element
        shared = [d for d in a.dims if d in b.dims]
        if not shared:
            return None
        k = self.random.choice(shared)
        dims = [d for d in a.dims if d is not k] + [d for d in b.dims if d is not k and d not in a.dims]
        loops = dims + [k]
        r = self.generic(loops, [a, b], dims, e, self.fill(dims, e, 0.0),
                         lambda x, y, acc: self.scalar("arith.addf %s, %s : %s" % (
                             acc, self.scalar("arith.mulf %s, %s : %s" % (x, y, e)), e)))
        f = self.constant(max(k.extent, 1) ** -0.5, e)
        return self.generic(dims, [r], dims, e, self.empty(dims, e),
                            lambda x, _: self.scalar("arith.mulf %s, %s : %s" % (x, f, e)))

    def mask(self):
        v = self.pick(lambda v: v.dims)
        if v is None:
            return None
        e = v.element
        i = self.random.randrange(len(v.dims))
        j = self.random.randrange(len(v.dims))
        other = self.constant(self.random.choice([0.0, -2.0]), e)
        offset = self.constant(self.random.choice([0, 1, 3]), "index")

        def body(x, _):
            s = self.scalar
            a = s("linalg.index %d : index" % i)
            b = s("linalg.index %d : index" % j) if i != j else s("arith.constant 5 : index")
            c = s("arith.cmpi sle, %s, %s : index" % (a, s("arith.addi %s, %s : index" % (b, offset))))
            return s("arith.select %s, %s, %s : %s" % (c, x, other, e))

        return self.generic(v.dims, [v], v.dims, e, self.empty(v.dims, e), body)

    def transpose(self):
        v = self.pick(lambda v: len(v.dims) > 1)
        if v is None:
            return None
        order = list(range(len(v.dims)))
        self.random.shuffle(order)
        dims = [v.dims[i] for i in order]
        init, name = self.empty(dims, v.element), self.name()
        self.emit("%s = linalg.transpose ins(%s : %s) outs(%s : %s) permutation = %s" %
                  (name, v.name, self.type(v.dims, v.element), init, self.type(dims, v.element), order))
        return Value(name, dims, v.element)

    def reshape(self):
        """Collapses two dims, does something to the flat tensor, and expands again."""
        v = self.pick(lambda v: len(v.dims) > 1 and not any(d.dynamic for d in v.dims))
        if v is None:
            return None
        i = self.random.randrange(len(v.dims) - 1)
        groups = [[a] for a in range(i)] + [[i, i + 1]] + [[a] for a in range(i + 2, len(v.dims))]
        flat = Dim("f", v.dims[i].extent * v.dims[i + 1].extent, False)
        dims = list(v.dims[:i]) + [flat] + list(v.dims[i + 2:])
        name = self.name()
        self.emit("%s = tensor.collapse_shape %s %s : %s into %s" %
                  (name, v.name, groups, self.type(v.dims, v.element), self.type(dims, v.element)))
        c = Value(name, dims, v.element)
        t = self.generic(dims, [c], dims, v.element, self.empty(dims, v.element),
                         lambda x, _: self.scalar("math.tanh %s : %s" % (x, v.element)))
        name = self.name()
        self.emit("%s = tensor.expand_shape %s %s output_shape %s : %s into %s" %
                  (name, t.name, groups, [d.extent for d in v.dims], self.type(dims, v.element),
                   self.type(v.dims, v.element)))
        return Value(name, v.dims, v.element)

    def cast(self):
        v = self.pick()
        return self.convert(v, self.random.choice(self.elements))

    # The whole.

    def build(self):
        r = self.random
        for _ in range(r.randint(1, 3)):
            dims = [d for d in self.dims if r.random() < 0.8]
            r.shuffle(dims)
            self.values.append(self.argument(dims, r.choice(self.elements)))
        steps = [self.unary] * 4 + [self.binary] * 4 + [self.reduce] * 2 + [self.contract] * 3 + [
            self.softmax, self.softmax, self.normalise, self.mask, self.transpose, self.reshape]
        if len(self.elements) > 1:
            steps.append(self.cast)
        for _ in range(r.randint(2, 9)):
            value = r.choice(steps)()
            if value is not None:
                self.values.append(value)
        made = [v for v in self.values if v not in self.args] or self.values
        results = [made[-1]]
        while len(results) < 3 and r.random() < 0.3:
            results.append(r.choice(made))
        return self.finish(results)

    def finish(self, results):
        head = []
        seen = set()
        for number, a in enumerate(self.args):
            for axis, d in enumerate(a.dims):
                if d.dynamic and d not in seen:
                    seen.add(d)
                    head.append("    %%c_%s = arith.constant %d : index" % (d.name, axis))
                    head.append("    %s = tensor.dim %s, %%c_%s : %s" %
                                (self.extent(d), a.name, d.name, self.type(a.dims, a.element)))
        types = ", ".join(self.type(v.dims, v.element) for v in results)
        text = ["// seed %d" % self.seed]
        for number, a in enumerate(self.args):
            shape = "".join("%dx" % d.extent for d in a.dims)
            text.append("// --input=%s%s=random:%d" % (shape, a.element, number))
        low = "f16" in self.elements
        text.append("// --rtol=%g --atol=%g" % ((2e-2, 2e-2) if low else (5e-4, 5e-5)))
        text.append("module {")
        text.append("  func.func @main(%s) -> (%s) {" %
                    (", ".join("%s: %s" % (a.name, self.type(a.dims, a.element)) for a in self.args), types))
        text += head + self.lines
        text.append("    return %s : %s" % (", ".join(v.name for v in results), types))
        text += ["  }", "}"]
        return "\n".join(text) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("seed", type=int)
    parser.add_argument("--types", default="f32")
    args = parser.parse_args()
    print(Program(args.seed, tuple(args.types.split(","))).build(), end="")


if __name__ == "__main__":
    main()
