from os import PathLike
from typing import TypedDict

class Settings(TypedDict):
    dependency_type: str | None
    profile: str
    metrics: list[str]
    prompting: str
    splits: list[str]
    n_tools: list[str]
    mode: str
    ids: bytes | None
    examples: bytes
    intervals: int | None
    seed: int
    per_sample: bool
    threads: int

class Shape(TypedDict):
    name: str
    details: list[tuple[str, str]]
    extra: list[str]

def evaluate(
    gold: bytes | str | PathLike[str],
    predictions: bytes | str | PathLike[str],
    tools: bytes | str | PathLike[str],
    settings: Settings,
) -> str: ...
def draw(tasks: list[Shape], edges: list[tuple[int, int]], stages: int, form: str) -> str: ...
