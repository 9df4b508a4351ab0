// Command agent lets a model work on a prompt: it shows what the model says and
// does, and asks before a file is changed.
//
//	ANTHROPIC_API_KEY=… go run ./examples/agent "Mend the typo in notes.txt."
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/model/anthropic"
	"github.com/helve-dev/helve/permission"
)

func main() {
	rt, err := helve.Open(helve.Options{Rules: permission.Ruleset{{Permission: "edit", Pattern: "*", Action: permission.Ask}}})
	if err != nil {
		log.Fatal(err)
	}
	defer rt.Close()
	server := anthropic.Options{Key: os.Getenv("ANTHROPIC_API_KEY"), BaseURL: os.Getenv("ANTHROPIC_BASE_URL")}
	model, err := anthropic.Connect(server, "claude-sonnet-4-5")
	if err != nil {
		log.Fatal(err)
	}
	a := agent.New(rt, agent.Options{Model: model})
	for e, err := range a.Run(context.Background(), os.Args[1]) {
		if err != nil {
			log.Fatal(err)
		}
		switch e := e.(type) {
		case agent.Text:
			fmt.Print(e.Delta)
		case event.CallRunning:
			fmt.Printf("\n- %s %s\n", e.Tool, e.Input)
		case event.PermissionAsked:
			fmt.Printf("  may it %s %s? [y/n]\n", e.Permission, e.Patterns)
			reply, answer := permission.Reply{Verdict: permission.ReplyReject}, ""
			if fmt.Scanln(&answer); answer == "y" {
				reply.Verdict = permission.ReplyOnce
			}
			if err := rt.Requests().Reply(e.ID, reply); err != nil {
				log.Fatal(err)
			}
		case *agent.Turn:
			fmt.Printf("\n%s after %d steps\n", e.End, e.Steps)
		}
	}
}
