# make demo   the main job from nothing: a real kernel tree, an example series, its report
# make test   all tests, real kernel and real servers among them
# make check  gofmt, vet, staticcheck, and known vulnerabilities
# make bench  review time against the bare make calls that the same work needs

export UABOT_CACHE ?= $(HOME)/.cache/uabot

build: uabot
uabot: FORCE
	go build -o uabot ./bot

demo: uabot
	@scripts/install demo
	@scripts/demo

test:
	@scripts/install test
	@UABOT_KERNEL=$$(scripts/kernel) && export UABOT_KERNEL && go test -timeout 30m ./...

race:
	go test -race -short ./...

check:
	@test -z "$$(gofmt -l .)" || { echo "gofmt these files:"; gofmt -l .; exit 1; }
	go vet ./...
	go tool staticcheck ./...
	@scripts/vulnerabilities

bench: uabot
	@scripts/install demo
	@scripts/bench

FORCE:
.PHONY: build demo test race check bench FORCE
