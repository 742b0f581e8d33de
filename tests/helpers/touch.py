"""Fingers on a page: touch points as the browser's own events, and what can be reached by them."""

from helpers.browser import LabPage

REACH = """() => {
  const SMALL = 40 - 0.1;  // pixels, less rounding
  const wrong = [];
  const { innerWidth: width, innerHeight: height } = window;
  const all = (selector) => [...document.querySelectorAll(selector)].filter((e) => e.checkVisibility());
  const say = (e) => `${e.tagName.toLowerCase()}#${e.id || e.getAttribute('aria-label') || e.textContent.trim()}`;

  function pressed(e) {  // what takes the finger
    if (e.matches('[type=checkbox]')) return e.closest('label');
    return (e.matches('[type=range]') && e.closest('.slider')) || e;
  }

  const open = all('dialog[open]')[0] ?? document;
  for (const e of all('button, select, input, summary, a[href], #grip').filter((e) => open.contains(e))) {
    const target = pressed(e);
    target.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
    const { left, top, right, bottom } = target.getBoundingClientRect();
    const at = `${say(e)} at ${[left, top, right, bottom].map(Math.round)} of ${width} by ${height}`;
    if (left < 0 || top < 0 || right > width || bottom > height) wrong.push(`outside: ${at}`);
    if (e.id !== 'grip' && (bottom - top < SMALL || right - left < SMALL)) wrong.push(`small: ${at}`);
    if (e.matches('button') && e.scrollWidth > e.clientWidth) wrong.push(`cut: ${at}`);
    for (const x of [0.1, 0.5, 0.9]) {
      const found = document.elementFromPoint(left + x * (right - left), (top + bottom) / 2);
      if (!target.contains(found)) wrong.push(`covered by ${found && say(found)}: ${at}`);
    }
  }

  for (const e of [document.documentElement, ...all('header, #panel, #panel details, dialog[open]')]) {
    if (e.scrollWidth > e.clientWidth) wrong.push(`wider than its place: ${say(e)}`);
  }
  for (const e of all('#panel .uplot, #panel .legend')) {
    if (e.getBoundingClientRect().right > width) wrong.push(`outside: ${e.className}`);
  }

  const fixed = 'header :is(button, select, input, output), #hud-fold, #hud, #actions, #seek-bar, #grip';
  const laid = all(fixed).filter((e) => e.offsetHeight);
  const places = laid.map((e) => [say(e), e.getBoundingClientRect()]);
  places.forEach(([one, a], i) => places.slice(i + 1).forEach(([two, b]) => {
    const apart = a.left >= b.right || b.left >= a.right || a.top >= b.bottom || b.top >= a.bottom;
    if (!apart) wrong.push(`overlap: ${one}, ${two}`);
  }));
  return wrong;
}"""


class TouchPage(LabPage):
    """A page of the lab on a phone: no mouse, no keyboard."""

    def __init__(self, browser, url, width, height):
        super().__init__(browser, url, width, height, has_touch=True, is_mobile=True)
        self.devtools = self.context.new_cdp_session(self.tab)
        self.fingers = []

    def insets(self, **sides):
        """Room of notch and home bar at `top`, `right`, `bottom`, `left`, pixels."""
        none = {"top": 0, "right": 0, "bottom": 0, "left": 0}
        self.devtools.send("Emulation.setSafeAreaInsetsOverride", {"insets": {**none, **sides}})
        self.tab.wait_for_timeout(300)

    def resize(self, width, height):
        """Turned, or another phone; once everything has found its place."""
        self.tab.set_viewport_size({"width": width, "height": height})
        self.tab.wait_for_timeout(300)

    def touch(self, *fingers):
        """Fingers at these places now, (x, y) in CSS pixels; none: all are lifted."""
        if not fingers and not self.fingers:
            return
        kind = "touchEnd" if not fingers else "touchMove" if len(fingers) == len(self.fingers) else "touchStart"
        points = [{"x": float(x), "y": float(y), "id": k} for k, (x, y) in enumerate(fingers)]
        self.devtools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        self.fingers = list(fingers)

    def drag(self, *paths, steps=10, lift=True):
        """Fingers along straight lines ((x, y), (x, y)), side by side."""
        self.touch(*(start for start, _ in paths))
        for k in range(1, steps + 1):
            s = k / steps
            self.touch(*(((1 - s) * a + s * c, (1 - s) * b + s * d) for (a, b), (c, d) in paths))
            self.tab.wait_for_timeout(16)
        if lift:
            self.touch()

    def tap(self, x, y):
        self.touch((x, y))
        self.touch()

    def fold(self, button, folded):
        """Fold or unfold what a button folds, once everything has found its place."""
        if (self.tab.get_attribute(f"#{button}", "aria-expanded") == "false") != folded:
            self.tab.tap(f"#{button}")
            self.wait(lambda: (self.tab.get_attribute(f"#{button}", "aria-expanded") == "false") == folded)
            self.tab.wait_for_timeout(200)

    def box(self, selector):
        """Left, top, width, height of an element, in CSS pixels."""
        found = self.tab.locator(selector).bounding_box()
        return found["x"], found["y"], found["width"], found["height"]

    def middle(self, selector):
        left, top, width, height = self.box(selector)
        return left + width / 2, top + height / 2

    def unreachable(self):
        """Controls that are not inside the window, covered, cut, or too small for a finger."""
        return self.tab.evaluate(REACH)

    def place(self, body, point="undefined"):
        """Place of a point of a body on the page."""
        return tuple(self.get(f"Object.values(lab.project({body!r}, {point}))"))
