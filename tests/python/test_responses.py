"""The official `openai` package and Vercel's `@ai-sdk/openai` against the responses door, and what Codex sends."""

import json
import subprocess

import httpx
import openai
import pytest
from pydantic import BaseModel

from house import PATIENCE, ROOT
from test_openai import MODEL, MOOD, options

WEATHER = {
    "type": "function",
    "name": "get_weather",
    "description": "Get the current weather for a location",
    "parameters": {"type": "object", "properties": {"location": {"type": "string"}}, "required": ["location"]},
}
ASKED = "What's the weather like in San Francisco?"


@pytest.fixture
def client(offline):
    with openai.OpenAI(**options(offline)) as client:
        yield client


def test_a_response_is_made_kept_and_forgotten(client):
    made = client.responses.create(model=MODEL, input=MOOD, metadata={"of": "mood"})
    assert made.status == "completed" and made.model == MODEL and "positive" in made.output_text
    kept = client.responses.retrieve(made.id)
    assert kept.output_text == made.output_text and kept.metadata == {"of": "mood"}
    items = client.responses.input_items.list(made.id)
    assert [item.content[0].text for item in items] == [MOOD]
    after = client.responses.create(model=MODEL, input="what is the sentiment of: I hate rain", previous_response_id=made.id)
    assert after.previous_response_id == made.id and "negative" in after.output_text
    client.responses.delete(made.id)
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(made.id)


def test_a_stream_is_put_together_by_the_package(client):
    with client.responses.stream(model=MODEL, input=MOOD) as stream:
        kinds = [event.type for event in stream]
        whole = stream.get_final_response()
    assert kinds[:2] == ["response.created", "response.in_progress"] and kinds[-1] == "response.completed"
    assert "positive" in whole.output_text
    again = [event for event in client.responses.retrieve(whole.id, stream=True)]
    assert again[-1].response.output_text == whole.output_text


def test_calls_are_handed_back_and_answered(client):
    made = client.responses.create(model=MODEL, input=ASKED, tools=[WEATHER])
    [call] = made.output
    assert call.type == "function_call" and "San Francisco" in json.loads(call.arguments)["location"]
    output = {"type": "function_call_output", "call_id": call.call_id, "output": "18 °C and sunny"}
    answered = client.responses.create(model=MODEL, input=[output], tools=[WEATHER], previous_response_id=made.id)
    assert "18 °C and sunny" in answered.output_text


def test_a_response_in_the_background_is_cancelled(modelled, model):
    model.hold = True
    with openai.OpenAI(**options(modelled)) as client:
        begun = client.responses.create(model=MODEL, input="good morning", background=True)
        assert begun.status in ("queued", "in_progress")
        assert model.held.wait(PATIENCE)
        cancelled = client.responses.cancel(begun.id)
        assert cancelled.status == "cancelled"
        assert model.aborted.wait(PATIENCE)


class Mood(BaseModel):
    mood: str


def test_what_cannot_be_given_is_refused(client):
    for more, param in [
        ({"tools": [{"type": "web_search"}]}, "tools[0].type"),
        ({"previous_response_id": "resp_none"}, "previous_response_id"),
        ({"text": {"format": {"type": "json_object"}}}, "text.format"),
    ]:
        with pytest.raises(openai.APIStatusError) as refused:
            client.responses.create(model=MODEL, input="hello", **more)
        assert refused.value.status_code in (400, 404) and refused.value.param == param
    with pytest.raises(openai.BadRequestError):
        client.responses.parse(model=MODEL, input="hello", text_format=Mood)


def test_codex_finds_what_its_parser_acts_on(offline):
    """Codex sends the whole history each time, and takes a stream for broken that ends without `response.completed`."""
    body = {
        "model": MODEL,
        "instructions": "You are a coding agent.",
        "input": [
            {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "<permissions>"}]},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": ASKED}]},
        ],
        "tools": [WEATHER | {"strict": False}],
        "tool_choice": "auto",
        "parallel_tool_calls": False,
        "reasoning": {"summary": "auto"},
        "store": False,
        "stream": True,
        "include": ["reasoning.encrypted_content"],
        "prompt_cache_key": "0199a213",
        "client_metadata": {"x-codex-installation-id": "1"},
    }

    def streamed():
        with httpx.stream("POST", f"{offline.url}/v1/responses", json=body, timeout=PATIENCE) as reply:
            assert reply.status_code == 200 and reply.headers["content-type"].startswith("text/event-stream")
            lines = [line[6:] for line in reply.iter_lines() if line.startswith("data: ")]
        return [json.loads(line) for line in lines]

    events = streamed()
    assert events[0]["type"] == "response.created" and events[0]["response"]["id"]
    [call] = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    assert call["type"] == "function_call" and call["call_id"] and json.loads(call["arguments"])
    done = events[-1]
    assert done["type"] == "response.completed" and done["response"]["id"] == events[0]["response"]["id"]
    assert set(done["response"]["usage"]) >= {"input_tokens", "output_tokens", "total_tokens"}
    body["input"] += [call, {"type": "function_call_output", "call_id": call["call_id"], "output": "18 °C and sunny"}]
    events = streamed()
    [message] = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    assert message["type"] == "message" and "18 °C and sunny" in message["content"][0]["text"]


def test_vercels_sdk_talks_streams_and_calls(offline):
    if not (ROOT / "target/node/node_modules/ai").exists():
        pytest.skip("the npm packages of tests/node are not installed")
    script = ROOT / "tests/node/ai-sdk.mjs"
    done = subprocess.run(
        ["node", str(script), f"{offline.url}/v1", MODEL], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert "positive" in told["text"] and "positive" in told["streamed"]
    assert told["called"]["toolName"] == "get_weather" and "San Francisco" in told["called"]["input"]["location"]
    assert "18 °C and sunny" in told["answered"]
    assert "positive" in told["chat"]
