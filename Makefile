# Two commands do everything: `make demo FILE=path` and `make test`. Each installs what it needs first.
FILE ?= target/random.bin

.PHONY: demo check test build install install-c spirv cubins lab-gpu python-docs lint fuzz lab lab-all lab-js lab-js-beside lab-js-figures languages site site-serve

# Builds the tool and hashes a real file beside the tools people use today, with both speeds.
demo:
	@scripts/demo.sh "$(FILE)"

# Before each commit: format, lints, and the tests of the crates that differ from main.
check:
	@scripts/check.sh

# Every test there is; `make test ONLY="rust spec"` runs some of its stages, `scripts/test.sh --list` names them.
test:
	@scripts/test.sh $(ONLY)

build:
	@scripts/need.sh rust
	cargo build --release --package mksum-cli

# The tool, its man page and completions below PREFIX.
PREFIX ?= /usr/local
install: build
	install -D target/release/mksum $(DESTDIR)$(PREFIX)/bin/mksum
	install -d $(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/bash-completion/completions
	target/release/mksum man --directory $(DESTDIR)$(PREFIX)/share/man/man1
	target/release/mksum completions bash > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/mksum

# libmksum, its header and pkg-config file below PREFIX.
install-c:
	@scripts/need.sh rust cc
	@$(MAKE) --no-print-directory -C bindings/c install

# Every program for OpenCL devices as SPIR-V: MKSUM_SPIRV=target/spirv has mksum --device take them from there.
spirv:
	@scripts/spirv.sh target/spirv

# Every program for CUDA devices: MKSUM_CUBINS=target/cubins has mksum --device take them from there. ARCHITECTURES="90 100" chooses
# compute capabilities, ten times.
cubins:
	@scripts/need.sh rust cuda
	@cargo run --quiet --package mksum-gpu --example sources target/cubins/sources cuda
	@scripts/cuda.py cubins target/cubins/sources target/cubins $(or $(ARCHITECTURES),75 80 86 89 90 100 120)

# Tests and measures node trees on this machine's NVIDIA GPU; it fails if there is none.
lab-gpu:
	@lab/gpu/run.sh

# Pages of the Python package's API below target/python/docs, from its docstrings and types.
python-docs:
	@scripts/need.sh rust python-package
	@bindings/python/docs.sh

lint:
	@scripts/test.sh lint

fuzz:
	@scripts/test.sh fuzz

# The same roots from seven languages: builds languages/NAME/bin/merkle and tests it; `make languages-go` does one.
languages:
	@$(MAKE) --no-print-directory -C languages all

languages-%:
	@$(MAKE) --no-print-directory -C languages $*

# The measured speeds of README.md, beside their peers: 4 GiB of disk, about ten minutes.
lab:
	@lab/run.sh

# Every suite of the lab on this machine, unattended: some hours. It goes on where it was interrupted, and waits while the machine is busy.
lab-all:
	@lab/all.sh

# Hashing in JavaScript, every library in three engines: about 25 minutes, QUICK=1 takes a few; ENGINE="node deno" does others. A busy
# machine is refused unless BUSY=1, which marks the results.
lab-js:
	@lab/js/run.sh $(if $(QUICK),--quick) $(if $(BUSY),--busy) $(foreach name,$(ENGINE),--engine $(name))

# mksum beside hash-wasm at 1 KiB, 1 MiB and 64 MiB, in Node and Chromium: about four minutes. It prints a table, and replaces no results.
lab-js-beside:
	@lab/js/prepare.sh
	@node lab/js/beside.mjs

# The graphs and tables of that study once more, from the results that are there.
lab-js-figures:
	@lab/python.sh lab/js/figures.py

# The site, static files for any web server: target/site.
site:
	@scripts/site.sh

# The site on this machine, at http://localhost:8000/ or another PORT.
site-serve: site
	@node site/scripts/serve.js $(or $(PORT),8000)
