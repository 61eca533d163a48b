"""Checks of commands that are not run: whether the program, verb or target exists and knows the options."""
import json
import re
import shlex
import subprocess
from functools import lru_cache
from pathlib import Path


class Commands:
    def __init__(self, source, tool):
        self.source, self.tool = Path(source), str(tool)

    @lru_cache(maxsize=None)
    def help_of(self, *verb):
        run = subprocess.run([self.tool, *verb, "--help"], capture_output=True, text=True)
        return run.stdout if run.returncode == 0 else ""

    @lru_cache(maxsize=None)
    def text_of(self, pattern):
        return "\n".join(p.read_text() for p in sorted(self.source.glob(pattern)) if p.is_file())

    @lru_cache(maxsize=None)
    def all_options(self):
        """Of every verb, benchmark and script: what an option named by itself may be."""
        verbs = re.findall(r"^  (\w+)  ", self.help_of().split("Subcommands:")[-1], re.M)
        text = "".join(self.help_of(verb) for verb in verbs)
        return text + "".join(self.text_of(p) for p in ("bench/**/*.cpp", "bench/**/*.h", "scripts/*", "scripts/site/*.py"))

    def find_flaw(self, command):
        """None, or what is wrong with one command line."""
        words = split_words(command)
        while words and re.match(r"\w+=", words[0]):  # environment
            words = words[1:]
        if not words:
            return None
        if words[0].startswith("--"):
            return unknown_options(words[:1], self.all_options())
        program, rest = words[0].split("/")[-1], words[1:]
        if program == "isotact":
            return self.find_tool_flaw(rest)
        if program.startswith("bench_"):
            return self.find_bench_flaw(program, rest)
        if program == "make":
            return self.find_make_flaw(rest)
        if words[0].startswith("scripts/"):
            return None if (self.source / words[0]).exists() else f"no {words[0]} in the project"
        if program == "cmake":
            return self.find_cmake_flaw(rest)
        if program in ("sudo", "cd", "git", "ctest", "export", "g++", "pkg-config", "python3", "pip", "apt-get"):
            return None
        return f"'{program}' is not a command that the tests know"

    def find_tool_flaw(self, rest):
        if not rest or rest[0].startswith("-") or rest[0] == "VERB":
            return unknown_options(rest, self.help_of())
        verb, usage = rest[0], self.help_of(rest[0])
        if not usage:
            return f"isotact has no verb '{verb}'"
        return unknown_options(rest[1:], usage)

    def find_bench_flaw(self, program, rest):
        stem = program.removeprefix("bench_")
        if not list((self.source / "bench").rglob(f"{stem}.cpp")):
            return f"no {stem}.cpp in a folder of bench/"
        return unknown_options(rest, self.text_of(f"bench/**/{stem}*.cpp") + self.text_of("bench/**/*report.h")
                               + self.text_of("bench/support/options.*"))

    def find_make_flaw(self, rest):
        targets = re.findall(r"^([\w-]+):", self.text_of("Makefile"), re.M)
        for word in rest:
            if "=" not in word and word not in targets:
                # `isotact make` is often written without its first word.
                return None if word in self.help_of("make") or word.isupper() or word == "--list" else \
                    f"the Makefile has no target '{word}'"
        return None

    def find_cmake_flaw(self, rest):
        if "--preset" in rest:
            wanted = rest[rest.index("--preset") + 1]
            presets = json.loads((self.source / "CMakePresets.json").read_text())["configurePresets"]
            if wanted not in [p["name"] for p in presets]:
                return f"no preset '{wanted}'"
        for word in rest:
            option = re.match(r"-D(ISOTACT_\w+)", word)
            if option and option[1] not in self.text_of("CMakeLists.txt") + self.text_of("cmake/*.cmake"):
                return f"no option {option[1]}"
        return None


def split_words(command):
    command = command.split(" #")[0]
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def unknown_options(words, usage):
    known = set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", usage))
    for word in words:
        option = re.match(r"\[?(--?[a-zA-Z][\w-]*)", word)
        if option and option[1] not in known:
            return f"no option {option[1]}"
    return None
