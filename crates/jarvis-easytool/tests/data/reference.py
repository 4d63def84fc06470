"""Writes the cases and expected figures of the tests of scores and retrieval; uses none of the crate's code.

Run it in this folder: python3 reference.py
"""

import json
import math
import random
import re
from fractions import Fraction

NUMBER = re.compile(r"[-\u2212]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


def write(name, rows):
    with open(name, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def numbers(text):
    text = re.sub(r"(?<=[0-9]),(?=[0-9]{3})", "", str(text))
    return [float(found.replace("\u2212", "-")) for found in NUMBER.findall(text)]


def near(found, gold, share, least=0.0):
    return abs(Fraction(found) - Fraction(gold)) <= max(Fraction(share) * abs(Fraction(gold)), Fraction(least))


def wilson(count, n):
    z = 1.959963984540054
    p, middle = count / n, count + z * z / 2
    half = z * math.sqrt(n * p * (1 - p) + z * z / 4)
    low, high = (middle - half) / (n + z * z), (middle + half) / (n + z * z)
    return {"count": count, "n": n, "rate": p, "low": max(low, 0.0), "high": min(high, 1.0)}


def funcqa():
    # Question, gold answer, final answer, result of the last call, a person's verdict.
    cases = [
        ("How far is it in 7 hours?", "1,250.5", "After 7 hours it is 1250.5 km.", "1250.5", 1),
        ("How many are left of 892?", 758, "You have 758 left of 892.", "758", 1),
        ("What is the ratio?", "1.8476", "The ratio is 1.85.", "1.85", 0),
        ("What is the debt?", "-40", "The balance is \u221240.02 dollars", "3\n\n-40.02", 0),
        ("How likely is it?", 0.0031, "About 0.005.", "", 0),
        ("How many atoms?", 6.02e23, "There are 6.02e23 of them, not 6.02e22.", "602000000000000000000000", 0),
        ("How many people, 3% more?", "7,739,394", "7,739,394,264 people.", "7739394264", 0),
        ("Is there any?", 12, "There is none.", None, 0),
    ]
    rows = []
    for at, (question, gold, answer, call, human) in enumerate(cases, 1):
        wanted, found = numbers(gold)[-1], numbers(answer)
        last_call = numbers(call)[-1:] if call else []
        strict = [near(number, wanted, 0.001) for number in found]
        verdict = {
            "strict_last_number": bool(strict) and strict[-1],
            "strict_any_number": any(strict),
            "lenient_any_number": any(near(number, wanted, 0.01, 0.005) for number in found),
            "last_call_strict": any(near(number, wanted, 0.001) for number in last_call),
            "last_call_1pct": any(near(number, wanted, 0.01) for number in last_call),
        }
        steps = [{"logged_result": call}] if call is not None else []
        rows.append({"id": f"own-{at:03}", "question": question, "gold": {"answer": gold}, "steps": steps,
                     "final_answer": answer, "human_check": human, "verdict": verdict})
    write("funcqa_scores.jsonl", rows)
    names = list(rows[0]["verdict"])
    # The log lacks the answer to one more question, which counts as wrong.
    return {name: wilson(sum(row["verdict"][name] for row in rows), len(rows) + 1) for name in names}


def restbench():
    usages = {1: "GET /search/book", 2: "GET /book/{book_id}", 3: "GET /book/{book_id}/reviews",
              4: "GET /search/author", 5: "GET /author/{author_id}/books"}
    tools = [{"ID": id, "tool_name": usage.split()[1], "tool_description": f"Does {usage}.", "tool_usage": usage,
              "Example": {"Scenario": "", "Parameters": {"input": usage}}} for id, usage in usages.items()]
    with open("endpoints.json", "w", encoding="utf-8") as file:
        json.dump(tools, file, indent=1)
        file.write("\n")
    # Question, IDs of the plan, gold path.
    cases = [
        ("Who reviewed it?", [1, 3], ["GET /search/book", "GET /book/{book_id}/reviews"]),
        ("What else did she write?", [4, -1, 5, 2], ["GET /search/author ", "GET /author/{id}/books"]),
        ("Which is the longest?", [1, 2, 3], ["GET /search/book", "GET /book/{book_id}/reviews"]),
        ("Who wrote it?", [2, 1], ["GET /search/book", "GET /book/{book_id}"]),
        ("Is there one?", [-1], ["GET /search/book"]),
        ("All of hers?", [["4", 5], 1], ["GET /search/author", "GET  /author/{author_id}/books"]),
    ]
    tidy = lambda path: [re.sub(r"\{[^}]*\}", "{}", " ".join(step.split())) for step in path]
    inside = lambda gold, path: (lambda rest: all(step in rest for step in gold))(iter(path))
    rows, extra = [], []
    for at, (question, ids, gold) in enumerate(cases, 1):
        flat = [int(one) for id in ids for one in (id if isinstance(id, list) else [id])]
        path = [usages[id] for id in flat if id != -1]
        wanted, found = tidy(gold), tidy(path)
        windows = [found[start:start + len(wanted)] for start in range(len(found))]
        verdict = {"correct_path": inside(wanted, found), "exact": wanted == found, "contiguous": wanted in windows,
                   "correct_path_untrimmed": inside(gold, path)}
        if verdict["correct_path"]:
            extra.append(len(path) - len(gold))
        rows.append({"id": f"own-{at:03}", "question": question,
                     "task_path": [{"Task": f"step {step}", "ID": id} for step, id in enumerate(ids, 1)],
                     "tool_path": path, "gold_raw": gold, "verdict": verdict, "extractable": True})
    write("restbench_replay.jsonl", rows)
    questions = [{"query": question, "solution": gold} for question, _, gold in cases]
    write("restbench_questions.jsonl", questions + [{"query": "Not asked?", "solution": ["GET /search/book"]}])
    figures = {name: wilson(sum(row["verdict"][name] for row in rows), len(rows) + 1) for name in rows[0]["verdict"]}
    return figures | {"mean_extra_calls": sum(extra) / len(extra)}


def retrieval():
    random.seed(7)
    vector = lambda: [random.randint(-999, 999) / 1000 for _ in range(8)]
    rows = []
    for at, (size, k) in enumerate([(24, 5), (1, 5), (12, 1), (7, 7), (40, 10)]):
        catalogue = [vector() for _ in range(size)]
        if size > 6:
            # Equal directions stand in the catalogue's order, a vector of zeros is like nothing.
            catalogue[3], catalogue[5] = [2 * value for value in catalogue[1]], [0.0] * 8
        query = catalogue[1] if at == 3 else vector()
        norm = lambda vector: math.sqrt(math.fsum(value * value for value in vector))
        cosine = lambda row: math.fsum(map(lambda a, b: a * b, query, row)) / (norm(query) * norm(row) or 1.0)
        scores = [round(cosine(row), 9) for row in catalogue]
        best = sorted(range(size), key=lambda row: (-scores[row], row))[:k]
        rows.append({"id": f"own-{at}", "query": query, "k": k,
                     "catalogue": [{"id": 100 + row, "vector": vector} for row, vector in enumerate(catalogue)],
                     "result": [100 + row for row in best], "similarity": [scores[row] for row in best]})
    write("retrieval_oracle.jsonl", rows)


retrieval()
with open("expected.json", "w", encoding="utf-8") as file:
    json.dump({"funcqa": funcqa(), "restbench": restbench()}, file, indent=1)
    file.write("\n")
