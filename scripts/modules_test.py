#!/usr/bin/env python3
"""Tests modules.py with small crates."""
import pathlib
import tempfile
import unittest

from modules import circles, folders, imports


def crate(**files):
    """Returns the imports of a crate with these files, `a__b` being a/b.rs."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            file = pathlib.Path(folder, *f"{name}.rs".split("__"))
            file.parent.mkdir(exist_ok=True)
            file.write_text(text)
        return imports(pathlib.Path(folder, "main.rs" if "main" in files else "lib.rs"))


class Modules(unittest.TestCase):
    """A crate has the circles that its names make, and no others."""

    def circle(self, expected, **files):
        """Asserts that the modules of a crate that are in circles are these."""
        found = set().union(*(together for together, _ in circles(crate(**files))))
        self.assertEqual(found, set(expected.split()))

    def test_a_circle_through_the_root(self):
        root = "mod high;\nmod low;\npub use high::{High, Other as Renamed};\npub use low::Low;"
        high = "use crate::Low;\npub struct High(Low);\npub struct Other;"
        for low in ("use crate::High;", "use crate::Renamed;", "use crate::{\n    High,\n    Renamed,\n};",
                    "type Inline = crate::High;",
                    "type Above = super::High;", "use super::*;\ntype Glob = High;",
                    "use crate as root;\ntype Root = root::High;"):
            with self.subTest(low):
                self.circle("high low", lib=root, high=high, low=f"{low}\npub struct Low;")
        self.circle("", lib=root, high=high, low="pub struct Low;")

    def test_a_name_through_two_re_exports_and_a_glob(self):
        files = {"lib": "mod a;\nmod b;\npub use b::*;", "b": "mod c;\npub use c::Deep;",
                 "b__c": "use crate::a::A;\npub struct Deep(A);",
                 "a": "use crate::Deep;\npub struct A;"}
        self.circle("a b::c", **files)
        self.assertEqual(crate(**files)["a"], {"b::c"})

    def test_paths_that_begin_with_a_child(self):
        self.circle("b b::c", lib="mod b;", b="mod c;\npub struct B;\nfn f() { c::g() }", b__c="use super::B;\npub fn g() {}")

    def test_what_the_root_defines_itself(self):
        self.circle("a main", main="mod a;\nstruct Tool;\nfn main() { a::run(); }", a="use crate::Tool;\npub fn run() {}")

    def test_re_exports_alone_make_no_circle(self):
        self.circle("", lib="mod b;\npub use b::{B, C};", b="mod c;\npub use c::C;\npub struct B;",
                    b__c="use super::B;\npub struct C(B);")
        self.circle("b b::c", lib="mod b;", b="mod c;\npub use c::C;\npub struct B(C);", b__c="use super::B;\npub struct C;")

    def test_tests_comments_literals_and_inner_modules_make_no_circle(self):
        a = """//! See crate::b::B.
               pub struct A;
               const TEXT: &str = "crate::b::B";
               #[cfg(test)]
               use crate::b::B;
               #[cfg(test)]
               mod tests { use crate::b::B; mod deeper { use crate::b::B; } }
               mod inner { use super::A; pub fn f() {} }
               fn g() { inner::f() }"""
        self.circle("", lib="mod a;\nmod b;", a=a, b="use crate::a::A;\npub struct B(A);")

    def test_folders(self):
        files = {"lib": "mod a;\nmod b;", "a": "mod x;\nmod y;", "a__x": "use crate::b::y::Y;\npub struct X;",
                 "a__y": "pub struct Y;",
                 "b": "mod x;\npub mod y;", "b__x": "use crate::a::y::Y;", "b__y": "pub struct Y;"}
        self.circle("", **files)
        self.assertEqual([together for together, _ in circles(folders(crate(**files)))], [{"a", "b"}])

    def test_a_crate_in_other_crates_is_not_its_own(self):
        self.circle("", lib="mod a;\nmod b;", a="use other::b::B;\npub struct A;", b="use crate::a::A;\npub struct B(A);")


unittest.main()
