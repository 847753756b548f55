"""A corpus of a few sentences that is loaded by its name from pinned files, like the real ones."""

import hashlib

from small_run import small_corpus

from glassformer.data.corpora import Sentences
from glassformer.data.downloads import PinnedFile
from glassformer.data.sources import SOURCES, Source

NAME = "multi30k-en-fr"
TESTS = ("test_2016_flickr", "test_2017_flickr", "test_2017_mscoco", "test_2018_flickr")


def pin_small_corpus(folder, monkeypatch):
    """Write the files of the corpus into a folder, and replace the real corpus by them."""
    corpus = small_corpus()
    test = Sentences(*(part[:2] for part in corpus.validation))
    splits = {"train": corpus.train, "val": corpus.validation} | dict.fromkeys(TESTS, test)
    pinned = []
    for split, sentences in splits.items():
        sources, references = sentences.pairs()
        for language, lines in (("en", sources), ("fr", references)):
            content = "".join(f"{line}\n" for line in lines).encode()
            path = folder / f"{split}.{language}"
            path.write_bytes(content)
            pinned.append(
                PinnedFile(path.name, hashlib.sha256(content).hexdigest(), ("https://nowhere.invalid",))
            )
    monkeypatch.setitem(SOURCES, NAME, Source("ours", "nobody", tuple(pinned)))
    monkeypatch.setenv("GLASSFORMER_DATA", str(folder))
    return NAME
