"""A kernel's PTX as a program in Python: what it declares, and its instructions in segments, each compiled to two
functions, for whole warps and for some of their lanes. ptx_interpreter.py says how they run.

A function returns the segment that is next, for all lanes or for each; END; BARRIER; or None if it must wait for lanes
that are not there. Its names are those of the registers, once for each type, and the helpers of ptx_lanes.py.
"""

import re

import numpy as np

from ptx_lanes import TYPES

END, BARRIER = 1 << 30, -1
PARAM, LOCAL = 1 << 62, 1 << 61  # where generic addresses of these spaces begin

SYNCHRONIZING = ("shfl", "vote", "match", "redux", "bar", "barrier")
COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<", "ls": "<=", "hi": ">",
               "hs": ">="}
UNORDERED = {"ltu": ">=", "leu": ">", "gtu": "<=", "geu": "<", "equ": "!=", "neu": "=="}  # the opposite, negated
BINARY = {"add": "+", "sub": "-", "xor": "^", "and": "&", "or": "|"}


class Unsupported(Exception):
    """An instruction that no kernel used when this was written."""


class Program:
    """A kernel, from the text of its PTX: from .entry to the closing brace."""

    def __init__(self, text, shared):
        """`shared` has the bytes of each array in shared memory of the module."""
        self.name = re.search(r"\.entry\s+(\w+)", text).group(1)
        self.registers, self.symbols, self.local_bytes = {}, {}, 0
        offset = 0
        for name in re.findall(r"\b_ZZ\w+", text):
            if name in shared and name not in self.symbols:
                self.symbols[name] = offset
                offset += (shared[name] + 15) // 16 * 16
        self.shared_bytes = offset
        for name in re.findall(r"\b(_\w+_param_0)\b", text):
            self.symbols[name] = 0
        self.parse(text)
        self.compile()

    def parse(self, text):
        """Instructions, as (line, predicate, operation, operands), and the segment that each label begins."""
        self.instructions, labels, body = [], {}, False
        starts = {0}
        pending = ""
        for number, line in enumerate(text.splitlines(), 1):
            line = line.strip()
            if line == "{" and not body:
                body = True
                continue
            if not body or not line or line in "{}":
                continue
            line = line.strip("{} ") if line.startswith("{") and ";" not in line else line
            for count, kind, prefix in [(m[2], m[0], m[1]) for m in re.findall(r"^\.reg \.(\w+) %(\w+)<(\d+)>", line)]:
                bits = 1 if kind == "pred" else int(kind[1:])
                self.registers.update({f"{prefix}{i}": bits for i in range(int(count))})
            if line.startswith(".reg") and "<" not in line:
                kind, name = re.match(r"\.reg \.(\w+) %?(\w+)", line).groups()
                self.registers[name] = int(kind[1:])
            local = re.match(r"\.local .*?(\w+)\[(\d+)\]", line)
            if local:
                self.symbols[local.group(1)], self.local_bytes = 0, int(local.group(2))
            if line.startswith("."):
                continue
            label = re.match(r"(\$\w+):$", line)
            if label:
                labels[label.group(1)] = len(self.instructions)
                starts.add(len(self.instructions))
                continue
            pending += line
            if not pending.endswith(";"):
                continue
            found = re.match(r"(?:@(!?%p\d+)\s+)?([\w.]+)\s*(.*);$", pending)
            pending = ""
            predicate, operation, operands = found.groups()
            here = len(self.instructions)
            self.instructions.append((number, predicate, operation, self.split(operands)))
            if operation.split(".")[0] in SYNCHRONIZING:
                starts.add(here)
            ends_segment = operation.split(".")[0] in ("bra", "ret", "exit", "bar", "barrier")
            if ends_segment and not operation.startswith("bar.warp"):
                starts.add(here + 1)
        starts = sorted(start for start in starts if start < len(self.instructions))
        number_of = {start: i for i, start in enumerate(starts)}
        self.labels = {name: number_of.get(start, END) for name, start in labels.items()}
        self.bounds = list(zip(starts, starts[1:] + [len(self.instructions)]))
        self.segments = len(self.bounds)
        self.segment_of_line = {self.instructions[i][0]: segment
                                for segment, (start, end) in enumerate(self.bounds) for i in range(start, end)}

    @staticmethod
    def split(operands):
        """At the commas outside of braces and brackets."""
        return [part.strip() for part in re.findall(r"(?:\{[^}]*\}|\[[^\]]*\]|[^,])+", operands)] if operands else []

    def compile(self):
        lines = []
        for segment, (start, end) in enumerate(self.bounds):
            for some in (False, True):
                lines.append(f"def some_{segment}(m, alive):" if some else f"def whole_{segment}():")
                if not some:
                    lines.append("    m = FULL")
                following = segment + 1 if segment + 1 < self.segments else END
                for instruction in self.instructions[start:end]:
                    lines += ["    " + line for line in self.translate(instruction, some, following)]
                if not lines[-1].startswith("    return"):
                    lines.append(f"    return {following}")
        self.code = compile("\n".join(lines), self.name, "exec")

    def value(self, operand, kind):
        """A Python expression for an operand read as that type."""
        if operand.startswith("%"):
            name = operand[1:].replace(".", "_")
            if name in ("tid_x", "ctaid_x", "ntid_x", "nctaid_x", "laneid", "lanemask_lt"):
                return name
            bits = self.registers[name]
            if bits == 1:
                return name
            view = kind if bits == int(kind[1:]) else f"{kind[0]}{bits}"
            return f"{name}_{view}"
        if operand in self.symbols:
            return f"np.uint{64 if kind.endswith('64') else 32}({self.symbols[operand]})"
        if operand.startswith("0f"):
            return f"np.uint32(0x{operand[2:]}).view(np.float32)"
        if operand.startswith("0d"):
            return f"np.uint64(0x{operand[2:]}).view(np.float64)"
        number = int(operand, 0)
        if kind == "pred":
            return str(bool(number))
        bits = int(kind[1:])
        number &= (1 << bits) - 1
        if kind[0] == "s" and number >> (bits - 1):
            number -= 1 << bits
        return f"np.{TYPES[kind].__name__}({number})"

    def assign(self, destination, kind, expression, some, predicate):
        """To a register, which may be wider than the value."""
        name = destination[1:]
        bits = self.registers[name]
        if bits > 1 and int(kind[1:]) != bits:
            sign = "s" if kind[0] == "s" else "u"
            kind = f"{sign}{bits}"
            expression = f"np.asarray({expression}).astype(np.{TYPES[kind].__name__})"
        target = name if bits == 1 else f"{name}_{kind}"
        if not some and predicate is None:
            return [f"{target}[:] = {expression}"]
        mask = "m" if predicate is None else f"m & {predicate}"
        return [f"np.copyto({target}, {expression}, where={mask}, casting='unsafe')"]

    def address(self, operand):
        base, _, offset = operand.strip("[]").partition("+")
        return base, int(offset or 0)

    def translate(self, instruction, some, following):
        line, predicate, operation, operands = instruction
        if predicate is not None:
            predicate = f"~{predicate[2:]}" if predicate.startswith("!") else predicate[1:]
        parts = operation.split(".")
        head, kind = parts[0], parts[-1]
        put = lambda expression, kind=kind, to=None: self.assign(to or operands[0], kind, expression, some, predicate)
        get = lambda i, kind=kind: self.value(operands[i], kind)
        active = "m" if predicate is None else f"(m & {predicate})"

        # Modifiers that change a result; those of conversions are looked at there.
        if {"ftz", "sat", "rm", "rp", "rz"} & set(parts) and not (head == "add" and parts[1:-1] == ["rz"]):
            raise Unsupported(f"{operation} in {self.name}")
        if head in ("bra", "ret", "exit"):
            target = END if head != "bra" else self.labels[operands[0]]
            if predicate is None:
                return [f"return {target}"]
            if some:
                return [f"return np.where({predicate}, {target}, {following})"]
            return [f"p = {predicate}", f"return {target} if p.all() else {following} if not p.any() else "
                    f"np.where(p, {target}, {following})"]
        if operation.startswith("bar.warp"):
            return ["if not (m == alive).all(): return None"] if some else []
        if head in ("bar", "barrier"):
            if parts[1] != "sync":
                raise Unsupported(f"{operation} in {self.name}")
            return (["if not (m == alive).all(): return None"] if some else []) + [f"return {BARRIER}"]
        if head in SYNCHRONIZING:
            mask = operands[-1]
            wait = []
            if some:
                mask_value = self.value(mask, "u32")
                wait = [f"wanted = np.broadcast_to({mask_value}, 32)[np.argmax(m)]",
                        "wanted = ((int(wanted) >> LANE) & 1).astype(bool) & alive",
                        "if (wanted & ~m).any(): return None"]
            if head == "shfl":
                destination, _, inside = operands[0].partition("|")
                lines = [f"v, inside = shuffle('{parts[2]}', {get(1)}, np.asarray({get(2, 'u32')}).astype(np.int64), "
                         f"np.asarray({get(3, 'u32')}).astype(np.int64))"]
                lines += put("v", to=destination)
                return wait + lines + (put("inside", "pred", inside) if inside else [])
            if operation == "vote.sync.ballot.b32":
                return wait + put(f"ballot(m, {get(1, 'pred')})")
            if head == "vote":
                test = {"any": f"(m & {get(1, 'pred')}).any()", "all": f"({get(1, 'pred')} | ~m).all()"}[parts[2]]
                return wait + put(test, "pred")
            if head == "match":
                return wait + put(f"match_any(m, {get(1)})", "b32")
            if head == "redux":
                reduce = {"add": "sum", "min": "min", "max": "max"}[parts[2]]
                return wait + put(f"np.{TYPES[kind].__name__}({get(1)}[m].{reduce}())")
        if head in ("ld", "st", "atom", "red"):
            return self.access(line, head, parts, operands, some, predicate, active)
        if head == "mov":
            if operands[0].startswith("{"):
                low, high = [part.strip() for part in operands[0].strip("{}").split(",")]
                half = int(kind[1:]) // 2
                wide = get(1)
                return (self.assign(low, f"u{half}", f"{wide}.astype(np.uint{half})", some, predicate) +
                        self.assign(high, f"u{half}", f"({wide} >> np.uint{kind[1:]}({half})).astype(np.uint{half})", some,
                                    predicate))
            if operands[1].startswith("{"):
                low, high = [self.value(part.strip(), f"u{int(kind[1:]) // 2}") for part in operands[1].strip("{}").split(",")]
                wide = f"np.uint{kind[1:]}"
                return put(f"np.asarray({low}).astype({wide}) | (np.asarray({high}).astype({wide}) << "
                           f"{wide}({int(kind[1:]) // 2}))")
            return put(get(1))
        if head == "cvta":
            space = parts[1] if parts[1] != "to" else None
            tag = {"param": PARAM, "local": LOCAL}.get(space, 0)
            return put(f"{get(1)} + np.uint64({tag})" if tag else get(1))
        if head == "setp":
            comparison, kind = parts[1], parts[-1]
            a, b = get(1, kind), get(2, kind)
            if comparison in ("nan", "num"):
                is_nan = f"np.isnan({a}) | np.isnan({b})"
                return put(is_nan if comparison == "nan" else f"~({is_nan})", "pred")
            if comparison in UNORDERED:
                return put(f"~({a} {UNORDERED[comparison]} {b})" if comparison != "neu" else f"~({a} == {b})", "pred")
            return put(f"{a} {COMPARISONS[comparison]} {b}", "pred")
        if head == "selp":
            return put(f"np.where({get(3, 'pred')}, {get(1)}, {get(2)})")
        if head == "subc" or operation.startswith("sub.cc"):  # a + ~b + 1, less what is borrowed, which is no carry
            kind = f"u{kind[1:]}"
            borrow = "carry" if head == "subc" else "False & carry"
            return ([f"v, out = add_with_carry({get(1, kind)}, ~{get(2, kind)}, ~({borrow}))"] +
                    ([f"np.copyto(carry, ~out, where={active})"] if "cc" in parts else []) + put("v", kind))
        if head == "addc" or operation.startswith("add.cc"):
            kind = f"u{kind[1:]}"
            carry = "carry" if head == "addc" else "False & carry"
            return ([f"v, out = add_with_carry({get(1, kind)}, {get(2, kind)}, {carry})"] +
                    ([f"np.copyto(carry, out, where={active})"] if "cc" in parts else []) + put("v", kind))
        if operation.startswith("add.rz"):
            return put(f"sum_toward_zero({get(1)}, {get(2)})")
        if head in ("add", "sub", "and", "or", "xor"):
            return put(f"{get(1)} {BINARY[head]} {get(2)}")
        if head == "not":
            return put(f"~{get(1)}")
        if head == "neg":
            return put(f"-{get(1)}" if kind[0] == "f" else f"{self.value('0', kind)} - {get(1)}")
        if head == "abs":
            return put(f"np.abs({get(1)})")
        if head == "copysign":
            return put(f"np.copysign({get(2)}, {get(1)})")
        if head in ("min", "max"):
            float_or = {"min": "fmin", "max": "fmax"} if kind[0] == "f" else {"min": "minimum", "max": "maximum"}
            return put(f"np.{float_or[head]}({get(1)}, {get(2)})")
        if head in ("mul", "mad"):
            if "wide" in parts:
                wide = f"{kind[0]}{2 * int(kind[1:])}"
                type_name = f"np.{TYPES[wide].__name__}"
                expression = f"np.asarray({get(1)}).astype({type_name}) * np.asarray({get(2)}).astype({type_name})"
                return put(expression + (f" + {get(3, wide)}" if head == "mad" else ""), wide)
            if "hi" in parts:
                if head == "mad":
                    raise Unsupported(operation)
                if kind in ("u64", "s64"):
                    return put(f"multiply_high({get(1)}, {get(2)})")
                wide = "np.int64" if kind == "s32" else "np.uint64"
                return put(f"((np.asarray({get(1)}).astype({wide}) * np.asarray({get(2)}).astype({wide})) >> {wide}(32))"
                           f".astype(np.{TYPES[kind].__name__})")
            return put(f"{get(1)} * {get(2)}" + (f" + {get(3)}" if head == "mad" else ""))
        if head == "fma":
            return put(f"fused({get(1)}, {get(2)}, {get(3)})")
        if head == "div":
            if kind[0] == "f":
                return put(f"{get(1)} / {get(2)}")
            return put(f"np.where({get(2)} == 0, 0, np.trunc(np.asarray({get(1)}).astype(np.float64) / {get(2)}))"
                       f".astype(np.{TYPES[kind].__name__})" if kind in ("u32", "s32") else f"quotient({get(1)}, {get(2)})")
        if head == "rem":
            return put(f"np.fmod({get(1)}, {get(2)})")
        if head in ("sqrt", "ex2", "lg2"):
            return put(f"np.{ {'sqrt': 'sqrt', 'ex2': 'exp2', 'lg2': 'log2'}[head]}({get(1)})")
        if head in ("rcp", "rsqrt"):
            return put(f"1 / {get(1)}" if head == "rcp" else f"1 / np.sqrt({get(1)})")
        if head == "shl":
            return put(f"shift_left(np.broadcast_to({get(1)}, 32), {get(2, 'u32')})")
        if head == "shr":
            return put(f"shift_right(np.broadcast_to({get(1)}, 32), {get(2, 'u32')})")
        if head == "shf":
            wide = f"((np.asarray({get(2, 'u32')}).astype(np.uint64) << np.uint64(32)) | {get(1, 'u32')})"
            count = f"(np.asarray({get(3, 'u32')}).astype(np.uint64) & np.uint64(31))"
            shifted = f"({wide} << {count}) >> np.uint64(32)" if parts[1] == "l" else f"{wide} >> {count}"
            return put(f"({shifted}).astype(np.uint32)")
        if operation == "prmt.b32":
            return put(f"permute_bytes({get(1)}, {get(2)}, {get(3)})")
        if head in ("popc", "clz", "brev"):
            return put(f"{head}({get(1)})", "b32" if head != "brev" else kind)
        if head == "bfind":
            if "shiftamt" not in parts:
                raise Unsupported(operation)
            return put(f"bfind_shift({get(1)})", "u32")
        if head == "bfi":
            return put(f"bit_field_insert(np.broadcast_to({get(1)}, 32), np.broadcast_to({get(2)}, 32), {get(3, 'u32')}, "
                       f"{get(4, 'u32')})")
        if head == "cvt":
            source, to = parts[-1], parts[-2]
            expression = get(1, source)
            if self.registers.get(operands[1][1:], 0) != int(source[1:]):  # of a wider register, the lower part
                expression = f"np.asarray({expression}).astype(np.{TYPES[source].__name__})"
            mode = next((part for part in parts if part in ("rni", "rmi", "rpi", "rzi")), None)
            if source[0] == "f" and mode:
                expression = f"rounded({expression}, '{mode}')"
            if source[0] == "f" and to[0] != "f":
                return put(f"to_integer({expression}, np.{TYPES[to].__name__})", to)
            return put(f"np.asarray({expression}).astype(np.{TYPES[to].__name__})", to)
        raise Unsupported(f"{operation} in {self.name}")

    def access(self, line, head, parts, operands, some, predicate, active):
        kind = parts[-1]
        space = next((part for part in parts if part in ("global", "shared", "param", "local")), "generic")
        where = operands[0] if head in ("st", "red") else operands[1]
        base, offset = self.address(where)
        if base not in self.symbols and not base.startswith("%"):
            raise Unsupported(f"a call of a function in {self.name}")
        if base in self.symbols:
            address = f"np.full(32, {self.symbols[base]}, dtype=np.uint64)"
        else:
            address = self.value(base, f"u{self.registers[base[1:]]}")
        dtype = f"np.{TYPES[kind].__name__}"
        guard = [] if not predicate else [f"if {active}.any():"]
        indent = "    " if guard else ""
        if head == "ld":
            destinations = [part.strip() for part in operands[0].strip("{}").split(",")]
            if space == "param" and base in self.symbols and not predicate:
                size = np.dtype(TYPES[kind]).itemsize
                lines = []
                for i, destination in enumerate(destinations):
                    if destination != "_":
                        at = offset + i * size
                        lines += self.assign(destination, kind, f"warp.job[{at}:{at + size}].view({dtype})[0]", some, None)
                return lines
            lines = [f"{indent}v = warp.load('{space}', {address}, {offset}, {active}, {dtype}, {len(destinations)})"]
            for i, destination in enumerate(destinations):
                if destination == "_":
                    continue
                bits = self.registers[destination[1:]]
                wide = kind if int(kind[1:]) == bits else f"{'s' if kind[0] == 's' else 'u'}{bits}"
                lines.append(f"{indent}{destination[1:]}_{wide}[{active}] = v[{i}]")
            return guard + lines
        if head == "st":
            sources = [part.strip() for part in operands[1].strip("{}").split(",")]
            values = ", ".join(f"np.broadcast_to(np.asarray({self.value(source, kind)}).astype({dtype}), 32)"
                               for source in sources)
            return guard + [f"{indent}warp.store('{space}', {address}, {offset}, {active}, [{values}])"]
        first = 1 if head == "red" else 2
        operation = parts[-2]
        a = f"np.broadcast_to({self.value(operands[first], kind)}, 32)"
        b = f"np.broadcast_to({self.value(operands[first + 1], kind)}, 32)" if operation == "cas" else "None"
        lines = guard + [f"{indent}v = warp.atomic('{space}', '{operation}', {address}, {offset}, {active}, {a}, {b}, {dtype})"]
        if head == "atom" and operands[0] != "_":
            lines += [indent + text for text in self.assign(operands[0], kind, "v", True, predicate)]
        return lines


def parse_module(text):
    """({name: text of an entry}, {name: bytes of a shared array}) of a PTX module."""
    entries = {}
    for match in re.finditer(r"^(?:\.\w+ )*\.entry (\w+)\(", text, re.MULTILINE):
        depth, end = 0, match.end()
        for brace in re.finditer(r"^[{}]$", text[match.end():], re.MULTILINE):  # blocks of their own lie within
            depth += 1 if brace.group() == "{" else -1
            if depth == 0:
                end += brace.end()
                break
        entries[match.group(1)] = text[match.start():end]
    shared = {name: int(size) for name, size in re.findall(r"^\.shared .*? (\w+)\[(\d+)\];", text, re.MULTILINE)}
    return entries, shared
