import json
import shutil

import pytest
import torch

from glassformer.data.tokenizer import Tokenizer
from glassformer.data.vocabulary import END_ID, PAD_ID, START_ID
from glassformer.decoding.beam import beam_search
from glassformer.decoding.generate import greedy_decode
from glassformer.inspection import record_attention
from glassformer.modules.recurrent import AdditiveAttentionTranslator, FixedContextTranslator, RecurrentConfig
from glassformer.modules.transformer import Transformer, TransformerConfig
from glassformer.translator import Translator, pretrained_translators

SENTENCES = [
    "a cat sleeps .",
    "the dog, it barks at the cat!",
    "nobody sleeps.",
    "the cat didn't sleep because the dog barked",
]
WORDS = 293
SIZES = {"d_model": 12, "pad_id": 0}
KINDS = {
    "transformer": (Transformer, TransformerConfig, {"num_heads": 3, "d_ff": 17, "tie_embeddings": "all"}),
    "fixed_context": (FixedContextTranslator, RecurrentConfig, {"num_layers": 2}),
    "additive_attention": (AdditiveAttentionTranslator, RecurrentConfig, {}),
}
every_kind = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer.train(SENTENCES, vocabulary_size=WORDS)


def make_model(kind="transformer", size=WORDS, **overrides):
    model, config, sizes = KINDS[kind]
    if config is TransformerConfig:
        sizes = sizes | {"num_encoder_layers": 1, "num_decoder_layers": 1}
    sizes = SIZES | sizes | overrides
    config = config(source_vocabulary_size=size, target_vocabulary_size=size, **sizes)
    return model(config, generator=torch.Generator().manual_seed(1))


@pytest.fixture
def translator(tokenizer):
    return Translator(make_model(), tokenizer)


@every_kind
def test_a_saved_translator_loads_again(kind, tokenizer, tmp_path):
    translator = Translator(make_model(kind), tokenizer)
    translator.save(tmp_path / "deep" / "model", corpus="made up")
    again = Translator.load(tmp_path / "deep" / "model")
    assert type(again.model) is type(translator.model)
    assert again.model.config == translator.model.config
    assert not again.model.training
    torch.testing.assert_close(again.model.state_dict(), translator.model.state_dict(), atol=0, rtol=0)
    assert again.tokenizer.encode(SENTENCES) == tokenizer.encode(SENTENCES)
    assert again.translate(SENTENCES, max_length=5) == translator.translate(SENTENCES, max_length=5)


def test_notes_are_saved_in_the_model_description(translator, tmp_path):
    translator.save(tmp_path, corpus="made up")
    description = json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))
    assert (description["architecture"], description["corpus"]) == ("transformer", "made up")


def test_a_translator_runs_on_any_device(translator, device, tmp_path):
    translator.save(tmp_path)
    on_device = Translator.load(tmp_path, device=device)
    assert next(on_device.model.parameters()).device.type == device.type
    assert len(on_device.translate(SENTENCES)) == len(SENTENCES)


def test_saving_replaces_only_the_translator(translator, tokenizer, tmp_path):
    translator.save(tmp_path)
    (tmp_path / "log.jsonl").write_text("{}", encoding="utf-8")
    Translator(make_model(d_model=18), tokenizer).save(tmp_path)
    assert Translator.load(tmp_path).model.config.d_model == 18
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"log.jsonl", "model.json", "model.safetensors", "tokenizer.json"}


def test_a_failed_save_leaves_the_old_translator(translator, tokenizer, tmp_path, monkeypatch):
    translator.save(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def full(self, path):
        raise OSError("No space left on device")

    monkeypatch.setattr(Tokenizer, "save", full)
    with pytest.raises(OSError, match="No space left"):
        Translator(make_model(d_model=18), tokenizer).save(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("name", ["model.json", "model.safetensors", "tokenizer.json"])
def test_a_missing_file_is_named(translator, tmp_path, name):
    translator.save(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(FileNotFoundError, match=f"contains no {name}"):
        Translator.load(tmp_path)


def test_a_missing_folder_is_answered_with_the_pretrained_names(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no folder 'xx-yy', .* \(pretrained: "):
        Translator.load("xx-yy")
    assert "xx-yy" not in pretrained_translators()


def test_files_of_two_translators_are_refused(translator, tmp_path):
    translator.save(tmp_path / "one")
    other = Tokenizer.train(SENTENCES, vocabulary_size=WORDS - 4)
    Translator(make_model(size=WORDS - 4), other).save(tmp_path / "other")
    shutil.copy(tmp_path / "other" / "tokenizer.json", tmp_path / "one" / "tokenizer.json")
    with pytest.raises(ValueError, match=r"one: model and tokenizer must share .* 293 .* 289"):
        Translator.load(tmp_path / "one")


def test_a_model_with_another_pad_id_is_refused(tokenizer):
    with pytest.raises(ValueError, match="the model must have pad_id 0, got 5"):
        Translator(make_model(pad_id=5), tokenizer)


@every_kind
@pytest.mark.parametrize("beam_size", [1, 3])
def test_translations_do_not_depend_on_the_rest_of_the_batch(kind, beam_size, tokenizer):
    translator = Translator(make_model(kind), tokenizer)
    options = {"beam_size": beam_size, "length_penalty": "average", "max_length": 9}
    alone = [translator.translate([sentence], **options)[0] for sentence in SENTENCES]
    assert len(set(alone)) > 1
    for batch_tokens in (1, 29, 4096):
        assert translator.translate(SENTENCES, **options, batch_tokens=batch_tokens) == alone


def test_translations_are_those_of_beam_search(translator):
    ids = [*translator.tokenizer.encode(SENTENCES[:1])[0], END_ID]
    options = {"beam_size": 3, "length_penalty": "average", "alpha": 0.5, "max_length": 7}
    marks = {"start_id": START_ID, "end_id": END_ID, "forbidden_ids": (START_ID,)}
    [[best]] = beam_search(translator.model, torch.tensor([ids]), **marks, **options)
    assert translator.translate(SENTENCES[:1], **options) == translator.tokenizer.decode([best.ids])


def test_attention_of_a_finished_translation_can_be_recorded(translator):
    """The attention of a translation is recorded by teacher forcing, all of it in one pass."""
    source_ids = torch.tensor([[*translator.tokenizer.encode(SENTENCES[:1])[0], END_ID]])
    marks = {"start_id": START_ID, "end_id": END_ID}
    written = greedy_decode(translator.model, source_ids, **marks, max_length=7)
    given = torch.cat([torch.tensor([[START_ID]]), written[:, :-1]], dim=1)
    with record_attention(translator.model) as weights_of:
        logits = translator.model(source_ids, given)
    logits[..., PAD_ID] = -torch.inf
    assert torch.equal(logits.argmax(-1), written)
    weights = weights_of["decoder.layers.0.cross_attention"]
    assert weights.shape == (1, 3, written.shape[1], source_ids.shape[1])


@pytest.mark.parametrize("blank", ["", " ", "\t\n", "\u00a0\u2003"])
def test_blank_sentences_have_blank_translations(translator, blank):
    written = translator.translate([blank, *SENTENCES, blank])
    assert (written[0], written[-1]) == ("", "")
    assert written[1:-1] == translator.translate(SENTENCES)
    assert translator.translate([]) == []


@pytest.mark.parametrize("sentence", ["Привет, мир", "猫が眠る", "😀😀", "\x00", "ﷺ"])
def test_unknown_scripts_are_tokenized_byte_by_byte(translator, sentence):
    assert isinstance(translator.translate([sentence])[0], str)


def test_too_long_a_sentence_is_named_before_translating(translator, monkeypatch):
    monkeypatch.delattr(Transformer, "encode")
    with pytest.raises(
        ValueError, match=r"sentence 2 is too long: its 10000 words are \d+ tokens .* at most 1024"
    ):
        translator.translate(["a cat", " ".join(["cat"] * 10_000)])


def test_learned_positions_limit_the_sentence(tokenizer):
    translator = Translator(make_model(positions="learned", max_length=11), tokenizer)
    assert isinstance(translator.translate(["cat cat cat"])[0], str)
    with pytest.raises(ValueError, match="at most 11"):
        translator.translate([" ".join(["cat"] * 11)])


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("sentences", "options", "message"),
    [
        ("a cat", {}, "sentences must be a list of sentences, got one string"),
        (["a", None], {}, "sentence 2 must be a string, got NoneType"),
        (["a"], {"batch_tokens": 0}, "batch_tokens must be a positive integer, got 0"),
        (["a"], {"beam_size": 0}, "beam_size must be a positive integer, got 0"),
        (["a"], {"length_penalty": "some"}, "length_penalty must be one of 'none', .*, got 'some'"),
        (["a"], {"max_length": 0}, "max_length must be a positive integer, got 0"),
    ],
)
def test_invalid_sentences_are_named(translator, sentences, options, message):
    with pytest.raises(ValueError, match=message):
        translator.translate(sentences, **options)


def test_the_first_of_the_n_best_is_the_translation(translator):
    several = translator.translate_n_best([*SENTENCES, " "], n_best=3, beam_size=4)
    assert [found[0].text for found in several] == translator.translate([*SENTENCES, " "], beam_size=4)
    assert several[-1] == [("", 0.0)]
    for found in several[:-1]:
        scores = [one.score for one in found]
        assert len(scores) == 3
        assert scores == sorted(scores, reverse=True)


def test_sampling_depends_on_the_generator_and_is_greedy_at_temperature_zero(translator):
    def draw(seed, **how):
        return translator.sample(SENTENCES, generator=torch.Generator().manual_seed(seed), **how)

    assert draw(1) == draw(1) != draw(2)
    assert draw(1, temperature=0) == draw(2, top_k=1) == translator.translate(SENTENCES, beam_size=1)


def test_a_sentence_of_the_maximum_length_is_translated(tokenizer):
    translator = Translator(make_model(positions="learned", max_length=11), tokenizer)
    assert translator.max_source_length == 11
    assert Translator(make_model(), tokenizer).max_source_length == 1024
    token = "cat" if len(tokenizer.encode(["cat"])[0]) == 1 else "."
    lengths = {len(tokenizer.encode([token * many])[0]): token * many for many in range(1, 11)}
    translator.translate([lengths[10]])
    with pytest.raises(ValueError, match="too long"):
        translator.translate([token * 30])
