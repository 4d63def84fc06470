"""Fixture of the model that cuts people out of pictures: MODNet's interface, not its architecture. The published weights come as an
ONNX file with one input `input`, 1x3xHxW, and one output `output`, 1x1xHxW from 0 to 1, beside the settings that
transformers.js reads; the tiny random network here has the same names, shapes and settings (with a smaller edge). The processing around it
is that of transformers.js' pipeline, written with Pillow.

Made with torch 2.15.0, onnx 1.23.2, pillow 13.0.0:

    python make_background.py
"""

import json

import numpy as np
import torch
from PIL import Image

from make_vision import PICTURES, place, randomise, save, slim

EDGE, MULTIPLE = 64, 32


class Network(torch.nn.Module):
    """A picture at a quarter of its size and back."""

    def __init__(self):
        super().__init__()
        self.down = torch.nn.Conv2d(3, 8, 5, stride=2, padding=2)
        self.lower = torch.nn.Conv2d(8, 8, 3, stride=2, padding=1)
        self.norm = torch.nn.BatchNorm2d(8)
        self.up = torch.nn.ConvTranspose2d(8, 8, 4, stride=4)
        self.last = torch.nn.Conv2d(11, 1, 3, padding=1)

    def forward(self, input):
        low = torch.relu(self.norm(self.lower(torch.relu(self.down(input)))))
        wide = torch.nn.functional.interpolate(self.up(low), size=input.shape[2:], mode="bilinear", align_corners=False)
        return torch.sigmoid(6 * self.last(torch.cat([wide, input], 1)))


def matte(model, picture):
    """What the pipeline makes of a picture: resized by the shorter edge, cut to multiples, and the answer resized back in 8 bits."""
    scale = EDGE / min(picture.size)
    width, height = (max(int(side * scale) // MULTIPLE, 1) * MULTIPLE for side in picture.size)
    pixels = np.asarray(picture.resize((width, height), Image.Resampling.BILINEAR), dtype=np.float32)
    inputs = torch.from_numpy((pixels / 255 - 0.5) / 0.5).permute(2, 0, 1)[None]
    with torch.no_grad():
        plane = model(inputs)[0, 0].numpy()
    return Image.fromarray((plane * 255).astype(np.uint8)).resize(picture.size, Image.Resampling.BILINEAR), [width, height]


def main():
    torch.manual_seed(0)
    model = randomise(Network(), 3)
    folder = place("background")
    (folder / "onnx").mkdir(parents=True, exist_ok=True)
    names = {0: "batch_size", 2: "height", 3: "width"}
    graph = folder / "onnx" / "model.onnx"
    torch.onnx.export(
        model, (torch.zeros(1, 3, 64, 96),), graph, input_names=["input"], output_names=["output"], dynamo=False, opset_version=14,
        dynamic_axes={"input": names, "output": names},
    )  # fmt: skip
    slim(graph)
    settings = {
        "do_normalize": True, "do_pad": False, "do_rescale": True, "do_resize": True, "feature_extractor_type": "ImageFeatureExtractor",
        "image_mean": [0.5] * 3, "image_std": [0.5] * 3, "resample": 2, "rescale_factor": 0.00392156862745098,
        "size": {"shortest_edge": EDGE}, "size_divisibility": MULTIPLE,
    }  # fmt: skip
    (folder / "preprocessor_config.json").write_text(json.dumps(settings, indent=2) + "\n")
    (folder / "config.json").write_text(json.dumps({"model_type": "modnet"}, indent=2) + "\n")
    expected = {}
    for name, picture in PICTURES.items():
        alpha, size = matte(model, picture)
        alpha.save(folder / f"{name}-expected.png")
        expected[name] = {"size": size}
        print(name, size, alpha.getextrema(), np.asarray(alpha).mean())
    save(folder, expected)


if __name__ == "__main__":
    main()
