"""Makes a detector and a recogniser by hand that see colours instead of letters: what is dark is writing, red columns are `r`
and blue ones `b`. They have the inputs, outputs and metadata of PaddleOCR's, whose weights are too large to keep here.

Versions: those of `common.py`.
"""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import common

TARGET = common.HERE / "ocr-colours" / "onnx"


def save(name, nodes, constants, shape, output, **metadata):
    kind = lambda key: np.int64 if key == "axis" else np.float32
    weights = [numpy_helper.from_array(np.array(value, kind(key)), key) for key, value in constants.items()]
    sizes = [size if isinstance(size, int) else str(size) for size in shape]
    graph = helper.make_graph(
        nodes, name, [helper.make_tensor_value_info("x", TensorProto.FLOAT, sizes)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, output)], weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    helper.set_model_props(model, metadata)
    onnx.checker.check_model(model)
    onnx.save(model, TARGET / f"{name}.onnx")


def main():
    TARGET.mkdir(parents=True, exist_ok=True)
    save(
        "colours_det",
        [
            helper.make_node("Conv", ["x", "weight", "bias"], ["dark"], kernel_shape=[1, 1], strides=[1, 1], pads=[0] * 4, dilations=[1, 1]),
            helper.make_node("Sigmoid", ["dark"], ["y"]),
        ],
        {"weight": np.full((1, 3, 1, 1), -4), "bias": [-2]},
        [1, 3, "height", "width"], [1, 1, "height", "width"],
    )
    save(
        "colours_rec",
        [
            helper.make_node("AveragePool", ["x"], ["pooled"], kernel_shape=[48, 8], strides=[48, 8], pads=[0] * 4),
            helper.make_node("Squeeze", ["pooled", "axis"], ["columns"]),
            helper.make_node("Transpose", ["columns"], ["rows"], perm=[0, 2, 1]),
            helper.make_node("MatMul", ["rows", "weight"], ["scores"]),
            helper.make_node("Add", ["scores", "bias"], ["logits"]),
            helper.make_node("Softmax", ["logits"], ["y"], axis=2),
        ],
        # Rows are blue, green and red; columns are blank, `r`, `b` and the space.
        {"weight": [[0, -6, 6, 0], [0, 0, 0, 0], [0, 6, -6, 0]], "bias": [4, 0, 0, -10], "axis": [2]},
        ["lines", 3, 48, "width"], ["lines", "columns", 4],
        character="r\nb",
    )


if __name__ == "__main__":
    main()
