"""A page as a package for learning platforms: a zip file with `index.html` and a manifest.

The manifest is that of SCORM 1.2 (Advanced Distributed Learning, 2001), which Moodle, Canvas, ILIAS, Blackboard and
others import; the page reports the tasks that were answered to the platform. Unpacked, `index.html` works by itself.
"""

from __future__ import annotations

import io
import zipfile
from xml.sax.saxutils import escape

DATE = (1980, 1, 1, 0, 0, 0)  # of all files, so that equal pages give equal bytes
MANIFEST = """<?xml version="1.0" encoding="UTF-8"?>
<manifest identifier="saltus-page" version="1.0" xmlns="http://www.imsproject.org/xsd/imscp_rootv1p1p2"
    xmlns:adlcp="http://www.adlnet.org/xsd/adlcp_rootv1p2">
  <metadata><schema>ADL SCORM</schema><schemaversion>1.2</schemaversion></metadata>
  <organizations default="course">
    <organization identifier="course">
      <title>{title}</title>
      <item identifier="item" identifierref="page"><title>{title}</title></item>
    </organization>
  </organizations>
  <resources>
    <resource identifier="page" type="webcontent" adlcp:scormtype="sco" href="index.html">
      <file href="index.html"/>
    </resource>
  </resources>
</manifest>
"""


def course_package(page: bytes, title: str) -> bytes:
    """The zip file of a page with a title."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in (("imsmanifest.xml", MANIFEST.format(title=escape(title)).encode()), ("index.html", page)):
            entry = zipfile.ZipInfo(name, DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return out.getvalue()
