"""Which modules of a Rust crate import each other: names are followed through re-exports to the module that defines them."""
import re

# A comment, or a literal that may look like code.
QUIET = re.compile(r"""//[^\n]*|/\*.*?\*/|\br(#*)".*?"\1|"(?:\\.|[^"\\])*"|'(?:\\[^'\n]+|[^'\\\n])'""", re.S)
TEST = re.compile(r"#\[cfg\((?:all\()?test\b[^\]]*\]")
MODULE = re.compile(r"""(?:#\[path = "(?P<path>[^"]*)"\]\s*)?(?:pub(?:\([a-z]+\))? )?\bmod (?P<name>\$?\w+)\s*(?P<end>[;{])""")
USE = re.compile(r"(?P<public>\bpub(?:\([a-z ]+\))? )?\buse (?P<tree>[^;]*);")
PATH = re.compile(r"(?<![\w:])[A-Za-z_]\w*(?:::[A-Za-z_]\w*)+")


class Module:
    """A module: the name of its file's module, its text without imports, and what it imports under which names."""

    def __init__(self, file):
        self.file, self.text, self.children, self.names, self.globs, self.public = file, "", set(), {}, [], {}

    def defines(self, item):
        return re.search(rf"\b(?:fn|struct|enum|trait|type|const|static|union|mod|macro_rules!) {item}\b", self.text)

    def add(self, text):
        """Adds the text of a file or of a block, without its modules and tests."""
        for use in USE.finditer(text):
            for path, name in leaves(re.sub(r"\s+", " ", use["tree"])):
                if name == "*":
                    self.globs.append(path)
                else:
                    self.names.setdefault(name, path)
                    self.public[name] = self.public.get(name, True) and bool(use["public"])
        self.text += USE.sub("", text)


def leaves(tree):
    """Yields the paths of a use declaration and the name of each: `a::{b, c::d as e}` has a::b named b and a::c::d named e."""
    depth, start = 0, 0
    for at, letter in enumerate(tree + ","):
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            part, start = tree[start:at].strip(), at + 1
            before, brace, inner = part.partition("{")
            if brace:
                before = [segment for segment in before.strip().split("::") if segment]
                yield from (((before + path) if path != ["self"] else before, before[-1] if name == "self" else name)
                            for path, name in leaves(inner.rstrip().removesuffix("}")))
            elif part:
                path, _, name = part.partition(" as ")
                path = path.strip().split("::")
                yield (path[:-1], "*") if path[-1] == "*" else (path, name.strip() or path[-1])


def block_end(text, start):
    """Returns the offset behind the block that opens at or after `start`, or behind the semicolon before it."""
    depth = 0
    for at in range(start, len(text)):
        if text[at] in "{}":
            depth += 1 if text[at] == "{" else -1
        if (text[at] == ";" or text[at] == "}") and depth == 0:
            # The braces of a use declaration end before its semicolon.
            if text[at] == "}" and text[at + 1 : at + 2] == ";":
                continue
            return at + 1
    return len(text)


def code(text):
    """Returns the text of a file without comments, literals and tests. The paths of modules stay."""
    text = re.sub(QUIET, lambda found: found[0] if text[: found.start()].endswith("#[path = ") else
                  "" if found[0][0] == "/" else '""', text)
    while test := TEST.search(text):
        text = text[: test.start()] + text[block_end(text, test.end()) :]
    return text


def read(modules, name, file, text, folder, below):
    """Adds a module and those that it declares. `folder` has its file, `below` the files of its children."""
    module = modules.setdefault(name, Module(file))
    rest, at = "", 0
    while found := MODULE.search(text, at):
        rest, at = rest + text[at : found.start()], found.end()
        child = f"{name}::{found['name']}" if name else found["name"]
        if found["end"] == "{":
            end = block_end(text, found.end() - 1)
            read(modules, child, file, text[at : end - 1], folder, below / found["name"])
            at = end
        else:
            own = folder / found["path"] if found["path"] else below / f"{found['name']}.rs"
            own = own if own.is_file() else below / found["name"] / "mod.rs"
            if not own.is_file():
                continue
            inside = own.parent if own.name == "mod.rs" or found["path"] else below / found["name"]
            read(modules, child, child, code(own.read_text()), own.parent, inside)
        module.children.add(found["name"])
    module.add(rest + text[at:])


def owner(modules, start, path, seen=frozenset()):
    """Returns the module that defines what a path within `start` means, and the path's end in it; None of another crate."""
    first, rest = path[0], path[1:]
    if first in ("crate", "self", "super"):
        at = {"crate": "", "self": start, "super": start.rpartition("::")[0]}[first]
        return down(modules, at, rest, seen)
    module = modules[start]
    known = first in module.children or first in module.names
    return down(modules, start, path, seen) if known else None


def down(modules, at, path, seen):
    """Returns the owner of a path that is looked up in the module `at`."""
    if not path:
        return at, []
    module, first = modules[at], path[0]
    if first == "super":
        return down(modules, at.rpartition("::")[0], path[1:], seen)
    if first in module.children:
        return down(modules, f"{at}::{first}" if at else first, path[1:], seen)
    if (at, first) in seen:
        return None
    seen |= {(at, first)}
    if first in module.names:
        return owner(modules, at, module.names[first] + path[1:], seen)
    if not module.defines(first):
        for glob in module.globs:
            found = owner(modules, at, [*glob, *path], seen)
            if found and modules[found[0]].defines(path[0]):
                return found
        for name, other in modules.items():
            if f"macro_rules! {first} " in other.text:
                return name, path
    return at, path


def imports(root):
    """Returns the modules that each file of a crate imports, by the file of the crate's root. Tests and documentation do not
    count, and a re-export only if its own module uses the name."""
    modules = {}
    read(modules, "", "", code(root.read_text()), root.parent, root.parent)
    found = {}
    for name, module in modules.items():
        used = [path for alias, path in module.names.items()
                if not module.public[alias] or re.search(rf"\b{alias}\b", module.text)]
        used += [path[0].split("::") for path in PATH.finditer(module.text)]
        words = set(re.findall(r"\w+", module.text)) if module.globs else ()
        used += [[*glob, word] for glob in module.globs for word in words]
        ends = [owner(modules, name, path) for path in used]
        globs = [path[:-1] in module.globs for path in used]
        # A path that ends in a module names none of its items, and a word may mean nothing that a glob has.
        meant = {modules[end[0]].file for end, glob in zip(ends, globs, strict=True)
                 if end and end[1] and (not glob or modules[end[0]].defines(end[1][0]))}
        found.setdefault(module.file, set()).update(meant - {module.file})
    return {name or root.stem: {other or root.stem for other in others} for name, others in found.items()}


def folders(imported):
    """Returns the modules at the top of a crate with those that they import, each with all modules below it."""
    found = {}
    for name, others in imported.items():
        top = name.split("::")[0]
        found.setdefault(top, set()).update(other.split("::")[0] for other in others if other.split("::")[0] != top)
    return found


def circles(imported):
    """Returns the sets of modules that import each other in circles, each with its shortest circle."""
    below = {}
    for module in imported:
        reached, left = set(), [module]
        while left:
            new = imported[left.pop()] - reached
            reached |= new
            left += new
        below[module] = reached
    sets = {frozenset(other for other in reached if module in below[other]) for module, reached in below.items()} - {frozenset()}
    return [(together, shortest(imported, together)) for together in sorted(sets, key=min)]


def shortest(imported, together):
    """Returns the shortest circle within a set, as the way around it."""
    ways = [[module] for module in sorted(together)]
    for way in ways:
        for module in sorted(imported[way[-1]] & together):
            if module == way[0]:
                return [*way, module]
            if module not in way:
                ways.append([*way, module])
    return []
