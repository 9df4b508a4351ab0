package main

import (
	"encoding/json"
	"fmt"

	"github.com/helve-dev/helve/internal/modeltest"
)

// faultsOfOneKind is how often a kind of the model's faults can be played
// before the model is started anew: each has a prompt of its own.
const faultsOfOneKind = 400

// A stumble is a way in which the model fails, and what it is asked for by.
type stumble struct {
	name  string
	fault modeltest.Fault
}

func stumbles() []stumble {
	return []stumble{
		{"model 429", modeltest.Fault{Status: 429, RetryAfter: "20ms"}},
		{"model 500", modeltest.Fault{Status: 500}},
		{"model refuses", modeltest.Fault{Status: 401}},
		{"model drops early", modeltest.Fault{DropAfter: -1}},
		{"model drops mid-stream", modeltest.Fault{DropAfter: 3}},
		{"model stalls", modeltest.Fault{StallAfter: 2}},
		{"model error mid-stream", modeltest.Fault{MidError: "Overloaded"}},
		{"model talks garbage", modeltest.Fault{Garbage: true}},
		{"model overflow", modeltest.Fault{Overflow: true}},
	}
}

// scripts are all that the model says, as it reads them.
func scripts() []byte {
	type script struct {
		Match   string            `json:"match"`
		Replies []modeltest.Reply `json:"replies"`
	}
	call := func(name, args string) modeltest.Call { return modeltest.Call{Name: name, Args: args} }
	work := []modeltest.Reply{
		{Text: "I look.", Chunk: 3, Calls: []modeltest.Call{
			call("glob", `{"pattern":"src/d1/*.go"}`), call("read", `{"filePath":"src/d1/f1.go"}`), call("grep", `{"pattern":"needle-1"}`),
		}},
		{Reasoning: "Hm.", Calls: []modeltest.Call{
			call("bash", `{"command":"echo from an agent","description":"Says something"}`), call("nothing", `{}`), call("read", `{"filePath":`),
		}},
		{Text: "All of it is done.", Chunk: 2, Pace: 1},
	}
	all := []script{
		{"work alone", work},
		{"hand it on", []modeltest.Reply{
			{Calls: []modeltest.Call{
				call("task", `{"description":"Look around","prompt":"work alone, as a helper","subagent_type":"general"}`),
				call("task", `{"description":"Look too","prompt":"work alone, as another","subagent_type":"explore"}`),
			}},
			{Text: "They have done it."},
		}},
		{"take long", []modeltest.Reply{
			{Calls: []modeltest.Call{call("bash", `{"command":"sleep 3","description":"Waits"}`)}},
			{Text: "It took long, and here is what there is to say about it.", Chunk: 1, Pace: 40},
		}},
		{"write something", []modeltest.Reply{
			{Calls: []modeltest.Call{call("write", `{"filePath":"agents/out.txt","content":"written by an agent\n"}`), call("todowrite", `{"todos":[{"content":"one","status":"pending","priority":"low","id":"1"}]}`)}},
			{Calls: []modeltest.Call{call("things_echo", `{"text":"hello"}`), call("lines", `{"path":"src/d1/f1.go"}`)}},
			{Text: "Written."},
		}},
	}
	for _, s := range stumbles() {
		for i := range faultsOfOneKind {
			all = append(all, script{fmt.Sprintf("%s %d.", s.name, i), []modeltest.Reply{{Text: "I have caught myself.", Chunk: 2, Fault: &s.fault}}})
		}
	}
	text, err := json.Marshal(map[string]any{"scripts": all})
	if err != nil {
		panic(err) // all of it is written above
	}
	return text
}
