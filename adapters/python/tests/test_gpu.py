"""Queries on the GPU, in software where there is none."""

import os
import threading
import unittest

import numpy as np

import isotact

SEED = int(os.environ.get("ISOTACT_TEST_SEED", "1"))
HAS_GPU = isotact.gpu() is not None


class Gpu(unittest.TestCase):
    def setUp(self):
        self.shape = isotact.Shape(isotact.Mesh.make("gear"), resolution=64)
        rng = np.random.default_rng(SEED)
        low, high = self.shape.bounds
        self.ends = [rng.uniform(low, high, (3000, 3)).astype(np.float32) for _ in range(2)]

    @unittest.skipUnless(HAS_GPU, "there is no OpenGL 4.5 here")
    def test_same_bits(self):
        for mode in ("all", "first", "any"):
            tracer = isotact.GpuTracer(self.shape, mode=mode, margin=1e-4)
            self.assertIn("OpenGL", tracer.device)
            on_gpu = tracer.trace(*self.ends)
            here = self.shape.trace(*self.ends, mode=mode, margin=1e-4)
            for one, two in zip(on_gpu, here):
                np.testing.assert_array_equal(one, two)
            self.assertGreater(len(here[1]), 100)

    @unittest.skipUnless(HAS_GPU, "there is no OpenGL 4.5 here")
    def test_other_threads_and_errors(self):
        tracer = isotact.GpuTracer(self.shape)
        expected = tracer.trace(*self.ends)
        found = []
        thread = threading.Thread(target=lambda: found.append(tracer.trace(*self.ends)))
        thread.start()
        thread.join()
        np.testing.assert_array_equal(found[0][1], expected[1])
        with self.assertRaisesRegex(ValueError, "2 rows"):
            tracer.trace(self.ends[0][:2], self.ends[1][:3])
        with self.assertRaisesRegex(ValueError, "mode"):
            isotact.GpuTracer(self.shape, mode="some")
        with self.assertRaises(isotact.Error):
            isotact.GpuTracer(isotact.Shape.plane())

    def test_devices(self):
        with self.assertRaisesRegex(ValueError, "device"):
            isotact.gpu("tpu")
        self.assertIn(type(isotact.gpu("hardware")), (str, type(None)))
        if not HAS_GPU:
            with self.assertRaises(isotact.Error):
                isotact.GpuTracer(self.shape)


if __name__ == "__main__":
    unittest.main()
