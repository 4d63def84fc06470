"""Makes words.vec, from which the offline planner knows how near two English words are, from a sentence encoder.

    python3 words.py MODEL [--words FILE] [--out FILE]
    python3 words.py MODEL --check

MODEL is a folder with `model.safetensors` and `vocab.txt` of sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0). Words are those of
words.vec as it is, or of a text file with one a line: lower-case letters only. `--check` compares with words.vec and writes nothing.

Each word alone goes through the encoder; the mean over its pieces is centred over all words and turned onto the 48 principal axes
(as Model2Vec, MinishLab, does), made one long and written as signed bytes of 1/127. The file: three little-endian numbers (words, axes,
bytes of text), the words in order with line ends between, and a row for each. Needs numpy and nothing else.
"""

import argparse
import json
import pathlib
import struct
import sys

import numpy as np

HERE = pathlib.Path(__file__).parent
AXES = 48
UNIT = 127
HEADS = 12
BATCH = 256


def tensors(path):
    """The tensors of a safetensors file, by name, without the prefix of the whole model."""
    raw = path.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    head = json.loads(raw[8 : 8 + length])
    kinds = {"F32": np.float32, "F16": np.float16, "I64": np.int64}
    found = {}
    for name, about in head.items():
        if name == "__metadata__":
            continue
        start, end = (8 + length + at for at in about["data_offsets"])
        values = np.frombuffer(raw[start:end], dtype=kinds[about["dtype"]]).reshape(about["shape"])
        found[name.removeprefix("bert.")] = values.astype(np.float32)
    return found


class Encoder:
    """BERT, forward, for texts of one length."""

    def __init__(self, folder):
        self.of = tensors(folder / "model.safetensors")
        pieces = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
        self.ids = {piece: at for at, piece in enumerate(pieces)}
        self.layers = sum(name.endswith("attention.self.query.weight") for name in self.of)

    def pieces(self, word):
        """The ids of a word's pieces, the longest first (WordPiece); None where a letter is unknown."""
        ids, at = [], 0
        while at < len(word):
            ends = range(len(word), at, -1)
            end = next((end for end in ends if ("##" if at else "") + word[at:end] in self.ids), None)
            if end is None:
                return None
            ids.append(self.ids[("##" if at else "") + word[at:end]])
            at = end
        return ids

    def linear(self, x, name):
        # One product of two tables is many times as fast as one for each text.
        flat = x.reshape(-1, x.shape[-1]) @ self.of[name + ".weight"].T
        return flat.reshape(*x.shape[:-1], -1) + self.of[name + ".bias"]

    def norm(self, x, name):
        mean = x.mean(-1, keepdims=True)
        spread = ((x - mean) ** 2).mean(-1, keepdims=True)
        return (x - mean) / np.sqrt(spread + 1e-12) * self.of[name + ".weight"] + self.of[name + ".bias"]

    def encode(self, ids):
        """The mean over the pieces, one long."""
        ids = np.array(ids)
        count, length = ids.shape
        of = "embeddings."
        places, kinds = self.of[of + "position_embeddings.weight"], self.of[of + "token_type_embeddings.weight"]
        x = self.norm(self.of[of + "word_embeddings.weight"][ids] + places[:length] + kinds[0], of + "LayerNorm")
        for layer in range(self.layers):
            of = f"encoder.layer.{layer}."
            parts = [self.linear(x, of + "attention.self." + part) for part in ("query", "key", "value")]
            query, key, value = (part.reshape(count, length, HEADS, -1).transpose(0, 2, 1, 3) for part in parts)
            seen = query @ key.transpose(0, 1, 3, 2) / np.sqrt(query.shape[-1])
            seen = np.exp(seen - seen.max(-1, keepdims=True))
            seen /= seen.sum(-1, keepdims=True)
            mixed = (seen @ value).transpose(0, 2, 1, 3).reshape(count, length, -1)
            x = self.norm(x + self.linear(mixed, of + "attention.output.dense"), of + "attention.output.LayerNorm")
            wide = gelu(self.linear(x, of + "intermediate.dense"))
            x = self.norm(x + self.linear(wide, of + "output.dense"), of + "output.LayerNorm")
        mean = x.mean(1)
        return mean / np.linalg.norm(mean, axis=1, keepdims=True)


def gelu(x):
    """With the error function by Abramowitz and Stegun 7.1.26, right to seven digits; numpy has none."""
    size = np.abs(x) / np.sqrt(2)
    k = 1 / (1 + 0.3275911 * size)
    poly = ((((1.061405429 * k - 1.453152027) * k + 1.421413741) * k - 0.284496736) * k + 0.254829592) * k
    return 0.5 * x * (1 + np.sign(x) * (1 - poly * np.exp(-size * size)))


def vectors(encoder, words):
    """The words that have pieces, and a row of signed bytes for each."""
    by_length = {}
    for word in words:
        ids = encoder.pieces(word)
        if ids:
            by_length.setdefault(len(ids), []).append((word, [encoder.ids["[CLS]"], *ids, encoder.ids["[SEP]"]]))
    rows = {}
    for same in by_length.values():
        for start in range(0, len(same), BATCH):
            batch = same[start : start + BATCH]
            encoded = encoder.encode([ids for _, ids in batch])
            rows.update(zip((word for word, _ in batch), encoded))
    names = sorted(rows)
    table = np.array([rows[name] for name in names], dtype=np.float64)
    table -= table.mean(0)
    axes = np.linalg.eigh(table.T @ table)[1][:, ::-1][:, :AXES]
    # An axis has no direction of its own: its largest part is made positive, so that every machine writes the same.
    axes = axes * np.sign(axes[np.abs(axes).argmax(0), np.arange(AXES)])
    turned = table @ axes
    turned /= np.linalg.norm(turned, axis=1, keepdims=True)
    return names, np.clip(np.rint(turned * UNIT), -UNIT, UNIT).astype(np.int8)


def read(path):
    raw = path.read_bytes()
    count, axes, length = struct.unpack("<III", raw[:12])
    names = raw[12 : 12 + length].decode().split("\n")
    return names, np.frombuffer(raw[12 + length :], dtype=np.int8).reshape(count, axes)


def write(path, names, table):
    text = "\n".join(names).encode()
    path.write_bytes(struct.pack("<III", len(names), AXES, len(text)) + text + table.tobytes())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("--words", type=pathlib.Path, help="a text file with a word a line")
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "words.vec")
    parser.add_argument("--check", action="store_true", help="compare with words.vec and write nothing")
    args = parser.parse_args()
    words = args.words.read_text(encoding="utf-8").split() if args.words else read(HERE / "words.vec")[0]
    names, table = vectors(Encoder(args.model), words)
    if not args.check:
        write(args.out, names, table)
        return
    known, before = read(HERE / "words.vec")
    if names != known:
        sys.exit(f"{len(names)} words, {len(known)} in words.vec")
    apart = np.abs(table.astype(int) - before)
    # What is near what depends on no axis' direction.
    turned = np.abs(-table.astype(int) - before)
    apart = np.where(apart.sum(0) <= turned.sum(0), apart, turned)
    print(f"{len(names)} words; of {apart.size} numbers {np.count_nonzero(apart)} differ, at most by {apart.max()}/{UNIT}")
    if apart.max() > 1:
        sys.exit(1)


if __name__ == "__main__":
    main()
