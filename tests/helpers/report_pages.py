"""Reports, read back."""

import html.parser


class Page(html.parser.HTMLParser):
    """Elements with what they refer to, and the text."""

    def __init__(self, content):
        super().__init__()
        self.count, self.references, self.text, self._open = {}, [], "", []
        self.feed(content)

    def handle_starttag(self, tag, attrs):
        self.count[tag] = self.count.get(tag, 0) + 1
        self.references += [value for key, value in attrs if key in ("src", "href", "xlink:href", "action", "data")]

    def handle_data(self, data):
        self.text += data


def written(trajectory, tmp_path, **options):
    path = tmp_path / "run.html"
    trajectory.report(path, **options)
    return path.read_text(encoding="utf-8")
