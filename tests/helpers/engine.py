"""A page that runs the translator's engine alone, and models and sentences to test it with."""

import random
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from threading import Thread

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence

from glassformer.data.vocabulary import END_ID, PAD_ID, START_ID
from glassformer.modules.storage import save_model
from glassformer.modules.transformer import Transformer, TransformerConfig
from glassformer.tasks.grammar import make_corpus
from glassformer.translator import locate_translator
from glassformer.widgets.live import SCRIPTS

POLICY = "default-src 'none'; script-src 'self'; connect-src 'self'; worker-src 'self'"

ENGINE = SCRIPTS / "engine"
SCRIPTS = sorted(path.stem for path in ENGINE.glob("*.js"))
PRETRAINED = locate_translator("en-fr")
# Rounding error of float32, accumulated over a sentence.
NEAR = 3e-5
MARKS = {"start_id": START_ID, "end_id": END_ID, "forbidden_ids": (START_ID,)}


@contextmanager
def serve(files):
    """Serve files by name under a strict content policy; yield the address."""

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
    """A page with the engine's scripts and the pretrained translator."""

    def __init__(self, page, files, address):
        self._page, self._files, self.complaints = page, files, []
        page.on("console", lambda message: self._complain(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(address)
        self.run("""async () => {
          globalThis.pretrained = await filesIn("pretrained");
          globalThis.translator = glassformer.loadTranslator(pretrained);
        }""")

    def _complain(self, text):
        if not text.startswith("Failed to load resource"):  # some tests request missing files
            self.complaints.append(text)

    def give(self, name, content):
        """Serve a file to the page."""
        self._files[name] = content
        return name

    def run(self, function, argument=None):
        return self._page.evaluate(function, argument)


def sentences(count):
    """Generate distinct everyday sentences of many lengths, the same on every call."""
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


def stack(rows):
    return pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=PAD_ID)


def make_model(seed=0, **settings):
    """Make a small model with random weights, biases and norms."""
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
    """Serve a saved model to the page; return the script that loads it."""
    save_model(model, folder, **options)
    for path in folder.iterdir():
        engine.give(f"small/{path.name}", path.read_bytes())
    return "await loadModel('small')"


def refusal(engine, function, argument=None):
    """Return the message of the Error that a function throws in the page."""
    return engine.run(
        f"""async (argument) => {{
          try {{
            await ({function})(argument);
          }} catch (error) {{
            return error.constructor === Error ? error.message : `not a plain Error, but ${{error.stack}}`;
          }}
          return "no error was thrown";
        }}""",
        argument,
    )
