#!/usr/bin/env python3
"""Tests the format of results, the rule for keeping them, and tables with several machines."""

import pathlib
import tempfile
import unittest
from unittest import mock

import results
import tables

HEAD = {"suite": "files", "date": "2026-01-02", "cases": {"cached": {"unit": "s"}}, "versions": {"b3sum": "b3sum 1"}}
ZEN_4 = {"cpu": "AMD EPYC", "vendor": "amd", "family_model": [25, 17], "cores": 2, "has": ["avx2"], "system": "Linux"}
UNKNOWN = {**ZEN_4, "cpu": "Xeon", "vendor": "intel", "family_model": [6, 1]}


def row(subject, seconds, **more):
    figures = {"median": seconds, "least": seconds * 0.9, "most": seconds * 1.1, "trials": 5, "cpu_seconds": seconds}
    rest = {"amount": 4.0, "amount_unit": "GB", "rate": 4.0 / seconds, "ratio_to_first": 1.0}
    return {"case": "cached", "subject": subject, **figures, **rest, **more}


class Results(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)
        patch = mock.patch.object(results, "RESULTS", self.folder)
        patch.start()
        self.addCleanup(patch.stop)

    def save(self, machine=ZEN_4, rows=None, **more):
        file = results.path("files", machine)
        results.save(file, {**HEAD, "machine": machine, **more}, rows or [row("b3sum", 2.0), row("mksum", 1.0)])
        return file

    def test_rows_are_read_as_they_were_written(self):
        rows = [row("a", 1 / 3, x=1), row("b", 2.0, x=1), row("a", 4.0, x=2)]
        found = [(one["subject"], one["x"], one["median"]) for one in results.read(self.save(rows=rows))["rows"]]
        self.assertEqual(found, [("a", 1, 0.33333), ("a", 2, 4.0), ("b", 1, 2.0)])
        self.assertEqual(list(results.faults(self.save(rows=rows))), [])

    def test_a_new_measurement_replaces_the_old_one_of_the_same_machine_only(self):
        self.assertEqual(self.save().name, "files-amd-25-17-2-cores.json")
        self.save(date="2026-03-04")
        self.save(UNKNOWN, date="2026-02-03")
        self.assertEqual([one["date"] for one in results.of("files")], ["2026-03-04", "2026-02-03"])
        self.assertEqual([results.title(one["machine"]) for one in results.of("files")], ["Zen 4, 2 cores", "Intel 6-1, 2 cores"])

    def test_faults_of_a_file(self):
        file = self.save()
        self.assertEqual(list(results.faults(file)), [])
        other = file.rename(self.folder / "files-amd-25-17-2-cores-2026-01-02.json")
        self.assertIn("one file for each suite and machine", "".join(results.faults(other)))
        self.assertIn("not in the format", "".join(results.faults(self.written("{}"))))
        without = {name: value for name, value in ZEN_4.items() if name != "family_model"}
        results.save(other, {**HEAD, "machine": without}, [row("mksum", 1.0)])
        self.assertEqual(list(results.faults(other)), ["missing: family_model"])
        wrong = [row("mksum", 1.0, least=2.0), row("mksum", 1.0, case="cold")]
        found = list(results.faults(self.save(rows=wrong)))
        self.assertEqual(len(found), 2, found)

    def written(self, text):
        file = self.folder / "files-broken.json"
        file.write_text(text)
        return file

    def test_a_machine_has_a_column_of_its_own(self):
        self.save(date="2026-03-04")
        self.save(UNKNOWN, [row("b3sum", 4.0), row("mksum -p 1", 2.0)])
        text = tables.files()
        self.assertIn("| command | Zen 4, 2 cores: GB/s (least–most) | CPU s | against b3sum | Intel 6-1, 2 cores: GB/s", text)
        self.assertIn("| `b3sum` | 2.00 (1.82–2.22) | 2.000 | 1.00× | 1.00 (0.91–1.11) | 4.000 | 1.00× |", text)
        self.assertIn("| `mksum` | 4.00 (3.64–4.44) | 1.000 | 1.00× | – | – | – |", text)
        self.assertIn("| `mksum -p 1` | – | – | – | 2.00 (1.82–2.22) | 2.000 | 1.00× |", text)

    def test_uncited_and_large_results_and_figures_are_refused(self):
        file, page, figure = self.save(), self.folder / "page.md", self.folder / "figure.svg"
        figure.write_text("<svg/>")
        page.write_text(f"[results](results/{file.name}) ![a figure](figures/figure.svg)")
        with mock.patch.object(results, "ROOT", self.folder):
            self.assertEqual(list(results.violations([file], [page], [figure])), [])
            page.write_text("[figure](figures/figure.svg), results/files-amd-1-1-2-cores.json")
            found = "\n".join(results.violations([file], [page], [figure]))
            missing = "amd-1-1-2-cores.json, which does not exist"
            for words in (f"{file.name}: no page cites it", "figure.svg: no page shows it", missing):
                self.assertIn(words, found)
            limits = {"FILE_LIMIT": 100, "MACHINE_LIMIT": 100, "FIGURE_LIMIT": 1, "FIGURES_LIMIT": 1}
            with mock.patch.multiple(results, **limits):
                found = "\n".join([*results.violations([file], [page], [figure]), *results.faults(file)])
            for words in ("Zen 4, 2 cores: ", "figure.svg: 6 bytes", "6 bytes of figures", "measure fewer points"):
                self.assertIn(words, found)

    def test_a_table_that_differs_from_the_results_is_found(self):
        page = self.folder / "page.md"
        page.write_text("<!-- files -->\n| mksum | 9 |\n<!-- /files -->\n")
        self.assertEqual(results.fill(page, {"files": "| mksum | 4 |"}, write=False), ["files"])
        self.assertEqual(results.fill(page, {"files": "| mksum | 4 |"}, write=True), ["files"])
        self.assertEqual(results.fill(page, {"files": "| mksum | 4 |"}, write=False), [])


if __name__ == "__main__":
    unittest.main()
