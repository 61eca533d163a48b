"""What bench_python measures in the interpreter: JSON on stdout.

    measure.py POINTS MESH...
"""

import json
import resource
import sys
import time
import warnings

import numpy as np

import isotact

warnings.simplefilter("ignore")


def best(work, runs=3, clock=time.perf_counter):
    times = []
    for _ in range(runs):
        start = clock()
        result = work()
        times.append(clock() - start)
    return min(times), result


def resident_mb():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6


def winding_numbers(mesh, points):
    """By the sum of solid angles over all triangles (van Oosterom and Strackee 1983), in float64."""
    v = mesh.vertices.astype(np.float64)
    a, b, c = (v[mesh.faces[:, k].astype(np.int64)] for k in range(3))
    numbers = np.empty(len(points))
    for i, p in enumerate(points):
        x, y, z = a - p, b - p, c - p
        lx, ly, lz = (np.sqrt((u * u).sum(axis=1)) for u in (x, y, z))
        volume = (x * np.cross(y, z)).sum(axis=1)
        rest = (
            lx * ly * lz
            + (x * y).sum(axis=1) * lz
            + (y * z).sum(axis=1) * lx
            + (z * x).sum(axis=1) * ly
        )
        numbers[i] = (2 * np.arctan2(volume, rest)).sum() / (4 * np.pi)
    return numbers


def wrong_signs(inside, numbers, sure):
    return int(((inside != (numbers > 0.5)) & sure).sum())


def overhead():
    """Microseconds per call, beside what C++ takes for the same (bench_python)."""
    box = isotact.Shape.box((1, 1, 1))
    a, b = isotact.Pose(), isotact.Pose((5, 0, 0))
    count = 100_000

    def loop():
        for _ in range(count):
            isotact.collide(box, box, a, b)

    loop()
    seconds, _ = best(loop, clock=time.process_time)
    return 1e6 * seconds / count


def batch(count):
    field = isotact.Field.build(isotact.Mesh.make("blob"), resolution=256, progress=False)
    points = np.random.default_rng(5).uniform(-0.1, 0.2, (count, 3)).astype(np.float32)
    seconds, _ = best(lambda: field.sample(points, threads=1), 7, time.process_time)
    return 1e9 * seconds / count


def rows_of(path, count):
    mesh = isotact.Mesh.read(path, progress=False) if path.endswith(
        (".ply", ".obj", ".off", ".stl")) else isotact.Mesh.make(path)
    lower, upper = mesh.bounds
    middle, size = (lower + upper) / 2, (upper - lower).max()
    random = np.random.default_rng(7)
    points = (middle + random.uniform(-0.6, 0.6, (count, 3)) * size).astype(np.float32)
    checked = slice(0, min(count, 600))
    numbers = winding_numbers(mesh, points[checked].astype(np.float64))
    # Where the surface is open the number is between: no sign is wrong there.
    sure = np.abs(numbers - np.round(numbers)) < 0.25
    rows = []

    def add(name, build, ask, note=""):
        memory = resident_mb()
        start = time.perf_counter()
        made = build()
        built = time.perf_counter() - start
        seconds, distances = best(lambda: ask(made))
        signs = None
        if note != "unsigned":
            signs = wrong_signs(np.asarray(distances[checked]) < 0, numbers, sure)
        rows.append(
            {
                "mesh": path,
                "by": name,
                "build_seconds": built,
                "ns_per_point": 1e9 * seconds / count,
                "wrong_signs": signs,
                "checked": int(sure.sum()),
                "megabytes": max(0.0, resident_mb() - memory),
            }
        )
        return distances

    exact = add("isotact, exact", lambda: isotact.Shape(mesh, progress=False),
                lambda s: s.signed_distance(points))
    add("isotact, field", lambda: isotact.Field.build(mesh, progress=False),
        lambda f: f.sample(points))
    try:
        import open3d as o3d

        def scene():
            s = o3d.t.geometry.RaycastingScene()
            s.add_triangles(o3d.core.Tensor(np.array(mesh.vertices)),
                            o3d.core.Tensor(np.array(mesh.faces)))
            return s

        found = add("Open3D", scene,
                    lambda s: s.compute_signed_distance(o3d.core.Tensor(points)).numpy())
        rows[-1]["distance_differs"] = float(
            np.percentile(np.abs(np.abs(found) - np.abs(exact)), 99) / size)
    except ImportError:
        pass
    try:
        from scipy.spatial import cKDTree

        add("scipy's cKDTree (vertices, no sign)", lambda: cKDTree(mesh.vertices),
            lambda t: t.query(points, workers=-1)[0], "unsigned")
    except ImportError:
        pass
    return rows


def main():
    count = int(sys.argv[1])
    rows = []
    for path in sys.argv[2:]:
        rows += rows_of(path, count)
    json.dump({"overhead_us": overhead(), "batch_ns": batch(10 * count if count < 10**6 else count),
               "rows": rows}, sys.stdout)


main()
