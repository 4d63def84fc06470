"""TaskBench: how well plans fit gold plans, computed natively.

:func:`evaluate` scores samples of files or in memory; :func:`evaluate_directory` has the options, the defaults and the output of the
original ``evaluate.py``, and ``python -m jarvis.taskbench`` takes its command line.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Union, cast

from .._errors import JarvisError
from .._frames import frame
from .._native import evaluate as _evaluate
from .._writing import NO_JSON, no_json, replace

if TYPE_CHECKING:
    import pandas as pd

    from .._native import Settings

__all__ = ["Evaluation", "evaluate", "evaluate_directory"]

StrPath: TypeAlias = Union[str, "os.PathLike[str]"]
#: Samples: a file of JSON Lines, or dictionaries as its lines hold them.
Samples: TypeAlias = Union[StrPath, Iterable[Mapping[str, Any]]]
#: A tool list: a file, or what it holds, or its tools.
Tools: TypeAlias = Union[StrPath, Mapping[str, Any], Iterable[Mapping[str, Any]]]
Metric: TypeAlias = Literal["all", "f1", "ed", "link", "argument", "rouge"]
SampleId: TypeAlias = Union[str, int]


class Evaluation(dict[str, Any]):
    """The figures: ``legacy`` and ``strict`` by group (``overall_overall``, ``chain_overall``, ``overall_3``, …), ``coverage`` says
    what they rest on, ``samples`` has those of each sample where they were asked for."""

    def to_frame(self, profile: Literal["legacy", "strict"] | None = None) -> pd.DataFrame:
        """A row for each group, a column for each figure, tables of single tools left out."""
        name = profile or ("legacy" if "legacy" in self else "strict")
        if name not in self:
            raise JarvisError(
                f"there are no {name} figures", hint=f"evaluate with profile='{name}' or 'both'", code="usage"
            )
        rows = [{"group": group, **_flat(figures)} for group, figures in self[name].items()]
        columns = dict.fromkeys(column for row in rows for column in row)
        return frame(rows, list(columns) or ["group"], "group")

    def _repr_html_(self) -> str:
        names = {"legacy": _LEGACY, "strict": _STRICT}
        return "".join(_table(name, self[name], columns) for name, columns in names.items() if name in self)


_LEGACY = {
    "samples": "all_samples",
    "scored": "node_supports",
    "n-F1": "node_micro_f1_no_matching",
    "e-F1": "link_binary_f1",
    "t-F1": "argument_task_argname_binary_f1_no_matching",
    "v-F1": "argument_task_argname_value_binary_f1_no_matching",
}
_STRICT = {
    **{"samples": "samples", "missing": "missing", "n-F1": "nodes.f1", "exact": "nodes.exact"},
    **{"e-F1": "links.f1", "t-F1": "argument_names.f1", "v-F1": "argument_values.f1"},
}


def _table(profile: str, groups: Mapping[str, Any], columns: Mapping[str, str]) -> str:
    head = "".join(f"<th>{name}</th>" for name in ("", *columns))
    body = []
    for group, figures in groups.items():
        values = _flat(figures)
        cells = "".join(f"<td>{_cell(values.get(column))}</td>" for column in columns.values())
        body.append(f"<tr><th>{group}</th>{cells}</tr>")
    return f"<table><caption>{profile}</caption><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"


def _cell(value: object) -> str:
    """Shares as the tables of the benchmark give them, times 100."""
    if isinstance(value, float):
        return f"{100 * value:.2f}"
    return "–" if value is None else str(value)


def _flat(figures: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Figures by the path of their names, without tables of single tools."""
    flat: dict[str, Any] = {}
    for name, value in figures.items():
        if name in ("node_per_type_no_matchcing", "per_tool"):
            continue
        if isinstance(value, Mapping):
            flat.update(_flat(value, f"{prefix}{name}."))
        else:
            flat[f"{prefix}{name}"] = value
    return flat


def evaluate(
    gold: Samples,
    predictions: Samples,
    *,
    tools: Tools | None = None,
    dependency_type: Literal["resource", "temporal"] | None = None,
    profile: Literal["legacy", "strict", "both"] = "both",
    metrics: Metric | Iterable[Metric] = "all",
    splits: str | Iterable[str] = "overall",
    n_tools: str | int | Iterable[str | int] = "overall",
    mode: Literal["add", "mul"] = "add",
    prompting: str = "cot",
    ids: SampleId | Iterable[SampleId] | None = None,
    examples: SampleId | Iterable[SampleId] = (),
    intervals: int | None = None,
    seed: int = 0,
    per_sample: bool = False,
    threads: int = 0,
) -> Evaluation:
    """Scores predictions against gold plans: the figures of ``jarvis taskbench evaluate``.

    ``gold`` may also be a domain's folder, for its ``data.json``. ``tools`` is the ``tool_desc.json`` beside the gold plans unless
    given. ``profile`` says whose rules: ``legacy`` the original's, with its names and figures; ``strict`` those that count every gold
    plan. ``splits`` (``single``, ``chain``, ``dag``) and ``n_tools`` (numbers) name groups, ``"all"`` all of them. ``ids`` are the only
    samples to score, ``examples`` those that the prompt showed, which the strict figures leave out. ``intervals`` gives the strict
    figures 95 % intervals from so many resamples. ``threads`` bounds the threads, 0 for one a core; the figures do not depend on it.

    Raises :class:`jarvis.JarvisError` where samples cannot be read. BERTScore needs a model, and is a figure of the command alone.
    """
    if isinstance(gold, (str, os.PathLike)):
        folder = Path(gold)
        if folder.is_dir():
            gold = folder / "data.json"
        _there(gold, "", "name a domain's folder, or the file of its gold plans")
        if tools is None:
            tools = Path(gold).parent / "tool_desc.json"
            _there(tools, ", the tools beside the gold plans", "give `tools`: the path of a tool_desc.json")
    if tools is None:
        raise JarvisError(
            "gold plans in memory come without their tools",
            hint="give `tools`: the path of tool_desc.json, or the list of tools",
            code="usage",
            exit_code=2,
        )
    words = _words(metrics)
    if "bertscore" in words:
        raise JarvisError(
            "BERTScore needs an embedding model, which this package does not bring",
            hint="run `jarvis taskbench evaluate -m bertscore --bert-model DIR`",
            code="usage",
            exit_code=2,
        )
    if intervals is not None:
        _bounded("intervals", intervals, 1, 100_000)
    _bounded("seed", seed, 0, 2**64 - 1)
    _bounded("threads", threads, 0, 1024)
    settings: Settings = {
        "dependency_type": dependency_type,
        "profile": profile,
        "metrics": words,
        "prompting": prompting,
        "splits": _words(splits),
        "n_tools": _words(n_tools),
        "mode": mode,
        "ids": None if ids is None else _ids(ids, "ids"),
        "examples": _ids(examples, "examples"),
        "intervals": intervals,
        "seed": seed,
        "per_sample": per_sample,
        "threads": threads,
    }
    figures = _evaluate(_lines(gold, "gold"), _lines(predictions, "predictions"), _document(tools), settings)
    return Evaluation(json.loads(figures))


def _there(path: StrPath, what: str, hint: str) -> None:
    """Looks before the evaluation does, which reads the tools first and would name a file that nobody did."""
    try:
        os.stat(path)
    except OSError as error:
        message = f"cannot read {path}{what}: {error.strerror or error}"
        raise JarvisError(message, hint=hint, code="usage", exit_code=2) from error


def _bounded(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise JarvisError(
            f"`{name}` is {value}", hint=f"give a number from {least} to {most}", code="usage", exit_code=2
        )


def _words(words: object) -> list[str]:
    if isinstance(words, (str, int)):
        return [str(words)]
    return [str(word) for word in cast("Iterable[object]", words)]


def _lines(samples: Samples, name: str) -> bytes | StrPath:
    """A document a line, as Python writes JSON: ``5``, ``5.0`` and ``NaN`` stay what they are, half surrogates are escaped."""
    if isinstance(samples, (str, os.PathLike)):
        return samples
    encode = json.JSONEncoder(check_circular=False).encode
    try:
        return "\n".join(map(encode, samples)).encode("ascii")
    except NO_JSON as error:
        hint = "samples are dictionaries as json.loads gives them"
        raise no_json(f"a sample of `{name}`", error, hint) from error


def _document(tools: Tools) -> bytes | StrPath:
    if isinstance(tools, (str, os.PathLike)):
        return tools
    try:
        return json.dumps(tools if isinstance(tools, Mapping) else {"nodes": list(tools)}).encode("ascii")
    except NO_JSON as error:
        raise no_json("`tools`", error, "tools are what json.loads gives of tool_desc.json") from error


def _ids(ids: SampleId | Iterable[SampleId], name: str) -> bytes:
    try:
        return json.dumps([ids] if isinstance(ids, (str, int)) else list(ids)).encode("ascii")
    except NO_JSON as error:
        raise no_json(f"`{name}`", error, "ids are texts and whole numbers, as the samples have them") from error


def evaluate_directory(
    data_dir: StrPath,
    prediction_dir: StrPath = "predictions",
    save_dir: StrPath | None = None,
    *,
    llm: str = "gpt-3.5-turbo",
    splits: Iterable[str] = ("overall",),
    n_tools: Iterable[str | int] = ("overall",),
    mode: Literal["add", "mul"] = "add",
    metric: Iterable[Metric] = ("all",),
    dependency_type: Literal["resource", "temporal"] = "resource",
    alignment: str | None = None,
    prompting: str = "cot",
) -> dict[str, Any]:
    """The original's ``evaluate.py`` as a function: its options, its defaults, its figures by group.

    Scores ``{data_dir}/{prediction_dir}/{llm}.json`` and writes ``{data_dir}/{save_dir}/{llm}.json``, in which groups that are not
    asked for now stay. Unlike the original it needs no network, its ROUGE is the plain mean, and one bad line costs that line alone.
    """
    domain = Path(data_dir)
    predictions = domain / prediction_dir / f"{llm}.json"
    if save_dir is None:
        folder = os.fspath(prediction_dir).replace("predictions", "metrics")
        suffix = f"_alignment_{alignment}" if alignment not in (None, "none") else ""
        save_dir = folder + suffix
    groups: dict[str, Any] = evaluate(
        domain,
        predictions,
        dependency_type=dependency_type,
        profile="legacy",
        metrics=metric,
        splits=splits,
        n_tools=n_tools,
        mode=mode,
        prompting=prompting,
        ids=_aligned(domain, alignment),
    )["legacy"]
    _update(domain / save_dir / f"{llm}.json", groups)
    return groups


def _aligned(domain: Path, alignment: str | None) -> list[SampleId] | None:
    """The ids that passed a critic; ``human`` is what ``data.json`` holds already."""
    if alignment in (None, "none", "human"):
        return None
    path = domain / "alignment_ids.json"
    try:
        methods = json.loads(path.read_text(encoding="utf-8"))[f"{alignment}_alignment_id"]
        return [one for method in methods.values() for one in method]
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise JarvisError(
            f"{path} has no list of samples that passed the critic `{alignment}`: {error!r}",
            hint="use none, human, node, link, both_node_link, self-check or all",
            code="usage",
            exit_code=2,
        ) from error


def _update(path: Path, groups: dict[str, Any]) -> None:
    """Puts groups into a file of figures."""
    hint = "name another folder with `save_dir`"
    try:
        known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        text = json.dumps({**known, **groups}, indent=2, ensure_ascii=False)
    except (OSError, *NO_JSON) as error:
        raise JarvisError(f"the figures cannot be written to {path}: {error}", hint=hint, code="failed") from error
    replace(path, text + "\n", "the figures", hint)
