"""The translator's engine in JavaScript does in the browser what the package does in Python."""

import copy
import importlib.util
import json
import random
import struct
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
import torch
from safetensors.torch import save
from torch.nn.utils.rnn import pad_sequence

from glassformer.data.grammar import make_corpus
from glassformer.data.tokenizer import Tokenizer
from glassformer.data.vocabulary import END_ID, PAD_ID, START_ID
from glassformer.decoding.beam import beam_search
from glassformer.decoding.greedy import greedy_decode
from glassformer.inspection import ablate_heads, find_attentions, record_attention
from glassformer.modules.storage import save_model
from glassformer.modules.transformer import Transformer, TransformerConfig
from glassformer.translator import Translator, locate_translator
from glassformer.widgets.live import STATIC

EXTENSION = Path(__file__).parents[2] / "_ext/live_figures.py"
SPEC = importlib.util.spec_from_file_location("live_figures", EXTENSION)
live_figures = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(live_figures)
ENGINE = STATIC / "translator"
SCRIPTS = sorted(path.stem for path in ENGINE.glob("*.js"))
SHIPPED = locate_translator("en-fr")
MARKS = {"start_id": START_ID, "end_id": END_ID, "forbidden_ids": (START_ID,)}
CLOSE = 1e-5

HELPERS = """
globalThis.bytesOf = async (name) => (await fetch(name)).arrayBuffer();
globalThis.textOf = async (name) => (await fetch(name)).text();

globalThis.filesIn = async (folder) => ({
  model: await textOf(`${folder}/model.json`),
  weights: await bytesOf(`${folder}/model.safetensors`),
  tokenizer: await textOf(`${folder}/tokenizer.json`),
});

globalThis.loadModel = async (folder) => {
  const { readConfiguration, readSafetensors, Transformer } = glassformer;
  const config = readConfiguration(await textOf(`${folder}/model.json`));
  return new Transformer(config, readSafetensors(await bytesOf(`${folder}/model.safetensors`)));
};

/** How far what `inspect` gives for each pair of sentences is from what Python gave. */
globalThis.worstDifferences = async (model, pairs, heads, name) => {
  const expected = glassformer.readSafetensors(await bytesOf(name));
  const worst = { logits: 0, maps: 0 };
  const compare = (kind, computed, wanted) => {
    let place = 0;
    for (const row of computed) {
      for (const number of row) {
        const difference = Math.abs(number - wanted[place++]);
        if (!(difference <= worst[kind])) worst[kind] = difference; // NaN, too
      }
    }
    if (place !== wanted.length) throw new Error(`${place} numbers, not ${wanted.length}`);
  };
  pairs.forEach(([source, target], number) => {
    const { maps, logits } = glassformer.inspect(model, source, target, { switchedOff: heads });
    compare("logits", logits, expected.get(`${number}.logits`).values);
    for (const name of model.attentionNames) {
      compare("maps", maps[name].flat(), expected.get(`${number}.${name}`).values);
    }
  });
  return worst;
};
"""


POLICY = "default-src 'none'; script-src 'self'; connect-src 'self'; worker-src 'self'"


@contextmanager
def serve(files):
    """Serve files by name on this machine, to pages that let no other script run; yield the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            content = files.get(self.path[1:])
            self.send_response(200 if self.path[1:] in files else 404)
            suffix = self.path.rpartition(".")[2]
            kind = {"/": "text/html", "js": "text/javascript"}.get(suffix, "application/octet-stream")
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Security-Policy", POLICY)
            if content is None:
                self.send_header("Content-Length", "7")
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


class Engine:
    """A page that holds nothing but the scripts and the shipped translator."""

    def __init__(self, page, files, address):
        self._page, self._files, self.complaints = page, files, []
        page.on("console", lambda message: self._complain(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(address)
        self.run("""async () => {
          globalThis.shipped = await filesIn("shipped");
          globalThis.translator = glassformer.loadTranslator(shipped);
        }""")

    def _complain(self, text):
        if not text.startswith("Failed to load resource"):  # the tests ask for files that are not there
            self.complaints.append(text)

    def give(self, name, content):
        """Let the page fetch a file."""
        self._files[name] = content
        return name

    def run(self, function, argument=None):
        return self._page.evaluate(function, argument)


@pytest.fixture(scope="module")
def engine(browser):
    scripts = "".join(f"<script src={name}.js></script>" for name in [*SCRIPTS, "helpers"])
    files = {
        "": f"<!doctype html><title>Engine</title>{scripts}".encode(),
        "favicon.ico": b"",
        "helpers.js": HELPERS.encode(),
        **{f"{name}.js": (ENGINE / f"{name}.js").read_bytes() for name in SCRIPTS},
        **{f"shipped/{path.name}": path.read_bytes() for path in SHIPPED.iterdir()},
    }
    with serve(files) as address:
        context = browser.new_context()
        engine = Engine(context.new_page(), files, address)
        yield engine
        context.close()
    assert engine.complaints == []


@pytest.fixture(scope="module")
def translator():
    return Translator.load("en-fr")


def sentences(count):
    """Everyday sentences of many lengths, different ones, always the same."""
    people = ["I", "You", "My brother", "The old woman", "Tom and Mary", "Our teacher", "She", "They"]
    deeds = [
        "saw the dog",
        "didn't like that film",
        "will buy a new car",
        "never drank coffee",
        "lost the key",
    ]
    times = ["", " yesterday", " because it was raining", " before we went home", ", didn't they", " in 2013"]
    simple = [f"{who} {did}{when}." for who, did, when in product(people, deeds, times)]
    things = ["the station", "your father", "my book", "the red house", "Mary's little sister", "the exit"]
    questions = [
        f"{ask} {thing}?" for ask, thing in product(["Where is", "Who knows", "Can you see"], things)
    ]
    corpus, _ = make_corpus(np.random.default_rng(0), train_size=30, test_size=30)
    grammar = [" ".join(example.source) + "." for example in corpus]
    others = [
        "Hello!",
        "I'm tired.",
        "What's up?",
        "Don't touch it, it's hot!",
        "We don't know anything about it.",
    ]
    chosen = [*others, *grammar, *questions, *simple]
    random.Random(0).shuffle(chosen)
    return chosen[:count]


# ---- The tokenizer ----


def strings(count):
    """Every kind of text that a reader may type or paste, and some that nobody would."""
    chance = random.Random(0)
    alphabets = [
        "aeé\u0301\u0308t5 '’-.s",
        " \t\n\v\f\r\x1c\x85\xa0\u1680\u2009\u2028\u202f\u3000\ufeff\u200b'a",
        "".join(map(chr, range(0x20))) + "\x7fab '",
        "🙂👩\u200d💻🇫🇷👍🏽❤️ a'",
        "Ωя世界語العربيةहिन्दी한글ไทย½Ⅷ² '",
        "".join(map(chr, range(0x21, 0x180))) + " '",
        "\u1e9b\u0323\u212b\u2126\uac00\u1100\u1161\ufb01Å a",
    ]
    apart = ["l'animal", "qu’il", "aujourd’hui", "12,5", "'tis", "<end>", "rock 'n' roll"]
    words = [*" ".join(sentences(250)).split(), *apart]
    anything = [character for character in map(chr, range(0x3000)) if character.isprintable()]
    made = [
        "",
        " ",
        "'",
        "’ x",
        "l' animal",
        "\ufeffthe",
        "x" * 10_007,
        "é" * 3001,
        "' " * 1009,
        "the " * 1009,
    ]
    while len(made) < count:
        alphabet = chance.choice([*alphabets, words, words, anything])
        made.append(
            (" " if alphabet is words else "").join(chance.choices(alphabet, k=chance.randint(1, 13)))
        )
    return made


def test_every_string_has_the_ids_and_pieces_that_python_gives_it(engine, translator):
    texts = strings(4500)
    ids = translator.tokenizer.encode(texts)
    assert engine.run("texts => texts.map((text) => translator.tokenizer.encode(text))", texts) == ids
    few = slice(0, 1500)
    show = "rows => rows.map((ids) => ids.map((id) => translator.tokenizer.piece(id)))"
    assert engine.run(show, ids[few]) == [translator.tokenizer.pieces(text) for text in texts[few]]


def test_any_ids_are_decoded_as_python_decodes_them(engine, translator):
    chance = random.Random(1)
    size = translator.tokenizer.vocabulary_size
    rows = [translator.tokenizer.encode([text])[0] for text in strings(1500)]
    rows += [chance.choices(range(3, 259), k=chance.randint(1, 9)) for _ in range(1000)]  # stray bytes
    rows += [
        chance.choices(range(size), k=7) + chance.choices([START_ID, PAD_ID, END_ID, 400], k=3)
        for _ in range(500)
    ]
    decode = "rows => rows.map((ids) => translator.tokenizer.decode(ids))"
    assert engine.run(decode, rows) == translator.tokenizer.decode(rows)


def test_a_tokenizer_that_learnt_little_is_read_too(engine, tmp_path):
    for merges in ([], ["ab ab aba"] * 3):
        tokenizer = Tokenizer.train(merges, vocabulary_size=263)
        tokenizer.save(tmp_path / "tokenizer.json")
        text = (tmp_path / "tokenizer.json").read_text(encoding="utf-8")
        found = engine.run("text => new glassformer.Tokenizer(text).encode('abab ab aaba é')", text)
        assert [found] == tokenizer.encode(["abab ab aaba é"])


def test_half_a_character_is_refused_in_words(engine):
    assert "half a character" in refusal(engine, "() => translator.translate('a\\ud800')")


# ---- The model ----


def stack(rows):
    return pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=PAD_ID)


@torch.no_grad()
def expect(engine, model, pairs, heads=None):
    """What Python computes for pairs of sentences, where the page can fetch it.

    In float64: torch's own float32 is 1e-5 away from it.
    """
    model = copy.deepcopy(model).double()
    source_ids = stack([source for source, _ in pairs])
    target_ids = stack([[START_ID, *target[:-1]] for _, target in pairs])
    with record_attention(model) as weights_of, ablate_heads(model, heads or {}):
        logits = model(source_ids, target_ids)
    tensors = {}
    for number, (source, target) in enumerate(pairs):
        length = {"encoder": len(source), "decoder": len(target)}
        tensors[f"{number}.logits"] = logits[number, : len(target)]
        for name, weights in weights_of.items():
            queries = length[name.split(".")[0]]
            keys = len(source) if "cross" in name else queries
            tensors[f"{number}.{name}"] = weights[number, :, :queries, :keys]
    return engine.give(
        "expected", save({name: tensor.float().contiguous() for name, tensor in tensors.items()})
    )


def worst_differences(engine, model, pairs, script, heads=None):
    name = expect(engine, model, pairs, heads)
    function = f"async ([pairs, heads, name]) => worstDifferences({script}, pairs, heads, name)"
    return engine.run(function, [pairs, heads or {}, name])


@pytest.fixture(scope="module")
def pairs(translator):
    """The ids of sentences, and of their translations as Python writes them."""
    sources = [[*ids, END_ID] for ids in translator.tokenizer.encode(sentences(200))]
    written = greedy_decode(translator.model, stack(sources), **MARKS)
    return [
        (source, [id for id in row if id != PAD_ID])
        for source, row in zip(sources, written.tolist(), strict=True)
    ]


def test_logits_and_all_maps_are_those_of_torch(engine, translator, pairs):
    worst = worst_differences(engine, translator.model, pairs[:100], "translator.model")
    assert max(worst.values()) < CLOSE, worst


CONFIGS = {
    "post-norm": {"norm": "post"},
    "learned positions": {"positions": "learned", "max_length": 13},
    "rotary positions": {"positions": "rotary"},
    "linear bias": {"positions": "linear_bias"},
    "no positions": {"positions": "none"},
    "target tied": {"tie_embeddings": "target", "target_vocabulary_size": 43},
    "nothing tied": {"tie_embeddings": "none", "target_vocabulary_size": 43, "positions": "learned"},
    "one head": {"num_heads": 1, "num_decoder_layers": 1},
    "odd sizes": {"d_model": 21, "num_heads": 3, "d_ff": 5, "norm": "post"},
}


def make_model(seed=0, **settings):
    """A small model whose weights, biases and norms are all by chance."""
    sizes = {
        "source_vocabulary_size": 37,
        "target_vocabulary_size": 37,
        "d_model": 24,
        "num_heads": 3,
        "d_ff": 29,
    }
    layers = {"num_encoder_layers": 2, "num_decoder_layers": 3, "norm": "pre", "tie_embeddings": "all"}
    generator = torch.Generator().manual_seed(seed)
    model = Transformer(TransformerConfig(**(sizes | layers | settings)), generator=generator).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn(parameter.shape, generator=generator))
    return model


def give_model(engine, model, folder, **options):
    """Let the page fetch a model; the one it gets is what Python reads back."""
    save_model(model, folder, **options)
    for path in folder.iterdir():
        engine.give(f"small/{path.name}", path.read_bytes())
    return "await loadModel('small')"


@pytest.mark.parametrize("name", CONFIGS)
def test_every_setting_of_a_transformer_is_known(engine, tmp_path, name):
    model = make_model(**CONFIGS[name])
    pairs = [([3, 36, 5, 7, 11, 2], [9, 4, 4, 30, 17, 2]), ([8, 2], [3]), ([5] * 13, [6] * 13)]
    worst = worst_differences(engine, model, pairs, give_model(engine, model, tmp_path))
    assert max(worst.values()) < CLOSE, worst


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_numbers_of_each_size_are_read(engine, tmp_path, dtype):
    model = make_model()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(parameter.to(dtype))
        model.output_proj.weight[20, 0] = 2.0**-20  # below the normal numbers of float16
    worst = worst_differences(
        engine, model, [([3, 20, 2], [9, 20, 2])], give_model(engine, model, tmp_path, dtype=dtype)
    )
    assert max(worst.values()) < CLOSE, worst


HEADS = {
    "one of the encoder": {"encoder.layers.1.self_attention": [4]},
    "some of the decoder": {
        "decoder.layers.0.self_attention": [0, 5],
        "decoder.layers.2.self_attention": [1],
    },
    "one that looks at the source": {"decoder.layers.1.cross_attention": [3]},
    "some everywhere": {
        "encoder.layers.0.self_attention": [0, 1],
        "decoder.layers.2.self_attention": [2],
        "decoder.layers.0.cross_attention": [5],
    },
}


@pytest.mark.parametrize("name", HEADS)
def test_heads_are_switched_off_as_inspection_does(engine, translator, pairs, name):
    worst = worst_differences(engine, translator.model, pairs[:5], "translator.model", HEADS[name])
    assert max(worst.values()) < CLOSE, worst


def test_all_that_looks_at_the_source_can_be_switched_off(engine, translator, pairs):
    names = [name for name in find_attentions(translator.model) if name.endswith("cross_attention")]
    heads = {name: list(range(translator.model.config.num_heads)) for name in names}
    assert engine.run("() => glassformer.crossHeads(translator.model)") == heads
    worst = worst_differences(engine, translator.model, pairs[:5], "translator.model", heads)
    assert max(worst.values()) < CLOSE, worst
    blind = """([texts, switchedOff]) =>
      texts.map((text) => translator.translate(text, { switchedOff, maxLength: 9 }).text)"""
    one, other = engine.run(blind, [["I am a dog.", "We saw it once."], heads])
    assert one == other


def test_the_attentions_have_the_names_that_python_gives_them(engine, translator):
    names = engine.run("() => translator.model.attentionNames")
    assert set(names) == set(find_attentions(translator.model))


@pytest.mark.parametrize(
    "heads", [{"encoder.layers.3.self_attention": [0]}, {"encoder.layers.0.self_attention": [6]}]
)
def test_heads_that_are_not_there_are_named(engine, heads):
    function = "heads => translator.translate('No.', { switchedOff: heads })"
    assert next(iter(heads)) in refusal(engine, function, heads)


# ---- Decoding ----

# What is left of float32 after a sentence of sums.
NEAR = 3e-5


def test_greedy_decoding_writes_what_python_writes(engine, pairs):
    function = """rows =>
      rows.map((ids) => glassformer.finish(glassformer.greedy(translator.model, ids)).ids)"""
    found = engine.run(function, [source for source, _ in pairs])
    assert found == [target for _, target in pairs]


SEARCHES = [
    {"num_best": 4},
    {"length_penalty": "none", "beam_size": 3, "num_best": 2},
    {"length_penalty": "average"},
    {"alpha": 1.5, "beam_size": 6},
    {"max_length": 4, "num_best": 4},
]
IN_JAVASCRIPT = {
    "num_best": "numBest",
    "length_penalty": "lengthPenalty",
    "beam_size": "beamSize",
    "max_length": "maxLength",
}


def search(engine, rows, script="translator.model", **options):
    """What beam search finds in the browser."""
    function = f"""async ([rows, options]) => {{
      const model = {script};
      return rows.map((ids) => glassformer.finish(glassformer.beamSearch(model, ids, options)));
    }}"""
    return engine.run(
        function, [rows, {IN_JAVASCRIPT.get(name, name): value for name, value in options.items()}]
    )


def assert_same_hypotheses(found, wanted):
    for ours, theirs in zip(found, wanted, strict=True):
        assert [one["ids"] for one in ours] == [list(one.ids) for one in theirs]
        assert [one["ended"] for one in ours] == [one.ended for one in theirs]
        for name in ("score", "log_probability"):
            scores = [one["logProbability" if name == "log_probability" else name] for one in ours]
            np.testing.assert_allclose(scores, [getattr(one, name) for one in theirs], atol=NEAR)


@pytest.mark.parametrize("options", SEARCHES, ids=str)
def test_beam_search_finds_what_python_finds(engine, translator, pairs, options):
    rows = [source for source, _ in pairs[: 200 if options == {"num_best": 4} else 10]]
    wanted = beam_search(translator.model, stack(rows), **MARKS, **options)
    assert_same_hypotheses(search(engine, rows, **options), wanted)


def test_beam_search_is_the_same_in_a_model_that_never_ends(engine, tmp_path):
    model = make_model(positions="linear_bias")
    rows = [[3, 4, 5, 2], [8, 2], [30, 20, 10, 9, 2]]
    wanted = beam_search(model, stack(rows), **MARKS, beam_size=5, num_best=5)
    assert_same_hypotheses(
        search(engine, rows, give_model(engine, model, tmp_path), beam_size=5, num_best=5), wanted
    )


def test_each_step_of_a_search_can_be_seen(engine):
    steps = engine.run("""() => {
      const ids = translator.tokenize("I am tired.");
      return [...glassformer.beamSearch(translator.model, ids, { beamSize: 3 })];
    }""")
    followed = [{"ids": [], "logProbability": 0}]
    for step in steps:
        assert len(step["candidates"]) == 3
        for candidate in step["candidates"]:
            parent = followed[candidate["parent"]]
            assert candidate["ids"][:-1] == parent["ids"]
            assert candidate["logProbability"] <= parent["logProbability"]
        followed = step["beams"]
        assert followed == [one for one in step["candidates"] if one["fate"] == "followed"]
    assert followed == []
    assert {one["fate"] for step in steps for one in step["candidates"]} == {
        "followed",
        "complete",
        "dropped",
    }


def test_each_step_of_greedy_decoding_knows_all_probabilities(engine, translator, pairs):
    source, target = pairs[0]
    steps = engine.run(
        """ids => Array.from(glassformer.greedy(translator.model, ids), (step) => ({
          ...step,
          logProbabilities: Array.from(step.logProbabilities, (number) => Math.exp(number)),
          best: glassformer.likeliest(step.logProbabilities, 3).map(({ id }) => id),
        }))""",
        source,
    )
    assert steps[-1]["ids"] == target
    with torch.no_grad():
        logits = translator.model(torch.tensor([source]), torch.tensor([[START_ID, *target[:-1]]]))[0]
    wanted = logits.softmax(-1)
    wanted[:, [PAD_ID, START_ID]] = 0
    np.testing.assert_allclose([step["logProbabilities"] for step in steps], wanted, atol=NEAR)
    assert [step["best"] for step in steps] == wanted.topk(3).indices.tolist()


def test_chance_is_the_same_for_the_same_seed(engine):
    assert engine.run("""() => {
      const { seededRandom } = glassformer;
      const draw = (seed) => translator.sample("I am tired.", { random: seededRandom(seed) }).text;
      return draw(1) === draw(1) && [2, 3, 4, 5].some((seed) => draw(seed) !== draw(1));
    }""")


def test_tokens_are_drawn_as_often_as_the_model_finds_them_likely(engine, tmp_path):
    model, source, draws = make_model(), [3, 4, 5, 2], 4000
    drawn = engine.run(
        f"""async ([ids, draws]) => {{
          const model = {give_model(engine, model, tmp_path)};
          const options = {{ random: glassformer.seededRandom(7), temperature: 1.5, maxLength: 1 }};
          const draw = () => glassformer.finish(glassformer.sample(model, ids, options)).ids[0];
          return Array.from({{ length: draws }}, draw);
        }}""",
        [source, draws],
    )
    with torch.no_grad():
        logits = model(torch.tensor([source]), torch.tensor([[START_ID]]))[0, 0]
    logits[[PAD_ID, START_ID]] = -torch.inf
    probabilities = (logits / 1.5).softmax(-1).numpy()
    spread = np.sqrt(probabilities * (1 - probabilities) / draws)
    shares = np.bincount(drawn, minlength=len(probabilities)) / draws
    assert (np.abs(shares - probabilities) <= 4 * spread).all()


def test_without_heat_chance_is_greedy(engine):
    one, other = engine.run("""() => [
      translator.sample("Where is the exit?", { temperature: 0 }),
      translator.translate("Where is the exit?", { beamSize: 1 }),
    ].map(({ text }) => text)""")
    assert one == other


def test_learned_positions_limit_what_is_read_and_written(engine, tmp_path):
    script = give_model(engine, make_model(positions="learned", max_length=7), tmp_path)
    source = [3, 4, 5, 2]
    (found,) = search(engine, [source], script)[0]
    assert len(found["ids"]) <= 7
    too_long = f"async () => glassformer.finish(glassformer.greedy({script}, [3], {{ maxLength: 8 }}))"
    assert "at most 7" in refusal(engine, too_long)
    assert "position 7" in refusal(engine, f"async () => ({script}).encode([3, 3, 3, 3, 3, 3, 3, 2])")


@pytest.mark.parametrize(
    "options",
    [
        {"beamSize": 0},
        {"numBest": 5},
        {"lengthPenalty": "short"},
        {"alpha": -1},
        {"maxLength": 1.5},
    ],
    ids=str,
)
def test_an_option_that_does_not_fit_is_named(engine, options):
    assert next(iter(options)) in refusal(engine, "options => translator.translate('No.', options)", options)


# ---- The translator ----


def refusal(engine, function, argument=None):
    """The words of the Error that a function of the page ends in."""
    return engine.run(
        f"""async (argument) => {{
          try {{
            await ({function})(argument);
          }} catch (error) {{
            return error.constructor === Error ? error.message : `no plain Error, but ${{error.stack}}`;
          }}
          return "nothing was refused";
        }}""",
        argument,
    )


def test_a_translation_comes_with_all_that_there_is_to_show(engine, translator):
    text = "The animal didn't cross the street because it was too tired."
    best = translator.translate_num_best([text], num_best=2)[0]
    found = engine.run("text => translator.translate(text, { numBest: 2, maps: true })", text)
    assert found["text"] == best[0].text
    assert [one["text"] for one in found["hypotheses"]] == [one.text for one in best]
    assert found["score"] == pytest.approx(best[0].score, abs=NEAR)
    assert found["source"]["pieces"] == [*translator.tokenizer.pieces(text), "<end>"]
    assert found["target"]["pieces"][-1] == "<end>"
    assert translator.tokenizer.decode([found["target"]["ids"]]) == [found["text"]]
    for name, heads in found["maps"].items():
        source, target = len(found["source"]["ids"]), len(found["target"]["ids"])
        sizes = {"encoder": (source, source), "decoder": (target, source if "cross" in name else target)}
        assert len(heads) == translator.model.config.num_heads
        assert {len(queries) for queries in heads} == {sizes[name.split(".")[0]][0]}
        assert {len(keys) for queries in heads for keys in queries} == {sizes[name.split(".")[0]][1]}


@pytest.mark.parametrize("text", ["", " \t\u00a0\n"])
def test_a_blank_sentence_becomes_an_empty_one(engine, text):
    function = "text => [translator.translate(text, { maps: true }), translator.sample(text)]"
    for found in engine.run(function, text):
        assert (found["text"], found["logProbability"], found["target"]["ids"]) == ("", 0, [])


@pytest.mark.parametrize(
    "text", ["\x00\x07\x1b[31m", "🙂" * 3, "x" * 31, "\u202eabc\u200f", "😀\u0301’'’' ' '"]
)
def test_what_is_no_sentence_is_translated_all_the_same(engine, translator, text):
    assert engine.run("text => translator.translate(text).text", text) == translator.translate([text])[0]


def test_a_sentence_that_is_far_too_long_is_refused_in_words(engine, translator):
    words = refusal(engine, "() => translator.translate('the dog '.repeat(50000))")
    assert "too long: its 100000 words are 100001 tokens" in words
    assert "at most 1024" in words
    assert "must be text" in refusal(engine, "() => translator.translate(7)")


def test_it_runs_in_a_worker(engine):
    files = ", ".join(f"'{name}.js'" for name in [*SCRIPTS, "helpers"])
    answer = "(files) => postMessage(glassformer.loadTranslator(files).translate('No.').text)"
    engine.give("worker.js", f"importScripts({files}); filesIn('shipped').then({answer});".encode())
    here, there = engine.run("""async () => [
      translator.translate("No.").text,
      await new Promise((resolve) => { new Worker("worker.js").onmessage = ({ data }) => resolve(data); }),
    ]""")
    assert here == there


# ---- Fetching ----


def test_a_model_is_fetched_from_beside_the_script(engine):
    found, heard, sizes = engine.run("""async () => {
      const heard = [];
      const files = await glassformer.fetchModel("shipped", (numBytes) => heard.push(numBytes));
      const sizes = [files.weights.byteLength, files.model.length, files.tokenizer.length];
      return [glassformer.loadTranslator(files).translate("No.").text, heard, sizes];
    }""")
    assert found == "Non."
    assert sizes[0] == (SHIPPED / "model.safetensors").stat().st_size
    assert heard == sorted(heard)
    assert heard[-1] == sum(path.stat().st_size for path in SHIPPED.iterdir())


def test_a_model_that_is_not_there_is_missed_in_words(engine):
    missed = refusal(engine, "() => glassformer.fetchModel('fr-en')")
    assert "There is no http://127.0.0.1" in missed
    assert "(404)" in missed


def test_a_connection_that_breaks_off_is_told_in_words(engine):
    for path in SHIPPED.iterdir():
        engine.give(f"half/{path.name}", None)  # promised, and not sent
    broken = refusal(engine, "() => glassformer.fetchModel('half')")
    assert "The connection broke off: http://127.0.0.1" in broken


def test_from_a_disk_a_model_comes_as_a_script(page, tmp_path):
    for path in ENGINE.glob("*.js"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "en-fr.js").write_text(live_figures.as_script(SHIPPED), encoding="ascii")
    scripts = "".join(f"<script src={name}.js></script>" for name in SCRIPTS)
    (tmp_path / "index.html").write_text(f"<!doctype html>{scripts}", encoding="utf-8")
    page.goto((tmp_path / "index.html").as_uri())
    digests, heard, missed = page.evaluate("""async () => {
      let heard;
      await glassformer.fetchModel("en-fr"); // the second time it is there already
      const files = await glassformer.fetchModel("en-fr", (numBytes) => (heard = numBytes));
      const bytes = (text) => new TextEncoder().encode(text);
      const digests = {};
      for (const [name, file] of [
        ["model.json", bytes(files.model)],
        ["model.safetensors", files.weights],
        ["tokenizer.json", bytes(files.tokenizer)],
      ]) {
        const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", file));
        digests[name] = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
      }
      const missed = await glassformer.fetchModel("fr-en").catch(({ message }) => message);
      return [digests, heard, missed];
    }""")
    wanted = {path.name: sha256(path.read_bytes()).hexdigest() for path in SHIPPED.iterdir()}
    assert digests == wanted
    assert heard == sum(path.stat().st_size for path in SHIPPED.iterdir())
    assert missed.startswith("There is no file:///")


def test_where_there_is_no_website_there_is_no_model(page):
    page.set_content(f"<script>{(ENGINE / 'fetching.js').read_text(encoding='utf-8')}</script>")
    message = page.evaluate("() => glassformer.fetchModel('en-fr').catch(({ message }) => message)")
    assert "comes with the book's website" in message


# ---- Files that are damaged, or something else ----


def weights_file(header, numbers=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + numbers


WHOLE = weights_file({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}, bytes(8))
BAD_WEIGHTS = {
    "nothing": (b"", "only 0 bytes"),
    "a page of HTML": (b"<!doctype html><title>404</title>", "its header should have"),
    "no JSON": (weights_file(b"{oops"), "its header is no JSON"),
    "no names": (weights_file([1]), "its header"),
    "truncated": (WHOLE[:-1], "the file has 7 for them"),
    "too long": (WHOLE + b"x", "the file has 9 for them"),
    "integers": (
        weights_file({"a": {"dtype": "I32", "shape": [1], "data_offsets": [0, 4]}}, bytes(4)),
        "type I32",
    ),
    "no shape": (weights_file({"a": {"dtype": "F32", "data_offsets": [0, 4]}}, bytes(4)), "no shape"),
    "a wrong size": (
        weights_file({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}}, bytes(4)),
        "8 bytes",
    ),
    "a hole": (
        weights_file({"a": {"dtype": "F16", "shape": [1], "data_offsets": [2, 4]}}, bytes(4)),
        "begin at byte 0",
    ),
    "another model": (WHOLE, "does not fit model.json: it lacks"),
}


def load_with(engine, part, content):
    """The words in which a translator is refused of which one part is another."""
    engine.give("other", content if isinstance(content, bytes) else content.encode())
    read = "bytesOf" if part == "weights" else "textOf"
    return refusal(
        engine,
        f"""async () => glassformer.loadTranslator({{ ...shipped, {part}: await {read}("other") }})""",
    )


@pytest.mark.parametrize("name", BAD_WEIGHTS)
def test_weights_that_are_damaged_or_foreign_are_refused_in_words(engine, name):
    content, words = BAD_WEIGHTS[name]
    found = load_with(engine, "weights", content)
    assert found.startswith("The file of weights")
    assert words in found


@pytest.mark.parametrize("damage", ["NaN", "shape", "left over"])
def test_weights_that_do_not_fit_the_model_are_refused_in_words(engine, tmp_path, damage):
    model = make_model()
    script = give_model(engine, model, tmp_path)
    tensors = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    if damage == "NaN":
        tensors["encoder.final_norm.bias"][5] = torch.nan
    else:
        tensors["encoder.final_norm.bias" if damage == "shape" else "memory"] = torch.zeros(5)
    engine.give("small/model.safetensors", save(tensors))
    words = {"NaN": "NaN or infinity in encoder.final_norm.bias", "shape": "(5) in place of (24)"}
    assert words.get(damage, "no place") in refusal(engine, f"async () => {script}")


DESCRIPTION = json.loads((SHIPPED / "model.json").read_text(encoding="utf-8"))
BAD_MODELS = {
    "fixed_context": "recurrent model (fixed_context)",
    "additive_attention": "recurrent model (additive_attention)",
    "mamba": "must describe a transformer",
}


@pytest.mark.parametrize("kind", BAD_MODELS)
def test_another_kind_of_model_is_refused_in_words(engine, kind):
    assert BAD_MODELS[kind] in load_with(engine, "model", json.dumps(DESCRIPTION | {"kind": kind}))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"positions": "spiral"}, "positions that is not known here: spiral"),
        ({"norm": None}, "norm that is not known here"),
        ({"d_model": "192"}, "d_model"),
        ({"num_heads": 7}, "no multiple of num_heads (7)"),
        ({"pad_id": 6000}, "pad_id"),
        ({"gated": True}, "not known here: gated"),
        ({"d_ff": 256}, "in place of (256, 192)"),
        ({"num_decoder_layers": 4}, "lacks decoder.layers.3"),
        ({"num_decoder_layers": 2}, "has no place"),
        ({"source_vocabulary_size": 6001}, "ties all embeddings of two vocabularies"),
    ],
    ids=str,
)
def test_a_setting_that_does_not_fit_is_named(engine, settings, words):
    description = DESCRIPTION | {"config": DESCRIPTION["config"] | settings}
    assert words in load_with(engine, "model", json.dumps(description))


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "{}", '{"kind": "transformer"}', "<!doctype html>"])
def test_a_description_that_is_none_is_refused_in_words(engine, text):
    assert load_with(engine, "model", text).startswith("model.json ")


TOKENIZER = (SHIPPED / "tokenizer.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "{}",
        '{"model": {"type": "BPE", "merges": [["a", "b"]]}}',
        TOKENIZER[:-100],
        TOKENIZER.replace("[stmd]", "[st]"),
        TOKENIZER.replace('"<pad>":0', '"<nil>":0'),
        TOKENIZER.replace('"type":"NFC"', '"type":"NFD"'),
        TOKENIZER.replace('"ignore_merges":false', '"ignore_merges":true'),
    ],
    ids=range(9),
)
def test_a_tokenizer_that_is_damaged_or_foreign_is_refused_in_words(engine, text):
    assert text != TOKENIZER
    assert load_with(engine, "tokenizer", text).startswith("tokenizer.json must ")


def test_a_tokenizer_of_another_model_is_refused_in_words(engine, tmp_path):
    Tokenizer.train(["a"], vocabulary_size=259).save(tmp_path / "tokenizer.json")
    text = (tmp_path / "tokenizer.json").read_text(encoding="utf-8")
    assert "must share their vocabulary" in load_with(engine, "tokenizer", text)
