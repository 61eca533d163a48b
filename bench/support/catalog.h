// The measurements of the papers, and the programs that repeat them. A report is compared with this
// list, so that every missing measurement is reported. It has no results; the papers' numbers are
// beside the benchmarks.
#pragma once

#include <string_view>

namespace isotact::bench {

struct Paper {
  std::string_view key, authors, title, year, machine;
};
inline constexpr Paper kPapers[] = {
    {"XB14", "H. Xu, J. Barbic",
     "Continuous Collision Detection Between Points and Signed Distance Fields", "2014",
     "Intel Xeon 2.9 GHz (2 x 8 cores), 32 GB, GeForce GTX 680; fields built with 8 threads"},
    {"SSL14", "M. Sagardia, T. Stouraitis, J. Lopes e Silva",
     "A New Fast and Robust Collision Detection and Force Computation Algorithm Applied to the "
     "Physics Engine Bullet: Method, Integration, and Evaluation",
     "2014", "Intel Xeon 4 x 2.80 GHz, SUSE Linux Enterprise 11, Bullet 2.82"},
    {"KGM", "B. Krayer, R. Görges, S. Müller", "Intersection Distance Field Collision for GPU",
     "2020 or later", "Intel Core i7-6700HQ, 8 GB, NVIDIA GeForce GTX 1070, Windows 10"},
    {"FAB", "J. Fabrizio", "Easy Real-Time Collision Detection", "2019 or later",
     "FCL on an Intel i7-6700K at 4.00 GHz, its own on a GeForce GTX 1650; the larger scene on a "
     "GT 1030"},
    {"MDL06", "F. A. Madera, A. M. Day, S. D. Laycock",
     "Collision Detection for Deformable Objects using Octrees", "2006",
     "PC with a processor of 3 GHz, 1 GB"},
};

// A table, figure or section that measures something, and the command that repeats it. Also the
// pictures of results, which measure nothing.
struct PaperItem {
  std::string_view paper, place, what;
  std::string_view program, command;  // A program of this folder, or none.
  bool is_picture = false;
};
inline constexpr PaperItem kPaperItems[] = {
    {"XB14", "Table 1", "time and memory of fields and octrees", "fields",
     "isotact bench fields --pass \"--only table1\""},
    {"XB14", "Table 2", "a million segments, uniform and by the octree", "segments",
     "isotact bench segments --pass \"--only table2\""},
    {"XB14", "Table 3", "a thousand random motions, point by point and by the tree", "swept",
     "isotact bench swept --pass \"--only table3\""},
    {"XB14", "Table 4", "falling bodies, point by point and by the tree", "dynamics",
     "isotact bench dynamics --pass \"--only table4\""},
    {"XB14", "Section 5", "the largest stable step, continuous and discrete (Figure 6)", "dynamics",
     "isotact bench dynamics --pass \"--only stability\""},
    {"XB14", "Sections 3 and 4", "what each choice of the paper costs or loses", "dynamics",
     "isotact bench dynamics --pass \"--only choices\""},
    {"SSL14", "Table 1", "penetration of a bouncing ball", "bullet",
     "isotact bench bullet --pass \"--only ball\""},
    {"SSL14", "Table 2", "time with contacts of each level of the tree", "bullet",
     "isotact bench bullet --pass \"--only levels\""},
    {"SSL14", "Figure 6", "height of a bouncing ball", "bullet",
     "isotact bench bullet --pass \"--only ball\""},
    {"SSL14", "Figure 8", "time and speed of a bunny that falls on a plane", "bullet",
     "isotact bench bullet --pass \"--only figures\""},
    {"SSL14", "Figure 10", "time and kinetic energy of that bunny", "bullet",
     "isotact bench bullet --pass \"--only figures\""},
    {"SSL14", "Section 4.1", "how long balls stand on each other", "bullet",
     "isotact bench bullet --pass \"--only stack\""},
    {"SSL14", "Section 4.2.1", "how much faster than GImpact, decomposition and one hull", "bullet",
     "isotact bench bullet --pass \"--only drop\""},
    {"SSL14", "Section 4.2.2", "the slowest rate of steps that holds a bunny", "bullet",
     "isotact bench bullet --pass \"--only slow\""},
    {"KGM", "Table 1", "contacts and times of three scenes (Figure 3)", "idf",
     "isotact bench idf --pass \"--only table1\""},
    {"KGM", "Figure 1", "a first-order field beside samples of the same memory", "fields",
     "isotact bench fields --pass \"--only first-order\""},
    {"FAB", "Table 1", "a fighter in a tunnel, beside FCL", "depth",
     "isotact bench depth --pass \"--only tunnel\""},
    {"FAB", "Section 3.1", "what detection adds to drawing a city (Figure 6)", "depth",
     "isotact bench depth --pass \"--only city\""},
    {"FAB", "Section 3.2", "particles of a fire and a skillet (Figure 7)", "depth",
     "isotact bench depth --pass \"--only fire\""},
    {"MDL06", "Table 1", "collisions in broad and narrow phase, boxes and spheres", "deformable",
     "isotact bench deformable --pass \"--only table1\""},
    {"XB14", "Figure 4", "a slice of the field", "", "isotact slice bunny.isotact -o figure4.png",
     true},
    {"XB14", "Figure 5", "falling bunnies, bowls and dragons", "",
     "isotact simulate scenes/drop_bunny.json -o drop.glb", true},
    {"KGM", "Figure 3", "the three scenes", "", "isotact simulate scenes/kgm/many.json -o many.glb",
     true},
    {"FAB", "Figures 6 and 7", "the city and the fire", "", "fab_pictures FOLDER", true},
};

// Every program of this folder. The build refuses one that is not listed.
struct BenchProgram {
  std::string_view name, what;
};
inline constexpr BenchProgram kPrograms[] = {
    {"fields", "Building, loading and sampling signed distance fields"},
    {"segments", "All crossings of segments with a field"},
    {"exact", "Distances, depths and certificates of triangles"},
    {"swept", "Moving pointshells against fields"},
    {"dynamics", "Worlds of bodies: drops, stable steps, a nut on its bolt, a pile"},
    {"rigid", "Promises of rigid worlds: throws at walls, momentum, references, scenes"},
    {"bullet", "The plug-in for Bullet"},
    {"idf", "Contacts of many pairs by intersection fields"},
    {"depth", "An object among all that is drawn, in image space"},
    {"deformable", "Bodies that bend"},
    {"haptics", "Force queries in a loop of 1 kHz"},
    {"ccd", "Moving points against exact answers"},
    {"closest_point", "Closest points and rays on triangles"},
    {"python", "The Python package beside C++ and other packages"},
    {"mesh_io", "Reading meshes"},
    {"gpu_fields", "Fields whose distances the GPU finds"},
    {"gpu_segments", "Segments on the GPU"},
};

}  // namespace isotact::bench
