# SPDX-License-Identifier: Apache-2.0
"""Texts that are almost JSON, and what Python's json says of each. test_json.c reads them.

    python3 tests/core/json_damaged.py > tests/core/json_damaged.txt

A line is a text in hexadecimal digits, and behind it the value as Python writes it, where it is
one. json.h asks for more than Python does; that is looked at here."""

import json
import math
import random

GOOD = [
    '{"k\\n":"caf\\u00e9 é \\ud83d\\ude00","s":[2, 30]}'.encode(),
    b'{"z":[null,true,false,-0.5,1e3,12],"a":{"a":{}}}',
    b'[-12.5e-3, 0,"\\"\\\\\\/\\b\\f\\t", 9223372036854775807]',
]
ALPHABET = [bytes([c]) for c in b'{}[]",:\\u0123e.-+ tfn\xc3\xa9\x80\x01\xed\xa0']
EACH = 300


def damage(rng, text):
    for _ in range(rng.choice([1, 1, 2])):
        at, c = rng.randrange(len(text)), rng.choice(ALPHABET)
        text = text[:at] + rng.choice([c + text[at + 1 :], text[at + 1 :], c + text[at:]])
    return text


def refuse(text):
    raise ValueError(text)


def whole(text):
    return int(text) if -(2**63) <= int(text) < 2**63 else refuse(text)


def real(text):
    return float(text) if math.isfinite(float(text)) else refuse(text)


def members(pairs):
    return dict(pairs) if len(dict(pairs)) == len(pairs) else refuse("a name twice")


def judged(text):
    """The value, as text, or nothing."""
    try:
        value = json.loads(
            text.decode(), parse_int=whole, parse_float=real, parse_constant=refuse, object_pairs_hook=members
        )
        written = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        written.encode()  # no half characters
        return refuse("NUL") if "\\u0000" in json.dumps(value).replace("\\\\", "") else written
    except ValueError:
        return ""


def main():
    rng = random.Random(1)
    for good in GOOD:
        texts = [good] + [damage(rng, good) for _ in range(EACH)]
        for text in texts:
            print(f"{text.hex()} {judged(text)}".strip())


main()
