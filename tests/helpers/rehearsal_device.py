"""A device of its own, named "rehearsal", to run the package as on a GPU where there is none.

A tensor on it keeps its numbers in a CPU tensor but reports another device. Operations behave as they do on
CUDA: they refuse tensors of two devices and generators of the CPU, and ``numpy()`` needs ``cpu()`` first.
Every copy of a value to the CPU can be counted, because on a GPU each one waits for the device.

``register()`` adds the device to PyTorch. A notebook needs no import: with ``tests/helpers`` and
``tests/helpers/autoload`` on PYTHONPATH, PyTorch finds the entry point there and calls ``autoload()``,
as it does for the extensions of hardware vendors. The device then has no float64, as MPS has none.

Two differences from CUDA: automatic mixed precision leaves all types as they are, and ``Module.to`` fails
while a graph still refers to the module's parameters.
"""

import copy
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from types import ModuleType
from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch.autograd.function import once_differentiable
from torch.optim.optimizer import _foreach_supported_types
from torch.utils import backend_registration
from torch.utils._mode_utils import no_dispatch
from torch.utils._pytree import TreeSpec, tree_flatten, tree_unflatten

NAME = "rehearsal"
CPU = torch.device("cpu")
aten = torch.ops.aten

# Older versions of PyTorch have no Python backends.
IS_SUPPORTED = hasattr(backend_registration, "_setup_privateuseone_for_python_backend")

_FACTORIES = """
    arange empty empty_strided eye full linspace ones rand randint randn randperm scalar_tensor
    tril_indices triu_indices zeros
"""
_READS = {
    aten._local_scalar_dense.default,
    aten.equal.default,
    aten.masked_select.default,
    aten.nonzero.default,
}
_INDEXING = {
    aten.index.Tensor,
    aten.index_put.default,
    aten.index_put_.default,
    aten._index_put_impl_.default,
}
_COPIES = {aten._to_copy.default, aten.copy_.default}
# PyTorch builds these from fused kernels, which the CPU lacks, or from many operations for each time step.
_RECURRENT = [aten.lstm.input, aten.lstm.data, aten.rnn_tanh.input]
# Packed sequences keep their lengths on the CPU.
_PACKING = {aten._pack_padded_sequence.default, aten._pack_padded_sequence_backward.default}
# A 0-dimensional CPU tensor may stand for a number in these and in pointwise operations.
_TAKES_NUMBERS = {aten.masked_fill.Tensor, aten.masked_fill_.Tensor, aten.fill.Tensor, aten.fill_.Tensor}

_libraries: list[torch.library.Library] = []  # kernels stay registered while these live
_counters: list[Counter[str]] = []
_missing_dtypes: set[torch.dtype] = set()


class RehearsalTensor(Tensor):
    """Tensor on the rehearsal device; ``held`` is the CPU tensor with its numbers."""

    held: Tensor

    @staticmethod
    def __new__(cls, held: Tensor) -> "RehearsalTensor":
        if held.dtype in _missing_dtypes:
            raise TypeError(f"the {NAME} device has no {held.dtype}, as MPS has none")
        tensor = Tensor._make_wrapper_subclass(
            cls,
            held.shape,
            strides=held.stride(),
            storage_offset=held.storage_offset(),
            dtype=held.dtype,
            device=torch.device(NAME, 0),
        )
        tensor.held = held
        return tensor

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, operation, types, args=(), kwargs=None):
        return _run(operation, *args, **(kwargs or {}))

    def numpy(self, *, force: bool = False):
        if force:
            return self.detach().cpu().numpy()
        raise TypeError(
            f"can't convert {self.device} device type tensor to numpy: copy it with Tensor.cpu() first"
        )

    def untyped_storage(self):
        return self.held.untyped_storage()

    def data_ptr(self):
        return self.held.data_ptr()

    def tolist(self):
        return self.cpu().tolist()

    def __repr__(self, *, tensor_contents: None = None) -> str:
        return f"{repr(self.cpu()).removesuffix(')')}, device='{self.device}')"

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if self.dim() == 0 else super().__format__(spec)

    def __deepcopy__(self, memo: dict[int, Any]) -> "RehearsalTensor":
        duplicate = RehearsalTensor(self.held.clone()).requires_grad_(self.requires_grad)
        duplicate.__dict__ |= {name: value for name, value in self.__dict__.items() if name != "held"}
        duplicate.grad = copy.deepcopy(self.grad, memo)
        return memo.setdefault(id(self), duplicate)

    def __reduce_ex__(self, protocol: int):
        return _load, (self.detach().cpu(), self.requires_grad)


def register() -> torch.device:
    """Add the device to PyTorch, once, and return it."""
    if not _libraries:
        backend = ModuleType(f"torch.{NAME}")
        backend.__dict__.update(
            is_available=lambda: True,
            is_initialized=lambda: True,
            device_count=lambda: 1,
            current_device=lambda: 0,
            synchronize=lambda device=None: None,
            manual_seed=lambda seed: None,
            manual_seed_all=lambda seed: None,
            _is_in_bad_fork=lambda: False,
            get_amp_supported_dtype=lambda: [torch.float16, torch.bfloat16],
        )
        backend_registration._setup_privateuseone_for_python_backend(NAME, backend_module=backend)
        every = torch.library.Library("_", "IMPL")
        every.fallback(_run, "PrivateUse1")
        ours = torch.library.Library("aten", "IMPL")
        for factory in _factories():
            ours.impl(factory, partial(_run, factory), "PrivateUse1")
        ours.impl(
            "_copy_from", lambda source, target, *_: _run(aten.copy_.default, target, source), "PrivateUse1"
        )
        for network in _RECURRENT:
            ours.impl(network, partial(_run_network, network), "AutogradPrivateUse1")
        every.fallback(torch.library.fallthrough_kernel, "AutocastPrivateUse1")
        _libraries.extend([every, ours])
        _foreach_supported_types.append(RehearsalTensor)
    return torch.device(NAME)


def autoload() -> None:
    """Add the device at the import of PyTorch, for a whole program."""
    register()
    _missing_dtypes.add(torch.float64)
    torch.__future__.set_swap_module_params_on_conversion(True)


@contextmanager
def rehearsal() -> Iterator[torch.device]:
    """Give the device, and let ``Module.to`` keep tied parameters tied meanwhile, as between CPU and CUDA."""
    before = torch.__future__.get_swap_module_params_on_conversion()
    torch.__future__.set_swap_module_params_on_conversion(True)
    try:
        yield register()
    finally:
        torch.__future__.set_swap_module_params_on_conversion(before)


@contextmanager
def count_host_reads() -> Iterator[Counter[str]]:
    """Count the operations that copy values from the device to the CPU, by name."""
    counter: Counter[str] = Counter()
    _counters.append(counter)
    try:
        yield counter
    finally:
        _counters.remove(counter)


def _run(operation: OpOverload, *args: Any, **kwargs: Any) -> Any:
    """Run an operation on the held CPU tensors and wrap its results."""
    if kwargs.get("generator") is not None:
        raise RuntimeError(f"expected a {NAME!r} generator in {operation}, got one on the CPU")
    ours: list[RehearsalTensor] = []
    others: list[tuple[Tensor, bool]] = []
    held_args = [_unwrap(arg, ours, others) for arg in args]
    held_kwargs = {name: _unwrap(arg, ours, others) for name, arg in kwargs.items()}
    if others:
        _require_one_device(operation, args, others)
    if _counters and _reads(operation, args, kwargs):
        for counter in _counters:
            counter[str(operation)] += 1
    if operation is aten._fused_sdp_choice.default:
        return int(torch.nn.attention.SDPBackend.MATH)
    result = operation(*held_args, **held_kwargs)
    target = kwargs.get("device")
    if target is not None and torch.device(target).type != NAME:
        return result
    if operation is aten._pack_padded_sequence.default:
        return _wrap(result[0]), result[1]
    if torch.Tag.inplace_view in operation.tags:
        with no_dispatch():
            operation(*args, **kwargs)  # changes the shape and strides of the wrapper itself
    if operation._schema.is_mutable:
        return _rewrap(result, {id(tensor.held): tensor for tensor in ours})
    return _wrap(result)


def _unwrap(
    arg: Any, ours: list[RehearsalTensor], others: list[tuple[Tensor, bool]], alone: bool = True
) -> Any:
    if type(arg) is RehearsalTensor:
        ours.append(arg)
        return arg.held
    if isinstance(arg, Tensor):
        others.append((arg, alone))
    elif type(arg) in (list, tuple):
        return [_unwrap(one, ours, others, alone=False) for one in arg]
    elif isinstance(arg, torch.device) and arg.type == NAME:
        return CPU
    return arg


def _wrap(result: Any) -> Any:
    if isinstance(result, Tensor):
        return RehearsalTensor(result)
    return type(result)(_wrap(one) for one in result) if type(result) in (list, tuple) else result


def _rewrap(result: Any, written: dict[int, RehearsalTensor]) -> Any:
    """Return the tensors that were written to; wrap any other results."""
    for tensor in written.values():
        if tensor.shape != tensor.held.shape:
            raise NotImplementedError(f"the {NAME} device cannot change a tensor's shape in place")
    if isinstance(result, Tensor):
        return written[id(result)] if id(result) in written else RehearsalTensor(result)
    return type(result)(_rewrap(one, written) for one in result) if type(result) in (list, tuple) else result


def _require_one_device(
    operation: OpOverload, args: Sequence[Any], others: list[tuple[Tensor, bool]]
) -> None:
    if operation in _COPIES | _PACKING:
        return
    if operation in _INDEXING and type(args[0]) is RehearsalTensor:  # the indices may be on the CPU
        others = [(tensor, True) for tensor in args[2:3] if type(tensor) is not RehearsalTensor]
    numbers = torch.Tag.pointwise in operation.tags or operation in _TAKES_NUMBERS or operation in _INDEXING
    writes_elsewhere = (
        operation._schema.is_mutable and args and any(args[0] is tensor for tensor, _ in others)
    )
    if writes_elsewhere or not all(numbers and alone and tensor.dim() == 0 for tensor, alone in others):
        other = others[0][0].device
        raise RuntimeError(
            f"expected all tensors to be on the same device, but found {NAME}:0 and {other} ({operation})"
        )


def _reads(operation: OpOverload, args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
    if operation in _INDEXING:  # a Boolean index is turned into numbers, which are counted first
        return any(tensor is not None and tensor.dtype == torch.bool for tensor in args[1])
    if operation is aten.copy_.default:
        return type(args[0]) is not RehearsalTensor
    if operation is aten._to_copy.default:
        return type(args[0]) is RehearsalTensor and torch.device(kwargs.get("device") or NAME).type == "cpu"
    return operation in _READS


def _run_network(operation: OpOverload, *args: Any) -> tuple[Tensor, ...]:
    others: list[tuple[Tensor, bool]] = []
    _unwrap(args[:1] + args[2:] if operation is aten.lstm.data else args, [], others)
    if others:
        _require_one_device(operation, args, others)
    leaves, structure = tree_flatten(args)
    return _Network.apply(operation, structure, *leaves)


class _Network(torch.autograd.Function):
    """Operation that runs on the CPU as a whole, with its gradient."""

    @staticmethod
    def forward(ctx: Any, operation: OpOverload, structure: TreeSpec, *leaves: Any) -> tuple[Tensor, ...]:
        needed = ctx.needs_input_grad[2:]
        held = [
            leaf.held.detach().requires_grad_(need) if isinstance(leaf, RehearsalTensor) else leaf
            for leaf, need in zip(leaves, needed, strict=True)
        ]
        with torch.enable_grad():
            ctx.results = operation(*tree_unflatten(held, structure))
        ctx.inputs = [leaf for leaf, need in zip(held, needed, strict=True) if need]
        return tuple(RehearsalTensor(result.detach()) for result in ctx.results)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: RehearsalTensor) -> tuple[Tensor | None, ...]:
        held = [gradient.held for gradient in gradients]
        found = iter(torch.autograd.grad(ctx.results, ctx.inputs, held, retain_graph=True))
        return tuple(RehearsalTensor(next(found)) if need else None for need in ctx.needs_input_grad)


def _factories() -> Iterator[OpOverload]:
    """Yield the operations that make a tensor from numbers alone."""
    for name in _FACTORIES.split():
        packet = getattr(aten, name)
        for overload in packet.overloads():
            arguments = {argument.name for argument in getattr(packet, overload)._schema.arguments}
            if "device" in arguments and "names" not in arguments:
                yield getattr(packet, overload)


def _load(held: Tensor, requires_grad: bool) -> Tensor:
    return held.to(register()).requires_grad_(requires_grad)
