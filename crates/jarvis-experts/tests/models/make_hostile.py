"""Makes `hostile/`: ONNX graphs that a sentiment model must not be, for the tests of limits.

Each takes what a DistilBERT classifier takes and promises its `logits`. Needs: onnx 1.23.
"""

import pathlib

import onnx
from onnx import TensorProto, helper, numpy_helper
import numpy

HERE = pathlib.Path(__file__).parent
OUT = HERE / "hostile"


def save(name: str, nodes: list, initializers: list, checked: bool = True) -> None:
    ids = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"])
        for name in ("input_ids", "attention_mask")
    ]
    logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 2])
    graph = helper.make_graph(nodes, name, ids, [logits], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    if checked:
        onnx.checker.check_model(model)
    (OUT / f"{name}.onnx").write_bytes(model.SerializeToString())


def constant(name: str, value, kind) -> onnx.TensorProto:
    return numpy_helper.from_array(numpy.array(value, dtype=kind), name)


def main() -> None:
    OUT.mkdir(exist_ok=True)
    two = constant("two", [[0.0, 1.0]], numpy.float32)

    # A loop of a thousand million rounds.
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["going"], ["still_going"]),
            helper.make_node("Add", ["sum", "one"], ["next"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("round", TensorProto.INT64, []),
            helper.make_tensor_value_info("going", TensorProto.BOOL, []),
            helper.make_tensor_value_info("sum", TensorProto.FLOAT, [1, 2]),
        ],
        [
            helper.make_tensor_value_info("still_going", TensorProto.BOOL, []),
            helper.make_tensor_value_info("next", TensorProto.FLOAT, [1, 2]),
        ],
        [constant("one", [[1.0, 1.0]], numpy.float32)],
    )
    loop = helper.make_node("Loop", ["rounds", "yes", "two"], ["logits"], body=body)
    save("loop", [loop], [two, constant("rounds", 10**9, numpy.int64), constant("yes", True, bool)])

    # A tensor of sixteen terabytes.
    huge = [
        helper.make_node("ConstantOfShape", ["sizes"], ["huge"]),
        helper.make_node("ReduceSum", ["huge"], ["sum"], keepdims=0),
        helper.make_node("Add", ["two", "sum"], ["logits"]),
    ]
    save("huge", huge, [two, constant("sizes", [1 << 20, 1 << 20, 4], numpy.int64)])

    # Two nodes, each of which waits for the other.
    cycle = [
        helper.make_node("Add", ["two", "b"], ["a"]),
        helper.make_node("Add", ["two", "a"], ["b"]),
        helper.make_node("Identity", ["b"], ["logits"]),
    ]
    save("cycle", cycle, [two], checked=False)

    # A weight that says it is larger than it is.
    lie = constant("lie", [[0.0, 1.0]], numpy.float32)
    lie.dims[0] = 1 << 40
    save("lie", [helper.make_node("Identity", ["lie"], ["logits"])], [lie], checked=False)

    # Outputs of a rank that no classifier has.
    save("rank", [helper.make_node("Identity", ["scalar"], ["logits"])], [constant("scalar", 1.0, numpy.float32)], False)

    # Cut in the middle.
    whole = (OUT / "loop.onnx").read_bytes()
    (OUT / "cut.onnx").write_bytes(whole[: len(whole) // 2])


if __name__ == "__main__":
    main()
