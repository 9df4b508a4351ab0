package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An answer is what a flow found, as far as it is compared.
type answer struct {
	Lines  int           // shown
	Files  int           // shown
	Digest uint64        // of the files and line numbers shown, in their order; 0 is not comparable
	Bytes  int           // of the text that is shown
	Child  time.Duration // CPU time of the programs that were run
}

// A hit is a line of a file.
type hit struct {
	file string
	line int
	text string
	time time.Time
}

// digest is that of the files and line numbers of an answer.
func digest(hits []hit) uint64 {
	sum := fnv.New64a()
	for _, h := range hits {
		sum.Write([]byte(h.file))
		sum.Write([]byte{0, byte(h.line), byte(h.line >> 8), byte(h.line >> 16), byte(h.line >> 24)})
	}
	return sum.Sum64()
}

// show writes an answer as agents are shown it, and takes its digest.
func show(hits []hit, more bool) answer {
	a := answer{Lines: len(hits), Digest: digest(hits)}
	var out strings.Builder
	fmt.Fprintf(&out, "Found %d matches\n", len(hits))
	last := ""
	for _, h := range hits {
		if h.file != last {
			fmt.Fprintf(&out, "\n%s:\n", h.file)
			last = h.file
			a.Files++
		}
		fmt.Fprintf(&out, "  Line %d: %s\n", h.line, h.text)
	}
	if more {
		out.WriteString("\n(Results are truncated. Consider using a more specific path or pattern.)")
	}
	a.Bytes = out.Len()
	return a
}

// showNames writes names as agents are shown them.
func showNames(names []string, more bool) answer {
	text := strings.Join(names, "\n")
	if more {
		text += "\n\n(Results are truncated. Consider using a more specific path or pattern.)"
	}
	return answer{Lines: len(names), Files: len(names), Bytes: len(text)}
}

// A ripgrep is the program, driven by one of two flows: that of the era reads
// all it says, looks up the time of every file and sorts; the new one has no
// order and ends the program at the limit.
type ripgrep struct {
	path  string
	isNew bool
}

func (r ripgrep) answer(ctx context.Context, q query, dir string) (answer, error) {
	switch {
	case q.Op == opGrep && r.isNew:
		return r.grepNew(ctx, q, dir)
	case q.Op == opGrep:
		return r.grepEra(ctx, q, dir)
	default:
		return r.names(ctx, q, dir)
	}
}

// start runs the program. The function it returns waits for its end and says
// what CPU time it has used; if it is told to, it ends it first.
func (r ripgrep) start(ctx context.Context, args []string) (io.Reader, func(kill bool) (time.Duration, error), error) {
	cmd := exec.CommandContext(ctx, r.path, args...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, "RIPGREP_CONFIG_PATH=") })
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	return out, func(kill bool) (time.Duration, error) {
		if kill {
			_ = cmd.Process.Kill()
		}
		err := cmd.Wait()
		var exit *exec.ExitError
		if errors.As(err, &exit) && (kill || exit.ExitCode() == 1) {
			err = nil
		}
		return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), err
	}, nil
}

func (r ripgrep) grepEra(ctx context.Context, q query, dir string) (answer, error) {
	args := []string{"-nH", "--hidden", "--no-messages", "--field-match-separator=|", "--regexp", q.Pattern}
	if q.Include != "" {
		args = append(args, "--glob", q.Include)
	}
	out, end, err := r.start(ctx, append(args, dir))
	if err != nil {
		return answer{}, err
	}
	var hits []hit
	times := map[string]time.Time{}
	lines := bufio.NewReaderSize(out, 64<<10)
	for err == nil {
		var line string
		line, err = lines.ReadString('\n')
		name, rest, ok := strings.Cut(line, "|")
		number, text, ok2 := strings.Cut(rest, "|")
		n, numErr := strconv.Atoi(number)
		if !ok || !ok2 || numErr != nil {
			continue
		}
		when, known := times[name]
		if !known {
			if info, err := os.Stat(name); err == nil {
				when = info.ModTime()
			}
			times[name] = when
		}
		hits = append(hits, hit{name, n, strings.TrimSuffix(text, "\n"), when})
	}
	child, err := end(false)
	slices.SortStableFunc(hits, func(a, b hit) int { return b.time.Compare(a.time) })
	more := len(hits) > limit
	a := show(hits[:min(len(hits), limit)], more)
	a.Child = child
	return a, err
}

func (r ripgrep) grepNew(ctx context.Context, q query, dir string) (answer, error) {
	args := []string{"--json", "--hidden", "--no-messages", "--glob=!.git/*", "--regexp", q.Pattern}
	if q.Include != "" {
		args = append(args, "--glob", q.Include)
	}
	out, end, err := r.start(ctx, append(args, "--", dir))
	if err != nil {
		return answer{}, err
	}
	var hits []hit
	lines := bufio.NewReaderSize(out, 64<<10)
	for err == nil && len(hits) <= limit {
		var line []byte
		line, err = lines.ReadBytes('\n')
		if !bytes.HasPrefix(line, []byte(`{"type":"match"`)) {
			continue
		}
		var event struct {
			Data struct {
				Path, Lines struct{ Text string }
				LineNumber  int `json:"line_number"`
			}
		}
		if json.Unmarshal(line, &event) == nil {
			d := event.Data
			hits = append(hits, hit{file: d.Path.Text, line: d.LineNumber, text: strings.TrimSuffix(d.Lines.Text, "\n")})
		}
	}
	more := len(hits) > limit
	child, err := end(more)
	a := show(hits[:min(len(hits), limit)], more)
	a.Child, a.Digest = child, 0
	return a, err
}

// names runs glob and list. The flow of the era lets a glob run to its end and
// sorts the first names; a list is ended at the limit by both flows.
func (r ripgrep) names(ctx context.Context, q query, dir string) (answer, error) {
	args := []string{"--files", "--hidden", "--no-messages"}
	if q.Op == opList {
		for _, g := range listGlobs() {
			args = append(args, "--glob="+g)
		}
	} else {
		args = append(args, "--glob="+q.Pattern)
	}
	out, end, err := r.start(ctx, append(args, dir))
	if err != nil {
		return answer{}, err
	}
	var names []string
	lines := bufio.NewReaderSize(out, 64<<10)
	all := q.Op == opGlob && !r.isNew
	for err == nil && (all || len(names) <= limit) {
		var line string
		if line, err = lines.ReadString('\n'); line != "" {
			names = append(names, strings.TrimSuffix(line, "\n"))
		}
	}
	more := len(names) > limit
	child, err := end(more && !all)
	names = names[:min(len(names), limit)]
	if q.Op == opGlob {
		sortByTime(names)
	} else {
		slices.Sort(names)
	}
	a := showNames(names, more)
	a.Child = child
	return a, err
}

func sortByTime(names []string) {
	times := map[string]time.Time{}
	for _, name := range names {
		if info, err := os.Stat(name); err == nil {
			times[name] = info.ModTime()
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return times[b].Compare(times[a]) })
}

// commandLines are how the command is called for each tool: words with
// {helve}, {pattern}, {include} and {dir} in them.
type commandLines struct{ Grep, Glob, List string }

// A command is the built command as a contender: a process for every call.
type command struct {
	path  string
	lines commandLines
	data  string // where it keeps its records
}

func (c command) answer(ctx context.Context, q query, dir string) (answer, error) {
	line := c.lines.Grep
	switch q.Op {
	case opGlob:
		line = c.lines.Glob
	case opList:
		line = c.lines.List
	}
	var args []string
	for _, word := range strings.Fields(line) {
		if q.Include == "" && strings.Contains(word, "{include}") {
			continue
		}
		args = append(args, strings.NewReplacer("{helve}", c.path, "{pattern}", q.Pattern, "{include}", q.Include, "{dir}", dir).Replace(word))
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "HELVE_DATA_DIR="+filepath.Join(c.data, "records"))
	cmd.Dir = dir
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1 || len(out) > 0) { // 1: nothing was found
		return answer{}, fmt.Errorf("%q: %w: %s%s", args, err, complaint.String(), out)
	}
	a := answer{Lines: bytes.Count(out, []byte("\n")), Bytes: len(out)}
	a.Child = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return a, nil
}
