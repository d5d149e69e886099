# SPDX-License-Identifier: Apache-2.0
import json
import pickle

import numpy as np
import pytest

import combinex as cx


def softmax(z):
    e = np.exp(z - z.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def test_training_gives_the_command_line_s_model(karate, tmp_path, command):
    path = tmp_path / "model.safetensors"
    command("train", "karate", "--model", "cheb", "--order", "2", "--epochs", "30", "--seed", "4", "-q", "-o", path)
    own = cx.train(karate, "cheb", order=2, epochs=30, seed=4)
    theirs = cx.load(path)
    assert own.hash() == theirs.hash()
    assert own.note("split") == theirs.note("split") and own.note("test_accuracy") == theirs.note("test_accuracy")
    own.save(tmp_path / "own.safetensors")
    assert (tmp_path / "own.safetensors").read_bytes() == path.read_bytes()


def test_predictions_are_the_command_line_s(karate, club, tmp_path, command):
    club.save(tmp_path / "m.safetensors")
    lines = command("predict", "karate", tmp_path / "m.safetensors", "--json").splitlines()
    expected = np.array([json.loads(line)["log_probs"] for line in lines])
    np.testing.assert_allclose(club.predict(karate), expected, rtol=1e-5, atol=1e-6)
    assert club.classes(karate).tolist() == [json.loads(line)["class"] for line in lines]


def test_predictions_by_hand(small):
    """One GraphConv layer without its neighbours' part is a linear layer and ReLU."""
    rng = np.random.default_rng(2)
    root, bias, head = rng.normal(size=(4, 3)), rng.normal(size=4), rng.normal(size=(2, 4))
    model = cx.Model.from_parameters(
        {"task": "node", "conv": "graphconv", "jk": "last", "pool": "none"},
        {
            "layers.0.lin_rel.weight": np.zeros((4, 3)),
            "layers.0.lin_rel.bias": bias,
            "layers.0.lin_root.weight": root,
            "output_layer.weight": head,
            "output_layer.bias": np.zeros(2),
        },
    )
    scores = np.maximum(small.x @ root.T + bias, 0) @ head.T
    np.testing.assert_allclose(np.exp(model.predict(small)), softmax(scores), rtol=1e-5)


def test_parameters_and_architecture_make_the_model_again(club, karate):
    again = cx.Model.from_parameters(club.arch, club.parameters)
    assert again.hash() == club.hash()
    assert pickle.loads(pickle.dumps(club)).hash() == club.hash()
    assert pickle.loads(pickle.dumps(club)).training == pytest.approx(club.training, nan_ok=True)


def test_errors_have_the_library_s_words(club, small, karate, tmp_path):
    with pytest.raises(cx.InvalidError, match="the model takes 34 features, the data has 3"):
        club.predict(small)
    with pytest.raises(cx.InvalidError, match="layers.0.lin.weight"):
        cx.Model.from_parameters({"task": "node", "conv": "gcn"}, {"layers.1.lin.weight": np.ones((2, 2))})
    with pytest.raises(cx.InvalidError, match="epochs: -1 is out of range"):
        cx.train(karate, epochs=-1)
    with pytest.raises(cx.InvalidError, match="model: 'no layer' is not one of auto, gcn, cheb, graphconv"):
        cx.train(karate, "no layer")
    with pytest.raises(cx.InvalidError, match="did you mean 'epochs'"):
        cx.train(karate, epoch=3)
    (tmp_path / "bad").write_bytes(b"nonsense")
    with pytest.raises(cx.InvalidError, match="bad"):
        cx.Model.load(tmp_path / "bad")
    with pytest.raises(TypeError):
        cx.Model()


def test_the_split(karate):
    part = cx.split(karate, seed=1)
    assert part.shape == (34,) and (part == 2).sum() == 7
    assert (cx.split(karate, seed=2) != part).any()


def test_progress_of_training(karate):
    seen = []
    cx.train(karate, epochs=3000, hidden=64, progress=lambda done, total, state: seen.append((done, total, state)))
    assert seen and all(total == 3000 for _, total, _ in seen)
    assert [done for done, _, _ in seen] == sorted(done for done, _, _ in seen)
    with pytest.raises(cx.CancelledError):
        cx.train(karate, epochs=1_000_000, progress=lambda *_: True)
    with pytest.raises(ZeroDivisionError):
        cx.train(karate, epochs=1_000_000, progress=lambda *_: 1 // 0)


def test_a_model_of_standardised_features_takes_the_data_as_it_is(tmp_path):
    rng = np.random.default_rng(3)
    y = np.arange(40) // 20
    x = np.stack([5000 + 30 * y + rng.normal(size=40), 0.001 * rng.normal(size=40)], axis=1).astype(np.float32)
    graph = cx.Graph(np.stack([np.arange(39), np.arange(1, 40)]), x, y=y)
    model = cx.train(graph, "cheb", epochs=80, learning_rate=0.01, train_share=1, standardise="auto")
    assert model.training["num_standardised"] == 2
    np.testing.assert_allclose(model.parameters["input.mean"], x.mean(axis=0), rtol=1e-5)
    told = model.predict(graph)
    assert (np.asarray(told.argmax(axis=1)) == y).mean() > 0.9
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(graph), told)
    assert again.hash() == model.hash()


def test_reproducible_models_are_the_command_line_s(karate, tmp_path, command):
    path = tmp_path / "model.safetensors"
    command("train", "karate", "--epochs", "30", "--seed", "4", "--reproducible", "-q", "-o", path)
    own = cx.train(karate, epochs=30, seed=4, reproducible=True)
    own.save(tmp_path / "own.safetensors")
    assert (tmp_path / "own.safetensors").read_bytes() == path.read_bytes()
    assert own.reproducible and not cx.load(path).reproducible  # which is how one computes, not what a model is


def test_pickles_stay_reproducible(club):
    again = pickle.loads(pickle.dumps(club))
    assert not again.reproducible
    again.reproducible = True
    assert pickle.loads(pickle.dumps(again)).reproducible


def test_reproducible_is_yes_or_no(club):
    with pytest.raises(cx.errors.InvalidError, match="reproducible"):
        club.reproducible = 2
    assert not club.reproducible


@pytest.mark.parametrize("kind, settings", [("gat", {"heads": 4, "no_self_loops": True}), ("gin", {"eps": 0.25, "mlp_hidden": 5}), ("sage", {"residual": True, "batch_norm": True})])
def test_settings_of_a_layer_are_kept_and_shown(karate, tmp_path, kind, settings):
    model = cx.train(karate, kind, hidden=8, epochs=2, **settings)
    model.save(tmp_path / "m.safetensors")
    back = cx.load(tmp_path / "m.safetensors")
    assert settings.items() <= model.settings.items() and back.settings == model.settings
    assert back.hash() == model.hash() and settings.items() <= back.arch.items()
    assert cx.Model.from_parameters(back.arch, back.parameters).hash() == model.hash()


def test_a_head_can_have_a_hidden_layer(karate, tmp_path):
    model = cx.train(karate, "sage", hidden=8, head_hidden=5, batch_norm=True, epochs=2)
    assert model.parameters["hidden_layer.weight"].shape == (5, 8)
    model.save(tmp_path / "m.safetensors")
    assert cx.load(tmp_path / "m.safetensors").hash() == model.hash()
    assert cx.Model.from_parameters(model.arch, model.parameters).hash() == model.hash()


def test_parameters_have_pyg_s_shapes(karate):
    shapes = {name: p.shape for name, p in cx.train(karate, "gat", hidden=8, heads=2, epochs=1).parameters.items()}
    assert shapes["layers.0.lin.weight"] == (8, 34) and shapes["layers.0.att_src"] == (1, 2, 4)
    assert shapes["layers.0.bias"] == (8,)
