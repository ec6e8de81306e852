#!/usr/bin/env python3
"""tiny_model.py FILE: writes a model of the Llama architecture for llama.cpp: 4 layers, 4 heads of 64, a vocabulary
of 512 tokens, random weights, the same in each run. It knows nothing; a program does with it what it does with a
large one.

The format is GGUF 3: a head of keys and values, a table of tensors, and their data, each aligned to 32 bytes.
"""
import random
import struct
import sys

LAYERS = 4
HEADS = 4
KV_HEADS = 2
HEAD = 64
EMBEDDING = HEADS * HEAD
FEED_FORWARD = 512
VOCABULARY = 512
ALIGNMENT = 32

# Types of values, and of tensors.
UINT32, INT32, FLOAT32, STRING, ARRAY = 4, 5, 6, 8, 9
TENSOR_F32, TENSOR_F16 = 0, 1

# Types of tokens.
NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def scalar(kind, value):
    if kind == STRING:
        return text(value)
    return struct.pack({UINT32: "<I", INT32: "<i", FLOAT32: "<f"}[kind], value)


def pair(key, kind, value):
    return text(key) + struct.pack("<I", kind) + scalar(kind, value)


def array(key, kind, values):
    return text(key) + struct.pack("<IIQ", ARRAY, kind, len(values)) + b"".join(scalar(kind, value) for value in values)


def tokens():
    """Pieces and their types: three of control, each byte, and words."""
    pieces = [("<unk>", UNKNOWN), ("<s>", CONTROL), ("</s>", CONTROL)]
    pieces += [(f"<0x{byte:02X}>", BYTE) for byte in range(256)]
    return pieces + [(f"\u2581w{number}", NORMAL) for number in range(VOCABULARY - len(pieces))]


def metadata():
    pieces = tokens()
    return [
        pair("general.architecture", STRING, "llama"),
        pair("general.name", STRING, "tiny"),
        pair("general.alignment", UINT32, ALIGNMENT),
        pair("llama.block_count", UINT32, LAYERS),
        pair("llama.context_length", UINT32, 2048),
        pair("llama.embedding_length", UINT32, EMBEDDING),
        pair("llama.feed_forward_length", UINT32, FEED_FORWARD),
        pair("llama.attention.head_count", UINT32, HEADS),
        pair("llama.attention.head_count_kv", UINT32, KV_HEADS),
        pair("llama.attention.layer_norm_rms_epsilon", FLOAT32, 1e-5),
        pair("llama.rope.dimension_count", UINT32, HEAD),
        pair("llama.vocab_size", UINT32, VOCABULARY),
        pair("tokenizer.ggml.model", STRING, "llama"),
        array("tokenizer.ggml.tokens", STRING, [piece for piece, _ in pieces]),
        array("tokenizer.ggml.scores", FLOAT32, [-float(number) for number in range(len(pieces))]),
        array("tokenizer.ggml.token_type", INT32, [kind for _, kind in pieces]),
        pair("tokenizer.ggml.unknown_token_id", UINT32, 0),
        pair("tokenizer.ggml.bos_token_id", UINT32, 1),
        pair("tokenizer.ggml.eos_token_id", UINT32, 2),
    ]


def tensors():
    """Names and shapes, the dimension that lies together first; one dimension is a norm."""
    yield "token_embd.weight", (EMBEDDING, VOCABULARY)
    for layer in range(LAYERS):
        for name, shape in (
            ("attn_norm", (EMBEDDING,)),
            ("attn_q", (EMBEDDING, EMBEDDING)),
            ("attn_k", (EMBEDDING, KV_HEADS * HEAD)),
            ("attn_v", (EMBEDDING, KV_HEADS * HEAD)),
            ("attn_output", (EMBEDDING, EMBEDDING)),
            ("ffn_norm", (EMBEDDING,)),
            ("ffn_gate", (EMBEDDING, FEED_FORWARD)),
            ("ffn_up", (EMBEDDING, FEED_FORWARD)),
            ("ffn_down", (FEED_FORWARD, EMBEDDING)),
        ):
            yield f"blk.{layer}.{name}.weight", shape
    yield "output_norm.weight", (EMBEDDING,)
    yield "output.weight", (EMBEDDING, VOCABULARY)


def padded(data):
    return data + bytes(-len(data) % ALIGNMENT)


def weights(shape, source):
    """Ones of 32 bits for a norm, else numbers of 16 bits whose magnitude is 1/32 to 1/16."""
    if len(shape) == 1:
        return TENSOR_F32, struct.pack("<f", 1.0) * shape[0]
    data = bytearray(source.randbytes(2 * shape[0] * shape[1]))
    data[1::2] = data[1::2].translate(bytes(byte & 0x83 | 0x28 for byte in range(256)))
    return TENSOR_F16, bytes(data)


def main():
    source = random.Random(1)
    table, data, count = b"", [], 0
    offset = 0
    for name, shape in tensors():
        kind, values = weights(shape, source)
        table += text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, offset)
        data.append(padded(values))
        offset += len(data[-1])
        count += 1
    values = metadata()
    head = b"GGUF" + struct.pack("<IQQ", 3, count, len(values)) + b"".join(values) + table
    with open(sys.argv[1], "wb") as out:
        out.write(padded(head))
        out.writelines(data)


if __name__ == "__main__":
    main()
