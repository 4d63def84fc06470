"""A client made by grpcio from the first version of the protocol, four fields and no package, against `jarvis serve --grpc`."""

import importlib
import json
import re
import sys
import time

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase
from grpc_tools import protoc
from google.protobuf.descriptor_pool import DescriptorPool

from house import PATIENCE, Jarvis

PROTO = """
syntax = "proto3";
service FileBasedQA { rpc QueryFile (QueryRequest) returns (QueryResponse); }
message QueryRequest { string question = 1; bytes file_data = 2; }
message QueryResponse { bool has_text = 1; string text_answer = 2; bool has_image = 3; bytes image_data = 4; }
"""

FRUITS = b"apple,apple,apple,banana,apple,banana,orange,apple,apple,banana"

QUESTION = "文件中一共有几种水果？请用柱状图展示每种水果的数量"


@pytest.fixture(scope="session")
def generated(tmp_path_factory):
    """The modules that grpcio makes of the protocol."""
    folder = tmp_path_factory.mktemp("generated")
    (folder / "agent_example.proto").write_text(PROTO)
    flags = [f"-I{folder}", f"--python_out={folder}", f"--grpc_python_out={folder}", "agent_example.proto"]
    assert protoc.main(["protoc", *flags]) == 0
    sys.path.insert(0, str(folder))
    yield importlib.import_module("agent_example_pb2"), importlib.import_module("agent_example_pb2_grpc")
    sys.path.remove(str(folder))


def address(server):
    """Where the server said that it serves gRPC."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        for line in server.lines:
            if match := re.search(r"gRPC at (\S+)", line):
                return match[1]
    raise RuntimeError("it does not say where gRPC is served:\n" + server.told())


@pytest.fixture(scope="module")
def channel():
    with Jarvis("--llm", "offline", "--grpc", "127.0.0.1:0") as server:
        with grpc.insecure_channel(address(server)) as channel:
            yield channel


def test_the_first_versions_client_is_answered(channel, generated):
    messages, services = generated
    stub = services.FileBasedQAStub(channel)
    reply = stub.QueryFile(messages.QueryRequest(question=QUESTION, file_data=FRUITS), timeout=PATIENCE)
    assert reply.has_text and "3" in reply.text_answer
    assert reply.has_image and reply.image_data.startswith(b"\x89PNG\r\n\x1a\n")


@pytest.mark.parametrize(
    ("question", "document", "words"),
    [("", b"x", "the question is empty"), ("What?", b"\x00\xff\xfe\x01\x02", "is not text")],
)
def test_wrong_requests_are_told(channel, generated, question, document, words):
    messages, services = generated
    with pytest.raises(grpc.RpcError) as error:
        services.FileBasedQAStub(channel).QueryFile(
            messages.QueryRequest(question=question, file_data=document), timeout=PATIENCE
        )
    assert error.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert words in error.value.details()


def test_reflection_tells_of_the_service(channel):
    database = ProtoReflectionDescriptorDatabase(channel)
    assert "FileBasedQA" in database.get_services()
    service = DescriptorPool(database).FindServiceByName("FileBasedQA")
    assert [method.name for method in service.methods] == ["QueryFile", "QueryFileStream"]
    numbers = {field.name: field.number for field in service.methods[0].output_type.fields}
    assert (numbers["has_text"], numbers["text_answer"], numbers["has_image"], numbers["image_data"]) == (1, 2, 3, 4)


def test_health_is_told(channel):
    health = health_pb2_grpc.HealthStub(channel)
    told = health.Check(health_pb2.HealthCheckRequest(service="FileBasedQA"), timeout=PATIENCE)
    assert told.status == health_pb2.HealthCheckResponse.SERVING


def test_a_recorded_model_answers(tmp_path, generated):
    plot = json.dumps({"x": ["apple", "banana", "orange"], "y": [6, 3, 1]})
    lines = [
        {"stage": "react", "contains": ["Plot generated"], "reply": "<Final Answer>: Three.", "sticky": True},
        {"stage": "react", "reply": f"<Action>: plot\n<Action Input>: {plot}", "sticky": True},
    ]
    recording = tmp_path / "model.jsonl"
    recording.write_text("".join(json.dumps(line) + "\n" for line in lines))
    messages, services = generated
    with Jarvis("--llm", f"replay:{recording}", "--grpc", "127.0.0.1:0") as server:
        with grpc.insecure_channel(address(server)) as channel:
            stub = services.FileBasedQAStub(channel)
            asked = [stub.QueryFile.future(messages.QueryRequest(question="Draw", file_data=FRUITS)) for _ in range(16)]
            replies = [call.result(timeout=PATIENCE) for call in asked]
    assert {reply.text_answer for reply in replies} == {"Three."}
    # The same input is the same picture, to the byte.
    assert len({reply.image_data for reply in replies}) == 1 and replies[0].has_image
