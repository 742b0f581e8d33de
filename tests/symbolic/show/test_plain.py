"""Formulas on a line of text. Reference: by hand."""

import pytest

from saltus.symbolic.show.plain import plain


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"(m_{1} + m_{2}) l_{1}^{2} \ddot{\alpha}_{1}", "(m₁ + m₂) l₁² α̈₁"),
        (r"m\,\cos(\alpha_{1} - \alpha_{2})", "m cos(α₁ - α₂)"),
        (r"\frac{m l^{2}}{2}\,\dot{x}", "(m l²)/2 ẋ"),
        (r"\theta_{\mathrm{upper\ arm}} &= -g", "θ_upper_arm = -g"),
    ],
)
def test_plain_text(latex, text):
    assert plain(latex) == text
