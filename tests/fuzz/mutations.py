"""Damage: to bytes, to arrays, to plain data."""

import numpy as np

WORDS = [
    b",",
    b";",
    b"\n",
    b"'",
    b'"',
    b"{",
    b"}",
    b"(",
    b")",
    b"%",
    b"?",
    b"@data",
    b"\x00",
    b"\xff\xfe",
    b"1e999",
    b"-",
    b"/*",
    b":-",
]
NUMBERS = [0, 1, -1, 2, 7, 255, 256, 2**15, 2**31 - 1, -(2**31), 2**31, 2**62, -(2**63), 2**63 - 1]
FLOATS = [0.0, -0.0, 1.5, -1e300, 1e300, np.inf, -np.inf, np.nan, 5e-324]


def of_bytes(random, data):
    """Change some bytes, leave some out, insert some, or repeat some."""
    data = bytearray(data)
    for _ in range(random.integers(1, 6)):
        at = int(random.integers(0, len(data) + 1))
        end = min(len(data), at + int(random.integers(1, 40)))
        kind = random.integers(0, 5)
        if kind == 0 and at < len(data):
            data[at] = random.integers(0, 256)
        elif kind == 1:
            del data[at:end]
        elif kind == 2:
            data[at:at] = WORDS[random.integers(0, len(WORDS))]
        elif kind == 3:
            data[at:at] = data[at:end] * int(random.integers(1, 20))
        else:
            data[at:end] = bytes(random.integers(0, 256, end - at, np.uint8))
    return bytes(data[: 1 << 16])


def of_array(random, array):
    """Return an array with other values, of another shape or type, or laid out in another way."""
    if array.dtype.kind == "O":
        return array[:0]
    kind = random.integers(0, 8)
    if kind < 4 and array.size:
        array = array.copy()
        odd = FLOATS if array.dtype.kind == "f" else NUMBERS
        for _ in range(random.integers(1, 4)):
            value = odd[random.integers(0, len(odd))]
            with np.errstate(all="ignore"):
                array.flat[random.integers(0, array.size)] = np.array([value]).astype(array.dtype)[0]
    elif kind == 4:
        array = array.ravel()[: random.integers(0, array.size + 1)]
    elif kind == 5:
        array = np.repeat(array, 2, axis=int(random.integers(0, array.ndim)) if array.ndim else None)
    elif kind == 6:
        with np.errstate(all="ignore"):
            array = array.astype(random.choice(["f4", "f8", "i4", "i8", "u1", "u2", "?", ">i4", ">f8", "O"]))
    else:
        raw = np.zeros(array.nbytes + 1, np.uint8)  # at an odd address
        raw[1:] = np.frombuffer(array.tobytes(), np.uint8)
        array = raw[1:].view(array.dtype).reshape(array.shape)
    return array


def of_value(random, value):
    """Return something else for a number, a text, an array or a container of them."""
    if isinstance(value, np.ndarray):
        return of_array(random, value)
    if isinstance(value, (list, tuple)) and len(value) and random.random() < 0.8:
        items = list(value)
        at = int(random.integers(0, len(items)))
        if random.random() < 0.3:
            del items[at]
        else:
            items[at] = of_value(random, items[at])
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, dict) and value and random.random() < 0.9:
        changed = dict(value)
        key = list(changed)[random.integers(0, len(changed))]
        if random.random() < 0.2:
            del changed[key]
        else:
            changed[key] = of_value(random, changed[key])
        return changed
    if isinstance(value, str) and random.random() < 0.7:
        return of_bytes(random, value.encode()).decode("utf-8", "replace")
    odd = [*NUMBERS, *FLOATS, None, True, "", "x", [], {}, [[]]]
    return odd[random.integers(0, len(odd))]
