"""Operators of torch.ops.tcq by torch.library.Library. What torch.library.custom_op makes of the same functions goes through Python
three times at each call, which takes the host longer than a small kernel takes the device (tests/python/time_calls.py).

Here PyTorch's dispatcher calls the kernel, or what gives it gradients. That is told which keys are left, and calls the kernel itself
where nothing else comes before it (a mode, a subclass, what is negated late), and else goes on as custom_op does. A PyTorch
that no longer has the names of these keys, which are private, gives gradients by torch.library.register_autograd.
"""

from __future__ import annotations

import torch
from torch import _C
from torch.autograd import forward_ad
from torch.autograd.graph import increment_version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, List, Optional, Sequence

    from torch import Tensor

    Keys = Any  # torch._C.DispatchKeySet

_LIBRARY = torch.library.Library("tcq", "FRAGMENT")
_TAGS = (torch.Tag.pt2_compliant_tag, getattr(torch.Tag, "needs_exact_strides", torch.Tag.needs_fixed_stride_order))


_BELOW: Optional[Keys] = (getattr(_C, "_after_autograd_keyset", None)
                          if hasattr(_C, "_AutoDispatchBelowAutograd") and hasattr(forward_ad, "_current_level") else None)


class Operator:
    """`call` is torch.ops.tcq.NAME, whose kernel is for CUDA; `fake` knows the result's shape. One that returns nothing has no
    gradients."""

    def __init__(self, name: str, schema: str, compute: Callable[..., Any], fake: Callable[..., Any]) -> None:
        _LIBRARY.define(name + schema, tags=_TAGS)
        self.call = getattr(torch.ops.tcq, name).default
        self._name, self._compute = name, compute
        self._plain: List[Keys] = []  # what is left where nothing comes before the kernel; before PyTorch 2.8 equal to nothing
        self.register_kernel("CUDA")
        torch.library.register_fake(f"tcq::{name}", fake, lib=_LIBRARY)
        if schema.endswith("-> ()"):
            _LIBRARY.impl(name, torch.library.fallthrough_kernel, "Autograd")

    def register_kernel(self, key: str) -> None:
        """The same function for tensors of another kind: "CPU"."""
        _LIBRARY.impl(self._name, self._compute, key)
        if _BELOW is not None:
            self._plain.append(_C.DispatchKeySet(getattr(_C.DispatchKey, key)))

    def differentiate(self, backward: Callable[..., Any], setup_context: Callable[..., None], tensors: int) -> None:
        """As torch.library.register_autograd; the first so many arguments are tensors, or none."""
        if _BELOW is None:
            torch.library.register_autograd(f"tcq::{self._name}", backward, setup_context=setup_context, lib=_LIBRARY)
            return
        go_on = self._below_autograd

        class Differentiated(torch.autograd.Function):
            @staticmethod
            def forward(ctx: Any, *call: Any) -> Any:
                *inputs, keys = call
                output = go_on(keys, inputs)
                setup_context(ctx, inputs, output)
                return output

        Differentiated.backward = staticmethod(backward)  # type: ignore[method-assign]

        def differentiated(keys: Keys, *call: Any) -> Any:
            if forward_ad._current_level >= 0:  # which refuses derivatives ahead
                return Differentiated.apply(*call, keys)
            if torch.is_grad_enabled():
                for x in call[:tensors]:
                    if x is not None and x.requires_grad:
                        return Differentiated.apply(*call, keys)
            return go_on(keys, call)

        _LIBRARY.impl(self._name, differentiated, "Autograd", with_keyset=True)

    def _below_autograd(self, keys: Keys, call: Sequence[Any]) -> Any:
        keys = keys & _BELOW
        if keys in self._plain:
            return self._compute(*call)
        with _C._AutoDispatchBelowAutograd():
            return self.call.redispatch(keys, *call)


def written(*tensors: Optional[Tensor]) -> None:
    """Said by a kernel before it writes: autograd asks whether what it has kept is what it was."""
    for x in tensors:
        if x is not None:
            increment_version(x)
