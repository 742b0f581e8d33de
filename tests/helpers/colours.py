"""Colours as they are seen: contrast, and differences for people with and without colour-blindness."""

import numpy as np

# Machado, Oliveira & Fernandes (2009), severity 1: linear sRGB as seen without long, middle or short cones
BLIND = {
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}

ALL_CONES = np.eye(3)


def light(colour):
    """Linear light [3] of a colour, "#rrggbb"."""
    from matplotlib.colors import to_rgb

    rgb = np.array(to_rgb(colour))
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    """Contrast of two colours, 1 to 21 (Web Content Accessibility Guidelines 2.2)."""
    dark, bright = sorted(0.05 + float(light(c) @ [0.2126, 0.7152, 0.0722]) for c in (one, other))
    return bright / dark


def cielab(colour, seen=ALL_CONES):
    """Lightness and colour as people tell them apart (CIE 1976, D65)."""
    linear = np.clip(seen @ light(colour), 0.0, 1.0)
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    xyz = to_xyz @ linear / np.array([0.9505, 1.0, 1.089])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])
