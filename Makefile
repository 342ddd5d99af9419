# `make demo` shows it working, `make test` tests it; both install what is missing first.
# `make help` lists the rest.

SWIFT ?= swift
PYTHON ?= /usr/bin/python3
BUILD := .build
RELEASE := $(BUILD)/release
ACCEPTANCE ?= ../shared/acceptance/run.py

PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBEXECDIR ?= $(PREFIX)/libexec/localauth
DATADIR ?= $(PREFIX)/share
INSTALL ?= install

SERVICES := localauthd localauth-passcode localauth-sensor-simulated
# An import that the manifest doesn't declare is an error.
STRICT := --explicit-target-dependency-import-check error
SWIFT_SOURCES := Package.swift Sources Tests Benchmarks/Package.swift Benchmarks/Sources

.DEFAULT_GOAL := help
.PHONY: help setup build release demo test lint check format generate acceptance bench install clean

help: ## This list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Install the Debian packages that are missing (apt-get, as root or with sudo)
	@scripts/setup

build: setup ## Debug build of everything, tests included; warnings are errors
	$(SWIFT) build --build-tests $(STRICT)

release: setup ## Release build of the programs, with the static standard library
	$(SWIFT) build -c release --static-swift-stdlib $(STRICT)

demo: release ## A private bus, the programs, and real busctl calls; ends by itself
	@scripts/demo $(RELEASE)

test: build ## Every test
	$(SWIFT) test --skip-build

lint: ## Layout and style of every Swift file
	$(SWIFT) format lint --strict --recursive --parallel $(SWIFT_SOURCES)

check: build lint test ## What has to pass before a commit: build, lint, tests

format: ## Lay out every Swift file
	$(SWIFT) format --in-place --recursive --parallel $(SWIFT_SOURCES)

generate: setup ## Swift stubs from dbus/*.xml
	$(SWIFT) run dbus-codegen --output Sources/LocalAuthBus/Generated dbus/*.xml

acceptance: release ## The black-box suite (ACCEPTANCE=path of its run.py) on the release build
	LA_BIN=$(RELEASE) $(PYTHON) $(ACCEPTANCE)

bench: release ## The table of Benchmarks/: CPU a call, start, memory
	$(SWIFT) build -c release --static-swift-stdlib --package-path Benchmarks
	Benchmarks/$(BUILD)/release/localauth-bench --programs $(RELEASE)

install: ## Install the release build under $(DESTDIR)$(PREFIX)
	$(INSTALL) -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(LIBEXECDIR) $(DESTDIR)$(DATADIR)/dbus-1/interfaces
	$(INSTALL) -m 755 $(RELEASE)/localauthctl $(DESTDIR)$(BINDIR)
	$(INSTALL) -m 755 $(SERVICES:%=$(RELEASE)/%) $(DESTDIR)$(LIBEXECDIR)
	$(INSTALL) -m 644 dbus/*.xml $(DESTDIR)$(DATADIR)/dbus-1/interfaces
	for section in 1 5 8; do \
	    $(INSTALL) -d $(DESTDIR)$(DATADIR)/man/man$$section && \
	    $(INSTALL) -m 644 docs/man/*.$$section $(DESTDIR)$(DATADIR)/man/man$$section || exit 1; \
	done

clean: ## Remove everything that was built
	rm -rf $(BUILD) Benchmarks/$(BUILD)
