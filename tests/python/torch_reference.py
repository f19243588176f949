"""What the functions of tcq.torch for FP8 stand for, in torch on the CPU: values, and the bits of quantize."""

import torch


def dequantized(x, factors):
    """By factors of blocks, whatever they are for."""
    lines, blocks = factors.shape[-2:]
    down = x.shape[-2] if lines == 1 else 128 if lines < x.shape[-2] else 1
    across = 128 if blocks > 1 else x.shape[-1]
    wide = factors.repeat_interleave(down, -2)[..., :x.shape[-2], :].repeat_interleave(across, -1)[..., :x.shape[-1]]
    return x.float() * wide


def quantized(x, dtype, power_of_two, down=1, across=128):
    """sim/num/quantize.h's FP8, and factors of blocks of down x across of a float32 matrix."""
    rows, columns = x.shape
    blocks = torch.nn.functional.pad(x, (0, -columns % across, 0, -rows % down)).unflatten(0, (-1, down)).unflatten(2, (-1, across))
    largest = torch.where(blocks.isfinite(), blocks.abs(), 0).amax((1, 3))
    factors = torch.where(largest == 0, 1, (largest / torch.finfo(dtype).max).clamp_min(2.0 ** -126))
    if power_of_two:
        fraction, exponent = torch.frexp(factors)
        factors = torch.where(fraction == 0.5, factors, torch.ldexp(torch.ones_like(factors), exponent))
    scaled = (blocks * (1 / factors)[:, None, :, None]).clamp(-torch.finfo(dtype).max, torch.finfo(dtype).max)
    codes = torch.where(scaled.isnan(), 0x7f, scaled.to(dtype).view(torch.uint8)).to(torch.uint8)
    return codes.flatten(2).flatten(0, 1)[:rows, :columns].contiguous().view(dtype), factors


def the_same(got, want):
    """Bit for bit: FP8 and factors."""
    return got[0].dtype == want[0].dtype and all(torch.equal(x.view(torch.uint8), y.view(torch.uint8)) for x, y in zip(got, want))
