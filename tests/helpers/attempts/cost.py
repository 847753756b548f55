"""Answers to the exercises on the cost of attention."""

import numpy as np
import torch


def multiplications(length, width):
    return 2 * length * width**2, 2 * length**2 * width


def exponent(lengths, seconds):
    return np.log(seconds[-1] / seconds[0]) / np.log(lengths[-1] / lengths[0])


def backward(grad_attended, query, key, value, weights):
    attended = weights @ value
    spread = value[None] - attended[:, None]
    delta = weights * (grad_attended[:, None] * spread).sum(-1) / np.sqrt(query.shape[1])
    return delta @ key, delta.T @ query, weights.T @ grad_attended


def backward_by_autograd(grad_attended, query, key, value, weights):
    leaves = [torch.tensor(each, requires_grad=True) for each in (query, key, value)]
    scores = leaves[0] @ leaves[1].T / query.shape[1] ** 0.5
    attended = scores.softmax(-1) @ leaves[2]
    return torch.autograd.grad(attended, leaves, torch.from_numpy(grad_attended))


def backward_by_einsum(grad_attended, query, key, value, weights):
    grad_weights = torch.einsum("qd,kd->qk", grad_attended, value)
    grad_scores = weights * (grad_weights - (weights * grad_weights).sum(-1, keepdim=True))
    grad_scores = grad_scores / query.shape[-1] ** 0.5
    return (
        torch.einsum("qk,kd->qd", grad_scores, key),
        torch.einsum("qk,qd->kd", grad_scores, query),
        torch.einsum("qk,qd->kd", weights, grad_attended),
    )


def backward_with(delta_of):
    def run(grad_attended, query, key, value, weights):
        delta = delta_of(grad_attended @ value.T, weights) / np.sqrt(query.shape[1])
        return delta @ key, delta.T @ query, weights.T @ grad_attended

    return run


def unscaled(grad_attended, query, key, value, weights):
    grad_query, grad_key, grad_value = backward(grad_attended, query, key, value, weights)
    return np.sqrt(query.shape[1]) * grad_query, np.sqrt(query.shape[1]) * grad_key, grad_value


def unweighted_value(grad_attended, query, key, value, weights):
    grad_query, grad_key, _ = backward(grad_attended, query, key, value, weights)
    return grad_query, grad_key, np.ones_like(weights).T @ grad_attended


RIGHT = {
    "multiplications": [
        multiplications,
        lambda length, width: np.array([2.0 * width, 2.0 * length]) * length * width,
    ],
    "equal_length": [
        lambda width: 2 * width,
        lambda width: 4 * width / 2,
        lambda width: torch.tensor(width) * 2,
    ],
    "longest_text": [
        5792,
        float(np.floor(np.sqrt(16 * 2**30 / 512))),
    ],
    "cache_bytes": [
        lambda length, layers, width: 8 * layers * length * width,
        lambda length, layers, width: np.zeros((layers, 2, length, width), np.float32).nbytes,
    ],
    "exponent": [exponent, lambda t, s: np.polyfit(np.log(t[[0, -1]]), np.log(s[[0, -1]]), 1)[0]],
    "backward": [
        backward,
        backward_by_autograd,
        lambda *given: [each.astype(np.float32) for each in backward(*given)],
        lambda *given: [torch.tensor(each).bfloat16() for each in backward(*given)],
        backward_by_einsum,
    ],
}

WRONG = {
    "multiplications": {
        "your results are swapped": lambda t, d: (2 * t * t * d, 2 * t * d * d),
        "you count the recurrence for one word": lambda t, d: (2 * d * d, 2 * t * t * d),
        "you count one product each": lambda t, d: (t * d * d, t * t * d),
        "you count one matrix for each Elman step": lambda t, d: (t * d * d, 2 * t * t * d),
        "you count projections for attention": lambda t, d: (2 * t * d * d, 3 * t * d * d + 2 * t * t * d),
        "you count only the scores of attention": lambda t, d: (2 * t * d * d, t * t * d),
        "you count additions too": lambda t, d: (4 * t * d * d, 4 * t * t * d),
        "you count the pairs of attention": lambda t, d: (2 * t * d * d, 2 * t * t),
        "wrong for this input": lambda t, d: (t * d, t * d),
    },
    "equal_length": {
        "attention without projections": lambda d: d,
        "you forgot the projections": lambda d: 4 * d,
        "you subtracted the wrong way": lambda d: 6 * d,
        "you forgot to divide by 2": lambda d: 8 * d,
        "you divided once too often": lambda d: d / 2,
        "wrong for this input": lambda d: 3 * d,
    },
    "longest_text": {
        "the weights of 5793 words take slightly more than 16 GiB": 5792.6,
        "you counted 4 bytes for each number": 4096,
        "you counted 1 byte for each number": 8192,
        "you left out the 8 heads, each with its own weights": 16_384,
        "you left out the 32 sentences, each with its own weights": 32_768,
        "you left out the 32 sentences and the 8 heads, each with its own weights": 92_681,
        "number of pairs": 2**25,
        "1024³": 5590,
        "1024 words make 0.5 GiB": 1024,
    },
    "cache_bytes": {
        "the cache holds both": lambda t, n, d: 4 * n * t * d,
        "each layer has its own cache": lambda t, n, d: 8 * t * d,
        "each takes 4 bytes": lambda t, n, d: 2 * n * t * d,
        "one key and one value per word": lambda t, n, d: 8 * n * t * t * d,
        "you count queries too": lambda t, n, d: 12 * n * t * d,
        "wrong for this input": lambda t, n, d: 8 * n * t * d * d,
    },
    "exponent": {
        "slope on plain axes": lambda t, s: (s[-1] - s[0]) / (t[-1] - t[0]),
        "yours is the reciprocal": lambda t, s: 1 / exponent(t, s),
        "you divide the ratios": lambda t, s: (s[-1] / s[0]) / (t[-1] / t[0]),
        "logarithm of the quotient": lambda t, s: np.log(s[-1] * t[0] / s[0] / t[-1]),
        "only the first two": lambda t, s: np.log(s[1] / s[0]) / np.log(t[1] / t[0]),
        "wrong for this input": lambda t, s: -exponent(t, s),
    },
    "backward": {
        "you do not divide the gradient of the scores by √d_k": unscaled,
        "weighted mean of the row": backward_with(lambda grad, weights: weights * grad),
        "in the softmax step you do not multiply by the weights": backward_with(
            lambda grad, weights: grad - (weights * grad).sum(-1, keepdims=True)
        ),
        "your gradient of the value is the same for all keys": unweighted_value,
        "expected 3 results, yours returns 1 result": lambda *given: backward(*given)[0],
        "your results are reversed; expected query, key, value": lambda *given: backward(*given)[::-1],
        "only the gradient of the query": lambda *given: (
            backward(*given)[0],
            *unscaled(*given)[1:],
        ),
        "your gradients of query and key are swapped": lambda *given: (
            *backward(*given)[1::-1],
            backward(*given)[2],
        ),
        "you skip the softmax": backward_with(lambda grad, weights: grad),
        "in the softmax step you average over a column": backward_with(
            lambda grad, weights: weights * (grad - (weights * grad).sum(0, keepdims=True))
        ),
        "plain mean of the row": backward_with(
            lambda grad, weights: weights * (grad - grad.mean(-1, keepdims=True))
        ),
        "wrong for this input": lambda *given: tuple(-each for each in backward(*given)),
    },
}
