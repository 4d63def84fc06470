"""The official `openai` package against jarvis: what works, and how what cannot be given is refused."""

import asyncio
import base64
import re

import httpx
import openai
import pytest

from house import PATIENCE, picture

MODEL = "jarvis/hugginggpt"
MOOD = "what is the sentiment of: I love this house"


def options(server, **more):
    return {"base_url": f"{server.url}/v1", "api_key": "none", "max_retries": 0, "timeout": PATIENCE} | more


@pytest.fixture
def client(offline):
    with openai.OpenAI(**options(offline)) as client:
        yield client


def said(text):
    return [{"role": "user", "content": text}]


def data_url(data=None, kind="image/png"):
    return f"data:{kind};base64,{base64.b64encode(data or picture()).decode()}"


def test_models_are_listed_and_shown(client):
    models = client.models.list().data
    assert [model.id for model in models] == [MODEL, "jarvis/chat", "jarvis/rewoo", "jarvis/react"]
    assert models[0].object == "model" and models[0].owned_by == "jarvis"
    assert client.models.retrieve(MODEL).id == MODEL
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("gpt-4o")


def test_a_plain_reply(client):
    reply = client.chat.completions.create(model=MODEL, messages=said(MOOD))
    assert reply.object == "chat.completion" and reply.model == MODEL and reply.id.startswith("chatcmpl-")
    [choice] = reply.choices
    assert (choice.index, choice.finish_reason, choice.message.role) == (0, "stop", "assistant")
    assert "positive" in choice.message.content
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens


def test_earlier_turns_and_instructions_are_taken(client):
    messages = [
        {"role": "system", "content": "You are terse."},
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": "Hello!"},
        {"role": "user", "content": [{"type": "text", "text": "what is the sentiment of:"}, {"type": "text", "text": "I hate rain"}]},
    ]
    reply = client.chat.completions.create(model=MODEL, messages=messages, temperature=0.3, max_tokens=50, user="me", seed=7)
    assert "negative" in reply.choices[0].message.content


@pytest.mark.parametrize("usage", [False, True])
def test_a_streamed_reply(spoken, usage):
    more = {"stream_options": {"include_usage": True}} if usage else {}
    with openai.OpenAI(**options(spoken)) as client:
        chunks = list(client.chat.completions.create(model=MODEL, messages=said("the mood of my house"), stream=True, **more))
    assert len({chunk.id for chunk in chunks}) == 1
    assert {chunk.object for chunk in chunks} == {"chat.completion.chunk"}
    if usage:
        last = chunks.pop()
        assert last.choices == [] and last.usage.total_tokens == last.usage.prompt_tokens + last.usage.completion_tokens
    assert all(chunk.usage is None and len(chunk.choices) == 1 for chunk in chunks)
    assert chunks[0].choices[0].delta.role == "assistant"
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "It is meant kindly: you love your house."
    assert [chunk.choices[0].finish_reason for chunk in chunks] == [None] * (len(chunks) - 1) + ["stop"]


def test_words_come_as_the_model_writes_them(modelled, model):
    with openai.OpenAI(**options(modelled)) as client:
        stream = client.chat.completions.create(model=MODEL, messages=said("good morning"), stream=True)
        words = [chunk.choices[0].delta.content for chunk in stream if chunk.choices[0].delta.content]
    assert words == model.words


def test_a_picture_inside_the_message_is_worked_on(offline, client):
    parts = [{"type": "text", "text": "find the edges of this picture"}, {"type": "image_url", "image_url": {"url": data_url()}}]
    reply = client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": parts}])
    link = re.search(rf"{re.escape(offline.url)}/images/[\w.-]+\.png", reply.choices[0].message.content)
    assert link, reply.choices[0].message.content
    file = httpx.get(link[0], trust_env=False)
    assert file.status_code == 200 and file.headers["content-type"] == "image/png" and file.content.startswith(b"\x89PNG")


WRONG = [
    ("n", {"n": 2}),
    ("tools", {"tools": [{"type": "web_search"}]}),
    ("tool_choice", {"tools": [{"type": "function", "function": {"name": "f"}}], "tool_choice": "required"}),
    ("functions", {"functions": [{"name": "f", "parameters": {"type": "object"}}]}),
    ("response_format", {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}}}),
    ("logprobs", {"logprobs": True}),
    ("modalities", {"modalities": ["text", "audio"], "audio": {"voice": "alloy", "format": "wav"}}),
    ("stop", {"stop": ["a", "b", "c", "d", "e"]}),
    ("messages", {"messages": []}),
    ("messages", {"messages": [{"role": "user", "content": "   "}]}),
    ("messages", {"messages": [{"role": "nobody", "content": "hello"}]}),
    ("messages", {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]}]}),
    ("messages", {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "file:///etc/passwd"}}]}]}),
    ("messages", {"messages": [{"role": "user", "content": [{"type": "file", "file": {}}]}]}),
]


@pytest.mark.parametrize("param, wrong", WRONG, ids=[f"{param}-{at}" for at, (param, _) in enumerate(WRONG)])
@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
def test_what_cannot_be_given_is_refused(client, param, wrong, stream):
    with pytest.raises(openai.BadRequestError) as refused:
        client.chat.completions.create(**{"model": MODEL, "messages": said(MOOD), "stream": stream} | wrong)
    error = refused.value
    assert error.status_code == 400 and error.code and error.type == "invalid_request_error" and error.body["message"]
    assert (error.param or "").startswith(param), error.body


def test_calls_of_the_callers_tools_are_handed_back(client):
    messages = said("What's the weather like in San Francisco?")
    schema = {"type": "object", "properties": {"location": {"type": "string"}}, "required": ["location"]}
    tools = [{"type": "function", "function": {"name": "get_weather", "description": "Get the weather", "parameters": schema}}]
    reply = client.chat.completions.create(model=MODEL, messages=messages, tools=tools)
    [choice] = reply.choices
    [call] = choice.message.tool_calls
    assert choice.finish_reason == "tool_calls" and call.function.name == "get_weather"
    messages += [choice.message, {"role": "tool", "tool_call_id": call.id, "content": "18 °C and sunny"}]
    reply = client.chat.completions.create(model=MODEL, messages=messages, tools=tools)
    assert "18 °C and sunny" in reply.choices[0].message.content
    stream = client.chat.completions.create(model=MODEL, messages=messages[:1], tools=tools, stream=True)
    deltas = [call for chunk in stream for call in chunk.choices[0].delta.tool_calls or []]
    assert [(call.index, call.function.name) for call in deltas] == [(0, "get_weather")]


def test_a_file_and_a_stop_are_taken(client):
    parts = [
        {"type": "text", "text": "how many words has this file?"},
        {"type": "file", "file": {"filename": "note.txt", "file_data": data_url(b"one two three", "text/plain")}},
    ]
    reply = client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": parts}])
    assert "3" in reply.choices[0].message.content
    whole = client.chat.completions.create(model=MODEL, messages=said(MOOD)).choices[0].message.content
    cut = client.chat.completions.create(model=MODEL, messages=said(MOOD), stop="positive").choices[0].message.content
    assert cut == whole.split("positive")[0]


def test_pictures_of_this_machine_are_not_fetched(client):
    for url in ["http://127.0.0.1:1/a.png", "http://169.254.169.254/latest/meta-data", "http://[::1]/a.png"]:
        parts = [{"type": "text", "text": "describe it"}, {"type": "image_url", "image_url": {"url": url}}]
        try:
            reply = client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": parts}])
        except openai.APIStatusError as error:
            assert 400 <= error.status_code < 500, error
        else:
            assert "/images/" not in reply.choices[0].message.content


def test_an_unknown_model_is_not_found(client):
    with pytest.raises(openai.NotFoundError) as refused:
        client.chat.completions.create(model="gpt-4o", messages=said("hello"))
    assert refused.value.code == "model_not_found" and refused.value.param == "model"


def test_a_key_is_checked(guarded):
    for key in ["wrong", "open sesam", "open sesamE", "open sesame, open sesame"]:
        with openai.OpenAI(**options(guarded, api_key=key)) as client:
            with pytest.raises(openai.AuthenticationError) as refused:
                client.models.list()
            assert refused.value.status_code == 401 and guarded.token not in str(refused.value)
    with openai.OpenAI(**options(guarded, api_key=guarded.token)) as client:
        assert "positive" in client.chat.completions.create(model=MODEL, messages=said(MOOD)).choices[0].message.content


def test_a_model_that_fails_is_an_upstream_error(modelled, model):
    model.status = 401
    with openai.OpenAI(**options(modelled)) as client:
        for stream in [False, True]:
            with pytest.raises(openai.APIError) as failed:
                reply = client.chat.completions.create(model=MODEL, messages=said("good morning"), stream=stream)
                for chunk in reply if stream else []:
                    assert not chunk.choices[0].delta.content
            if not stream:
                assert failed.value.status_code == 502, failed.value
            assert failed.value.body["message"]


def test_many_ask_at_once(offline):
    async def all_of_them():
        async with openai.AsyncOpenAI(**options(offline)) as client:
            asked = [client.chat.completions.create(model=MODEL, messages=said(MOOD)) for _ in range(16)]
            stream = await client.chat.completions.create(model=MODEL, messages=said(MOOD), stream=True)
            text = "".join([chunk.choices[0].delta.content or "" async for chunk in stream])
            return text, await asyncio.gather(*asked)

    text, replies = asyncio.run(all_of_them())
    assert "positive" in text
    assert all("positive" in reply.choices[0].message.content for reply in replies)
    assert len({reply.id for reply in replies}) == len(replies)


def test_closing_the_stream_cancels_the_run(modelled, model):
    model.hold = True
    with openai.OpenAI(**options(modelled)) as client:
        stream = client.chat.completions.create(model=MODEL, messages=said("good morning"), stream=True)
        first = next(chunk for chunk in stream if chunk.choices[0].delta.content)
        assert first.choices[0].delta.content == "Good"
        stream.close()
    assert model.aborted.wait(PATIENCE), "the call to the model goes on"
    last, _ = modelled.run_ended(first.id.removeprefix("chatcmpl-"))
    assert last in ("done", "error")
    model.hold = False
    assert modelled.ask("good morning")["message"]


def test_giving_up_a_plain_request_cancels_the_run(modelled, model):
    model.hold = True
    with openai.OpenAI(**options(modelled, timeout=1.0)) as client:
        with pytest.raises(openai.APITimeoutError):
            client.chat.completions.create(model=MODEL, messages=said("good morning"))
    assert model.held.is_set() and model.aborted.wait(PATIENCE), "the call to the model goes on"


def test_what_nothing_serves_says_what_to_configure(client):
    for ask in [
        lambda: client.embeddings.create(model="text-embedding-3-small", input="hello"),
        lambda: client.images.generate(model="dall-e-3", prompt="a red fox"),
    ]:
        with pytest.raises(openai.APIStatusError) as refused:
            ask()
        assert refused.value.status_code in (404, 422) and refused.value.body["hint"], refused.value.body


def test_files_are_sent_once_and_named(client):
    kept = client.files.create(file=("note.txt", b"one two three"), purpose="user_data")
    assert (kept.filename, kept.bytes, kept.status) == ("note.txt", 13, "processed")
    parts = [{"type": "text", "text": "how many words has this file?"}, {"type": "file", "file": {"file_id": kept.id}}]
    reply = client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": parts}])
    assert "3" in reply.choices[0].message.content
    assert client.files.content(kept.id).read() == b"one two three"
    assert kept.id in [file.id for file in client.files.list()]
    assert client.files.delete(kept.id).deleted
    with pytest.raises(openai.NotFoundError):
        client.files.retrieve(kept.id)
