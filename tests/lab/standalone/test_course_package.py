"""Pages as packages for learning platforms. Reference: SCORM 1.2's manifest, its names and the files that it lists."""

import io
import xml.etree.ElementTree as ET
import zipfile

from saltus.lab.standalone.course_package import course_package

CP, ADL = "{http://www.imsproject.org/xsd/imscp_rootv1p1p2}", "{http://www.adlnet.org/xsd/adlcp_rootv1p2}"


def test_the_manifest_names_the_page():
    package = course_package(b"<html></html>", "Periods & <swings>")
    assert package == course_package(b"<html></html>", "Periods & <swings>")
    archive = zipfile.ZipFile(io.BytesIO(package))
    assert archive.read("index.html") == b"<html></html>"
    root = ET.fromstring(archive.read("imsmanifest.xml"))
    assert root.findtext(f".//{CP}schemaversion") == "1.2"
    assert root.findtext(f".//{CP}organization/{CP}title") == "Periods & <swings>"
    (resource,) = root.findall(f".//{CP}resource")
    assert resource.get(f"{ADL}scormtype") == "sco" and resource.get("href") == "index.html"
    assert root.find(f".//{CP}item").get("identifierref") == resource.get("identifier")
    assert {file.get("href") for file in resource} == set(archive.namelist()) - {"imsmanifest.xml"}
