"""Mass matrices of URDF files, straight from the specification; and all files of folders against them:

    PYTHONPATH=tests python -m helpers.urdf_files FOLDER...

prints for each file what loads, and the difference of the mass matrix at a random position, relative to its largest
entry. Files with ball, floating or planar joints, or with links whose mass is that of their shapes, are not compared.
"""

import sys
import warnings
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

import saltus
from saltus.model.source.urdf.remarks import UrdfWarning


def rotation(axis, angle):
    a = np.asarray(axis) / np.linalg.norm(axis)
    cross = np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def numbers(element, name, default):
    text = default if element is None else element.get(name, default)
    return np.array([float(x) for x in text.split()])


def frame(element):
    """Rotation and place of an element's <origin>."""
    origin = element.find("origin")
    r, p, y = numbers(origin, "rpy", "0 0 0")
    turn = rotation([0, 0, 1], y) @ rotation([0, 1, 0], p) @ rotation([1, 0, 0], r)
    return turn, numbers(origin, "xyz", "0 0 0")


def mass_matrix(root, q):
    """M [n, n] over the joints with one coordinate, in the order of the file."""
    joints = root.findall("joint")
    links = {link.get("name"): link for link in root.findall("link")}
    names = [joint.get("name") for joint in joints if joint.get("type") != "fixed"]
    M = np.zeros((len(names), len(names)))
    base = set(links) - {joint.find("child").get("link") for joint in joints}
    left = [(name, np.eye(3), np.zeros(3), []) for name in base]
    while left:
        name, turn, place, chain = left.pop()
        inertial = links[name].find("inertial")
        if inertial is not None:
            own, center = frame(inertial)
            values = inertial.find("inertia").attrib
            local = np.array([[float(values["i" + "".join(sorted(a + b))]) for a in "xyz"] for b in "xyz"])
            world = turn @ own @ local @ (turn @ own).T
            J, W = np.zeros((3, len(names))), np.zeros((3, len(names)))
            for k, kind, axis, at in chain:
                J[:, k] = axis if kind == "prismatic" else np.cross(axis, place + turn @ center - at)
                W[:, k] = 0 if kind == "prismatic" else axis
            M += float(inertial.find("mass").get("value")) * J.T @ J + W.T @ world @ W
        for joint in joints:
            if joint.find("parent").get("link") == name:
                own, at = frame(joint)
                turned, moved, way, kind = turn @ own, place + turn @ at, chain, joint.get("type")
                if kind != "fixed":
                    k, axis = names.index(joint.get("name")), numbers(joint.find("axis"), "xyz", "1 0 0")
                    way = [*chain, (k, kind, turned @ axis / np.linalg.norm(axis), moved)]
                    if kind == "prismatic":
                        moved = moved + way[-1][2] * q[k]
                    else:
                        turned = turned @ rotation(axis, q[k])
                left.append((joint.find("child").get("link"), turned, moved, way))
    return M


def difference(path, model, q):
    """Largest difference of the mass matrix at q [nq], relative to its largest entry."""
    import mujoco

    m = model.mujoco
    data = mujoco.MjData(m)
    data.qpos[:] = q
    mujoco.mj_forward(m, data)
    found = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(m, data, found)
    root = ElementTree.fromstring(path.read_bytes())
    in_file = [joint.get("name") for joint in root.findall("joint") if joint.get("type") != "fixed"]
    at = [model.names("joint").index(name) for name in in_file]
    expected = mass_matrix(root, q[at])
    return np.abs(found[np.ix_(at, at)] - expected).max() / np.abs(expected).max()


def outcome(path):
    """Why a file does not load, or its size, the difference, and what is remarked."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model = saltus.load(path, apart=60.0)
        except saltus.SaltusError as error:
            return f"refused: {error}"
    remarks = [part for w in caught if isinstance(w.message, UrdfWarning) for part in w.message.remarks]
    kinds = [remark.kind for remark in remarks]
    text = f"{model.nbody - 1} links, {model.nv} degrees of freedom, {model.ngeom} geoms"
    if model.nv == 0 or model.nq != model.njnt or "link without inertial" in kinds:
        return f"{text}; {', '.join(kinds)}"
    try:
        found = difference(path, model, np.random.default_rng(0).uniform(-1, 1, model.nq))
    except (ElementTree.ParseError, ValueError) as error:  # planar joints, and XML that only MuJoCo takes
        return f"{text}, not compared ({error}); {', '.join(kinds)}"
    return f"{text}, mass matrix {found:.1e}; {', '.join(kinds)}"


if __name__ == "__main__":
    for folder in sys.argv[1:]:
        for file in sorted(Path(folder).rglob("*.urdf")):
            print(f"{file.name}: {outcome(file)}", flush=True)
