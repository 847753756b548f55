"""Configurations: the sizes and options of a translator."""

from dataclasses import dataclass
from typing import Any, Literal

from glassformer.validation import require_choice, require_multiple, require_positive_int, require_probability

Norm = Literal["post", "pre"]
Positions = Literal["sinusoidal", "learned", "rotary", "alibi", "none"]


@dataclass(frozen=True, kw_only=True)
class TranslatorConfig:
    """Vocabulary and embedding settings common to all translators.

    Attributes:
        source_vocabulary_size: number of tokens in the source vocabulary.
        target_vocabulary_size: number of tokens in the target vocabulary.
        pad_id: id of the padding token, which the models mask.
        tie_embeddings: "target" shares one matrix between the target embedding and the output projection,
            "all" also shares it with the source embedding, which requires a shared vocabulary (Vaswani et
            al., 2017, section 3.4), and "none" shares nothing.

    Raises:
        ValueError: a size or an option is invalid; the message names it.
    """

    source_vocabulary_size: int
    target_vocabulary_size: int
    pad_id: int = 0
    tie_embeddings: Literal["none", "target", "all"] = "none"

    def __post_init__(self) -> None:
        source, target = self.source_vocabulary_size, self.target_vocabulary_size
        require_positive_int(source_vocabulary_size=source, target_vocabulary_size=target)
        if not 0 <= self.pad_id < min(source, target):
            raise ValueError(f"pad_id must be at least 0 and below {min(source, target)}, got {self.pad_id}")
        require_choice(("none", "target", "all"), tie_embeddings=self.tie_embeddings)
        if self.tie_embeddings == "all" and source != target:
            raise ValueError(
                f"tie_embeddings='all' requires a shared vocabulary, got source_vocabulary_size ({source}) "
                f"and target_vocabulary_size ({target})"
            )

    @property
    def max_positions(self) -> int | None:
        """Maximum number of positions in a sentence, or None if unlimited."""
        return None


@dataclass(frozen=True, kw_only=True)
class TransformerConfig(TranslatorConfig):
    """Configuration of a `Transformer`, by default of the size of the base model (Vaswani et al., 2017).

    By default no embeddings are tied, whereas the paper ties all three matrices (section 3.4).

    `TranslatorConfig` documents the other attributes.

    Attributes:
        d_model: width of the vectors between layers.
        num_heads: number of heads in each attention layer.
        d_ff: width of the feed-forward networks' hidden layers.
        num_encoder_layers: number of encoder layers.
        num_decoder_layers: number of decoder layers.
        dropout: dropout probability of embeddings and sublayer outputs.
        attention_dropout: dropout probability of attention weights; by default, that of sublayer outputs. The
            paper (section 5.4) does not mention this dropout.
        activation_dropout: dropout probability of the feed-forward networks' hidden activations; by default,
            that of sublayer outputs. The paper does not mention this dropout either.
        norm: position of the layer normalisation: "post", as in Vaswani et al. (2017), or "pre", which also
            normalises the output of the encoder and of the decoder.
        positions: positional encoding. "sinusoidal" and "learned" are added to the embeddings, "rotary" and
            "alibi" act in self-attention, and with "none" only the decoder's causal mask reveals the order.
        max_length: number of positions with a "learned" encoding; the other encodings have no limit.

    Raises:
        ValueError: a size or an option is invalid; the message names it.
    """

    d_model: int = 512
    num_heads: int = 8
    d_ff: int = 2048
    num_encoder_layers: int = 6
    num_decoder_layers: int = 6
    dropout: float = 0.1
    attention_dropout: float | None = None
    activation_dropout: float | None = None
    norm: Norm = "post"
    positions: Positions = "sinusoidal"
    max_length: int = 1024

    def __post_init__(self) -> None:
        super().__post_init__()
        sizes = ("d_ff", "num_encoder_layers", "num_decoder_layers", "max_length")
        require_positive_int(**{name: getattr(self, name) for name in sizes})
        require_multiple(self.d_model, self.num_heads)
        dropouts = ("dropout", "attention_dropout", "activation_dropout")
        require_probability(**{name: p for name in dropouts if (p := getattr(self, name)) is not None})
        require_choice(("post", "pre"), norm=self.norm)
        require_choice(("sinusoidal", "learned", "rotary", "alibi", "none"), positions=self.positions)
        if self.positions == "rotary" and self.d_model // self.num_heads % 2:
            raise ValueError(
                f"rotary encodings rotate pairs: d_model ({self.d_model}) must be an even multiple "
                f"of num_heads ({self.num_heads})"
            )

    @property
    def max_positions(self) -> int | None:
        """Maximum number of positions in a sentence, or None if unlimited."""
        return self.max_length if self.positions == "learned" else None

    @classmethod
    def tiny(
        cls, source_vocabulary_size: int, target_vocabulary_size: int | None = None, **overrides: Any
    ) -> "TransformerConfig":
        """Configure a model for small corpora: 4 + 4 layers, d_model 128, 4 heads (Wu et al., 2021).

        Args:
            source_vocabulary_size: number of tokens in the source vocabulary.
            target_vocabulary_size: number of tokens in the target vocabulary. If omitted, both languages
                share one vocabulary and one matrix; if given, only the target embedding and the output
                projection share a matrix.
            **overrides: attributes of the configuration that replace those of the preset.

        Raises:
            ValueError: a size or an option is invalid; the message names it.
            TypeError: an override is not an attribute of the configuration.
        """
        layers = {"num_encoder_layers": 4, "num_decoder_layers": 4}
        sizes = {"d_model": 128, "num_heads": 4, "d_ff": 256} | layers
        return cls._preset(source_vocabulary_size, target_vocabulary_size, sizes | overrides)

    @classmethod
    def base(
        cls, source_vocabulary_size: int, target_vocabulary_size: int | None = None, **overrides: Any
    ) -> "TransformerConfig":
        """Configure the base model of Vaswani et al. (2017, Table 3): 6 + 6 layers, d_model 512.

        Arguments and errors are as in `tiny`.
        """
        return cls._preset(source_vocabulary_size, target_vocabulary_size, overrides)

    @classmethod
    def _preset(cls, source: int, target: int | None, choices: dict[str, Any]) -> "TransformerConfig":
        tied = {"tie_embeddings": "all" if target is None else "target"}
        target = source if target is None else target
        return cls(source_vocabulary_size=source, target_vocabulary_size=target, **(tied | choices))


@dataclass(frozen=True, kw_only=True)
class RecurrentConfig(TranslatorConfig):
    """Configuration of an LSTM encoder-decoder: `FixedContextTranslator` or `AdditiveAttentionTranslator`.

    `TranslatorConfig` documents the other attributes.

    Attributes:
        d_model: width of the embeddings, the hidden states and the attention layer.
        num_layers: number of LSTM layers in the encoder, and in the decoder.
        bidirectional: True for an encoder that also reads the source backwards (Bahdanau et al., 2015).
        dropout: dropout probability of embeddings and hidden states.

    Raises:
        ValueError: a size or an option is invalid; the message names it.
    """

    d_model: int = 128
    num_layers: int = 1
    bidirectional: bool = False
    dropout: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive_int(d_model=self.d_model, num_layers=self.num_layers)
        require_probability(dropout=self.dropout)
        if self.bidirectional and self.d_model % 2:
            raise ValueError(f"d_model ({self.d_model}) must be even for a bidirectional encoder")
