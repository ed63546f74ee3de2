SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# Settings: make demo ROBOTS=20, make test PKG=./robotd/...
ROBOTS   ?= 5
MQTT     ?= 127.0.0.1:1883
HTTP     ?= 127.0.0.1:8080
SCENARIO ?=
BODY     ?= sim
FACE     ?= 127.0.0.1:8091
SPEED    ?= 20
DATA     ?= ./.demo$(if $(SCENARIO),-$(SCENARIO))
DATABASE ?= sqlite
PKG      ?= ./...
FUZZTIME ?= 10s
SEEDS    ?= 5000
WORLDS   ?= 2000
SEED     ?= 0
SPEC     ?=
FOR      ?= 10m
FILES    ?= 500
RATE     ?= 2000
MINUTES  ?= 10
UNITS    ?= 20
ONLY     ?=
OUT      ?=
RETRIES  ?= 0
THEN     ?=
ISOLATE  ?=

.PHONY: help demo cluster test race proof proof-list ci-times specs standstill quick check gen web screenshots build worlds fuzz soak flaky damage systemd release images release-trial package install-trial console-load body-load setup bench bench-quick full-disk

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' Makefile

# SPEED is that of the clock of the scenario, of batteries and of temperatures: acts,
# heartbeats and safety keep their own time.
demo: ## run a broker, fleetd and five robots here (ROBOTS, MQTT, HTTP, DATA, DATABASE; SCENARIO=day SPEED=20 plays a day; BODY=laptop speaks)
	@[ -x bin/demo ] && echo "compiling what changed ..." >&2 || echo "compiling the demo: about a minute the first time ..." >&2
	@go build -o bin/demo ./deploy/demo
	@exec bin/demo --robots $(ROBOTS) --mqtt $(MQTT) --http $(HTTP) --data $(DATA) --database $(DATABASE) $(if $(filter laptop,$(BODY)),--body laptop --face $(FACE) --story museum-welcome) $(if $(SCENARIO),--scenario deploy/demo/$(SCENARIO).yaml --speed $(SPEED) --story museum-welcome)

# THEN is commands separated by semicolons, such as THEN='perform; kill leader-of=MQTT_msgs; stop'; else it reads them.
cluster: ## run three nodes of NATS, two fleetd, Postgres with a standby and robots here, and lose what you name (ROBOTS, THEN, CROWD, ISOLATE=yes as root)
	@go build -o bin/cluster ./deploy/cluster
	@exec bin/cluster --robots $(ROBOTS) $(if $(CROWD),--crowd $(CROWD)) $(if $(ISOLATE),--isolate) --then '$(THEN)'

# Runs the tests, and says how long each part took.
proof := .cache/proof/proof
.PHONY: $(proof)
$(proof):
	@go build -o $@ ./deploy/proof

# Every package once, every time: some start programs that Go's cache does not see. deploy/proof decides what
# runs under the race detector and which shard this is: SHARD=N for another one, SHARD=all for every variant.
# RETRIES=1 runs a failed test once more, alone. make check has vet; -w leaves out what only a debugger reads,
# which is a fifth of the time that linking takes.
once := -count=1 -vet=off -ldflags=-w -timeout=25m
test: setup ## install what is missing, then run the tests of every package (PKG=./robotd/..., SHARD, RETRIES=1)
	@TROUPE_TEST_RETRIES=$(RETRIES) deploy/setup/test.sh $(if $(filter ./...,$(PKG)),proof,$(once) $(PKG))

race: setup $(proof) ## run the tests of some packages under the race detector (PKG=./broker/..., RETRIES=1)
	@GOFLAGS="$$($(proof) race-flags)" TROUPE_TEST_RETRIES=$(RETRIES) GORACE=atexit_sleep_ms=10 deploy/setup/test.sh -race $(once) $(PKG)

# What five changes prove in turn, at once: every shard, the whole matrix of screens, and long random runs.
proof: $(proof) ## prove everything: before a release, and after a change of broker, link, disk or store (about an hour)
	@$(MAKE) --no-print-directory check
	@$(MAKE) --no-print-directory worlds WORLDS=10000
	@go run ./deploy/bench --quick --only churn
	@SHARD=all TROUPE_SPEC_MATRIX=1 $(MAKE) --no-print-directory specs
	@SHARD=all $(MAKE) --no-print-directory test
	@$(MAKE) --no-print-directory bench-quick OUT=.cache/bench/quick.json
	@$(MAKE) --no-print-directory release-trial
	@[ "$$(id -u)" != 0 ] || $(MAKE) --no-print-directory full-disk install-trial ROBOTS=20

proof-list: setup $(proof) ## list the tests of each shard, and compare all of them with those that exist
	@$(proof) list

ci-times: $(proof) ## record how long the parts of the last .ci/run took, for later runs to compare with
	@$(proof) record

# Apart from the other tests and without the race detector: a browser takes the time that tests with
# limits need. What a spec does in several ways (by keyboard or touch, in light or dark colours) it does in
# that of the shard. TROUPE_SPEC_MATRIX=1 adds each screen in every width, language and direction.
specs: setup $(proof) ## run the specs of the console in a browser, in five worlds of a broker, fleetd and robots (SPEC=robots, SHARD, RETRIES=1)
	@TROUPE_SHARD=$(if $(SPEC),all,$$($(proof) shard)) TROUPE_SPEC=$(SPEC) TROUPE_SPEC_RETRIES=$(RETRIES) deploy/setup/test.sh -tags webconsole -count=1 -vet=off -ldflags=-w -timeout=80m -run '^TestWebConsole$$' ./deploy/e2e

# Part of the specs. The bounds are asserted in deploy/stage, in fake time.
standstill: setup ## drive a robot in a browser, break the network between them, and print how long it took to stand
	@TROUPE_SPEC=manual-drive go test -tags webconsole -count=1 -v -run '^TestWebConsole$$' ./deploy/e2e | sed -n 's/^.*_test.go:[0-9]*: \(.* the last frame\)/\1/p; /^\(FAIL\|ok\|--- FAIL\)/p'

# For the inner loop: the packages that differ from the last commit and those that import one of them.
#
# Left out: tests of the whole (deploy, the scripts of fleetd/cli), those of fleetd's assembly, of
# PostgreSQL and of the script that runs tests, and one that counts every second of a day. Several
# packages wait for timers, so more of them run at once than there are cores. With -short a property
# is checked for a fifth of the cases, and so are damaged files and sequences of stops. make check has
# vet. Fewer garbage collections save a tenth of the processor time, linking included. '/postgres' skips
# the subtests of that name, and has to be the last pattern of -skip: before the slash it matches every
# test, so what follows would never be tried.
quick: $(proof) ## run the unit tests that a change reaches
	@packages=$$($(proof) quick | grep -v -e ^./deploy -e /fleetd/fleet$$ -e /pgtest$$ || true); \
	[ -n "$$packages" ] || { echo "no unit test reaches what changed"; exit 0; }; \
	GOGC=1600 GOMEMLIMIT=1GiB deploy/setup/test.sh -short -vet=off -ldflags=-w -p=6 -parallel=6 -timeout=5m -skip='Postgres|^TestRun|^TestScripts$$|^TestDocumentsOutliveADay$$|/postgres' $$packages

# Two lanes beside each other: Go, and the console.
check: setup ## gofmt, go vet, staticcheck, lint, generated files as they would be generated, and the console
	@$(MAKE) --no-print-directory -j2 -Oline check-go check-web

.PHONY: check-go check-web
check-go:
	@unformatted=$$(gofmt -l broker deploy fleetd robotd schema | grep -v /node_modules/ || true); [ -z "$$unformatted" ] || { echo "not formatted; run gofmt -w on:"; echo "$$unformatted"; exit 1; }
	@echo "gofmt: ok"
	@go vet -tags webconsole ./...
	@echo "go vet: ok"
	@"$$(go -C deploy/tools tool -n staticcheck)" -tags webconsole ./...
	@echo "staticcheck: ok"
	@go vet -vettool="$$(go -C deploy/tools tool -n lint)" -tags webconsole ./...
	@echo "lint: ok"
	@deploy/setup/generated.sh
	@echo "generated files: ok"

check-web:
	@deploy/setup/web.sh
	@echo "console: ok"

gen: ## generate the tables, schemas, diagrams, and the lists of routes and roles
	@go generate ./...
	@go test ./fleetd/fleet -run '^TestOpenAPI' -update
	@go test ./fleetd/api -run '^TestRoles' -update
	@go test ./deploy/monitor -run '^TestMetricsPage' -update

web: setup ## build the console into the tree, after changes in fleetd/console/web
	@cd fleetd/console/web && npm run --silent types && npm run --silent build

# From the console as it is built into the tree: run make web before it.
screenshots: setup ## take the pictures of docs/console.md in both colour schemes, from a demo (ONLY=act takes one)
	@go build -o bin/demo ./deploy/demo
	@cd fleetd/console/web && node e2e/pictures.mjs ../../../bin/demo ../../../docs/console $(ONLY)

build: ## build the three programs into bin/
	@go build -o bin/ ./broker ./robotd ./fleetd

# Publishes nothing. The folder is bin/release; what is not committed is built, too, and makes it no release.
release: ## build archives, lists of materials and checksums of a release, with the version of this commit
	@deploy/release/release.sh

images: ## build the images of the three programs from what make release built
	@deploy/container/images.sh

# Builds twice from clones of the last commit; the first of the builds is what runs then.
release-trial: ## as root: build the release and its images twice, compare, and run them: arm under qemu-user, images by chroot
	@TROUPE_RELEASE=1 deploy/setup/debian.sh
	@deploy/release/twice.sh
	@deploy/release/try.sh

package: build ## pack the programs of bin/ as deb and rpm for this machine's architecture, into bin/package/out
	@go run ./deploy/package
	@for program in fleetd broker robotd; do deploy/package/build.sh $$program $$(go env GOARCH) $$(bin/fleetd version 2>/dev/null | sed -n 's/^fleetd v//p') bin/$$program bin/package/out; done

full-disk: ## as root: show that a disk that is nearly full fires its alert, on a small disk in memory
	@unshare --mount bash -ec 'mount -t tmpfs -o size=64m tmpfs /mnt && head -c 59M /dev/zero >/mnt/filler && \
		TROUPE_FULL_DISK=/mnt go test -count=1 -run "^TestFullDisk" ./deploy/monitor'

install-trial: build ## as root: install the packages on bare Debian roots, set up, enrol, perform, upgrade, go back, remove, purge (ROBOTS=3)
	@ROBOTS=$(if $(filter file,$(origin ROBOTS)),3,$(ROBOTS)) deploy/package/trial.sh

worlds: ## feed random events to a robot and check the invariants after each step (WORLDS=2000 sequences, SEED=N for the same ones again)
	@go test -count=1 -run '^TestInvariantsHold' ./robotd/brain -rapid.checks=$(WORLDS) -rapid.seed=$(SEED)

fuzz: ## give every fuzz target some time (FUZZTIME=10s each)
	@deploy/setup/fuzz.sh $(FUZZTIME)

soak: ## run a robot and its fleetd under random faults (SEEDS=5000, or SEEDS=17+1 for that one)
	@TROUPE_SOAK=$(SEEDS) go test -count=1 -timeout=0 -run RandomFaults ./deploy/soak

flaky: ## break every connection again and again, and measure how long stops take (FOR=10m)
	@TROUPE_FLAKY=$(FOR) go test -count=1 -timeout=0 -v -run FlakyLines ./deploy/e2e

damage: ## start robotd on damaged copies of its data (FILES=500)
	@TROUPE_DAMAGED=$(FILES) go test -count=1 -timeout=0 -v -run RobotOnDamagedData ./deploy/e2e | grep -v '^ *\(===\|--- PASS\)'

systemd: ## as root: run robotd.service under a systemd of its own, hang it, kill it and stop it
	@go build -o bin/ ./robotd
	@deploy/systemd/try.sh

# Results go to deploy/bench/results: committed after a run on an idle machine, they are what the next run compares
# with. ONLY=rtt,rest runs some of the benches, and prints their results only.
bench: ## measure everything beside its floor, for more than half an hour (ONLY=rtt,rest; ONLY=churn FOR=1h; go run ./deploy/bench --list)
	@deploy/setup/npm.sh deploy/bench/vda5050
	@go run ./deploy/bench $(if $(ONLY),--only $(ONLY)) $(if $(filter file,$(origin FOR)),,--for $(FOR))

bench-quick: ## measure smaller sizes in under 3 minutes; fails if something takes more than 16 times as long for ten times as many robots
	@go run ./deploy/bench --quick $(if $(ONLY),--only $(ONLY)) $(if $(OUT),--out $(OUT))

console-load: web ## measure the console with many robots in Chromium (ROBOTS=10000, RATE=2000 changes a second, MINUTES=10)
	@TROUPE_CONSOLE_LOAD=$(if $(filter file,$(origin ROBOTS)),10000,$(ROBOTS)),$(RATE),$(MINUTES) go test -count=1 -timeout=0 -v -run '^TestConsoleLoad$$' ./fleetd/fleet | grep -v '^ *\(===\|--- PASS\)'

body-load: ## measure robotd with many units on adapters beside a simulated body (MINUTES=10, UNITS=20)
	@TROUPE_BODY_LOAD=$(MINUTES),$(UNITS) go test -count=1 -timeout=0 -v -run '^TestBodyLoad$$' ./deploy/e2e | grep --line-buffered -v '^ *\(===\|--- PASS\)'

setup: ## install what tests need and this machine lacks: Debian packages, packages of npm
	@deploy/setup/debian.sh
	@deploy/setup/npm.sh
