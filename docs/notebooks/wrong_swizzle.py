# %% [markdown]
# # A wrong swizzle, found
# A kernel multiplies ones by a matrix of its own indices and gets rows in the wrong places. TMA wrote the tile with
# 128-byte swizzle; the descriptor of the wgmma says 64. Which elements does the tensor core read instead?

# %%
import numpy as np

import tcq

MNEMONIC = "wgmma.m64n16k16.f32.bf16.bf16"
tma = tcq.Word.encode("wgmma.desc", start_bytes=0, lbo_bytes=16, sbo_bytes=1024, swizzle="128B")
kernel = tcq.Word.encode("wgmma.desc", start_bytes=0, lbo_bytes=16, sbo_bytes=1024, swizzle="64B")
kernel

# %% [markdown]
# Nothing is illegal about the word by itself, so no tool complains. Where do both put A[row][k]?

# %%
written = tcq.Map(MNEMONIC, "A", desc=int(tma))
read = tcq.Map(MNEMONIC, "A", desc=int(kernel))
row, k = np.indices(written.shape)
differ = written.bytes(row, k) != read.bytes(row, k)
print(f"{differ.sum()} of {differ.size} elements are read from another byte; rows {np.flatnonzero(differ.any(axis=1))[:8]} ...")
assert differ.any() and not differ[0].any()

# %% [markdown]
# The tensor core reads A[row][k] at `read`; what TMA wrote there is `written` turned around. -1 is a byte of another K step.

# %%
found = written.what(byte=read.bytes(row, k))
example = np.argwhere(differ & (found["row"] >= 0))
for r, c in example[:4]:
    print(f"A[{r}][{c}] is taken from byte {int(read.bytes(r, c)):#x}, where A[{found['row'][r, c]}][{found['col'][r, c]}] lies")

# %% [markdown]
# The picture a user sees: with B the unit matrix, D = A. What comes out differs where the bytes do, and nowhere else.

# %%
values = (np.arange(64 * 16).reshape(64, 16) % 128).astype(np.float32)
memory = np.zeros(int(max(written.bytes(row, k).max(), read.bytes(row, k).max())) // 2 + 1, np.uint16)
memory[written.bytes(row, k) // 2] = values.view(np.uint32) >> 16  # exact: integers below 256 are bf16
d = tcq.mma(MNEMONIC, memory[read.bytes(row, k) // 2], (np.eye(16, dtype=np.float32).view(np.uint32) >> 16).astype(np.uint16))
assert np.array_equal(d != values, differ & (d != values)) and (d != values).any()

# %% [markdown]
# Both ends of the address name the same mode, and D is what was meant.

# %%
right = tcq.mma(MNEMONIC, memory[written.bytes(row, k) // 2],
                (np.eye(16, dtype=np.float32).view(np.uint32) >> 16).astype(np.uint16))
assert np.array_equal(right, values)
print(tcq.ask(f"equation {MNEMONIC} A desc={tma.hex}"))
