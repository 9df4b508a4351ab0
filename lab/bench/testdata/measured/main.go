// Command measured stands for a program that measures: it writes a figure, or
// fails, or both, as its arguments say.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/helve-dev/helve/lab/internal/proof"
)

func main() {
	figures := flag.String("figures", "", "")
	value := flag.Float64("value", 0, "")
	fail := flag.Bool("fail", false, "")
	flag.Parse()
	if *value > 0 {
		var s proof.Sheet
		s.Add(proof.Figure{ID: "x.y", Value: *value, Unit: "ms", Peer: "peer 1", PeerValue: 2})
		if err := s.WriteFile(*figures); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
	if *fail {
		fmt.Println("FAILED: something")
		os.Exit(1)
	}
}
