package main

import (
	"context"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// starts measures the whole life of programs that do next to nothing.
func starts(ctx context.Context, b *bench) {
	w := b.world(allowed)
	of := func(name string, argv ...string) *way {
		return &way{name: name, program: program{argv: argv}}
	}
	version, read := of("helve version", b.helve, "version"), of("helve call read", b.helve, "call", "read", "filePath="+smallFile)
	version.watched, read.check = true, says(smallEnd)
	node, none := of("node "+proof.Version(b.peers["node"], "--version")+" -e 0", b.peers["node"], "-e", "0"), of("true", "true")
	all := []*way{version, read, node, none}
	var agent *way
	if opencode := b.peers["opencode"]; opencode != "" {
		agent = of(b.openCode(ctx, w)+" --version", opencode, "--version")
		agent.watched = true
		all = append(all, agent)
	}
	b.race(ctx, w, b.size(50, 3), all...)
	b.compare("start.version", version, agent, "", "p50", "p99", "memory")
	b.compare("start.call", read, agent, "", "p50")
	b.compare("start.version.node", version, node, "", "p50")
	b.compare("start.call.node", read, node, "", "p50")
	b.compare("start.version.true", version, none, "", "p50")
	b.compare("start.call.true", read, none, "", "p50")
}

// openCode is OpenCode's name, with its version.
func (b *bench) openCode(ctx context.Context, w *proof.World) string {
	v, err := run(ctx, w, program{argv: []string{b.peers["opencode"], "--version"}})
	b.must(err)
	return "OpenCode " + v.out
}
