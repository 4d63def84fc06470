"""Figures of the sample domains in examples/taskbench and of the domains beside this file, after the rules in docs/taskbench.md and by none of the crate's code.

Run it in this folder to write expected.json anew: python3 reference.py
It knows no repairs: the samples need none but a bare text where steps are a list.
"""

import json
import pathlib
import re
from collections import Counter, deque

EXAMPLES = pathlib.Path(__file__).resolve().parents[4] / "examples/taskbench"
ENDINGS = {
    "image": ".jpg .png .jpeg .gif .bmp .tiff .svg .ico".split(),
    "audio": ".mp3 .wav .wma .ogg .aac .flac .aiff .au".split(),
    "video": ".mp4 .avi .mov .flv .wmv .mkv .webm .m4v .mpg .mpeg".split(),
}


def read_lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def kind(text):
    return next((kind for kind, endings in ENDINGS.items() if any(ending in text for ending in endings)), "text")


def plan(result, tools, resource):
    """Names, arguments, links by name and by place, steps; empty when the nodes are no list."""
    nodes = result.get("task_nodes") if result else None
    if not isinstance(nodes, list):
        return {"nodes": [], "arguments": set(), "links": set(), "edges": [], "steps": "", "malformed": bool(result)}
    names = [node["task"].replace("_", " ") for node in nodes]
    arguments, links, edges = set(), set(), []
    for at, node in enumerate(nodes):
        for argument in node.get("arguments") or []:
            if not resource:
                value = argument["value"]
                arguments.add((names[at], argument["name"], value if isinstance(value, str) else json.dumps(value)))
                continue
            references = [int(place) for place in re.findall(r"<node-(\d+)>", argument)]
            for place in references:
                if place == at or place >= len(names):
                    arguments.add((names[at], "dangling reference", f"<node-{place}>"))
                else:
                    made = tools.get(names[place])
                    arguments.add((names[at], made[0] if made else "other", names[place]))
                    links.add((names[place], names[at]))
                    edges.append((place, at))
            if not references:
                arguments.add((names[at], kind(argument), argument))
    if not resource:
        links = {(link["source"].replace("_", " "), link["target"].replace("_", " ")) for link in result.get("task_links") or []}
        edges = [(a, b) for a, x in enumerate(names) for b, y in enumerate(names) if (x, y) in links]
    steps = result.get("task_steps") or ""
    steps = steps if isinstance(steps, str) else "\n".join(steps)
    return {"nodes": names, "arguments": arguments, "links": links, "edges": edges, "steps": steps, "malformed": False}


def common_length(a, b):
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            table[i + 1][j + 1] = table[i][j] + 1 if x == y else max(table[i][j + 1], table[i + 1][j])
    return table[-1][-1]


def distance(a, b):
    return 0.0 if not a and not b else 1 - 2 * common_length(a, b) / (len(a) + len(b))


def in_order(plan):
    """The nodes so that links go forward; of those that could come next, the first in the list does."""
    waiting, order = set(range(len(plan["nodes"]))), []
    while waiting:
        free = [node for node in waiting if not any(b == node and a in waiting and a != b for a, b in plan["edges"])]
        node = min(free or waiting)
        waiting.discard(node)
        order.append(plan["nodes"][node])
    return order


def f1(common, predicted, gold):
    return 2 * common / (predicted + gold) if predicted + gold else 0.0


def rouge(gold, predicted):
    if gold == predicted:
        return [1.0, 1.0, 1.0]
    a, b = (re.findall("[a-z0-9]+", text.lower()) for text in (gold, predicted))
    values = []
    for n in (1, 2):
        grams = [Counter(tuple(words[at : at + n]) for at in range(len(words) - n + 1)) for words in (a, b)]
        values.append(f1(sum((grams[0] & grams[1]).values()), sum(grams[1].values()), sum(grams[0].values())))
    return values + [f1(common_length(a, b), len(b), len(a))]


def strict(folder, resource):
    tools = json.loads((folder / "tool_desc.json").read_text())["nodes"]
    tools = {tool["id"].replace("_", " "): tool.get("output-type") for tool in tools}
    said = {line["id"]: line["result"] for line in read_lines(folder / "predictions/example-model.json")}
    sums = {name: [0, 0, 0] for name in ("nodes", "links", "argument_names", "argument_values")}
    per_tool = {name: [0, 0, 0] for name in tools}
    lists, topological, rouges, exact, missing, malformed = [], [], [], 0, 0, 0
    gold = read_lines(folder / "data.json")
    for line in gold:
        wanted, found = plan(line, tools, resource), plan(said.get(line["id"]), tools, resource)
        missing += line["id"] not in said
        malformed += found["malformed"]
        sets = lambda plan: {
            "nodes": set(plan["nodes"]),
            "links": plan["links"],
            "argument_names": {(task, name) for task, name, _ in plan["arguments"]},
            "argument_values": plan["arguments"],
        }
        both = (sets(wanted), sets(found))
        for name, sum_ in sums.items():
            for at, more in enumerate((both[0][name] & both[1][name], both[1][name], both[0][name])):
                sum_[at] += len(more)
        for tool, counts in per_tool.items():
            in_gold, in_found = tool in wanted["nodes"], tool in found["nodes"]
            for at, more in enumerate((in_gold and in_found, in_found, in_gold)):
                counts[at] += more
        exact += sorted(wanted["nodes"]) == sorted(found["nodes"])
        lists.append(distance(wanted["nodes"], found["nodes"]))
        topological.append(distance(in_order(wanted), in_order(found)))
        rouges.append(rouge(wanted["steps"], found["steps"]))
    mean = lambda values: sum(values) / len(values)
    occurring = [counts for counts in per_tool.values() if counts[1] + counts[2]]
    return {
        "samples": len(gold), "missing": missing, "malformed": malformed, **sums, "exact": exact / len(gold),
        "macro_f1": mean([f1(*counts) for counts in occurring]),
        "edit_distance": [mean(lists), mean(topological)],
        "rouge": [mean(column) for column in zip(*rouges)],
    }


def gnn4taskplan(folder):
    """The chains of the domain; repeated items count in lengths, so that they cost even an identical plan."""
    tools = {tool["id"] for tool in json.loads((folder / "tool_desc.json").read_text())["nodes"]}
    linked = {(link["source"], link["target"]) for link in json.loads((folder / "graph_desc.json").read_text())["links"]}
    said = {line["id"]: line["result"] for line in read_lines(folder / "predictions/example-model.json")}
    columns = []
    for line in read_lines(folder / "data.json"):
        if line["type"] != "chain" or line["id"] not in said:
            continue
        listed = lambda plan, key: plan[key] if isinstance(plan.get(key), list) else []
        names = lambda plan: [node["task"] for node in listed(plan, "task_nodes")]
        links = lambda plan: [(link["source"], link["target"]) for link in listed(plan, "task_links")]

        def score(predicted, gold):
            if not predicted or not gold:
                return 0.0
            common = len(set(predicted) & set(gold))
            precision, recall = common / len(predicted), common / len(gold)
            return 2 * precision * recall / (precision + recall + 1e-9)

        found = said[line["id"]]
        node_f1 = score(names(found), names(line))
        unknown = sum(name not in tools for name in names(found)) / max(len(names(found)), 1)
        off = sum(link not in linked for link in links(found)) / max(len(links(found)), 1)
        columns.append([node_f1, score(links(found), links(line)), node_f1 >= 0.99, unknown, unknown > 0, off, off > 0])
    keys = ("NF", "LF", "Acc", "NH-1", "NH-2", "LH-1", "LH-2")
    return {"samples": len(columns), **{key: sum(column) / len(columns) for key, column in zip(keys, zip(*columns))}}


def graph(folder):
    document = json.loads((folder / "graph_desc.json").read_text())
    tools = [tool["id"] for tool in document["nodes"]]
    after = {tool: {link["target"] for link in document["links"] if link["source"] == tool} for tool in tools}
    distances = {}
    for start in tools:
        far, queue = {start: 0}, deque([start])
        while queue:
            tool = queue.popleft()
            for follower in sorted(after[tool]):
                if follower not in far:
                    far[follower] = far[tool] + 1
                    queue.append(follower)
        distances[start] = far
    targets = set().union(*after.values())
    return {
        "tools": len(tools),
        "links": len(document["links"]),
        "sources": [tool for tool in tools if after[tool] and tool not in targets],
        "sinks": [tool for tool in tools if not after[tool] and tool in targets],
        "largest_circle": max(sum(a in distances[b] for b in distances[a]) for a in tools),
        "longest_shortest_path": max(max(far.values()) for far in distances.values()),
    }


if __name__ == "__main__":
    figures = {}
    here = pathlib.Path(__file__).resolve().parent
    for folder, resource in (
        (EXAMPLES / "data_studio", True),
        (EXAMPLES / "data_errands", False),
        (here / "without_arguments", False),
    ):
        name = folder.name
        figures[name] = {"strict": strict(folder, resource), "gnn4taskplan": gnn4taskplan(folder), "graph": graph(folder)}
    target = pathlib.Path(__file__).with_name("expected.json")
    target.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
