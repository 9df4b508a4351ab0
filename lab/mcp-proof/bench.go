package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// How much is measured.
const (
	benchStarts = 15   // of every server
	benchWarm   = 200  // calls before those that count
	benchCalls  = 1500 // that count
	benchRound  = 50   // calls in a row, before it is another server's turn
)

// A contender is a server that is measured, and the call it is measured by.
type contender struct {
	name  string
	argv  []string
	tool  string
	param string // that names the file
	more  map[string]any

	first, ready []time.Duration // from the start to the first answer, and to the first file read
	calls        []time.Duration
	work         time.Duration // of the processor in all calls that count
	held         proof.Usage
}

func (c *contender) args(path string) map[string]any {
	args := map[string]any{c.param: path}
	for k, v := range c.more {
		args[k] = v
	}
	return args
}

// benchRow is a contender's line of the report.
type benchRow struct {
	Name         string
	First, Ready time.Duration
	Median, P99  time.Duration
	Work         time.Duration // of the processor for one call
	Held         proof.Usage
}

// bench measures helve over standard streams and over HTTP beside the
// filesystem server, all in the same run and in turns.
func bench(ctx context.Context, t *toolbox, helve string, log io.Writer) (rows []benchRow, err error) {
	w, err := newWorld()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	if err := w.furnish(); err != nil {
		return nil, err
	}
	small := filepath.Join(w.project, "small.txt")
	if err := os.WriteFile(small, []byte(strings.Repeat("a line of some length\n", 40)), 0o644); err != nil {
		return nil, err
	}
	other, err := t.script("@modelcontextprotocol/server-filesystem", "dist/index.js")
	if err != nil {
		return nil, err
	}
	env := w.env(t.node)
	both := []*contender{
		{name: "helve, stdio", argv: []string{helve, "mcp"}, tool: "read", param: "filePath"},
		{name: "server-filesystem, stdio", argv: append(other, w.project), tool: "read_text_file", param: "path"},
	}
	fmt.Fprintf(log, "bench: %d starts of each\n", benchStarts)
	for range benchStarts {
		for _, c := range both {
			if err := c.start(ctx, w, env, small); err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
		}
	}
	var lines []line
	defer func() {
		for _, l := range lines {
			err = errors.Join(err, l.close())
		}
	}()
	for _, c := range both {
		p, err := openPipe(ctx, c.argv, w.project, env)
		if err != nil {
			return nil, err
		}
		lines = append(lines, p)
	}
	h, end, err := openHTTP(ctx, helve, w, env)
	if err != nil {
		return nil, err
	}
	defer end() // before the lines are closed
	lines = append(lines, h)
	both = append(both, &contender{name: "helve, HTTP", tool: "read", param: "filePath"})
	fmt.Fprintf(log, "bench: %d calls of each\n", benchCalls)
	if err := takeTurns(both, lines, small); err != nil {
		return nil, err
	}
	for i, c := range both {
		c.held = proof.UsageOf(lines[i].pid())
		rows = append(rows, c.row())
	}
	return rows, nil
}

// start measures one start.
func (c *contender) start(ctx context.Context, w *world, env []string, file string) (err error) {
	began := time.Now()
	p, err := openPipe(ctx, c.argv, w.project, env)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	if err := greet(p); err != nil {
		return err
	}
	c.first = append(c.first, time.Since(began))
	if _, err := callTool(p, c.tool, c.args(file)); err != nil {
		return err
	}
	c.ready = append(c.ready, time.Since(began))
	return nil
}

// takeTurns calls every server in rounds, so that whatever else the machine
// does disturbs all alike.
func takeTurns(all []*contender, lines []line, file string) error {
	for i := range all {
		if err := greet(lines[i]); err != nil {
			return fmt.Errorf("%s: %w", all[i].name, err)
		}
	}
	for done := -benchWarm; done < benchCalls; done += benchRound {
		for i, c := range all {
			args := c.args(file)
			before := proof.UsageOf(lines[i].pid()).Work
			for range benchRound {
				began := time.Now()
				text, err := callTool(lines[i], c.tool, args)
				took := time.Since(began)
				if err != nil {
					return fmt.Errorf("%s: %w", c.name, err)
				}
				if !strings.Contains(text, "a line of some length") {
					return fmt.Errorf("%s: the file was not read: %s", c.name, clip(text, 200))
				}
				if done >= 0 {
					c.calls = append(c.calls, took)
				}
			}
			if done >= 0 {
				c.work += proof.UsageOf(lines[i].pid()).Work - before
			}
		}
	}
	return nil
}

func (c *contender) row() benchRow {
	per := time.Duration(0)
	if len(c.calls) > 0 {
		per = c.work / time.Duration(len(c.calls))
	}
	return benchRow{
		Work: per,
		Name: c.name, First: proof.Median(c.first), Ready: proof.Median(c.ready),
		Median: proof.Median(c.calls), P99: proof.Quantile(c.calls, 0.99), Held: c.held,
	}
}

// benchTable writes the figures, each beside how often the other's it is.
func benchTable(out io.Writer, rows []benchRow) {
	if len(rows) < 2 {
		return
	}
	ms := func(d time.Duration) string {
		if d == 0 {
			return "–"
		}
		return fmt.Sprintf("%.2f ms", float64(d)/1e6)
	}
	mb := func(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }
	fmt.Fprintln(out, "| server | start to first answer | start to first file | read, median | read, p99 | processor for a read | memory | of it its own | at most |")
	fmt.Fprintln(out, "|---|---|---|---|---|---|---|---|---|")
	for _, r := range rows {
		fmt.Fprintf(out, "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", r.Name, ms(r.First), ms(r.Ready), ms(r.Median), ms(r.P99), ms(r.Work), mb(r.Held.Resident), mb(r.Held.Own), mb(r.Held.Peak))
	}
	ours, theirs := rows[0], rows[1]
	times := func(a, b time.Duration) float64 { return float64(b) / float64(a) }
	fmt.Fprintf(out, "\nhelve over stdio: %.1f times as fast to the first answer, %.1f times at the median and %.1f times at p99 of a read, with %.2f of the processor's time and %.2f of the memory (%.2f of what is its own).\n",
		times(ours.First, theirs.First), times(ours.Median, theirs.Median), times(ours.P99, theirs.P99), 1/times(ours.Work, theirs.Work),
		float64(ours.Held.Resident)/float64(theirs.Held.Resident), float64(ours.Held.Own)/float64(theirs.Held.Own))
}

// benchFigures are the rows as data: mcp.start.first and mcp.start.ready,
// mcp.read.p50, .p99 and .cpu (ms), mcp.memory.now, .own and .peak (MiB), all
// beside the other server; and the same of helve over HTTP, as mcp.http.read and
// mcp.http.memory, which has nobody beside it.
func benchFigures(sheet *proof.Sheet, rows []benchRow, peer string) {
	if len(rows) < 3 {
		return
	}
	ms := func(of func(benchRow) time.Duration) func(benchRow) float64 {
		return func(r benchRow) float64 { return proof.Millis(of(r)) }
	}
	mib := func(of func(proof.Usage) int64) func(benchRow) float64 {
		return func(r benchRow) float64 { return proof.MiB(of(r.Held)) }
	}
	for _, f := range []struct {
		id, unit string
		of       func(benchRow) float64
	}{
		{"start.first", "ms", ms(func(r benchRow) time.Duration { return r.First })},
		{"start.ready", "ms", ms(func(r benchRow) time.Duration { return r.Ready })},
		{"read.p50", "ms", ms(func(r benchRow) time.Duration { return r.Median })},
		{"read.p99", "ms", ms(func(r benchRow) time.Duration { return r.P99 })},
		{"read.cpu", "ms", ms(func(r benchRow) time.Duration { return r.Work })},
		{"memory.now", "MiB", mib(func(u proof.Usage) int64 { return u.Resident })},
		{"memory.own", "MiB", mib(func(u proof.Usage) int64 { return u.Own })},
		{"memory.peak", "MiB", mib(func(u proof.Usage) int64 { return u.Peak })},
	} {
		sheet.Add(proof.Figure{ID: "mcp." + f.id, Unit: f.unit, Value: f.of(rows[0]), Peer: peer, PeerValue: f.of(rows[1])})
		if !strings.HasPrefix(f.id, "start") {
			sheet.Add(proof.Figure{ID: "mcp.http." + f.id, Unit: f.unit, Value: f.of(rows[2])})
		}
	}
}

// openHTTP starts helve as an HTTP server and finds out where it is. end ends
// it.
func openHTTP(ctx context.Context, helve string, w *world, env []string) (p *post, end func(), err error) {
	ctx, stop := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, helve, "mcp", "--http", "127.0.0.1:0")
	cmd.Dir, cmd.Env = w.project, env
	cmd.WaitDelay = 2 * time.Second
	cmd.Cancel = func() error { return proof.EndGroup(cmd.Process) }
	proof.OwnGroup(cmd)
	notes, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		stop()
		return nil, nil, fmt.Errorf("starting helve over HTTP: %w", err)
	}
	drained := make(chan struct{})
	end = func() {
		stop()
		<-drained
		_ = cmd.Wait() // it was ended
	}
	url := make(chan string, 1)
	go func() {
		defer close(drained)
		defer close(url)
		lines := bufio.NewScanner(notes)
		for lines.Scan() {
			if _, rest, ok := strings.Cut(lines.Text(), "serving MCP at "); ok {
				url <- strings.TrimSpace(rest)
				break
			}
		}
		_, _ = io.Copy(io.Discard, notes) // so that it is never held up
	}()
	p = &post{client: &http.Client{}, process: cmd.Process.Pid}
	var ok bool
	select {
	case p.url, ok = <-url:
	case <-time.After(10 * time.Second):
	}
	if !ok {
		end()
		return nil, nil, errors.New("helve over HTTP does not say where it is")
	}
	token, err := os.ReadFile(filepath.Join(w.home, ".local", "share", "helve", "mcp-token"))
	if err != nil {
		end()
		return nil, nil, fmt.Errorf("reading the token: %w", err)
	}
	p.token = strings.TrimSpace(string(token))
	return p, end, nil
}
