package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// A large is what measures a few large things that no other program has: whole
// processes of helve, each with one job.
type large struct {
	*proof.World
	helve string
	rg    string
	sizes largeSizes
	sheet proof.Sheet
	log   io.Writer
}

// largeSizes are how much is done.
type largeSizes struct {
	reads int   // through one process
	goes  int   // of a small command
	bytes int64 // of output
	files int   // in one folder
}

// measureLarge is "bench large", which part large of the plan runs.
func measureLarge(ctx context.Context, args []string, out, log io.Writer) (err error) {
	flags := flag.NewFlagSet("bench large", flag.ContinueOnError)
	flags.SetOutput(log)
	l := &large{sizes: largeSizes{20_000, 21, 10_000_000_000, 1_000_000}, log: log}
	flags.StringVar(&l.helve, "helve", filepath.Join("bin", "helve"), "the helve `command`")
	flags.StringVar(&l.rg, "rg", "rg", "the `path` of ripgrep")
	figures := flags.String("figures", "", "write the figures to this `file`")
	quick := flags.Bool("quick", false, "a look: small sizes, and figures that are worth little")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *quick {
		l.sizes = largeSizes{200, 3, 10_000_000, 2_000}
	}
	if l.helve, err = filepath.Abs(l.helve); err != nil {
		return err
	}
	if l.World, err = proof.NewWorld(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	if err := l.config(`{"permission": {"*": "allow"}}`); err != nil {
		return err
	}
	for _, part := range []func(context.Context) error{l.manyReads, l.commands, l.output, l.folder} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	for _, f := range l.sheet.Figures() {
		fmt.Fprintf(out, "%s: %s", f.ID, words(f.Value, f.Unit))
		if f.Peer != "" {
			fmt.Fprintf(out, ", %s %s", f.Peer, words(f.PeerValue, f.Unit))
		}
		fmt.Fprintln(out)
	}
	return l.sheet.WriteFile(*figures)
}

// config writes the user's config.
func (l *large) config(text string) error {
	path := filepath.Join(l.Home, "config", "helve", "helve.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

// A life is how long a process took, and the most memory it held by itself.
type life struct {
	wall   time.Duration
	memory int64
	out    []byte
}

// live runs a program to its end. in is what it reads; where watched, its memory
// is looked at all the time.
func (l *large) live(ctx context.Context, in []byte, watched bool, argv ...string) (v life, err error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin = l.Project, l.Env(), bytes.NewReader(in)
	cmd.Cancel = func() error { return proof.EndGroup(cmd.Process) }
	cmd.WaitDelay = 5 * time.Second
	proof.OwnGroup(cmd)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return v, err
	}
	ended := make(chan struct{})
	var looking sync.WaitGroup
	if watched {
		looking.Go(func() {
			for {
				v.memory = max(v.memory, proof.UsageOf(cmd.Process.Pid).Peak)
				select {
				case <-ended:
					return
				case <-time.After(2 * time.Millisecond):
				}
			}
		})
	}
	err = cmd.Wait()
	v.wall = time.Since(start)
	close(ended)
	looking.Wait()
	v.out = out.Bytes()
	if err != nil {
		err = fmt.Errorf("%s: %w: %s%s", filepath.Base(argv[0]), err, tail(out.Bytes()), tail(said.Bytes()))
	}
	return v, err
}

// manyReads puts reads to one process, all at once.
func (l *large) manyReads(ctx context.Context) error {
	fmt.Fprintf(l.log, "large: %d reads\n", l.sizes.reads)
	if err := l.Write("small.txt", "a small file\n"); err != nil {
		return err
	}
	var in bytes.Buffer
	for i := range l.sizes.reads {
		fmt.Fprintf(&in, "{\"id\":\"%d\",\"tool\":\"read\",\"args\":{\"filePath\":\"small.txt\"}}\n", i)
	}
	v, err := l.live(ctx, in.Bytes(), false, l.helve, "call", "--jsonl")
	if err != nil {
		return err
	}
	done := 0
	for scan := bufio.NewScanner(bytes.NewReader(v.out)); scan.Scan(); {
		if bytes.Contains(scan.Bytes(), []byte(`"status":"completed"`)) {
			done++
		}
	}
	if done != l.sizes.reads {
		return fmt.Errorf("%d of %d reads were answered", done, l.sizes.reads)
	}
	l.sheet.Add(proof.Figure{ID: "large.jsonl", Value: v.wall.Seconds(), Unit: "s", Note: number(float64(done)) + " reads"})
	return nil
}

// commands measures the whole process of a small command, with the wall and
// without, beside bash alone.
func (l *large) commands(ctx context.Context) error {
	fmt.Fprintf(l.log, "large: %d small commands of each\n", l.sizes.goes)
	for _, level := range []string{"off", "strict"} {
		if err := l.config(`{"permission": {"*": "allow"}, "wall": {"level": "` + level + `"}}`); err != nil {
			return err
		}
		var took, bare []time.Duration
		for i := range l.sizes.goes + 1 {
			ours, err := l.live(ctx, nil, false, l.helve, "call", "bash", "command=true", "description=nothing")
			if err != nil {
				return err
			}
			theirs, err := l.live(ctx, nil, false, "bash", "-c", "true")
			if err != nil {
				return err
			}
			if i > 0 { // the first makes the store
				took, bare = append(took, ours.wall), append(bare, theirs.wall)
			}
		}
		l.sheet.Add(proof.Figure{ID: "large.command." + level, Unit: "ms", Value: proof.Millis(proof.Median(took)), Peer: "bash -c true", PeerValue: proof.Millis(proof.Median(bare))})
	}
	return l.config(`{"permission": {"*": "allow"}}`)
}

// output has a command say far more than anybody keeps.
func (l *large) output(ctx context.Context) error {
	fmt.Fprintf(l.log, "large: %d bytes of output\n", l.sizes.bytes)
	v, err := l.live(ctx, nil, true, l.helve, "call", "bash", fmt.Sprintf("command=yes | head -c %d", l.sizes.bytes), "description=much")
	if err != nil {
		return err
	}
	note := words(float64(l.sizes.bytes)/1e6, "MB") + " of output"
	l.sheet.Add(proof.Figure{ID: "large.output", Unit: "s", Value: v.wall.Seconds(), Note: note})
	l.sheet.Add(proof.Figure{ID: "large.output.memory", Unit: "MiB", Value: proof.MiB(v.memory), Note: note})
	return nil
}

// folder searches a folder of very many files, of which one in a thousand has
// what is looked for.
func (l *large) folder(ctx context.Context) error {
	fmt.Fprintf(l.log, "large: a folder of %d files\n", l.sizes.files)
	dir := filepath.Join(l.Project, "many")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	for i := range l.sizes.files {
		text := "nothing to see\n"
		if i%1000 == 7 {
			text = "the needle is here\n"
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.txt", i)), []byte(text), 0o600); err != nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
	}
	version := strings.TrimSuffix(proof.Version(l.rg, "--version"), " ")
	var ours, theirs life
	for range 2 { // the first warms the cache of both
		var err error
		if ours, err = l.live(ctx, nil, true, l.helve, "call", "grep", "pattern=the needle", "path=many"); err != nil {
			return err
		}
		if theirs, err = l.live(ctx, nil, true, l.rg, "-n", "--no-heading", "the needle", "many"); err != nil {
			return err
		}
	}
	if lines := bytes.Count(theirs.out, []byte("\n")); !bytes.Contains(ours.out, []byte("the needle is here")) || lines != l.sizes.files/1000 {
		return fmt.Errorf("%d lines were found by ripgrep, and helve says %.300s", lines, ours.out)
	}
	note := number(float64(l.sizes.files)) + " files"
	l.sheet.Add(proof.Figure{ID: "large.folder", Unit: "s", Value: ours.wall.Seconds(), Peer: version, PeerValue: theirs.wall.Seconds(), Note: note})
	l.sheet.Add(proof.Figure{ID: "large.folder.memory", Unit: "MiB", Value: proof.MiB(ours.memory), Peer: version, PeerValue: proof.MiB(theirs.memory), Note: note})
	return nil
}
