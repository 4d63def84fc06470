"""Makes a language model to measure the speed of GGUF with: the width of TinyLlama, eight layers, random weights in Q4_K, and the
vocabulary of another GGUF file. Usage: `speed_llm.py VOCABULARY.gguf OUT.gguf`; then `examples/llm_speed` on its folder, and
`speed_llm.mjs` for llama.cpp. Its replies are noise; only the time that they take means something.

Versions: gguf 0.19, numpy 2.
"""

import sys

import gguf
import numpy

WIDTH, INNER, LAYERS, HEADS, KEY_HEADS = 2048, 5632, 8, 32, 4
Q4_K = gguf.GGMLQuantizationType.Q4_K
BLOCK, BYTES = 256, 144


def matrix(random, rows: int, columns: int) -> numpy.ndarray:
    """Random blocks of Q4_K: scale and least value in half precision, twelve bytes of scales, and the numbers."""
    blocks = random.integers(0, 256, (rows, columns // BLOCK, BYTES), dtype=numpy.uint8)
    # A block's numbers are d * scale * q - m * least with q below 16, scales below 64: these give a deviation of 1/sqrt(columns).
    scale = numpy.float16(1 / 170 / columns**0.5)
    blocks[:, :, 0:2] = numpy.frombuffer(scale.tobytes(), numpy.uint8)
    blocks[:, :, 2:4] = numpy.frombuffer(numpy.float16(scale * 7.5).tobytes(), numpy.uint8)
    return blocks.reshape(rows, columns // BLOCK * BYTES)


def main() -> None:
    vocabulary, out = gguf.GGUFReader(sys.argv[1]), sys.argv[2]
    random = numpy.random.default_rng(0)
    writer = gguf.GGUFWriter(out, "llama")
    writer.add_context_length(4096)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KEY_HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_rope_freq_base(10000.0)
    writer.add_layer_norm_rms_eps(1e-5)
    for name, field in vocabulary.fields.items():
        if name.startswith("tokenizer."):
            kind = field.types[1] if len(field.types) > 1 else None
            writer.add_key_value(name, field.contents(), field.types[0], kind)
    tokens = len(vocabulary.fields["tokenizer.ggml.tokens"].data)
    writer.add_vocab_size(tokens)

    def weights(name: str, rows: int, columns: int) -> None:
        writer.add_tensor(f"{name}.weight", matrix(random, rows, columns), raw_dtype=Q4_K)

    def ones(name: str) -> None:
        writer.add_tensor(f"{name}.weight", numpy.ones(WIDTH, numpy.float32))

    weights("token_embd", tokens, WIDTH)
    weights("output", tokens, WIDTH)
    ones("output_norm")
    for layer in range(LAYERS):
        at = f"blk.{layer}"
        keys = WIDTH // HEADS * KEY_HEADS
        for name, rows, columns in [
            ("attn_q", WIDTH, WIDTH), ("attn_k", keys, WIDTH), ("attn_v", keys, WIDTH), ("attn_output", WIDTH, WIDTH),
            ("ffn_gate", INNER, WIDTH), ("ffn_up", INNER, WIDTH), ("ffn_down", WIDTH, INNER),
        ]:
            weights(f"{at}.{name}", rows, columns)
        ones(f"{at}.attn_norm")
        ones(f"{at}.ffn_norm")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main()
