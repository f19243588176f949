"""Arrays of questions: layouts of whole matrices, products of matrices, whole GEMMs. numpy is imported when used.

Element types that numpy lacks travel as their bits: bf16 in uint16, fp8 and narrower in uint8, tf32 in float32;
the arrays of ml_dtypes are taken as they are, torch tensors after .view(torch.uint16) or .view(torch.uint8).
"""

from __future__ import annotations

import io
from . import _tcq
from ._reply import NothingThere, UsageError, data_of, error_of
from ._words import options_of, word_of, words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    _Axis = Tuple[str, int, int, int]  # name, extent, what index 0 is called, from one index to the next

__all__ = ["Map", "mma", "gemm"]


class Map:
    """Where every element of a matrix lies: Map("wgmma.m64n24k16.f32.bf16.bf16", "D").

    Keys are those of `tcq table`: desc=WORD for an operand in shared memory, a="regs" and so on.
    `element` and `place` name the axes, `bits` is the width of an element, `notes` what is easily misread;
    `at` is int32 [element axes ..., copy, place axis], -1 where there is no such copy, `count` the copies.
    """

    def __init__(self, mnemonic: str, matrix: str, *, arch: Optional[str] = None, **keys: Any) -> None:
        words = words_of((mnemonic, matrix), keys)
        reply, table = _tcq.map_table(words, options_of(arch=arch).get("arch", ""))
        if table is None:
            raise error_of(reply)
        self._words = words
        self.matrix: str = table["matrix"]
        self.bits: int = table["bits"]
        self.notes: List[str] = table["notes"]
        self._element: List[_Axis] = table["element"]
        self._place: List[_Axis] = table["place"]
        self.element: Tuple[str, ...] = tuple(axis[0] for axis in self._element)
        self.place: Tuple[str, ...] = tuple(axis[0] for axis in self._place)
        self.shape: Tuple[int, ...] = tuple(axis[1] for axis in self._element)
        self.at: "NDArray[np.int32]" = table["at"]
        self.count: "NDArray[np.int32]" = table["count"]
        self._inverse: Optional[_Inverse] = None

    def __repr__(self) -> str:
        sizes = " x ".join(map(str, self.shape))
        return f"<tcq.Map {' '.join(self._words)}: {sizes} elements in {', '.join(self.place)}>"

    def where(self, *coords: "ArrayLike", **named: "ArrayLike") -> Dict[str, "NDArray[np.int32]"]:
        """The place of each element: an array for each of `place`, in the common shape of the coordinates.

        Coordinates come in the order of `element` or by name, as `tcq where` takes them; what is missing is 0.
        Of several places the first; all of them are `at[indices]`. A cta of -1 is both CTAs.
        Raises UsageError for a coordinate that is out of range and NothingThere for one without a place.
        """
        import numpy as np

        element = self._element_numbers(coords, named)
        if not self.count.all() and not np.take(self.count.reshape(-1), element).all():
            raise NothingThere(f"an element of {self.matrix} has no place")
        places = self.at.reshape(-1, self.at.shape[-2], len(self.place))
        return {name: np.take(np.ascontiguousarray(places[:, 0, i]), element) for i, name in enumerate(self.place)}

    def what(self, *coords: "ArrayLike", **named: "ArrayLike") -> Dict[str, "NDArray[np.int32]"]:
        """The element at each place: an array for each of `element`, -1 where nothing of the matrix lies.

        Of elements that share a place (an operand whose strides overlap) the first.
        """
        import numpy as np

        if self._inverse is None:
            self._inverse = self._inverted()
        element = self._inverse(self._key(self._values(self._place, coords, named)))
        return {name: np.take(values, element) for name, values in zip(self.element, self._element_values())}

    def bytes(self, *coords: "ArrayLike", **named: "ArrayLike") -> "NDArray[np.int32]":
        """The byte of each element in shared memory; where()["byte"]."""
        if "byte" not in self.place:
            raise UsageError(f"{self.matrix} lies in {', '.join(self.place)}: expected an operand in shared "
                             "memory, desc=WORD")
        return self.where(*coords, **named)["byte"]

    def _values(self, axes: Sequence[_Axis], coords: Sequence[Any], named: Dict[str, Any]) -> List[Any]:
        import numpy as np

        names = [axis[0] for axis in axes]
        if len(coords) > len(names):
            raise UsageError(f"{len(coords)} coordinates: expected {', '.join(names)}")
        given = dict(zip(names, coords))
        for name, value in named.items():
            if name not in names or name in given:
                raise UsageError(f"{name}= is {'given twice' if name in given else 'no axis'}: "
                                 f"expected {', '.join(names)}")
            given[name] = value
        values = []
        for name, _, first, _ in axes:
            try:
                value = np.asarray(given.get(name, first))
            except ValueError as error:
                raise UsageError(f"{name}=: {error}") from None
            if value.dtype.kind not in "iu":
                raise UsageError(f"{name}= is of dtype {value.dtype}: expected integers")
            values.append(value.astype(np.int64, copy=False))
        return values

    def _element_numbers(self, coords: Sequence[Any], named: Dict[str, Any]) -> Any:
        """Counted with the last axis fastest."""
        number: Any = 0
        for (name, extent, first, step), value in zip(self._element, self._values(self._element, coords, named)):
            index = value if first == 0 else value - first
            if step != 1:
                index = index // step
            if index.size and (index.min() < 0 or index.max() >= extent):
                raise UsageError(f"{name}= reaches from {value.min()} to {value.max()}: expected "
                                 f"{first} to {first + step * (extent - 1)}")
            try:
                number = number * extent + index
            except ValueError:
                raise UsageError(f"{name}= is of shape {index.shape}, those before it of {number.shape}: expected "
                                 "shapes that go together") from None
        return number

    def _key(self, values: Sequence[Any]) -> Any:
        """One number for each place; what is outside of what the matrix has counts as its -1."""
        import numpy as np

        key: Any = 0
        try:
            for value, size in zip(values, self._sizes()):
                outside = value.size and (value.min() < -1 or value.max() > size - 2)
                key = key * size + (np.where((value < -1) | (value > size - 2), 0, value + 1) if outside else value + 1)
        except ValueError as error:
            raise UsageError(f"places: {error}") from None
        return key

    def _sizes(self) -> List[int]:
        flat = self.at.reshape(-1, len(self.place))
        return [int(flat[:, i].max()) + 2 for i in range(flat.shape[1])]

    def _element_values(self) -> List[Any]:
        """Each coordinate of every element, and at the end -1 for none."""
        import numpy as np

        return [np.append(first + step * i.ravel(), -1).astype(np.int32)
                for (_, _, first, step), i in zip(self._element, np.indices(self.shape))]

    def _inverted(self) -> "_Inverse":
        import numpy as np

        copies = self.at.shape[-2]
        places = self.at.reshape(-1, len(self.place))
        element = np.repeat(np.arange(places.shape[0] // copies), copies)
        there = np.arange(places.shape[0]) % copies < np.repeat(self.count.reshape(-1), copies)
        keys, first = np.unique(self._key(list(places[there].T.astype(np.int64))), return_index=True)
        return _Inverse(keys, element[there][first])


class _Inverse:
    """The element of a key, -1 for none: by a table where keys are few."""

    def __init__(self, keys: Any, elements: Any) -> None:
        import numpy as np

        self._keys, self._elements, self._table = keys, elements, None
        if len(keys) and keys[-1] < 1 << 24:
            self._table = np.full(int(keys[-1]) + 2, -1, np.int32)
            self._table[keys] = elements

    def __call__(self, wanted: Any) -> Any:
        import numpy as np

        if self._table is not None:
            return self._table.take(wanted, mode="clip")
        slot = np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)
        return np.where(self._keys[slot] == wanted, self._elements[slot], -1)


def _npy(array: Any, name: str) -> bytes:
    import numpy as np

    buffer = io.BytesIO()
    try:
        np.save(buffer, np.asarray(array), allow_pickle=False)
    except (ValueError, TypeError, RuntimeError, OverflowError) as error:
        raise UsageError(f"{name}: {error}") from None
    return buffer.getvalue()


def _array(npy: bytes) -> Any:
    import numpy as np

    return np.load(io.BytesIO(npy), allow_pickle=False)


def mma(mnemonic: str, a: "ArrayLike", b: "ArrayLike", c: Optional["ArrayLike"] = None, *,
        sfa: Optional["ArrayLike"] = None, sfb: Optional["ArrayLike"] = None, arch: Optional[str] = None,
        **keys: Any) -> "np.ndarray":
    """The bits of D = A * B + C as one instruction sums them, chained along K: A is M x K, B is K x N.

    Any M, N and K: the last instruction has zeros where K does not fill it. Block-scaled kinds need sfa (M x
    factors) and sfb (N x factors), uint8, a factor for each block of each instruction. Keys are those of
    `tcq mma`: accumulate=, negate_a=, type_a= and so on. D is float32, float16 or int32.
    """
    operands = {"a": a, "b": b, "c": c, "sfa": sfa, "sfb": sfb}
    arrays = {name: _npy(array, name) for name, array in operands.items() if array is not None}
    reply, d = _tcq.mma(words_of((mnemonic,), keys), options_of(arch=arch).get("arch", ""), arrays)
    if reply[0] != 0:
        raise error_of(reply)
    return _array(d)


def gemm(a: "ArrayLike", b: "ArrayLike", *, type: str, order: Union[str, Sequence[str]] = "chain",
         type_b: Optional[str] = None, out_type: Optional[str] = None, c: Optional["ArrayLike"] = None,
         bias: Optional["ArrayLike"] = None, scaling: Optional[str] = None, scale_a: Optional["ArrayLike"] = None,
         scale_b: Optional["ArrayLike"] = None, alpha: float = 1.0, beta: float = 0.0, activation: str = "none",
         compare: Optional["ArrayLike"] = None, errors: bool = False, packed: bool = False, threads: int = 0,
         report: bool = False) -> Any:
    """Every bit of D = activation(alpha * A * B + beta * C + bias) for a stated order of accumulation.

    A is M x K, B is K x N, both in any memory order (B.T of an N x K weight costs nothing). Arrays of three dimensions
    have a matrix for each product of a batch, those of two, or with one matrix, serve all of them; D is then
    batch x M x N. `order` is the grammar of `tcq help gemm`: "chain", "every=128:wgmma", "split=3", "float64".
    `scaling` ("tensor", "row_column", "block_128", "vector_128") with scale_a and scale_b multiplies f32 factors in;
    those of 128 of K need a promoted order, "chain:wgmma,promoted". With "ue8m0_block32", "ue8m0_block16" or
    "ue4m3_block16" scale_a is M x K/32 (or 16) and scale_b K/32 x N, a byte each, and the order one of block-scaled
    tcgen05.mma: "chain", "chain:tcgen05,kind=mxf8f6f4". packed=True: e2m1 lie two to a byte, neighbours along K, as
    torch's float4_e2m1fn_x2. Returns D, or a list of them for a list of orders; with report=True (D, answer), where the answer holds what `tcq gemm --json` says: with compare= a
    device's D, how many outputs differ, the first, the worst, and which rival order explains them.
    A pure function: no state, no lock while it computes; threads=0 takes every core. Ctrl-C ends it.
    """
    orders = [order] if isinstance(order, str) else list(order)
    words = ["a", "b", "--type", type, "--json", "--threads", threads]
    arrays = {"a": a, "b": b}
    for spec in orders:
        words += ["--order", spec]
    for option, value in (("--type-b", type_b), ("--out-type", out_type), ("--scaling", scaling)):
        if value is not None:
            words += [option, value]
    for name, array in (("c", c), ("bias", bias), ("compare", compare), ("scale-a", scale_a), ("scale-b", scale_b)):
        if array is not None:
            words += ["--" + name, name]
            arrays[name] = array
    epilogue = f"alpha={word_of(alpha, 'alpha')},beta={word_of(beta, 'beta')}"
    if (epilogue, activation) != ("alpha=1.0,beta=0.0", "none"):
        words += ["--epilogue", f"{epilogue},activation={word_of(activation, 'activation')}"]
    words += [option for option, wanted in (("--errors", errors), ("--packed", packed)) if wanted]
    reply, results = _tcq.gemm([word_of(word, "a word") for word in words],
                               {name: _npy(array, name) for name, array in arrays.items()})
    answer = data_of(reply)
    found = [_array(d) for d in results]
    result = found[0] if isinstance(order, str) else found
    return (result, answer) if report else result
