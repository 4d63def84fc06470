"""Fixture of zero-shot classification of sounds: a tiny random CLAP, as one graph with the inputs and outputs of the published exports.

Made with torch 2.15.0, transformers 4.57.6, onnx 1.23.2:

    python make_clap.py
"""

import json

import numpy as np
import torch
from transformers import (
    ClapAudioConfig, ClapConfig, ClapFeatureExtractor, ClapModel, ClapTextConfig, RobertaTokenizerFast, ZeroShotAudioClassificationPipeline,
)  # fmt: skip

from common import HERE, byte_bpe
from make_audio import sound
from make_vision import randomise, save, trace

RATE = 48_000
LABELS = ["rain on a barn", "a choir", "a very small dog", "the last boat"]


def graph(model, tokens, sounds, path):
    rows, length = {0: "text_batch_size", 1: "sequence_length"}, {0: "audio_batch_size"}
    trace(
        model, {"input_ids": tokens["input_ids"], "input_features": sounds["input_features"], "attention_mask": tokens["attention_mask"]},
        ["logits_per_audio"], path, {"input_ids": rows, "attention_mask": rows, "input_features": length},
    )  # fmt: skip


def main():
    torch.manual_seed(0)
    byte_bpe().save("/tmp/clap-bytes.json")
    tokenizer = RobertaTokenizerFast(tokenizer_file="/tmp/clap-bytes.json", model_max_length=48)
    text = ClapTextConfig(
        vocab_size=len(tokenizer), hidden_size=24, num_hidden_layers=2, num_attention_heads=4, intermediate_size=32,
        max_position_embeddings=64, projection_dim=16, pad_token_id=1,
    )  # fmt: skip
    audio = ClapAudioConfig(
        hidden_size=32, patch_embeds_hidden_size=8, depths=[1, 1, 1], num_attention_heads=[2, 2, 2], mlp_ratio=2.0, window_size=4,
        projection_dim=16, enable_fusion=False, num_classes=4,
    )  # fmt: skip
    model = randomise(ClapModel(ClapConfig(text_config=text.to_dict(), audio_config=audio.to_dict(), projection_dim=16)), 4)
    with torch.no_grad():
        model.logit_scale_a.fill_(4.0)
        model.logit_scale_t.fill_(4.0)
    extractor = ClapFeatureExtractor(truncation="rand_trunc", padding="repeatpad", frequency_min=50, frequency_max=14_000)
    folder = HERE / "audio-clap"
    folder.mkdir(exist_ok=True)
    for part in [model.config, tokenizer, extractor]:
        part.save_pretrained(folder)
    for unread in ["vocab.json", "merges.txt"]:
        (folder / unread).unlink(missing_ok=True)
    classify = ZeroShotAudioClassificationPipeline(model=model, tokenizer=tokenizer, feature_extractor=extractor)
    cases = []
    # Shorter than half a window, which is repeated; longer than half; a whole one.
    for count, seed in [(RATE * 2 + 123, 1), (RATE * 7, 2), (RATE * 10, 3)]:
        samples = sound(count, seed)
        inputs = extractor(samples, sampling_rate=RATE, return_tensors="pt")
        answer = classify(samples, candidate_labels=LABELS)
        features = inputs["input_features"][0, 0]
        cases.append({
            "count": count, "seed": seed, "labels": answer, "features": [round(float(value), 5) for value in features[::100].reshape(-1)],
        })  # fmt: skip
        print(count, answer)
    tokens = tokenizer([f"This is a sound of {label}." for label in LABELS], padding=True, return_tensors="pt")
    (folder / "onnx").mkdir(exist_ok=True)
    graph(model, tokens, inputs, folder / "onnx" / "model.onnx")
    save(folder, cases)


if __name__ == "__main__":
    main()
