"""Answers to the exercises on the encoder-decoder."""

import numpy as np
import torch

from glassformer.modules.layers import DecoderLayer

END = 2


def split_targets(ids):
    return ids[:, :-1], ids[:, 1:]


def decoder_layer_size(d_model, d_ff):
    attention = 4 * (d_model * d_model + d_model)
    feed_forward = d_model * d_ff + d_ff + d_ff * d_model + d_model
    return 2 * attention + feed_forward + 3 * 2 * d_model


def size_of(attentions, norms, biases=True):
    def count(d, f):
        maps = attentions * 4 * d * d + 2 * d * f
        return maps + (attentions * 4 * d + f + d if biases else 0) + 2 * norms * d

    return count


def nll(log_probs, labels):
    return -np.take_along_axis(log_probs, labels[..., None], axis=-1)[..., 0]


def mean_nll(log_probs, labels, pad_id):
    total, count = 0.0, 0
    for row, ids in zip(log_probs, labels, strict=True):
        for told, id in zip(row, ids, strict=True):
            if id != pad_id:
                total, count = total - told[id], count + 1
    return total / count


def decoding_with(
    stop=END, keep_start=False, keep_end=True, best=np.argmax, extra=0, model_input=lambda ids: ids
):
    def attempt(next_logits, max_length):
        ids = [1]
        while len(ids) <= max_length + extra and ids[-1] != stop:
            ids.append(int(best(next_logits(model_input(ids)))))
        ids = ids if keep_start else ids[1:]
        return ids if keep_end else [id for id in ids if id != END]

    return attempt


def decode_with_break(next_logits, max_length):
    written = []
    for _ in range(max_length):
        written.append(torch.as_tensor(next_logits(np.array([1, *written]))).argmax())
        if written[-1] == END:
            break
    return torch.stack(written)


def toss_coins(best):
    return best(np.random.default_rng(3).binomial(400, 0.5, (2000, 16))) / 400


RIGHT = {
    "split_targets": [
        split_targets,
        lambda ids: (np.delete(ids, -1, axis=1), ids.T[1:].T),
        lambda ids: (torch.tensor(ids)[:, :-1], torch.tensor(ids)[:, 1:]),
        lambda ids: np.stack(split_targets(ids)),
        lambda ids: [[row[:-1] for row in ids.tolist()], [row[1:] for row in ids.tolist()]],
    ],
    "decoder_layer_size": [
        decoder_layer_size,
        lambda d, f: sum(p.numel() for p in DecoderLayer(d, 1, f).parameters()),
        lambda d, f: 8 * d * d + 2 * d * f + 15 * d + f,
    ],
    "mean_nll": [
        mean_nll,
        lambda lp, w, pad: nll(lp, w)[w != pad].mean(),
        lambda lp, w, pad: nll(lp.astype(np.float32), w)[w != pad].mean(),
        lambda lp, w, pad: nll(lp.astype(np.float16), w)[w != pad].mean(),
        lambda lp, w, pad: np.average(
            -np.einsum("stv,stv->st", lp, np.eye(lp.shape[-1])[w]), weights=w != pad
        ),
        lambda lp, w, pad: torch.nn.functional.nll_loss(lp.flatten(0, 1), w.flatten(), ignore_index=pad),
    ],
    "greedy_decode": [
        decoding_with(),
        decode_with_break,
        lambda next_logits, most: np.array(decoding_with()(next_logits, most)),
        lambda next_logits, most: torch.tensor(decoding_with()(next_logits, most)),
        lambda next_logits, most: tuple(decoding_with(best=lambda x: x.argmax())(next_logits, most)),
    ],
    "shortcut_accuracy": [3 / 4, np.float32(0.75), torch.tensor(0.75)],
    "best_of_16": [toss_coins(lambda heads: heads.max(axis=1).mean()), 0.544, np.float64(0.54)],
}

WRONG = {
    "split_targets": {
        "nothing is shifted: your inputs and labels are both the whole sentence": lambda ids: (ids, ids),
        "nothing is shifted: you give the decoder the token that it has to predict": lambda ids: (
            ids[:, :-1],
            ids[:, :-1],
        ),
        "you drop the start token from both": lambda ids: (ids[:, 1:], ids[:, 1:]),
        "your results are swapped": lambda ids: split_targets(ids)[::-1],
        "you shift by two": lambda ids: (ids[:, :-2], ids[:, 2:]),
        "your labels lack the end token, so no model would stop": lambda ids: (ids[:, :-2], ids[:, 1:-1]),
        "your inputs still hold the last token, after which nothing is predicted": lambda ids: (
            ids,
            ids[:, 1:],
        ),
        "your labels still hold the start token": lambda ids: (ids[:, :-1], ids),
        "time is the last axis": lambda ids: (ids[:-1], ids[1:]),
        "expected 2 results, yours returns 1 result": lambda ids: ids[:, 1:],
        "its rows have different lengths": lambda ids: (
            [[id for id in row if id not in (0, END)] for row in ids.tolist()],
            ids[:, 1:],
        ),
        "wrong for this input": lambda ids: (ids[:, :-1], np.roll(ids, 1, axis=1)[:, :-1]),
    },
    "decoder_layer_size": {
        "encoder layer": size_of(1, 2),
        "you left out one attention": size_of(1, 3),
        "you left out one norm": size_of(2, 2),
        "you left out the norms": size_of(2, 0),
        "the biases and the norms": lambda d, f: 8 * d * d + 2 * d * f,
        "you left out the biases; every linear map adds one": size_of(2, 3, biases=False),
        "biases of the attention layers": lambda d, f: decoder_layer_size(d, f) - 8 * d,
        "biases of the feed-forward": lambda d, f: decoder_layer_size(d, f) - d - f,
        "output projections": lambda d, f: decoder_layer_size(d, f) - 2 * (d * d + d),
        "you counted half of each norm": lambda d, f: decoder_layer_size(d, f) - 3 * d,
        "you counted one linear map in the feed-forward network": lambda d, f: (
            decoder_layer_size(d, f) - d * f - d
        ),
        "wrong for this input": lambda d, f: 2 * decoder_layer_size(d, f),
    },
    "mean_nll": {
        "your sign is wrong": lambda lp, w, pad: -mean_nll(lp, w, pad),
        "you count padding": lambda lp, w, pad: nll(lp, w).mean(),
        "you leave padding out of the sum": lambda lp, w, pad: (nll(lp, w) * (w != pad)).mean(),
        "you take id 0 for padding": lambda lp, w, pad: nll(lp, w)[w > 0].mean(),
        "you return the sum": lambda lp, w, pad: nll(lp, w)[w != pad].sum(),
        "you average the means of the sentences": lambda lp, w, pad: np.mean(
            [mean_nll(lp[i : i + 1], w[i : i + 1], pad) for i in range(len(w))]
        ),
        "you leave out the end token": lambda lp, w, pad: nll(lp, w)[(w != pad) & (w != END)].mean(),
        "you average probabilities": lambda lp, w, pad: -np.exp(-nll(lp, w))[w != pad].mean(),
        "log-probabilities already": lambda lp, w, pad: -np.log(-nll(lp, w))[w != pad].mean(),
        "you average over the whole vocabulary": lambda lp, w, pad: -lp[w != pad].mean(),
        "you use the top token; use the label": lambda lp, w, pad: -lp.max(-1)[w != pad].mean(),
        "expected a single number, yours has shape (1, 1)": lambda lp, w, pad: nll(lp, w),
        "wrong for this input": lambda lp, w, pad: np.median(nll(lp, w)[w != pad]),
    },
    "greedy_decode": {
        "your loop goes on after the end token": decoding_with(stop=None),
        "you return the start token": decoding_with(keep_start=True),
        "your max_length counts the start token": decoding_with(extra=-1),
        "stop there. Also, you return the start token": decoding_with(stop=None, keep_start=True),
        "stop there. Also, your max_length counts the start token": decoding_with(stop=None, extra=-1),
        "you return the start token, which was given, not generated. Also, "
        "your max_length counts the start token": decoding_with(keep_start=True, extra=-1),
        ". Also, you return the start token, which was given, not generated. "
        "Also, your max_length counts the start token": decoding_with(stop=None, keep_start=True, extra=-1),
        "you cut off the end token": decoding_with(keep_end=False),
        "yours is one token too long": decoding_with(extra=1),
        "least likely": decoding_with(best=np.argmin),
        "you give the model only the last token": decoding_with(model_input=lambda ids: ids[-1:]),
        "you do not give the model the start token, id 1": decoding_with(model_input=lambda ids: ids[1:]),
        "expected shape (2,), yours has shape (1,)": lambda next_logits, most: [END],
        "your loop does not end": decoding_with(extra=10**9, stop=None),
    },
    "shortcut_accuracy": {
        "always differ in gender": 1.0,
        '"it" is the animal': 0.5,
        "how often the rule is wrong": 0.25,
        "in per cent": 75,
        "go through every animal": 0.6,
        "a share lies between 0 and 1, yours is 96: divide by the number of sentences": 96,
        "expected one number, yours is of type list": [True, False],
    },
    "best_of_16": {
        "the score of one coin": 0.5,
        "the worst": 0.456,
        "that is the standard deviation of one coin's score": 0.025,
        "in per cent": 54.41,
        "right, but as a count": 217.65,
        "yours is 0.5975, the best of far more than sixteen": toss_coins(np.max),
        "yours is 0.51: toss 16 coins 400 times each, keep the best one, repeat and average": 0.51,
        "expected one number, yours is of type ndarray": toss_coins(lambda heads: heads.max(axis=1)),
    },
}
