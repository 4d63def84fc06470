"""Makes the fixtures of the language models: tiny random models of transformers as GGUF, with their logits, and tokenizers with
the tokens of some texts.

Versions: torch 2.15, transformers 4.57.6, tokenizers 0.22.2, sentencepiece 0.2.3. Run it in this folder.

GGUF is written here in f32, as llama.cpp's converter lays models out: names of tensors, and for llama the rows of query and key
in the order of interleaved rotation.
"""

import io
import json
import math
import struct
from pathlib import Path

import sentencepiece
import torch
from tokenizers import AddedToken, Regex, Tokenizer, models, pre_tokenizers, trainers
from transformers import (
    Gemma3ForCausalLM, Gemma3TextConfig, LlamaConfig, LlamaForCausalLM, Phi3Config, Phi3ForCausalLM, Qwen2Config,
    Qwen2ForCausalLM, Qwen3Config, Qwen3ForCausalLM,
)

OUT = Path(__file__).parent / "llm"
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = 1, 2, 3, 4, 5, 6

CORPUS = [
    "The choir sang twice in the old barn because of the rain, and 300 people came on 12 November 1891.",
    "How far is the harbour from the station, and when does the last boat leave? It's nine o'clock, they'll say.",
    "Der Hafen liegt nicht weit vom Bahnhof, und das letzte Boot fährt um neun; das weiß jeder.",
    "Пароход уходит в девять часов, а поезд приходит только в одиннадцать.",
    "船は九時に出ます。列车十一点到达。我们明天再来。",
    '{"task": "image-to-text", "id": 0, "dep": [-1], "args": {"image": "/images/a.jpg"}}',
    "def main():\n    for i in range(10):\n\t\tprint(i * 2)  # prints\n\n\nmain()",
]

TEXTS = [
    "",
    "Hello world",
    " leading space, trailing space ",
    "It's 12345 o'clock; THEY'LL come at 9:30, won't they?",
    "In 1891 the harbour had 300 boats.",
    "Der Hafen weiß es: fährt das Boot?",
    "Пароход уходит в девять часов",
    "船は九時に出ます。列车十一点到达",
    "emoji 😀 and 👩‍👩‍👧 and é (combining)",
    "tabs\tand\n\nnew lines \n  indented\r\n    more",
    "a  b   c    d",
    "x=1;y+=2//3 && foo->bar(baz[0]);",
    "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n",
    "<|im_start|><|im_end|> <think>hm</think> text",
    "not <|special|> and <|im_sta",
]

LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")


def split(pattern):
    return pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(pattern), behavior="isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    ])


# As the tokenizer.json of the families has them.
PRE_TOKENIZERS = {
    "gpt-2": pre_tokenizers.ByteLevel(add_prefix_space=False),
    "smollm": pre_tokenizers.Sequence([pre_tokenizers.Digits(True), pre_tokenizers.ByteLevel(add_prefix_space=False)]),
    "llama-bpe": split(LLAMA3),
    "qwen2": split(QWEN2),
}


def string(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def value(value):
    if isinstance(value, bool):
        return struct.pack("<I?", 7, value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    if isinstance(value, float):
        return struct.pack("<If", 6, value)
    if isinstance(value, str):
        return struct.pack("<I", 8) + string(value)
    first = value[0]
    if isinstance(first, str):
        return struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(string, value))
    if isinstance(first, int):
        return struct.pack("<IIQ", 9, 5, len(value)) + struct.pack(f"<{len(value)}i", *value)
    return struct.pack("<IIQ", 9, 6, len(value)) + struct.pack(f"<{len(value)}f", *value)


def write_gguf(path, metadata, tensors):
    """Metadata and f32 tensors, version 3."""
    header = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata))
    header += b"".join(string(key) + value(entry) for key, entry in metadata.items())
    data = b""
    for name, tensor in tensors.items():
        dimensions = list(reversed(tensor.shape))
        header += string(name) + struct.pack(f"<I{len(dimensions)}QIQ", len(dimensions), *dimensions, 0, len(data))
        data += tensor.contiguous().numpy().astype("<f4").tobytes()
        data += b"\0" * (-len(data) % 32)
    path.write_bytes(header + b"\0" * (-len(header) % 32) + data)


def byte_level(pre):
    tokenizer = Tokenizer(models.BPE(ignore_merges=pre == "llama-bpe"))
    tokenizer.pre_tokenizer = PRE_TOKENIZERS[pre]
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    trainer = trainers.BpeTrainer(
        vocab_size=380, special_tokens=special, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    tokenizer.add_tokens([AddedToken(name, normalized=False) for name in ("<think>", "</think>")])
    vocabulary = sorted(tokenizer.get_vocab().items(), key=lambda entry: entry[1])
    assert [number for _, number in vocabulary] == list(range(len(vocabulary)))
    names = [name for name, _ in vocabulary]
    kinds = {name: CONTROL for name in special} | {name: USER_DEFINED for name in ("<think>", "</think>")}
    metadata = {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": pre,
        "tokenizer.ggml.tokens": names,
        "tokenizer.ggml.token_type": [kinds.get(name, NORMAL) for name in names],
        "tokenizer.ggml.merges": [" ".join(merge) for merge in json.loads(tokenizer.to_str())["model"]["merges"]],
        "tokenizer.ggml.bos_token_id": names.index("<|im_start|>"),
        "tokenizer.ggml.eos_token_id": names.index("<|im_end|>"),
        "tokenizer.ggml.add_bos_token": False,
    }
    return metadata, lambda text: tokenizer.encode(text, add_special_tokens=False).ids


def sentence_piece():
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS), model_writer=out, vocab_size=460, model_type="bpe", byte_fallback=True,
        character_coverage=0.98, normalization_rule_name="identity", remove_extra_whitespaces=False, split_digits=True,
        minloglevel=2,
    )
    pieces = sentencepiece.SentencePieceProcessor(model_proto=out.getvalue())
    ids = range(pieces.get_piece_size())
    kind = lambda i: (UNKNOWN if pieces.is_unknown(i) else CONTROL if pieces.is_control(i) else BYTE if pieces.is_byte(i) else NORMAL)
    metadata = {
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": [pieces.id_to_piece(i) for i in ids],
        "tokenizer.ggml.scores": [float(pieces.get_score(i)) for i in ids],
        "tokenizer.ggml.token_type": [kind(i) for i in ids],
        "tokenizer.ggml.bos_token_id": pieces.bos_id(),
        "tokenizer.ggml.eos_token_id": pieces.eos_id(),
        "tokenizer.ggml.unknown_token_id": pieces.unk_id(),
    }
    return metadata, pieces.encode


def randomise(model, seed):
    """Norm weights 1 + 0.1 n (Gemma adds the 1 by itself), biases 0.1 n, matrices n / sqrt(fan in)."""
    one = 0 if isinstance(model, Gemma3ForCausalLM) else 1
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            noise = torch.randn(weight.shape, generator=generator)
            if weight.ndim > 1:
                weight.copy_(noise / math.sqrt(weight.shape[1]))
            else:
                weight.copy_(one + 0.1 * noise if "norm" in name else 0.1 * noise)
    return model.eval()


NAMES = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "self_attn.qkv_proj": "attn_qkv",
    "mlp.gate_up_proj": "ffn_up",
}
GEMMA_NAMES = NAMES | {
    "post_attention_layernorm": "post_attention_norm",
    "pre_feedforward_layernorm": "ffn_norm",
    "post_feedforward_layernorm": "post_ffw_norm",
}


def tensors_of(model, architecture):
    config = model.config
    tensors = {}
    names = GEMMA_NAMES if architecture == "gemma3" else NAMES
    for name, weight in model.state_dict().items():
        # Gemma's norms are stored as what is added to one.
        if architecture == "gemma3" and "norm" in name:
            weight = weight + 1
        if name == "model.embed_tokens.weight":
            tensors["token_embd.weight"] = weight
        elif name == "model.norm.weight":
            tensors["output_norm.weight"] = weight
        elif name == "lm_head.weight":
            if not config.tie_word_embeddings:
                tensors["output.weight"] = weight
        else:
            _, _, layer, part = name.split(".", 3)
            part, kind = part.rsplit(".", 1)
            if architecture == "llama" and part in ("self_attn.q_proj", "self_attn.k_proj"):
                heads = config.num_attention_heads if part.endswith("q_proj") else config.num_key_value_heads
                halves = weight.reshape(heads, 2, weight.shape[0] // heads // 2, *weight.shape[1:])
                weight = halves.swapaxes(1, 2).reshape(weight.shape)
            tensors[f"blk.{layer}.{names[part]}.{kind}"] = weight
    return tensors


def main():
    OUT.mkdir(exist_ok=True)
    expected = {"tokenizers": {}, "models": {}}
    tokenizers = {pre: byte_level(pre) for pre in PRE_TOKENIZERS} | {"sentence-piece": sentence_piece()}
    for name, (metadata, encode) in tokenizers.items():
        write_gguf(OUT / f"tokenizer-{name}.gguf", metadata, {})
        texts = [text for text in TEXTS if name != "sentence-piece" or "<|" not in text]
        expected["tokenizers"][name] = [{"text": text, "ids": encode(text)} for text in texts]

    common = dict(
        hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        max_position_embeddings=512, rms_norm_eps=1e-5, attn_implementation="eager",
    )
    llama3 = dict(
        rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=64
    )
    yarn = dict(rope_type="yarn", factor=4.0, original_max_position_embeddings=128)
    cases = {
        "llama": ("smollm", LlamaConfig, LlamaForCausalLM, dict(tie_word_embeddings=True, rope_scaling=llama3), {}),
        "qwen2": ("qwen2", Qwen2Config, Qwen2ForCausalLM, dict(tie_word_embeddings=False, rope_scaling=yarn), {
            "qwen2.rope.scaling.type": "yarn",
            "qwen2.rope.scaling.factor": 4.0,
            "qwen2.rope.scaling.original_context_length": 128,
        }),
        "qwen3": ("qwen2", Qwen3Config, Qwen3ForCausalLM, dict(tie_word_embeddings=True, head_dim=16), {}),
        "phi3": ("sentence-piece", Phi3Config, Phi3ForCausalLM, dict(
            tie_word_embeddings=False, partial_rotary_factor=0.75, original_max_position_embeddings=256, pad_token_id=0,
            head_dim=8, rope_scaling=dict(type="longrope", short_factor=[1.0, 1.2, 1.4], long_factor=[2.0, 3.0, 4.0]),
        ), {
            "phi3.rope.dimension_count": 6,
            "phi3.rope.scaling.original_context_length": 256,
            "phi3.rope.scaling.attn_factor": math.sqrt(1 + math.log(2) / math.log(256)),
        }),
        "gemma3": ("sentence-piece", Gemma3TextConfig, Gemma3ForCausalLM, dict(
            tie_word_embeddings=True, head_dim=16, query_pre_attn_scalar=16, sliding_window=24, num_hidden_layers=7,
            intermediate_size=32, num_attention_heads=2, num_key_value_heads=1,
            rope_local_base_freq=10000.0, rope_theta=100000.0, hidden_activation="gelu_pytorch_tanh",
        ), {"gemma3.attention.sliding_window": 24}),
    }
    for seed, (architecture, (pre, config, model, settings, extra)) in enumerate(cases.items()):
        vocabulary = len(tokenizers[pre][0]["tokenizer.ggml.tokens"])
        config = config(**(common | dict(rope_theta=10000.0, vocab_size=vocabulary) | settings))
        model = randomise(model(config), seed)
        tensors = tensors_of(model, architecture)
        if architecture == "llama":
            plain = 1.0 / config.rope_theta ** (torch.arange(0, 8, 2).float() / 8)
            tensors["rope_freqs.weight"] = plain / model.model.rotary_emb.inv_freq
        if architecture == "phi3":
            tensors["rope_factors_short.weight"] = torch.tensor(config.rope_scaling["short_factor"])
        metadata = {
            "general.architecture": architecture,
            "general.name": f"tiny random {architecture}",
            f"{architecture}.block_count": config.num_hidden_layers,
            f"{architecture}.context_length": config.max_position_embeddings,
            f"{architecture}.embedding_length": config.hidden_size,
            f"{architecture}.feed_forward_length": config.intermediate_size,
            f"{architecture}.attention.head_count": config.num_attention_heads,
            f"{architecture}.attention.head_count_kv": config.num_key_value_heads,
            f"{architecture}.attention.layer_norm_rms_epsilon": config.rms_norm_eps,
            f"{architecture}.rope.freq_base": config.rope_theta,
            **({f"{architecture}.attention.key_length": 16} if architecture in ("qwen3", "gemma3") else {}),
            **extra,
            **tokenizers[pre][0],
        }
        write_gguf(OUT / f"{architecture}.gguf", metadata, tensors)
        generator = torch.Generator().manual_seed(100 + seed)
        tokens = torch.randint(0, vocabulary, (1, 160), generator=generator)
        with torch.no_grad():
            logits = model(tokens).logits[0]
            greedy = model.generate(
                tokens[:, :24], attention_mask=torch.ones(1, 24), max_new_tokens=24, do_sample=False, eos_token_id=None,
                pad_token_id=0,
            )[0, 24:]
        # The logits after every eighth token.
        (OUT / f"{architecture}.logits.bin").write_bytes(logits[7::8].contiguous().numpy().astype("<f4").tobytes())
        expected["models"][architecture] = {"tokens": tokens[0].tolist(), "greedy": greedy.tolist()}
    (OUT / "expected.json").write_text(json.dumps(expected, ensure_ascii=False))


main()
