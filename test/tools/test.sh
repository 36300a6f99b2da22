#!/usr/bin/env bash
# Runs the tests of both modules and prints them as one stream of events.
# The modules run in turn: together they would fight over two cores. Vet is
# part of make lint.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit
status=0
go test -json -vet=off "$@" ./... || status=1
# Go does not notice that a file outside the module changed, such as a page of
# docs/, and would repeat an old result.
(cd test && go test -json -vet=off -count=1 -timeout 20m "$@" ./...) || status=1
exit "$status"
