package main

import (
	"testing"

	"github.com/helve-dev/helve/tooltest"
)

// The scripts say what the tool does; each is a test.
func TestScripts(t *testing.T) {
	tooltest.Scripts(t, "testdata", func(e *tooltest.Env) error {
		e.Tools = append(e.Tools, count())
		return nil
	})
}

// What every tool owes, whatever it does.
func TestConform(t *testing.T) {
	tooltest.Conform(t, tooltest.Subject{Tool: count(), Input: `{"path":"poem.txt"}`, Files: map[string]string{"poem.txt": "one\n"}})
}
