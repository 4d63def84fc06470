"""Speed of the engine for ONNX beside onnxruntime, on one thread: exports models of the usual sizes with random weights and runs
both. Usage: `speed.py FOLDER ONNX_SPEED`, the folder for the models (kept between runs) and the built example `onnx_speed`.

Versions: onnxruntime 1.32.0, torch 2.15, transformers 4.57.6, optimum-onnx 0.1.0.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import time

import numpy
import onnxruntime
import torch
import transformers
from optimum.exporters.onnx import main_export

# Name, configuration, task, graph, and its inputs.
MODELS = [
    ("vit-base", transformers.ViTConfig(), transformers.ViTForImageClassification, "image-classification", "model.onnx",
     {"pixel_values": (1, 3, 224, 224)}, 10),
    ("whisper-tiny encoder", transformers.WhisperConfig(d_model=384, encoder_layers=4, decoder_layers=4,
     encoder_attention_heads=6, decoder_attention_heads=6, encoder_ffn_dim=1536, decoder_ffn_dim=1536),
     transformers.WhisperForConditionalGeneration, "automatic-speech-recognition", "encoder_model.onnx",
     {"input_features": (1, 80, 3000)}, 10),
    ("resnet-50", transformers.ResNetConfig(), transformers.ResNetForImageClassification, "image-classification",
     "model.onnx", {"pixel_values": (1, 3, 224, 224)}, 20),
    ("mobilenet-v2", transformers.MobileNetV2Config(), transformers.MobileNetV2ForImageClassification,
     "image-classification", "model.onnx", {"pixel_values": (1, 3, 224, 224)}, 40),
    ("distilbert", transformers.DistilBertConfig(), transformers.DistilBertForSequenceClassification,
     "text-classification", "model.onnx", {"input_ids:i": (1, 128), "attention_mask:i": (1, 128)}, 20),
]


def export(folder: pathlib.Path, name, config, kind, task) -> pathlib.Path:
    to = folder / name.replace(" ", "-")
    if not to.exists():
        torch.manual_seed(0)
        with tempfile.TemporaryDirectory() as source:
            kind(config).eval().save_pretrained(source)
            library = "transformers"
            main_export(source, to, task=task, library_name=library, no_post_process=True)
    return to


def reference(graph: pathlib.Path, inputs: dict, rounds: int) -> float:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(graph), options)
    random = numpy.random.default_rng(0)
    given = {}
    for name, shape in inputs.items():
        plain, _, whole = name.partition(":")
        given[plain] = numpy.ones(shape, numpy.int64) if whole else random.standard_normal(shape).astype(numpy.float32)
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        session.run(None, given)
        times.append((time.perf_counter() - began) * 1000)
    return min(times)


def main() -> None:
    folder, program = pathlib.Path(sys.argv[1]), sys.argv[2]
    folder.mkdir(parents=True, exist_ok=True)
    print("| graph | onnxruntime, ms | jarvis, ms | ratio |\n|---|---|---|---|")
    for name, config, kind, task, graph, inputs, rounds in MODELS:
        path = export(folder, name, config, kind, task) / graph
        sizes = []
        for input_name, shape in inputs.items():
            plain, _, whole = input_name.partition(":")
            sizes.append(f"{plain}={'x'.join(map(str, shape))}" + (":i" if whole else ""))
        # In turn, so that a machine that slows down slows both.
        best, theirs = float("inf"), float("inf")
        for _ in range(3):
            theirs = min(theirs, reference(path, inputs, rounds))
            told = subprocess.run([program, str(rounds), str(path), *sizes], check=True, capture_output=True, text=True)
            best = min(best, float(re.search(r"best ([\d.]+) ms", told.stdout)[1]))
        print(f"| {name} | {theirs:.1f} | {best:.1f} | {best / theirs:.2f} |", flush=True)


if __name__ == "__main__":
    main()
