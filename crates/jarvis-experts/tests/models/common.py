"""Helpers of the scripts that make the parity fixtures: random weights, tiny tokenizers, export, files.

Versions: torch 2.15, transformers 4.57.6, optimum 2.1.0, optimum-onnx 0.1.0, onnx 1.23.2, onnxruntime 1.32.0, tokenizers 0.22.2.
"""

import json
import math
import shutil
import tempfile
from pathlib import Path

import onnx
import torch
from optimum.exporters.onnx import main_export
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

HERE = Path(__file__).parent

# Sentences of the tokenizers' vocabularies and of the texts in the fixtures.
CORPUS = [
    "The choir sang twice in the old barn because of the rain.",
    "Marie Curie moved from Warsaw to Paris in 1891 and studied physics.",
    "The council met on Monday, spoke for three hours about the bridge, and voted to repair it.",
    "A friendly waiter brought cold soup; nobody complained, but nobody came back.",
    "How far is the harbour from the station, and when does the last boat leave?",
    "Der Hafen liegt nicht weit vom Bahnhof, und das letzte Boot fährt um neun.",
    "Le dernier bateau part à neuf heures du port, près de la gare.",
    "What a wonderful film! I would watch it again tomorrow.",
    "The festival opened with 300 guests, 42 dancers and one very small dog.",
    "translate English to German: The house is wonderful. summarize: The rain stopped at noon.",
    "This example is about travel, cooking, politics, sports, science or the public health.",
    "Emma Schmidt works for Acme Corporation in Berlin, close to the river Spree.",
]


def randomise(model, seed=0, skip=()):
    """Gives every weight a random value: norms 1 + 0.1 n, biases 0.1 n, matrices n / sqrt(fan in). Fixed position tables stay."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if not weight.requires_grad or any(part in name for part in skip):
                continue
            noise = torch.randn(weight.shape, generator=generator)
            is_norm = "norm" in name.lower() or "ln_" in name or "layrnorm" in name
            if weight.ndim < 2:
                weight.copy_(1 + 0.1 * noise if is_norm and name.endswith("weight") else 0.1 * noise)
            else:
                weight.copy_(noise / math.sqrt(weight[0].numel()))
        for name, buffer in model.named_buffers():
            if name.endswith("running_mean"):
                buffer.copy_(0.1 * torch.randn(buffer.shape, generator=generator))
            elif name.endswith("running_var"):
                buffer.copy_(1 + 0.1 * torch.rand(buffer.shape, generator=generator))
    return model.eval()


def wordpiece(size=300, lowercase=True, special=("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")):
    """A tokenizer as BERT's."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.train_from_iterator(CORPUS, trainers.WordPieceTrainer(vocab_size=size, special_tokens=list(special)))
    cls, sep = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", sep), ("[CLS]", cls))
    return tokenizer


def byte_bpe(size=360, special=("<s>", "<pad>", "</s>", "<unk>", "<mask>"), roberta=True):
    """A byte-level tokenizer as RoBERTa's and BART's (`roberta`), or as GPT-2's."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=list(special), initial_alphabet=alphabet)
    tokenizer.train_from_iterator(CORPUS, trainer)
    if roberta:
        ends = [(token, tokenizer.token_to_id(token)) for token in ("</s>", "<s>")]
        tokenizer.post_processor = processors.RobertaProcessing(*ends, trim_offsets=True, add_prefix_space=False)
    else:
        tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    return tokenizer


def unigram(size=300, special=("<pad>", "</s>", "<unk>"), template="$A </s>", pair="$A </s> $B </s>"):
    """A SentencePiece-like tokenizer as T5's, Marian's and XLM-RoBERTa's."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(" {2,}", " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    trainer = trainers.UnigramTrainer(vocab_size=size, special_tokens=list(special), unk_token="<unk>")
    tokenizer.train_from_iterator(CORPUS, trainer)
    if template:
        used = [token for token in special if token in template or token in pair]
        tokenizer.post_processor = processors.TemplateProcessing(
            single=template, pair=pair, special_tokens=[(token, tokenizer.token_to_id(token)) for token in used]
        )
    return tokenizer


# What jarvis never reads; leaving it out keeps the fixtures small.
UNREAD = ["model.safetensors", "pytorch_model.bin", "merges.txt", "vocab.json", "vocab.txt", "added_tokens.json", "ort_config.json"]


def export(model, processors_, name, task, keep=(), root=None, **options):
    """Saves a model with its processors, exports it in optimum's layout, and leaves `tests/models/<name>` with `onnx/` and the
    files of settings. `keep` lists the ONNX files to commit, without suffix; all by default."""
    target = (root or HERE) / name
    shutil.rmtree(target, ignore_errors=True)
    (target / "onnx").mkdir(parents=True)
    with tempfile.TemporaryDirectory() as saved, tempfile.TemporaryDirectory() as exported:
        model.save_pretrained(saved)
        for processor in processors_:
            processor.save_pretrained(saved)
        main_export(saved, exported, task=task, do_validation=False, **options)
        for source in (Path(saved), Path(exported)):
            for path in source.glob("*"):
                if path.suffix != ".onnx" and path.is_file() and path.name not in UNREAD:
                    shutil.copy(path, target / path.name)
        for path in Path(exported).glob("*.onnx"):
            if not keep or path.stem in keep:
                shutil.copy(path, target / "onnx" / path.name)
                shorten(target / "onnx" / path.name)
    return target


def shorten(path):
    """Renames what is internal to an ONNX file: the exporter's names are longer than the weights of models this small."""
    model = onnx.load(path)
    kept = {value.name for value in [*model.graph.input, *model.graph.output]}
    names = {}

    def short(name):
        return name if not name or name in kept else names.setdefault(name, f"v{len(names)}")

    def rename(graph):
        for node in graph.node:
            node.name = ""
            node.input[:] = [short(name) for name in node.input]
            node.output[:] = [short(name) for name in node.output]
            for attribute in node.attribute:
                for inner in [attribute.g] if attribute.HasField("g") else attribute.graphs:
                    rename(inner)
        for value in [*graph.initializer, *graph.input, *graph.output]:
            value.name = short(value.name)
        del graph.value_info[:]

    rename(model.graph)
    onnx.save(model, path)


def quantise(target, part="model"):
    """Adds a dynamically quantised twin of an ONNX file, as transformers.js' repositories have."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    source = target / "onnx" / f"{part}.onnx"
    quantize_dynamic(source, target / "onnx" / f"{part}_quantized.onnx", weight_type=QuantType.QInt8, extra_options={"EnableSubgraph": True})


def save_fixture(target, data, name="expected.json"):
    """Stores inputs and the outputs of the reference."""
    text = json.dumps(plain(data), ensure_ascii=False, indent=1)
    (target / name).write_text(text + "\n", encoding="utf-8")
    total = sum(path.stat().st_size for path in target.rglob("*") if path.is_file())
    print(f"{target.name}: {total // 1000} kB")


def plain(data):
    """Tensors and numpy values as JSON values."""
    if isinstance(data, torch.Tensor):
        return data.tolist()
    if isinstance(data, dict):
        return {key: plain(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [plain(value) for value in data]
    if hasattr(data, "item"):
        return data.item()
    return data
