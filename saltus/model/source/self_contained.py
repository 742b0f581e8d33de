"""Checks that model text stored in a recording refers to no files."""

from xml.etree import ElementTree

from saltus.errors import ModelError

LONGEST = 2**27  # characters


def self_contained(text: str) -> str:
    """MJCF or URDF text as parsed here, so that MuJoCo's reader sees exactly the checked content.

    Raises:
        ModelError: the text is not XML, or names a file (an include, a mesh, a texture), which the message tells.
    """
    if len(text) > LONGEST:
        raise ModelError(f"the text of the model has {len(text)} characters")
    try:
        root = ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError) as error:
        raise ModelError(f"not XML: {error}") from None
    for element in root.iter():
        for attribute, value in element.attrib.items():
            # file, filename of URDF, fileup and the like of textures; also covers attributes that MuJoCo may add
            if attribute.lower().startswith("file") or element.tag == "include":
                raise ModelError(
                    f"the text of this model refers to a file ('{value}'), which loading a recording does not open; "
                    "load the model from its own file",
                    element=element.tag,
                    name=element.get("name"),
                )
    return written(root)


def written(root: ElementTree.Element) -> str:
    """The text of a tree of elements. ModelError: they are nested too deeply, also for MuJoCo's reader."""
    try:
        return ElementTree.tostring(root, encoding="unicode")
    except RecursionError:
        raise ModelError("the elements of the model's text are nested too deeply") from None
