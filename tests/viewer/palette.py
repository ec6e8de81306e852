"""palette.py FILE...: writes PNG files of 8 bits per channel again with a palette, of the 256 colours that most of their points have."""
import collections
import struct
import sys
import zlib


def chunks(data):
    at = 8
    while at < len(data):
        length, kind = struct.unpack_from('>I4s', data, at)
        yield kind, data[at + 8:at + 8 + length]
        at += 12 + length


def paeth(a, b, c):
    distances = abs(b - c), abs(a - c), abs(a + b - 2 * c)
    return (a, b, c)[distances.index(min(distances))]


def points(path):
    """Width, and the rows as lists of colours; PNG's five filters undone."""
    parts = list(chunks(open(path, 'rb').read()))
    width, height, depth, kind = struct.unpack_from('>IIBB', parts[0][1])
    size = {2: 3, 6: 4}[kind]
    if depth != 8:
        sys.exit(f'{path}: {depth} bits for each channel')
    data = zlib.decompress(b''.join(body for name, body in parts if name == b'IDAT'))
    rows, before = [], bytes(width * size)
    for y in range(height):
        filtered, row = data[y * (width * size + 1)], bytearray(data[y * (width * size + 1) + 1:(y + 1) * (width * size + 1)])
        for i in range(len(row) if filtered else 0):
            left, corner = (row[i - size], before[i - size]) if i >= size else (0, 0)
            row[i] = row[i] + (left, before[i], (left + before[i]) // 2, paeth(left, before[i], corner))[filtered - 1] & 255
        rows.append([tuple(row[i:i + 3]) for i in range(0, len(row), size)])
        before = row
    return width, rows


def chunk(kind, body):
    return struct.pack('>I', len(body)) + kind + body + struct.pack('>I', zlib.crc32(kind + body))


for path in sys.argv[1:]:
    width, rows = points(path)
    counts = collections.Counter(colour for row in rows for colour in row)
    palette = [colour for colour, _ in counts.most_common(256)]
    place = {colour: min(range(len(palette)), key=lambda i: sum((a - b) ** 2 for a, b in zip(colour, palette[i]))) for colour in counts}
    packed = zlib.compress(b''.join(b'\0' + bytes(place[colour] for colour in row) for row in rows), 9)
    with open(path, 'wb') as file:
        file.write(b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', width, len(rows), 8, 3, 0, 0, 0)) +
                   chunk(b'PLTE', b''.join(map(bytes, palette))) + chunk(b'IDAT', packed) + chunk(b'IEND', b''))
