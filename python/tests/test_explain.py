# SPDX-License-Identifier: Apache-2.0
import json
import pickle
import re
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import combinex as cx

EDGES = dict(target="any", features_to_vary="none", edges="undirected")
# All that have an answer have one of so many edits. Without a limit, those without one are
# searched for as many as there are, which takes a hundred times as long.
SHORT = dict(EDGES, max_edits=20)


def without_time(text):
    return re.sub(r"· [0-9.]+ m?s ·", "· TIME ·", text)


@pytest.fixture(scope="module")
def files(club, karate, tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    club.save(folder / "m.safetensors")
    karate.save(folder / "g.safetensors")
    return folder


@pytest.fixture(scope="module")
def everyone(club, karate):
    """All members, asked once."""
    return cx.explain_all(club, karate, **SHORT)


@pytest.fixture(scope="module")
def some(everyone):
    """Members with an answer, and what changes for them."""
    found = everyone.found[:12]
    assert len(found) == 12
    return [cf.row for cf in found], [cf.to_dict()["edits"] for cf in found]


@pytest.mark.parametrize("node", [0, 8, 14, 33])
@pytest.mark.parametrize("options", [SHORT, {}, {"epochs": 3}])
def test_it_says_what_the_command_line_says(club, karate, files, command, node, options):
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    theirs = command("explain", files / "g.safetensors", files / "m.safetensors", "--node", node, *flags)
    own = str(cx.explain(club, karate, node=node, **options))
    strip = lambda text: re.sub(r"· [0-9.]+ m?s", "· TIME", text).strip()
    assert strip(own) == strip(theirs)


def test_json_is_the_command_line_s_and_can_be_replayed(everyone, files, command):
    lines = [cf.to_json() for cf in everyone]
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in SHORT.items()]
    theirs = command("explain", files / "g.safetensors", files / "m.safetensors", "--all", "--json", *flags)
    strip = lambda line: {key: value for key, value in json.loads(line).items() if key != "seconds"}
    assert [strip(line) for line in lines] == [strip(line) for line in theirs.splitlines()]
    (files / "all.jsonl").write_text("\n".join(lines) + "\n")
    command("explain", files / "g.safetensors", files / "m.safetensors", "--replay", files / "all.jsonl")


def test_edits_flip_the_class(club, karate):
    for cf in cx.explain_all(club, karate, target="any").found:
        edited = cf.apply()
        assert club.classes(edited)[cf.row] == cf.result != cf.prediction
        np.testing.assert_allclose(club.predict(edited)[cf.row], cf.log_probabilities.after, atol=1e-5)
        np.testing.assert_allclose(cf.check(club), cf.log_probabilities.after, atol=1e-6)
        assert cf.prediction == club.classes(karate)[cf.row]


def test_the_fields_of_a_counterfactual(club, karate):
    cf = cx.explain(club, karate, node=8, **EDGES)
    assert cf.found and cf.status == "found" and cf.task == "node" and cf.row == 8 and cf.target is None
    assert cf.num_edits == len(cf.edits) == cf.num_edges_removed and cf.num_features_changed == 0
    before, after = cf.probabilities
    assert before.argmax() == cf.prediction and after.argmax() == cf.result
    assert before.sum() == pytest.approx(1, abs=1e-5) and after.sum() == pytest.approx(1, abs=1e-5)
    record = cf.to_dict()
    for edit, expected in zip(cf.edits, record["edits"]):
        assert edit.op == expected["op"] == "remove_edge"
        assert (edit.source, edit.target, edit.undirected) == (
            expected["source"],
            expected["target"],
            expected["undirected"],
        )
        assert str(edit) == f"remove edge {edit.source}–{edit.target}"
    assert record["model_sha256"] == club.hash() and record["data_sha256"] == karate.hash()
    with pytest.raises(AttributeError):
        cf.nonsense


def test_feature_edits(club, karate):
    cf = cx.explain(club, karate, node=14, keep_edges=True, target="any")
    assert cf.found and {edit.op for edit in cf.edits} == {"set_feature"}
    x = karate.x.copy()
    for edit in cf.edits:
        assert x[edit.node, edit.feature] == edit.before
        x[edit.node, edit.feature] = edit.after
    np.testing.assert_array_equal(cf.apply().x, x)


@pytest.mark.parametrize("options", [{"node": 14, "keep_edges": True, "target": "any"}, {"node": 8, **EDGES}])
def test_an_array_of_edits_has_the_fields_of_their_kind(club, karate, options):
    cf = cx.explain(club, karate, **options)
    assert cf.found
    for item, edit in zip(cf.edits_array, cf.edits):
        if edit.op == "remove_edge":
            assert (item["source"], item["target"], item["undirected"]) == (edit.source, edit.target, edit.undirected)
        else:
            assert (item["node"], item["feature"], item["from"], item["to"]) == (
                edit.node,
                edit.feature,
                edit.before,
                edit.after,
            )
        assert item["influence"] == edit.influence


def test_changed_features_remove_no_edge_of_the_picture(club, karate):
    from combinex._picture import surroundings

    for node in range(10, 20):  # edits of many nodes and features: no bytes of theirs are taken for an edge
        cf = cx.explain(club, karate, node=node, keep_edges=True, target="any")
        assert cf.found and not surroundings(cf, hops=1, most=None).removed


def test_finding_nothing_is_an_answer(club, karate):
    cf = cx.explain(club, karate, node=0, preset="paper", epochs=1)
    assert cf.status == "not_found" and not cf.found and cf.edits == [] and cf.probabilities.after is None
    assert "nothing found" in str(cf)


def test_all_is_each(club, karate):
    rows = [3, 30, 3, 7]
    together = cx.explain_all(club, karate, nodes=rows, threads=2, **EDGES)
    strip = lambda cf: {key: value for key, value in cf.to_dict().items() if key != "seconds"}
    assert [cf.row for cf in together] == rows
    for cf in together:
        assert strip(cf) == strip(cx.explain(club, karate, node=cf.row, **EDGES))


def test_which_rows(club, karate):
    mask = np.zeros(34, bool)
    mask[[2, 5]] = True
    quick = dict(preset="paper", epochs=1)
    assert [cf.row for cf in cx.explain_all(club, karate, nodes=mask, **quick)] == [2, 5]
    assert [cf.row for cf in cx.explain_all(club, karate, nodes=range(3), **quick)] == [0, 1, 2]
    assert len(cx.explain_all(club, karate, **quick)) == 34
    assert len(cx.explain_all(club, karate, nodes=[], **quick)) == 0
    for wrong, message in (
        ([34], "node 34 does not exist"),
        ([-1], "node -1"),
        ([True], "expected .34"),
        ([0.5], "whole"),
    ):
        with pytest.raises(cx.InvalidError, match=message):
            cx.explain_all(club, karate, nodes=wrong, **quick)
    with pytest.raises(cx.InvalidError, match="use nodes="):
        cx.explain_all(club, karate, graphs=[0])
    with pytest.raises(cx.InvalidError, match="which node"):
        cx.explain(club, karate)
    with pytest.raises(cx.InvalidError, match="node=, not graph="):
        cx.explain(club, karate, graph=3)


def test_many_answers(everyone):
    cfs = everyone
    table = cfs.table()
    assert table["node"] == list(range(34)) and len(table["edits"]) == 34
    assert len(cfs[:3]) == 3 and cfs[-1].row == 33 and len(cfs[:2] + cfs[:3]) == 5
    assert str(cfs).startswith(f"{len(cfs.found)} of 34 found")
    assert "<table>" in cfs._repr_html_()
    again = pickle.loads(pickle.dumps(cfs))
    assert [cf.to_json() for cf in again] == [cf.to_json() for cf in cfs]
    assert str(again[8]) == str(cfs[8])


def test_pandas(club, karate):
    pandas = pytest.importorskip("pandas", reason="no pandas here")
    frame = cx.explain_all(club, karate, nodes=[1, 2], **EDGES).to_pandas()
    assert isinstance(frame, pandas.DataFrame) and frame["node"].tolist() == [1, 2]


def test_networkx(club, karate):
    networkx = pytest.importorskip("networkx", reason="no networkx here")
    cf = cx.explain(club, karate, node=8, **EDGES)
    graph = cf.to_networkx()
    assert isinstance(graph, networkx.MultiDiGraph) and graph.nodes[8]["target"]
    removed = {tuple(sorted(ends)) for *ends, gone in graph.edges(data="removed") if gone}
    assert removed == {tuple(sorted((edit.source, edit.target))) for edit in cf.edits}


def test_pages_and_pictures_are_saved(club, karate, tmp_path):
    cf = cx.explain(club, karate, node=8, target="any", total_cfs=2, diverse=True)
    cf.save(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    start = page.index('id="data">') + len('id="data">')
    data = json.loads(page[start : page.index("</script>", start)])
    assert len(data["answers"]) == 2 and len(data["nodes"]) == 34
    assert data["answers"][0]["result"]["after"] == cf.to_dict()["after"]
    assert "undo" in data["answers"][1]
    cf.save(tmp_path / "picture.svg")
    assert "member 8" in (tmp_path / "picture.svg").read_text()
    with pytest.raises(ValueError, match="picture.gif.*html"):
        cf.save(tmp_path / "picture.gif")
    with pytest.raises(OSError, match="nowhere"):
        cf.save(tmp_path / "nowhere" / "page.html")
    again = pickle.loads(pickle.dumps(cf))
    again.save(tmp_path / "alone.html")  # without the model: what the answer says
    assert "undo" not in (tmp_path / "alone.html").read_text().split('id="data">')[1].split("</script>")[0]
    again.save(tmp_path / "again.svg", model=club)
    assert (tmp_path / "again.svg").read_bytes() == (tmp_path / "picture.svg").read_bytes()


def test_the_picture_shows_what_is_removed(club, karate):
    import xml.etree.ElementTree as xml

    cf = cx.explain(club, karate, node=8, **EDGES)
    html = cf._repr_html_()
    drawing = xml.fromstring(html[html.index("<svg") : html.index("</svg>") + 6])
    dashed = [line for line in drawing.iter("{http://www.w3.org/2000/svg}line") if "stroke-dasharray" in line.attrib]
    assert len(dashed) == cf.num_edges_removed + 1  # and one in the legend
    assert html == cf._repr_html_()


def test_a_notebook_shows_the_picture_that_is_saved(club, karate, tmp_path):
    cf = cx.explain(club, karate, node=8, **EDGES)
    cf.save(tmp_path / "picture.svg")
    html, saved = cf._repr_html_(), (tmp_path / "picture.svg").read_text()
    drawn = saved[saved.index("</desc>") :].strip()
    assert drawn in html and html.index("member 8: ") < html.index("<svg")
    other = cx.explain(club, karate, node=9, **EDGES)._repr_html_()
    assert not set(re.findall(r' id="[^"]*"', html)) & set(re.findall(r' id="[^"]*"', other))
    again = pickle.loads(pickle.dumps(cf))  # without the model: what the answer says
    assert "<svg" in again._repr_html_()


def test_a_group_is_one_change(tmp_path):
    (tmp_path / "edges.csv").write_text("source,target\n" + "".join(f"C-{i},C-{i + 1}\n" for i in range(0, 40, 2)))
    (tmp_path / "features.csv").write_text(
        "id,city,label\n" + "".join(f"C-{i},{'Rome' if i % 3 else 'Oslo'},{'no' if i % 3 else 'yes'}\n" for i in range(40))
        + "C-40,Rome,no\n"
    )
    graph = cx.load(tmp_path, symmetric=True)
    model = cx.train(graph, "sage", epochs=200, seed=1, train_share=1)
    cf = cx.explain(model, graph, node="C-4", own_features=True, keep_edges=True)
    assert cf.num_edits == 2 and cf.num_changes == 1
    assert len({edit.group for edit in cf.edits}) == 1 and cf.edits[0].group is not None
    assert "median 1 change" in str(cx.explain_all(model, graph, nodes=["C-4"], own_features=True, keep_edges=True))
    assert "city: Rome → Oslo" in str(cf)


def test_names_in_a_picture_are_text():
    rng = np.random.default_rng(0)
    edges = np.array([[0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2]])
    evil = ["<script>alert(1)</script>", "a & b", "c"]
    graph = cx.Graph(edges, rng.random((3, 2)), y=[0, 1, 0], node_names=evil)
    model = cx.train(graph, epochs=5, hidden=4)
    html = cx.explain(model, graph, node=0, target="any", preset="paper", epochs=5)._repr_html_()
    assert "<script>" not in html and "&lt;script&gt;" in html


# ---- options


def test_options_are_the_library_s(club, karate):
    assert "policy (linear | exponential" in cx.options("explain") and "combinex" in cx.explainers()
    cf = cx.explain(club, karate, node=8, lr=0.05, time_limit=3)
    assert cf.to_dict()["options"]["lr"] == 0.05 and cf.to_dict()["options"]["time-limit"] == 3
    assert cx.explain(club, karate, node=8, learning_rate=0.05).to_dict()["options"]["lr"] == 0.05
    assert cx.train(karate, epochs=1, lr=0.5).hash() == cx.train(karate, epochs=1, learning_rate=0.5).hash()
    assert cx.explain(club, karate, node=8, lr=None).to_dict()["options"]["lr"] == 0.1


def test_every_option_of_the_table_is_a_keyword(club, karate):
    from combinex._options import explain_table, h

    for option in explain_table.options:
        if option.fallback is None:
            continue
        name = option.name.decode().replace("-", "_")
        cx.explain(club, karate, node=8, **{"epochs": 1, name: option.fallback.decode()})
        cx.Rules(**{name: option.fallback.decode()})
        if option.type == h.CBX_OPTION_CHOICE:
            for word in explain_table.choices(name):
                cx.Rules(**{name: word})


@pytest.mark.parametrize(
    "options, message",
    [
        (dict(policy="none"), "policy: 'none' is not one of linear"),
        (dict(epochs=0), "epochs: 0 is out of range"),
        (dict(epoch=5), "no option 'epoch' (did you mean 'epochs'?)"),
        (dict(target="nobody"), "'nobody' is not next, any, or a class"),
        (dict(target=4), "class 4 does not exist: classes are 0 to 3"),
        (dict(preset="none"), "no preset 'none'"),
        (dict(edges="a\0b"), "zero byte"),
    ],
)
def test_wrong_options_are_refused_with_the_library_s_words(club, karate, options, message):
    with pytest.raises(cx.InvalidError) as caught:
        cx.explain(club, karate, node=8, **options)
    assert message in str(caught.value)


def test_rules(club, karate):
    rules = cx.Rules(desired_class="any", edges="undirected", features_to_vary="none")
    assert dict(rules) == dict(target="any", edges="undirected", features_to_vary="none")
    one = cx.explain(club, karate, node=8, rules=rules)
    assert one.to_dict()["options"] == cx.explain(club, karate, node=8, **EDGES).to_dict()["options"]
    other = cx.explain(club, karate, node=8, rules=rules, edges="directed")
    assert other.to_dict()["options"]["edges"] == "directed"
    with pytest.raises(cx.InvalidError, match="no option 'no-such-rule'"):
        cx.Rules(no_such_rule=1)


def test_values_as_the_command_line_writes_them():
    from combinex._options import as_text

    assert as_text(True) == "true" and as_text(np.bool_(False)) == "false"
    assert as_text([1, 2]) == "1,2" and as_text({"age": (0, 5), "sex": 1}) == "age:0:5,sex:1"
    assert as_text(np.array([3, 4])) == "3,4" and as_text(0.5) == "0.5" and as_text(np.float32(2)) == "2"
    assert as_text([(0, 1), (2, 3)]) == "0:1,2:3" and as_text({3, 1}) == "1,3" and as_text(1e-12) == "1e-12"


def test_a_preset_gives_way_to_options(club, karate):
    cf = cx.explain(club, karate, node=8, preset="paper", epochs=7)
    assert cf.to_dict()["options"]["epochs"] == 7 and cf.to_dict()["options"]["policy"] == "linear"


def test_a_trace(club, karate):
    cf = cx.explain(club, karate, node=8, trace=True, preset="paper", epochs=20)
    assert len(cf.trace) == 20 and np.isfinite(cf.trace["loss"]).all()
    assert len(cx.explain(club, karate, node=8, preset="paper", epochs=20).trace) == 0


# ---- progress, threads


def test_progress(club, karate):
    seen = []
    long = dict(preset="paper", epochs=200_000, target="any", time_limit=0.5)
    cx.explain(club, karate, node=8, progress=lambda *state: seen.append(state) and None, **long)
    assert seen and all(0 <= done <= total for done, total, _ in seen)
    stopped = cx.explain(club, karate, node=8, preset="paper", epochs=10_000_000, time_limit=0, progress=lambda *_: True)
    assert stopped.status == "cancelled"
    with pytest.raises(ZeroDivisionError):
        cx.explain(club, karate, node=8, preset="paper", epochs=10_000_000, time_limit=0, progress=lambda *_: 1 // 0)


def test_progress_of_many(club, karate):
    with pytest.raises(cx.CancelledError) as caught:
        cx.explain_all(club, karate, preset="paper", epochs=100_000, time_limit=0, progress=lambda done, *_: done >= 1)
    partial = caught.value.partial
    assert 0 < len(partial) < 34 and [cf.row for cf in partial] == list(range(len(partial)))


def test_a_bar(club, karate, capsys):
    cx.explain_all(club, karate, nodes=[0], preset="paper", epochs=10, progress=True)
    assert capsys.readouterr().err == ""  # no terminal, no bar


def test_threads_that_call_at_once(club, karate, everyone, some):
    rows, expected = some
    none = next(cf.row for cf in everyone if not cf.found)
    rows, expected = [none, *rows], [[], *expected]
    with ThreadPoolExecutor(8) as pool:
        long = pool.submit(cx.explain, club, karate, node=none, **EDGES)  # at work while others come and go
        one = list(pool.map(lambda node: cx.explain(club, karate, node=node, **SHORT).to_dict()["edits"], rows))
        many = list(pool.map(lambda _: cx.explain_all(club, karate, nodes=rows, threads=2, **SHORT), range(6)))
    assert not long.result().found
    assert one == expected
    for cfs in many:
        assert [cf.to_dict()["edits"] for cf in cfs] == expected


def test_other_threads_run_during_a_call(club, karate):
    """The interpreter's lock is not held: a thread counts while another searches."""
    done, counted = threading.Event(), [0]

    def search():
        cx.explain(club, karate, node=8, preset="paper", epochs=100_000_000, time_limit=0.5)
        done.set()

    thread = threading.Thread(target=search)
    thread.start()
    while not done.wait(0.01):
        counted[0] += 1
    thread.join()
    assert counted[0] > 10


def test_a_forked_process_can_go_on(club, karate, some):
    """OpenMP's threads do not survive a fork, so the child must do without."""
    import multiprocessing

    rows, expected = some
    assert [cf.to_dict()["edits"] for cf in cx.explain_all(club, karate, nodes=rows, threads=2, **SHORT)] == expected
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()

    def child():
        cx.train(karate, epochs=2, threads=2)
        club.predict(karate, threads=2)
        theirs.send([cf.to_dict()["edits"] for cf in cx.explain_all(club, karate, nodes=rows, threads=2, **SHORT)])

    process = context.Process(target=child)
    process.start()
    try:
        assert ours.poll(120), "the child hangs"
        assert ours.recv() == expected
        process.join(60)
        assert process.exitcode == 0
    finally:
        process.kill()


def test_graph_tasks():
    rng = np.random.default_rng(3)
    edges, batch, y, x = [], [], [], []
    for g in range(12):
        first = len(batch)
        ring = [(first + i, first + (i + 1) % 5) for i in range(5)]
        edges += ring + [(b, a) for a, b in ring]
        batch += [g] * 5
        x.append(rng.random((5, 3)) + g % 2)
        y.append(g % 2)
    graph = cx.Graph(np.array(edges).T, np.concatenate(x), batch=batch, y=y)
    model = cx.train(graph, epochs=100, hidden=8)
    cfs = cx.explain_all(model, graph, graphs=[1, 2], target="any")
    assert [cf.row for cf in cfs] == [1, 2] and all(cf.task == "graph" for cf in cfs)
    for cf in cfs.found:
        assert model.classes(cf.apply())[cf.row] == cf.result
        assert {n for n in cf.to_dict()["edits"] and [e.node for e in cf.edits if e.node is not None]} <= set(
            range(5 * cf.row, 5 * cf.row + 5)
        )
    assert cx.explain(model, graph, graph=2, target="any").row == 2
    with pytest.raises(cx.InvalidError, match="graph=, not node="):
        cx.explain(model, graph, node=2)


def test_files_and_names_do_as_well(files):
    cf = cx.explain(files / "m.safetensors", str(files / "g.safetensors"), node=8, **EDGES)
    assert cf.found and isinstance(cx.load(files / "m.safetensors"), cx.Model)
    assert cx.explain(files / "m.safetensors", "karate", node=8, **EDGES).to_dict()["edits"] == cf.to_dict()["edits"]
    with pytest.raises(TypeError, match="model is a int"):
        cx.explain(3, "karate", node=8)
    with pytest.raises(TypeError, match="data is a dict"):
        cx.explain(files / "m.safetensors", {}, node=8)


def test_answers_are_minimal_and_say_so(karate, club):
    cf = cx.explain(club, karate, node=8, target="any", total_cfs=3)
    assert cf.found and cf.certificate == "irreducible" and cf.cost == len(cf.edits)
    assert cf.margin > 0 and 0 <= cf.robustness <= 1
    assert 1 <= len(cf.others) <= 2 and all(other.found and not other.others for other in cf.others)
    assert all(other.edits != cf.edits for other in cf.others)


def test_rules_hold(karate, club):
    rules = cx.Rules(desired_class="any", features_to_vary="none", protected_edges="8-33", max_edits=4)
    cf = cx.explain(club, karate, node=8, rules=rules)
    assert all(edit.op == "remove_edge" and {edit.source, edit.target} != {8, 33} for edit in cf.edits)
    none = cx.explain(club, karate, node=8, features_to_vary="none", keep_edges=True)
    assert none.status == "not_found" and none.certificate == "proved_none"


def test_names_do_where_numbers_do(karate, club):
    by_name = cx.explain(club, karate, node="member 8", target="community 1")
    assert by_name.row == 8 and by_name.edits == cx.explain(club, karate, node=8, target=1).edits
    assert [cf.row for cf in cx.explain_all(club, karate, ["John A", 3], target="any")] == [33, 3]
    for pair in [("member 8", "John A"), (8, 33)]:
        cf = cx.explain(club, karate, node=8, protected_edges=[pair], features_to_vary="none", max_edits=4)
        assert all({edit.source, edit.target} != {8, 33} for edit in cf.edits)
    with pytest.raises(cx.InvalidError, match="there is no node 'Jon A'; did you mean 'John A'"):
        cx.explain(club, karate, node="Jon A")


def test_names_may_have_the_marks_of_lists():
    edges = np.array([[0, 1, 1, 2], [1, 0, 2, 1]])
    graph = cx.Graph(edges, np.eye(3, dtype=np.float32), y=[0, 1, 0], node_names=["a,b", 'x:"y', "z"])
    model = cx.train(graph, "gcn", epochs=20, train_share=1)
    cf = cx.explain(model, graph, "a,b", protected_edges=[("a,b", 'x:"y'), ("z", 'x:"y')], features_to_vary="none")
    assert cf.status == "not_found" and cf.certificate == "proved_none"


def test_reproducible_answers_say_so_and_leave_the_model_as_it_is(karate, club):
    usual = cx.explain(club, karate, 3, target="any")
    assert not usual.reproducible and '"reproducible"' not in usual.to_json()
    fixed = cx.explain(club, karate, 3, target="any", reproducible=True)
    assert fixed.reproducible and '"reproducible":true' in fixed.to_json()
    assert not club.reproducible
    again = pickle.loads(pickle.dumps(club))
    again.reproducible = True
    assert [a.reproducible for a in cx.explain_all(again, karate, [3, 4], target="any")] == [True, True]
    theirs = cx.explain_all(again, karate, [3], target="any", reproducible=False)[0]
    assert not theirs.reproducible and theirs.num_edits == usual.num_edits


def test_values_go_no_further_than_they_must_and_say_how_far(club, karate):
    nodes = np.arange(40)
    around = np.stack([nodes, (nodes + 1) % 40])
    graph = cx.Graph(
        x=np.stack([1000.5 + 100 * nodes, nodes % 7 / 7], axis=1).astype(np.float32),
        edge_index=np.concatenate([around, around[::-1]], axis=1),
        y=(nodes >= 20).astype(np.int64),
    )
    model = cx.train(graph, model="graphconv", epochs=60, seed=1)
    cf = cx.explain(model, graph, node=15, target="any", keep_edges=True, features_to_vary="0")
    assert cf.certificate == ("optimal" if len(cf.edits) == 1 else "irreducible") and cf.unusual_values == 0
    assert 0 < cf.plausibility < 100
    assert 0 < cf.l1_mad == pytest.approx(sum(abs(e.after - e.before) for e in cf.edits) / 1000, rel=0.1)
    assert max(e.after for e in cf.edits) < graph.x.max()
    assert cf.cost == pytest.approx(len(cf.edits) + cf.l1_mad)
    dear = cx.explain(model, graph, node=15, target="any", keep_edges=True, features_to_vary="0", feature_cost={0: 5})
    assert dear.cost == pytest.approx(5 * cf.cost)
    few = cx.explain(model, graph, node=15, target="any", keep_edges=True, features_to_vary="0", cost="edits")
    assert few.cost == len(few.edits)
    without = cx.explain(club, karate, node=8, features_to_vary="none")
    assert without.l1_mad is None and without.plausibility is None


def test_as_is_a_word_of_pythons_and_so_the_option_has_another():
    model = cx.train("karate", epochs=60, seed=1)
    for node in range(10):
        cf = cx.explain(model, "karate", node=node, as_="self")
        for edit in cf.to_dict()["edits"]:
            assert node in (edit.get("node"), edit.get("source"), edit.get("target"))
    assert dict(cx.Rules(as_="self")) == {"as": "self"}


def test_what_a_method_trains_is_told_and_kept(club, karate, tmp_path):
    asked = {"node": 8, "target": "any", "explainer": "rcexplainer", "trained": str(tmp_path)}
    cf = cx.explain(club, karate, **asked)
    assert cf.trained_parameters > 1000 and len(list(tmp_path.iterdir())) == 1
    again = cx.explain(club, karate, **asked)
    assert again.trained_seconds == pytest.approx(cf.trained_seconds, rel=1e-5) and again.edits == cf.edits
    assert cx.explain(club, karate, node=8).trained_parameters == 0
