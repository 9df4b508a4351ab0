package mcpclient

import (
	"os"
	"testing"

	"github.com/helve-dev/helve/mcp"
)

// The round trip of a call to a local server, with all that belongs to it.
func BenchmarkCall(b *testing.B) {
	p := newBench(b, mcp.Options{Servers: []mcp.Server{fake("one", "few")}}, mcp.Host{})
	p.gather()
	args := map[string]any{"text": "hello"}
	b.ReportAllocs()
	for b.Loop() {
		p.must("one_echo", args)
	}
}

// What it costs to see that a process has not been killed.
func BenchmarkDying(b *testing.B) {
	pid := os.Getpid()
	for b.Loop() {
		if dying(pid) {
			b.Fatal("it is not")
		}
	}
}
