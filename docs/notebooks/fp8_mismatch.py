# %% [markdown]
# # An FP8 mismatch, explained
# A serving kernel and a training kernel multiply the same e4m3 operands on the same GPU, and their results differ in most
# outputs. Neither is wrong: they sum K in another order. Which?

# %%
import numpy as np

import tcq

draw = np.random.default_rng(7)
a = draw.integers(0, 256, (64, 1024)).astype(np.uint8) & 0xB7  # e4m3 as its bits: both signs, below 1, no NaN
b = draw.integers(0, 256, (1024, 48)).astype(np.uint8) & 0xB7
device = tcq.gemm(a, b, type="e4m3", order="every=128")  # stands for the array that came from the GPU

# %% [markdown]
# The guess: one chain of wgmma over all of K. tcq predicts its bits, compares, and asks which other order has the
# device's.

# %%
guess, answer = tcq.gemm(a, b, type="e4m3", order="chain", compare=device, report=True)
compared = answer["orders"][0]["compared"]
print(f"{compared['differing']} of {compared['outputs']} outputs differ; worst {compared['worst']}")
print("explained by", compared["explained"]["by"])
assert compared["differing"] > 0 and "every=128:wgmma" in compared["explained"]["by"]

# %% [markdown]
# So the device promotes every 128 to f32. Is that better or worse? Both beside float64, rounded once:

# %%
exact = tcq.gemm(a, b, type="e4m3", order="float64")
errors = {name: float(np.abs(d - exact).max()) for name, d in (("chain", guess), ("every=128", device))}
print(errors)
assert errors["every=128"] < errors["chain"]

# %% [markdown]
# Why a chain loses bits: wgmma keeps 13 fraction bits below the largest term, its accumulator included. One sum, told
# term by term:

# %%
story = tcq.mma_lines("wgmma.m64n8k32.f32.e4m3.e4m3", "0.5,0.5 0.5,0.5 4096.0", explain=True, numbers="decimal")[0]
print(story)
assert float(story["value"]) == 4096.0
