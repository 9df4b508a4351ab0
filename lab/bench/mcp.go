package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/helve-dev/helve/lab/internal/proof"
)

const mcpVersion = "2025-06-18"

// An mcpServer is a server under measurement: ask sends a JSON-RPC message and
// gives the answer, which a notification has none of. It is as thin as can be, so
// that what is measured is the server.
type mcpServer struct {
	*pipe
	tool, param string // what reads a file
	ask         func(message []byte, answered bool) ([]byte, error)

	reads []float64 // ms
	work  time.Duration
}

// greet opens a session.
func (s *mcpServer) greet() error {
	_, err := s.ask([]byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+mcpVersion+`","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`), true)
	if err == nil {
		_, err = s.ask([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`), false)
	}
	return err
}

// read reads the file and makes sure of it.
func (s *mcpServer) read(file string) error {
	text, err := s.ask(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{%q:%q}}}`, s.tool, s.param, file), true)
	if err == nil && !strings.Contains(string(text), "a line of some length") {
		err = fmt.Errorf("the file was not read: %.300s", text)
	}
	return err
}

// overPipe starts a server on the other side of its standard streams.
func (b *bench) overPipe(ctx context.Context, w *proof.World, tool, param string, argv ...string) *mcpServer {
	p, err := b.open(ctx, w, argv...)
	b.must(err)
	b.cleanup(p.close)
	return &mcpServer{pipe: p, tool: tool, param: param, ask: func(message []byte, answered bool) ([]byte, error) {
		if _, err := p.in.Write(append(message, '\n')); err != nil || !answered {
			return nil, err
		}
		for {
			text, err := p.out.ReadBytes('\n')
			var m struct {
				ID     *int
				Result json.RawMessage
			}
			if err == nil {
				err = json.Unmarshal(text, &m)
			}
			if err != nil || m.ID != nil {
				return m.Result, err
			}
		}
	}}
}

// overHTTP starts helve's server over HTTP.
func (b *bench) overHTTP(ctx context.Context, w *proof.World) *mcpServer {
	at := target{}
	path := ""
	// It says where it is as people are told, on standard error.
	at.pipe = b.start(ctx, w, func(line string) bool {
		_, url, ok := strings.Cut(line, "serving MCP at http://")
		at.addr, path, _ = strings.Cut(strings.TrimSpace(url), "/")
		return ok
	}, "sh", "-c", `exec "$0" mcp --http 127.0.0.1:0 2>&1`, b.helve)
	token, err := os.ReadFile(filepath.Join(dataDir(w), "mcp-token"))
	b.must(err)
	at.token = strings.TrimSpace(string(token))
	c, err := at.dial(ctx)
	b.must(err)
	b.cleanup(c.conn.Close)
	headers := []string{"Accept: application/json, text/event-stream"}
	return &mcpServer{pipe: at.pipe, tool: "read", param: "filePath", ask: func(message []byte, _ bool) ([]byte, error) {
		text, err := c.ask(at.request("/"+path, string(message), "", headers...), time.Minute)
		if id := c.header.Get("Mcp-Session-Id"); id != "" && len(headers) == 1 {
			headers = append(headers, "Mcp-Session-Id: "+id, "Mcp-Protocol-Version: "+mcpVersion)
		}
		return text, err
	}}
}

// mcp measures helve's MCP server over standard streams and over HTTP beside
// the filesystem server of npm, all in turns.
func mcp(ctx context.Context, b *bench) {
	w := b.world(allowed)
	file := filepath.Join(w.Project, "read.txt")
	b.must(w.Write("read.txt", strings.Repeat("a line of some length\n", 40)))
	module := filepath.Join(b.peers["mcp-tools"], "node_modules", "@modelcontextprotocol", "server-filesystem")
	var pkg struct{ Version string }
	text, err := os.ReadFile(filepath.Join(module, "package.json"))
	b.must(errors.Join(err, json.Unmarshal(text, &pkg)))
	peer := "server-filesystem " + pkg.Version
	node := "node"
	if own, _ := filepath.Glob(filepath.Join(b.peers["mcp-tools"], "node_modules", "node-*", "bin", "node")); len(own) > 0 {
		node = own[0]
	}
	start := []func() *mcpServer{
		func() *mcpServer { return b.overPipe(ctx, w, "read", "filePath", b.helve, "mcp") },
		func() *mcpServer {
			return b.overPipe(ctx, w, "read_text_file", "path", node, filepath.Join(module, "dist", "index.js"), w.Project)
		},
	}
	var first, ready [2][]float64
	for range b.size(15, 2) {
		for i := range start {
			began := time.Now()
			s := start[i]()
			b.must(s.greet())
			first[i] = append(first[i], millis(time.Since(began)))
			b.must(s.read(file))
			ready[i] = append(ready[i], millis(time.Since(began)))
			b.must(s.close())
		}
	}
	b.beside("mcp.start.first", "ms", median(first[0]), peer, median(first[1]), "")
	b.beside("mcp.start.ready", "ms", median(ready[0]), peer, median(ready[1]), "")
	all := []*mcpServer{start[0](), start[1](), b.overHTTP(ctx, w)}
	for _, s := range all {
		b.must(s.greet())
	}
	for round := range b.size(34, 3) { // the first four are to warm up
		for _, s := range all {
			before := proof.UsageOf(s.pid()).Work
			for range 50 {
				began := time.Now()
				b.must(s.read(file))
				if round >= b.size(4, 1) {
					s.reads = append(s.reads, millis(time.Since(began)))
				}
			}
			if round >= b.size(4, 1) {
				s.work += proof.UsageOf(s.pid()).Work - before
			}
		}
	}
	for _, f := range []struct {
		id, unit string
		of       func(*mcpServer) float64
	}{
		{"read.p50", "ms", func(s *mcpServer) float64 { return median(s.reads) }},
		{"read.p99", "ms", func(s *mcpServer) float64 { return quantile(s.reads, 0.99) }},
		{"read.cpu", "ms", func(s *mcpServer) float64 { return millis(s.work) / float64(len(s.reads)) }},
		{"memory.now", "MiB", func(s *mcpServer) float64 { return proof.MiB(proof.UsageOf(s.pid()).Resident) }},
		{"memory.own", "MiB", func(s *mcpServer) float64 { return proof.MiB(proof.UsageOf(s.pid()).Own) }},
	} {
		b.beside("mcp."+f.id, f.unit, f.of(all[0]), peer, f.of(all[1]), "")
		if f.id != "memory.own" {
			b.beside("mcp.http."+f.id, f.unit, f.of(all[2]), peer, f.of(all[1]), "")
		}
	}
}
