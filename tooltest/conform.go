package tooltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// A Subject is a tool to check, with a sample call that succeeds.
type Subject struct {
	Tool    tool.Tool         // the tool; the zero Tool for a built-in one
	Name    string            // of the built-in tool
	Input   string            // arguments of a call that succeeds
	Files   map[string]string // the files in the workspace for that call
	Options helve.Options     // what the tool needs, such as Flags

	// Harmless says that the sample call changes nothing and asks for nothing, even if other calls
	// of the tool do.
	Harmless bool
}

// Limits for the sample call.
const (
	conformWait  = time.Second // until it returns after it was cancelled
	conformBytes = 64 << 10    // of output
	conformTitle = 4 << 10
	conformLines = 2100 // of output
)

// Conform checks that a tool keeps what every tool promises:
//
//   - it has a description, and its input is an object whose fields are
//     described;
//   - its sample call succeeds, with metadata that encode as JSON and an
//     output that is bounded, and a tool that says it only reads changes no file;
//   - unknown keys are ignored, and a field that is missing or of the wrong
//     type is refused by name;
//   - a call that is denied or rejected changes no file and says so;
//   - a call that is cancelled returns within a second, and the tool ends;
//   - calls at the same time do not disturb each other.
//
// Everything the tool asks is answered, questions by their first option.
func Conform(t *testing.T, s Subject) {
	t.Helper()
	if s.Tool != (tool.Tool{}) {
		s.Name = s.Tool.Spec().Name
	}
	t.Run("shape", func(t *testing.T) { s.shape(t) })
	t.Run("sample", func(t *testing.T) { s.sample(t) })
	t.Run("arguments", func(t *testing.T) { s.checkArguments(t) })
	t.Run("deny", func(t *testing.T) {
		s.checkRefused(t, s.stand(t, permission.Deny, permission.ReplyOnce), tool.Denied)
	})
	t.Run("reject", func(t *testing.T) {
		s.checkRefused(t, s.stand(t, permission.Ask, permission.ReplyReject), tool.Rejected)
	})
	t.Run("cancel", func(t *testing.T) { s.cancel(t) })
	t.Run("together", func(t *testing.T) { s.together(t) })
}

// A stand is a bench in a folder of its own.
type stand struct {
	*bench
	t    *testing.T
	base string // contains the workspace, and what a tool may reach beside it
	log  *notes
}

// stand opens a runtime with the subject's files and one rule for everything; auto is the answer to
// all requests.
func (s Subject) stand(t *testing.T, action permission.Action, auto permission.Verdict) *stand {
	t.Helper()
	base := t.TempDir()
	dir := filepath.Join(base, "workspace")
	for _, name := range slices.Sorted(maps.Keys(s.Files)) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(s.Files[name]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	st := &stand{t: t, base: base, log: &notes{}}
	opt := s.Options
	opt.Dir, opt.Worktree, opt.DataDir = dir, dir, t.TempDir()
	opt.Logger = slog.New(st.log)
	everything := permission.Rule{Permission: "*", Pattern: "*", Action: action}
	// A rule that denies everything hides a tool. With a later rule that matches no name, the tool
	// is shown, and its requests are denied.
	never := permission.Rule{Permission: "*", Pattern: "\x00", Action: permission.Deny}
	st.bench = &bench{opt: opt, rules: permission.Ruleset{everything, never}, auto: auto}
	if s.Tool != (tool.Tool{}) {
		st.tools = []tool.Tool{s.Tool}
	}
	if err := st.open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.close(); err != nil {
			t.Errorf("closing the runtime: %v", err)
		}
		for _, n := range st.log.snapshot() {
			t.Errorf("the runtime noted: %s", n)
		}
	})
	return st
}

// checkedCall makes a call and checks its error against what every error promises.
func (st *stand) checkedCall(ctx context.Context, name, input string) (*tool.Result, *tool.Error) {
	st.t.Helper()
	res, err := st.rt.Call(ctx, tool.Call{Tool: name, Input: json.RawMessage(input)})
	if err == nil {
		return res, nil
	}
	e, ok := errors.AsType[*tool.Error](err)
	if !ok || e.Kind == "" || e.Code == "" || e.Error() == "" {
		st.t.Errorf("the error lacks a kind, a code or a text: %#v", err)
	}
	return nil, e
}

// spec returns the tool's spec as models see it.
func (s Subject) spec(t *testing.T, st *stand) tool.Spec {
	t.Helper()
	if s.Tool != (tool.Tool{}) {
		return s.Tool.Spec()
	}
	for _, spec := range st.rt.Tools(tool.Audience{}) {
		if spec.Name == s.Name {
			return spec
		}
	}
	t.Fatalf("there is no tool called %q, or it is switched off", s.Name)
	return tool.Spec{}
}

func (s Subject) shape(t *testing.T) {
	spec := s.spec(t, s.stand(t, permission.Allow, ""))
	if strings.TrimSpace(spec.Description) == "" {
		t.Error("the tool has no description")
	}
	if spec.Schema == nil || spec.Schema.Type != "object" {
		t.Fatalf("the schema is not that of an object: %v", spec.Schema)
	}
	if _, err := json.Marshal(spec.Schema); err != nil {
		t.Errorf("the schema does not encode: %v", err)
	}
	for _, name := range slices.Sorted(maps.Keys(spec.Schema.Properties)) {
		if p := spec.Schema.Properties[name]; p.Description == "" && p.Ref == "" {
			t.Errorf("the field %s is not described", name)
		}
	}
}

// reads reports whether the sample call must not change anything.
func (s Subject) reads(t *testing.T, st *stand) bool { return s.Harmless || s.spec(t, st).ReadOnly }

func (s Subject) sample(t *testing.T) {
	st := s.stand(t, permission.Ask, permission.ReplyOnce)
	before := fingerprint(t, st.base)
	res, err := st.checkedCall(t.Context(), s.Name, s.Input)
	if err != nil {
		t.Fatalf("the sample call fails (%s, %s): %v", err.Kind, err.Code, err)
	}
	if s.reads(t, st) && fingerprint(t, st.base) != before {
		t.Error("the tool says that it only reads, and a file has changed")
	}
	if _, err := json.Marshal(res); err != nil {
		t.Errorf("the result does not encode: %v", err)
	}
	if n := len(res.Output); n > conformBytes {
		t.Errorf("the output has %d bytes, and %d are the most", n, conformBytes)
	}
	if n := strings.Count(res.Output, "\n"); n > conformLines {
		t.Errorf("the output has %d lines, and %d are the most", n, conformLines)
	}
	if n := len(res.Title); n > conformTitle {
		t.Errorf("the title has %d bytes, and %d are the most", n, conformTitle)
	}
	for i, a := range res.Attachments {
		if !strings.HasPrefix(a.URL, "data:"+a.Mime+";base64,") {
			t.Errorf("attachment %d is not a data URL of its type %s", i, a.Mime)
		}
	}
}

func (s Subject) checkArguments(t *testing.T) {
	st := s.stand(t, permission.Allow, permission.ReplyOnce)
	var args map[string]json.RawMessage
	if err := json.Unmarshal([]byte(s.Input), &args); err != nil {
		t.Fatalf("the sample input is not an object: %v", err)
	}
	with := func(key, value string) string {
		changed := maps.Clone(args)
		changed[key] = json.RawMessage(value)
		if value == "" {
			delete(changed, key)
		}
		b, err := json.Marshal(changed)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if _, err := st.checkedCall(t.Context(), s.Name, with("tooltest unknown", `{"a":[1]}`)); err != nil {
		t.Errorf("an unknown key is not ignored: %v", err)
	}
	refuse := func(what, key, input string) {
		_, err := st.checkedCall(t.Context(), s.Name, input)
		switch {
		case err == nil:
			t.Errorf("%s %s: the call is not refused", key, what)
		case err.Kind != tool.InvalidInput:
			t.Errorf("%s %s: refused as %s: %v", key, what, err.Kind, err)
		case !strings.Contains(err.Error(), key):
			t.Errorf("%s %s: the message does not name it: %v", key, what, err)
		}
	}
	schema := s.spec(t, st).Schema
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		switch schema.Properties[name].Type {
		case "": // of several types, or any
		case "object":
			refuse("of the wrong type", name, with(name, `"text"`))
		default:
			refuse("of the wrong type", name, with(name, `{}`))
		}
	}
	for _, name := range schema.Required {
		if schema.Properties[name] == nil || schema.Properties[name].Default == nil { // others are filled in
			refuse("left out", name, with(name, ""))
		}
	}
}

// checkRefused makes the sample call while all its requests are refused.
func (s Subject) checkRefused(t *testing.T, st *stand, want tool.Kind) {
	before := fingerprint(t, st.base)
	res, err := st.checkedCall(t.Context(), s.Name, s.Input)
	if fingerprint(t, st.base) != before {
		t.Error("the call was refused, and a file has changed")
	}
	switch {
	case err != nil && err.Kind != want:
		t.Errorf("the call ended as %s and not as %s: %v", err.Kind, want, err)
	case err != nil:
	case len(res.Inner) > 0: // the calls that it made are what asks
		for _, in := range res.Inner {
			if in.Status != "error" {
				t.Errorf("%s was called for it and not refused", in.Tool)
			}
		}
	case !s.reads(t, st):
		t.Error("the tool does not say that it only reads, and asks for nothing")
	}
}

// cancel cancels the sample call before it starts, while it runs, and while it waits for a person.
func (s Subject) cancel(t *testing.T) {
	t.Run("before", func(t *testing.T) {
		st := s.stand(t, permission.Allow, permission.ReplyOnce)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		s.checkCancel(st, ctx, ctx.Done())
	})
	t.Run("running", func(t *testing.T) {
		st := s.stand(t, permission.Allow, permission.ReplyOnce)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		watch, stop := context.WithCancel(t.Context())
		defer stop()
		var watching sync.WaitGroup
		rt := st.rt
		watching.Go(func() {
			for e := range rt.Events(watch, 0) {
				if _, ok := e.Properties.(event.CallRunning); ok {
					cancel()
					return
				}
			}
		})
		s.checkCancel(st, ctx, ctx.Done())
		stop()
		watching.Wait()
	})
	t.Run("asked", func(t *testing.T) {
		st := s.stand(t, permission.Ask, "")
		before := fingerprint(t, st.base)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		asked := make(chan struct{})
		st.mu.Lock()
		st.onAsk = sync.OnceFunc(func() { close(asked); cancel() })
		st.mu.Unlock()
		s.checkCancel(st, ctx, asked)
		if fingerprint(t, st.base) != before {
			t.Error("the call was cancelled before it was allowed, and a file has changed")
		}
	})
}

// checkCancel makes the sample call and fails unless it returns soon after begun.
func (s Subject) checkCancel(st *stand, ctx context.Context, begun <-chan struct{}) {
	st.t.Helper()
	done := make(chan *tool.Error, 1)
	go func() {
		_, err := st.checkedCall(ctx, s.Name, s.Input)
		done <- err
	}()
	var err *tool.Error
	select {
	case err = <-done:
	case <-begun:
		select {
		case err = <-done:
		case <-time.After(conformWait):
			st.t.Errorf("the call does not return within %s of being cancelled", conformWait)
			err = <-done
		}
	}
	if err != nil && err.Kind != tool.Canceled {
		st.t.Errorf("the cancelled call ended as %s: %v", err.Kind, err)
	}
}

// together makes several sample calls at once.
func (s Subject) together(t *testing.T) {
	st := s.stand(t, permission.Ask, permission.ReplyOnce)
	if !s.reads(t, st) {
		t.Skip("the tool changes files: calls of it may depend on each other")
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			call := tool.Call{Tool: s.Name, Input: json.RawMessage(s.Input), Session: fmt.Sprint("session ", i)}
			if _, err := st.rt.Call(t.Context(), call); err != nil {
				t.Errorf("one of several calls at once fails: %v", err)
			}
		})
	}
	wg.Wait()
}
