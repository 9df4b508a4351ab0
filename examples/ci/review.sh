#!/bin/sh
# Lets an agent review the last commit of the project in the current folder, as a
# job of CI: nobody is there to ask, and the rules are checked before it starts.
#
#   sh review.sh            the review goes to standard output
#
# Exit codes: 1 for a decision that is not what the table says, otherwise those of
# "helve run": 0 done, 4 something had to be asked for, 5 no model, 6 a limit.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

# These rules and no others: those of the machine's user are left out by a home
# of its own, and what the project itself brings can only be stricter.
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
export HOME="$home" XDG_CONFIG_HOME="$home/config" XDG_DATA_HOME="$home/data"
export HELVE_CONFIG="$here/helve.json"

# First the table: a rule that was loosened by mistake ends the job here.
helve permission test "$here/decisions.jsonl" >&2

# Then the agent. --strict turns what nobody could be asked about into exit code
# 4, and the limits hold for it and for all agents that it starts.
helve run --no-input --strict --quiet --max-steps 20 --timeout 10m \
	"Review the last commit of this repository. Say what could break, in at most ten lines."
