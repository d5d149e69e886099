#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""keeps_rules.py FOLDER RULES < ANSWERS: do answers, as 'explain --json' writes them, keep the rules?

The tables of the folder are read here, and the rules are written here a second time: nothing comes from the library but
the answers. RULES are the words of the command line. Prints how many answers were found; exits with 1 where one breaks
a rule, and says which."""

import csv
import json
import sys


def read_tables(folder):
    with open(f"{folder}/features.csv", encoding="utf-8") as file:
        people = {row["id"]: row for row in csv.DictReader(file)}
    with open(f"{folder}/edges.csv", encoding="utf-8") as file:
        links = {frozenset((row["source"], row["target"])) for row in csv.DictReader(file)}
    return people, links


def edited(people, answer):
    """By person: columns as they are after the edits, groups as one text; and the links that go."""
    names = list(people)
    rows = {who: dict(row) for who, row in people.items()}
    gone = set()
    turned_on = {}
    for edit in answer["edits"]:
        if edit["op"] == "remove_edge":
            gone.add(frozenset((names[edit["source"]], names[edit["target"]])))
            continue
        who, (column, _, word) = names[edit["node"]], edit["name"].partition("=")
        if not word:
            rows[who][column] = edit["to"]
        elif edit["to"] == 1:
            turned_on.setdefault((who, column), []).append(word)
        elif edit["to"] != 0:
            raise SystemExit(f"{edit['name']} of {who} becomes {edit['to']}")
        else:
            turned_on.setdefault((who, column), [])
    for (who, column), words in turned_on.items():
        if len(words) != 1:
            raise SystemExit(f"{column} of {who} is {words}: not one of its words")
        rows[who][column] = words[0]
    return rows, gone


def changed(people, rows):
    return {(who, column): (people[who][column], after) for who, row in rows.items() for column, after in row.items()
            if after != people[who][column] and not (numeric(after) and float(after) == float(people[who][column]))}


def numeric(value):
    try:
        float(value)
    except ValueError:
        return False
    return True


def parts(links):
    """Every node's part of the graph, as a set."""
    part = {}
    for link in links:
        together = set(link).union(*(part.get(node, {node}) for node in link))
        for node in together:
            part[node] = together
    return part


def broken(rules, me, people, links, changes, gone):
    """What is wrong, or None."""
    touched = {who for who, _ in changes}
    values = {column: (float(a), float(b)) for (_, column), (a, b) in changes.items() if numeric(a) and numeric(b)}
    every = [(who, column, a, b) for (who, column), (a, b) in changes.items()]
    left = links - gone
    for name, value in rules.items():
        listed = value.split(",")
        if name == "only-up" and any(c in listed and float(b) < float(a) for _, c, a, b in every):
            return "goes down"
        if name == "only-down" and any(c in listed and float(b) > float(a) for _, c, a, b in every):
            return "goes up"
        if name == "step" and any(c == listed[0].split(":")[0] and float(b) % float(listed[0].split(":")[1])
                                  for _, c, a, b in every):
            return "is no multiple"
        if name == "if-changed" and any(c == value.split(":")[0] and (who, value.split(":")[1]) not in changes
                                        for who, c, _, _ in every):
            return "changes alone"
        if name == "immutable-features" and any(c in listed for _, c, _, _ in every):
            return "changes"
        if name == "features-to-vary" and any(c not in listed for _, c, _, _ in every):
            return "changes"
        if name == "permitted-range":
            column, low, high = value.split(":")
            if column in values and any(c == column and not float(low) <= float(b) <= float(high)
                                        for _, c, _, b in every):
                return "is out of range"
        if name == "immutable-nodes" and (touched & set(listed) or any(link & set(listed) for link in gone)):
            return "is touched"
        if name == "protected-edges" and frozenset(value.split(":")) in gone:
            return "goes"
        if name in ("own-features", "as") and touched - {me}:
            return "is somebody else's"
        if name in ("own-edges", "as") and any(me not in link for link in gone):
            return "is somebody else's link"
        if name == "keep-edges" and gone:
            return "goes"
        if name == "max-edits" and len(changes) + len(gone) > int(value):
            return "are too many"
        if name == "keep" and value == "connected" and parts(left) != parts(links):
            return "falls apart"
        if name == "keep" and value == "no-isolated" and set().union(*left, set()) != set().union(*links):
            return "is left alone"
    return None


def main():
    people, links = read_tables(sys.argv[1])
    words = sys.argv[2:]
    rules = {word[2:].partition("=")[0]: word.partition("=")[2] for word in words}
    found = 0
    for line in sys.stdin:
        answer = json.loads(line)
        if answer["status"] != "found":
            continue
        found += 1
        me = list(people)[answer["node"]]
        rows, gone = edited(people, answer)
        changes = changed(people, rows)
        wrong = broken(rules, me, people, links, changes, gone)
        if "stopping-threshold" in rules and max(answer["after"]["probabilities"]) < float(rules["stopping-threshold"]):
            wrong = "is not likely enough"
        if wrong:
            raise SystemExit(f"{' '.join(words)}: {me}: {changes} {gone}: {wrong}")
    print(found)


main()
