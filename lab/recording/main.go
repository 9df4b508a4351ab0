// Command recording makes the moving picture of the README. It types commands at
// a real terminal, which tmux keeps, takes pictures of what the screen shows, and
// draws them as one SVG that needs no script.
//
// Nothing on the screen is made up. Only the times are: typing is even, and waits
// are short. The model plays a script, and the caption says so.
//
//	bin/lab/recording --helve bin/helve --out docs/recording.svg --still docs/recording-still.svg
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/helve-dev/helve/internal/modeltest"
)

//go:embed script.json
var script string

// largest is how many bytes a picture may have that a page loads.
const largest = 300 << 10

var errLarge = errors.New("the picture is too large for a page")

func main() {
	modeltest.Child()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	helve := flag.String("helve", "bin/helve", "the command to show")
	out := flag.String("out", "docs/recording.svg", "where to write the moving picture")
	still := flag.String("still", "docs/recording-still.svg", "where to write one that does not move")
	flag.Parse()
	if err := record(ctx, *helve, *out, *still); err != nil {
		fmt.Fprintln(os.Stderr, "recording:", err)
		os.Exit(1)
	}
}

// rules are those of the person at the terminal.
const rules = `{
  "permission": { "bash": { "rm *": "deny" } }
}
`

// scenes are what is shown.
func scenes() []scene {
	return []scene{
		{types: "printf 'teh cat sat on teh mat\\n' > notes.txt", hold: 300},
		{types: "helve call --session demo read filePath=notes.txt", hold: 2200},
		{types: "helve call bash command='env rm -rf build'", hold: 3000, clear: true},
		{types: "helve permission explain bash 'env rm -rf build'", hold: 3800, still: true},
		{types: "helve call --session demo edit filePath=notes.txt oldString='teh cat' newString='the cat'", hold: 1200, clear: true},
		{types: "helve undo", until: "]", hold: 2000},
		{types: "y", hold: 1500},
		{types: "helve run 'Mend the typos in notes.txt.'", hold: 4500, clear: true},
	}
}

func record(ctx context.Context, helve, out, still string) error {
	s, err := raise(ctx, helve, script, map[string]string{".config/helve/helve.json": rules})
	if err != nil {
		return err
	}
	defer s.strike()
	p := &player{stage: s}
	if err := p.play(scenes()); err != nil {
		_, plain, _ := s.sees()
		return fmt.Errorf("%w; the screen shows:\n%s", err, plain)
	}
	f := film{
		cols: screenCols, rows: screenRows, frames: p.frames,
		title:   "helve in a terminal: reading a file, a command that a rule denies and why, an edit that is taken back, and an agent at work",
		caption: "A real terminal; only the times are changed: typing is even, waits are short. The model at the end plays a script.",
	}
	moving, err := f.animated(p.still)
	if err != nil {
		return err
	}
	if len(moving) > largest {
		return fmt.Errorf("%w: %d bytes", errLarge, len(moving))
	}
	standing, err := f.still(p.still)
	if err != nil {
		return err
	}
	total := 0
	for _, fr := range p.frames {
		total += fr.hold
	}
	fmt.Printf("%d pictures, %.1f seconds, %d bytes\n", len(p.frames), float64(total)/1000, len(moving))
	return errors.Join(os.WriteFile(out, []byte(moving), 0o644), os.WriteFile(still, []byte(standing), 0o644))
}
