import pytest
import torch
from small_run import small_corpus
from small_source import pin_small_corpus

from glassformer.data.tokenizer import Tokenizer
from glassformer.modules.transformer import Transformer, TransformerConfig
from glassformer.translator import Translator


@pytest.fixture(scope="session")
def translator():
    """Translator with seeded random weights."""
    tokenizer = Tokenizer.train(small_corpus().train.sources, vocabulary_size=293)
    sizes = {"d_model": 12, "num_heads": 3, "d_ff": 17, "num_encoder_layers": 1, "num_decoder_layers": 1}
    config = TransformerConfig(source_vocabulary_size=293, target_vocabulary_size=293, **sizes)
    return Translator(Transformer(config, generator=torch.Generator().manual_seed(1)), tokenizer)


@pytest.fixture(scope="session")
def model(translator, tmp_path_factory):
    """Folder of that translator."""
    folder = tmp_path_factory.mktemp("translators") / "small"
    translator.save(folder, note="made up")
    return folder


@pytest.fixture(scope="module")
def corpus_name(tmp_path_factory):
    """Name of a corpus of a few sentences."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        yield pin_small_corpus(tmp_path_factory.mktemp("data"), monkeypatch)
