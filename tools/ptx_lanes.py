"""What the operations of a warp do: to vectors of 32 lanes, one number a lane (numpy), by the types of PTX."""

import numpy as np

WARP = 32
FULL = np.ones(WARP, dtype=bool)
LANE = np.arange(WARP)

TYPES = {"u8": np.uint8, "s8": np.int8, "b8": np.uint8, "u16": np.uint16, "s16": np.int16, "b16": np.uint16,
         "u32": np.uint32, "s32": np.int32, "b32": np.uint32, "f32": np.float32,
         "u64": np.uint64, "s64": np.int64, "b64": np.uint64, "f64": np.float64, "pred": np.bool_}
VIEWS = {16: ("u16", "s16", "b16"), 32: ("u32", "s32", "b32", "f32"), 64: ("u64", "s64", "b64", "f64")}


def popc(values):
    bits = np.unpackbits(values.view(np.uint8).reshape(WARP, -1), axis=1)
    return bits.sum(axis=1).astype(np.uint32)


def find_highest(values):
    """Position of the highest bit that is set, -1 where none is."""
    work, position = values.astype(np.uint64), np.full(WARP, -1, dtype=np.int64)
    for step in (32, 16, 8, 4, 2, 1):
        high = work >> np.uint64(step)
        found = high != 0
        position = np.where(found, position + step, position)
        work = np.where(found, high, work)
    return np.where(work != 0, position + 1, -1)


def clz(values):
    return (values.dtype.itemsize * 8 - 1 - find_highest(values)).astype(np.uint32)


def bfind_shift(values):
    highest = find_highest(values)
    return np.where(highest < 0, 0xFFFFFFFF, values.dtype.itemsize * 8 - 1 - highest).astype(np.uint32)


def brev(values):
    bits = np.unpackbits(values.view(np.uint8).reshape(WARP, -1), axis=1, bitorder="little")
    return np.packbits(bits[:, ::-1], axis=1, bitorder="little").copy().view(values.dtype).reshape(WARP)


def multiply_high(a, b):
    """The upper 64 bits of products of 64 bits, with or without signs, from four products of halves."""
    x, y = (np.broadcast_to(part, WARP).astype(np.uint64) for part in (a, b))
    half, mask = np.uint64(32), np.uint64(0xFFFFFFFF)
    middle = (x >> half) * (y & mask) + ((x & mask) * (y & mask) >> half)
    other = (x & mask) * (y >> half) + (middle & mask)
    high = (x >> half) * (y >> half) + (middle >> half) + (other >> half)
    if a.dtype.kind == "i":
        high = high - np.where(a < 0, y, np.uint64(0)) - np.where(b < 0, x, np.uint64(0))
    return high.astype(a.dtype)


def add_with_carry(a, b, carry):
    """Sums of numbers without signs and of what was carried from the digits below, and what is carried on."""
    without = a + b
    total = without + carry.astype(without.dtype)
    return total, (without < a) | (total < without)


def exact_sum(a, b):
    """The sum as rounded, and what rounding took off it (Knuth)."""
    total = a + b
    of_b = total - a
    return total, (a - (total - of_b)) + (b - of_b)


def exact_product(a, b):
    """The product as rounded, and what rounding took off it (Dekker); of numbers below 2^996."""
    def halves(x):
        scaled = x * 134217729.0  # 2^27 + 1
        high = scaled - (scaled - x)
        return high, x - high

    product, (a_high, a_low), (b_high, b_low) = a * b, halves(a), halves(b)
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def rounded_to_odd(total, rest):
    """A rounded sum whose last bit says whether anything was taken off it, so that it can be rounded once more."""
    is_even = (total.view(np.int64) & 1) == 0
    return np.where(is_even & (rest != 0) & np.isfinite(total),
                    np.nextafter(total, np.where(rest > 0, np.inf, -np.inf)), total)


def fused(a, b, c):
    """a * b + c, rounded once (Boldo and Melquiond, Emulation of a FMA and correctly rounded sums, 2008)."""
    x, y, z = (np.broadcast_to(part, WARP).astype(np.float64) for part in (a, b, c))
    if np.asarray(a).dtype == np.float32:  # whose products float64 holds
        return rounded_to_odd(*exact_sum(x * y, z)).astype(np.float32)
    product, rest = exact_product(x, y)
    low, lowest = exact_sum(z, rest)
    high, low = exact_sum(product, low)
    total = high + rounded_to_odd(*exact_sum(lowest, low))
    return np.where(np.isfinite(total), total, x * y + z)


def sum_toward_zero(a, b):
    total, rest = exact_sum(a, b)
    is_beyond = np.isfinite(a) & np.isfinite(b) & (np.isinf(total) | (rest * np.sign(total) < 0))
    return np.where(is_beyond, np.nextafter(total, total.dtype.type(0)), total)


def quotient(a, b):
    """Of integers of 64 bits, rounded toward zero."""
    return (a - np.fmod(a, b)) // b


def to_integer(values, dtype):
    """Of floats without a fraction: the nearest integer that the type has."""
    values, limits = np.asarray(values), np.iinfo(dtype)
    is_wide = values.dtype.itemsize == 8 or np.dtype(dtype).itemsize == 8
    of_nan = (1 << (8 * np.dtype(dtype).itemsize - 1)) if is_wide else 0
    inside = (values >= float(limits.min)) & (values < float(limits.max + 1))
    return np.where(inside, np.where(inside, values, 0).astype(dtype),
                    np.where(np.isnan(values), np.array(of_nan, dtype=np.uint64).astype(dtype),
                             np.where(values < 0, dtype(limits.min), dtype(limits.max))))


def shift_left(a, b):
    width = a.dtype.itemsize * 8
    return np.where(b < width, a << np.minimum(b, width - 1).astype(a.dtype), a.dtype.type(0))


def shift_right(a, b):
    width = a.dtype.itemsize * 8
    shifted = a >> np.minimum(b, width - 1).astype(a.dtype)
    return shifted if a.dtype.kind == "i" else np.where(b < width, shifted, a.dtype.type(0))


def bit_field_insert(a, b, position, length):
    ones = np.full(WARP, ~b.dtype.type(0))
    mask = shift_left(~shift_left(ones, length), position)
    return (b & ~mask) | (shift_left(a, position) & mask)


def permute_bytes(a, b, selector):
    """Each half-byte of the selector names one of eight bytes, or, with its highest bit, that byte's sign."""
    both = np.broadcast_to(a, WARP).astype(np.uint64) | (np.broadcast_to(b, WARP).astype(np.uint64) << np.uint64(32))
    selector, result = np.broadcast_to(selector, WARP).astype(np.uint64), np.zeros(WARP, dtype=np.uint64)
    for i in range(4):
        chosen = (selector >> np.uint64(4 * i)) & np.uint64(15)
        byte = (both >> (np.uint64(8) * (chosen & np.uint64(7)))) & np.uint64(255)
        sign = np.where(byte & np.uint64(128), np.uint64(255), np.uint64(0))
        result |= np.where(chosen & np.uint64(8), sign, byte) << np.uint64(8 * i)
    return result.astype(np.uint32)


def shuffle(mode, values, b, c):
    clamp, segment = c & 0x1F, (c >> 8) & 0x1F
    b = b & 0x1F
    lane = LANE
    highest = (lane & segment) | (clamp & ~segment)
    if mode == "bfly":
        source = lane ^ b
        inside = source <= highest
    elif mode == "idx":
        source = (lane & segment) | (b & ~segment)
        inside = source <= highest
    elif mode == "up":
        source = lane - b
        inside = source >= highest
    else:
        source = lane + b
        inside = source <= highest
    source = np.where(inside, source, lane).astype(np.int64)
    return values[source], inside


def ballot(active, predicate):
    return np.uint32(int.from_bytes(np.packbits(active & predicate, bitorder="little").tobytes(), "little"))


def match_any(active, values):
    found = np.zeros(WARP, dtype=np.uint32)
    for value in np.unique(values[active]):
        same = active & (values == value)
        found[same] = ballot(same, FULL)
    return found


def rounded(values, mode):
    return {"rni": np.rint, "rmi": np.floor, "rpi": np.ceil, "rzi": np.trunc}[mode](values)


HELPERS = {helper.__name__: helper for helper in
           (popc, clz, bfind_shift, brev, shift_left, shift_right, bit_field_insert, permute_bytes, shuffle, ballot,
            match_any, rounded, multiply_high, add_with_carry, fused, sum_toward_zero, quotient,
            to_integer)}
