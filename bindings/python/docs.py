#!/usr/bin/env python3
"""Renders the docstrings and types of the installed package as pages: docs.py FOLDER.

Fails if a public name has no docstring or a type cannot be read. docs.sh builds and installs the package, and runs this.
"""

import importlib
import inspect
import pathlib
import sys
import tempfile
import warnings

import pdoc

MODULES = [
    "mksum",
    "mksum.aio",
    "mksum.cluster",
    "mksum.errors",
    "mksum.log",
    "mksum.recipes.huggingface",
    "mksum.tables",
    "mksum.types",
]
# The module that only type checkers have, with the names that are taken from it.
TYPESHED = '''
class ReadableBuffer:
    """Any contiguous object with the buffer protocol."""

class WriteableBuffer:
    """Any contiguous object with the buffer protocol that can be written to."""

ReadableBuffer.__module__ = WriteableBuffer.__module__ = "collections.abc"
'''
# Replaces `typing.overload` in the stub, whose signatures cannot be read: the last overload gets the types of all.
OVERLOAD = '''
import inspect as _inspect

def overload(function, _all={}):
    signatures = _all.setdefault(function.__qualname__, [])
    signatures.append(_inspect.signature(function))
    def union(annotations):
        return " | ".join(dict.fromkeys(annotations))
    parameters = [
        first.replace(annotation=union(signature.parameters[name].annotation for signature in signatures))
        for name, first in signatures[0].parameters.items()
    ]
    returned = union(each.return_annotation for each in signatures)
    function.__signature__ = _inspect.Signature(parameters, return_annotation=returned)
    return function
'''


def without_docstring() -> list[str]:
    """The public names, and the public members of public classes, without a docstring."""
    missing = []
    for module in map(importlib.import_module, MODULES):
        names = getattr(module, "__all__", [name for name in vars(module) if not name.startswith("_")])
        for name in names:
            value = getattr(module, name)
            members = vars(value) if inspect.isclass(value) and value.__module__.startswith("mksum") else {}
            # Attributes that are plain data are described in the docstring of their class.
            members = {key: each for key, each in members.items() if inspect.isroutine(each) or inspect.isdatadescriptor(each)}
            documented = {name: value, **{f"{name}.{key}": each for key, each in members.items()}}
            missing += [
                f"{module.__name__}.{path}"
                for path, each in documented.items()
                if not path.split(".")[-1].startswith("_") and not inspect.getdoc(each)
            ]
    return missing


def main(folder: pathlib.Path) -> None:
    missing = without_docstring()
    if missing:
        sys.exit(f"docs.py: without a docstring: {', '.join(missing)}")
    with tempfile.TemporaryDirectory() as stubs:
        # The names of `mksum` have their types in the stub of its extension module. pdoc looks for `mksum-stubs` (PEP 561).
        (pathlib.Path(stubs) / "mksum-stubs").mkdir()
        stub = pathlib.Path(importlib.import_module("mksum").__file__ or "").with_name("_mksum.pyi")
        # A stub may use names before they are defined, and its own docstring is not the module's.
        text = "from __future__ import annotations\n" + OVERLOAD + stub.read_text().replace(", overload\n", "\n")
        (pathlib.Path(stubs) / "mksum-stubs" / "__init__.pyi").write_text(text)
        (pathlib.Path(stubs) / "_typeshed.py").write_text(TYPESHED)
        sys.path.insert(0, stubs)
        # TypedDicts that add a key are from no place that pdoc knows; types that it cannot read are errors.
        warnings.filterwarnings("ignore", message="Cannot determine")
        warnings.filterwarnings("error", message="(Error|Warn)")
        pdoc.render.configure(docformat="google", show_source=False, search=True)
        pdoc.pdoc(*MODULES, output_directory=folder)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("Usage: docs.py FOLDER")
    main(pathlib.Path(sys.argv[1]))
