"""Random programs on tensors: chains of elementwise operations, broadcasts, reductions, contractions, masks, transposes
and reshapes over a few dimensions whose extents are ones, primes, powers of two and their neighbours, or zero.

    generate.py SEED            prints the program of a seed; its arguments and tolerance are in comments
    generate.py SEED --types f16,f32

The same seed gives the same program on every machine. Values are kept of order one (by tanh, by normalising), so that
a fixed tolerance is fair.
"""

import argparse
import math
import random

EXTENTS = [1, 1, 2, 3, 5, 7, 8, 13, 16, 17, 31, 32, 33, 64, 65, 97, 128]
LARGE = [1, 2, 16, 33, 100, 256, 500, 1024, 1537, 3000]


class Dim:
    def __init__(self, name, extent, dynamic):
        self.name, self.extent, self.dynamic = name, extent, dynamic


# An axis of extent 1 in place of a reduced dimension; in maps it is the constant 0.
ONE = Dim("0", 1, False)


class Value:
    def __init__(self, name, dims, element):
        self.name, self.dims, self.element = name, tuple(dims), element


class Program:
    def __init__(self, seed, elements=("f32",), extents=EXTENTS):
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
            extent = 0 if r.random() < 0.02 else r.choice(extents)
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
        # The reference adds in f16, as the text says: a long sum of one sign stands still where half an ulp is more than an
        # element. Kernels add in f32.
        if e == "f16" and math.prod(max(d.extent, 1) for d in along) > 512:
            kind = "max"
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

    def reduced(self, v):
        """A dimension of a value, and the axes of a reduction along it: dropped, or kept with extent 1."""
        d = self.random.choice(v.dims)
        if self.random.random() < 0.3:
            return d, [ONE if x is d else x for x in v.dims]
        return d, [x for x in v.dims if x is not d]

    def fold(self, op, v, dims, init):
        return self.generic(v.dims, [v], dims, v.element, self.fill(dims, v.element, init),
                            lambda x, acc: self.scalar("arith.%s %s, %s : %s" % (op, x, acc, v.element)))

    def apply(self, v, operands, *ops):
        """Elementwise on the dims of `v`: each op is a text over {0}, {1}, ... and {r}, the result so far."""
        def body(*names):
            result = names[0]
            for op in ops:
                result = self.scalar(op.format(*names, r=result))
            return result
        return self.generic(v.dims, [v] + list(operands), v.dims, v.element, self.empty(v.dims, v.element), body)

    def full(self):
        v = self.pick(lambda v: v.dims and all(d.extent > 0 for d in v.dims))
        return self.convert(v, "f32") if v else None

    def softmax_of(self, v):
        d, dims = self.reduced(v)
        m = self.fold("maximumf", v, dims, "0xFF800000")
        s = self.apply(v, [m], "arith.subf {0}, {1} : f32")
        if self.random.random() < 0.2:
            t = self.fold("addf", self.apply(s, [], "math.exp {0} : f32"), dims, 0.0)
            return self.apply(s, [t], "math.log {1} : f32", "arith.subf {0}, {r} : f32")
        p = self.apply(s, [], "math.exp {0} : f32")
        t = self.fold("addf", p, dims, 0.0)
        return self.apply(p, [t], "arith.divf {0}, {1} : f32")

    def softmax(self):
        v = self.full()
        return self.softmax_of(v) if v else None

    def normalise(self):
        v = self.full()
        if v is None:
            return None
        d, dims = self.reduced(v)
        f = self.constant(1.0 / max(d.extent, 1), "f32")
        eps = self.constant(0.1, "f32")
        c = v
        if self.random.random() < 0.7:
            total = self.fold("addf", v, dims, 0.0)
            c = self.apply(v, [total], "arith.mulf {1}, %s : f32" % f, "arith.subf {0}, {r} : f32")
        q = self.apply(c, [], "arith.mulf {0}, {0} : f32")
        w = self.fold("addf", q, dims, 0.0)
        return self.apply(c, [w], "arith.mulf {1}, %s : f32" % f, "arith.addf {r}, %s : f32" % eps,
                          "math.rsqrt {r} : f32", "arith.mulf {0}, {r} : f32")

    def dependent(self):
        """Reductions that depend on reductions, in less usual ways than softmax and variance."""
        v = self.full()
        if v is None:
            return None
        v = self.apply(v, [], "math.tanh {0} : f32")
        d, dims = self.reduced(v)
        kind = self.random.randrange(4)
        if kind == 0:  # the weighted mean of another value
            e = self.apply(v, [self.fold("maximumf", v, dims, "0xFF800000")], "arith.subf {0}, {1} : f32",
                           "math.exp {r} : f32")
            t = self.fold("addf", e, dims, 0.0)
            y = self.apply(e, [v, t], "arith.divf {0}, {2} : f32", "arith.mulf {r}, {1} : f32")
            return self.apply(v, [self.fold("addf", y, dims, 0.0)], "arith.subf {0}, {1} : f32")
        if kind == 1:  # the largest distance from the mean
            f = self.constant(1.0 / max(d.extent, 1), "f32")
            t = self.fold("addf", v, dims, 0.0)
            y = self.apply(v, [t], "arith.mulf {1}, %s : f32" % f, "arith.subf {0}, {r} : f32", "math.absf {r} : f32")
            return self.apply(v, [self.fold("maximumf", y, dims, 0.0)], "arith.addf {0}, {1} : f32")
        if kind == 2:  # scaled by the largest, then by the sum
            one = self.constant(1.5, "f32")
            m = self.fold("maximumf", self.apply(v, [], "math.absf {0} : f32"), dims, 0.0)
            y = self.apply(v, [m], "arith.addf {1}, %s : f32" % one, "arith.divf {0}, {r} : f32")
            t = self.fold("addf", self.apply(y, [], "arith.mulf {0}, {0} : f32"), dims, 0.0)
            return self.apply(y, [t], "arith.addf {1}, %s : f32" % one, "math.rsqrt {r} : f32",
                              "arith.mulf {0}, {r} : f32")
        low = self.fold("minimumf", v, dims, "0x7F800000")  # to the range from 0 to 1
        high = self.fold("maximumf", v, dims, "0xFF800000")
        one = self.constant(1.0, "f32")
        return self.apply(v, [low, high], "arith.subf {2}, {1} : f32", "arith.addf {r}, %s : f32" % one,
                          "arith.divf {0}, {r} : f32")

    def attention(self):
        a, b = self.full(), self.full()
        if a is None or b is None:
            return None
        scores = self.contract_of(a, b)
        if scores is None or not scores.dims or any(d.extent == 0 for d in scores.dims):
            return scores
        p = self.softmax_of(scores)
        c = self.full()
        return (self.contract_of(p, c) if c else None) or p

    def contract(self):
        a = self.pick(lambda v: v.dims)
        b = self.pick(lambda v: v.dims)
        return self.contract_of(a, b) if a and b else None

    def contract_of(self, a, b):
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
            self.softmax, self.normalise, self.normalise, self.dependent, self.dependent, self.attention, self.mask,
            self.transpose, self.reshape]
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
    parser.add_argument("--large", action="store_true", help="a few large extents")
    args = parser.parse_args()
    program = Program(args.seed, tuple(args.types.split(",")), LARGE if args.large else EXTENTS)
    print(program.build(), end="")


if __name__ == "__main__":
    main()
