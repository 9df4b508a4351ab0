package plugins

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/helve-dev/helve/internal/process"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/tool"
)

// The limits of a program's description.
const (
	maxDescribe    = 1 << 20   // bytes in all
	maxTools       = 128       // tools of one program
	maxDescription = 16 << 10  // bytes of a description
	maxSchema      = 256 << 10 // bytes of a schema
	maxNesting     = 256       // lists and objects inside each other
	maxSlips       = 5         // misspelled keys that are reported
	describeTime   = 10 * time.Second
	callTime       = 2 * time.Minute // of a tool that names no time
	maxCallTime    = 24 * time.Hour
)

// A ProgramTool is a program's description of one of its tools.
type ProgramTool struct {
	ID          string // what models call it
	Name        string // what the program calls it; "" where it has but one
	Description string
	Schema      json.RawMessage // of its arguments
	Timeout     time.Duration   // of one call
	File        string          // the program, absolute
	Hash        string          // changes when the program or its description does
}

// Describe returns the tools of a program. Their description is in a file beside it, for x.py in
// x.py.tool.json or x.tool.json. Without one 'x.py describe' must print it, which is run once as
// long as the program stays the same.
//
// The error says what is wrong, for people. It may concern only some of the tools: the valid ones
// are returned all the same.
func (r *Programs) Describe(ctx context.Context, file string) ([]ProgramTool, error) {
	if !executable(file) {
		return nil, faulty(file, errors.New("it is not a file that can be executed; make it one with 'chmod +x'"))
	}
	beside, said, err := sidecar(file)
	if err != nil {
		return nil, faulty(file, err)
	}
	hash, err := fingerprint(file, said)
	if err != nil {
		return nil, faulty(file, err)
	}
	source, kept := filepath.Base(beside), true
	if beside == "" {
		source = "describe"
		if said, kept = r.recall(hash); !kept {
			if said, err = r.askDescription(ctx, file); err != nil {
				return nil, err
			}
		}
	}
	all, err := read(said, file, hash)
	if !kept && len(all) > 0 {
		r.keep(hash, said)
	}
	if err != nil {
		return all, faulty(file, fmt.Errorf("%s: %w", source, err))
	}
	return all, nil
}

// faulty says what is wrong with a program that cannot be used. It names the program by its full
// path, because the reader may have no call or project for context.
func faulty(file string, err error) error {
	return fmt.Errorf("%s: %w", line(file, maxPath), err)
}

// sidecar finds the file beside a program that describes it; "" if there is none.
func sidecar(file string) (name string, said []byte, err error) {
	for _, name := range []string{file + ".tool.json", filepath.Join(filepath.Dir(file), programBase(file)+".tool.json")} {
		said, err := readBounded(name, maxDescribe)
		switch {
		case errors.Is(err, os.ErrNotExist):
			continue
		case err != nil:
			return "", nil, err
		}
		return name, said, nil
	}
	return "", nil, nil
}

// askDescription runs the program to print its description.
func (r *Programs) askDescription(ctx context.Context, file string) ([]byte, error) {
	p := r.prepare(r.quiet(programBase(file)), file, "describe")
	reply, err := r.opt.Shell.Converse(ctx, p, process.Dialog{Limit: maxDescribe, Time: r.patience})
	const instead = "; have it print its description, or write that to " // and the name of the file
	beside := instead + filepath.Base(file) + ".tool.json"
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, process.ErrLate):
		return nil, faulty(file, fmt.Errorf("'describe' took longer than %s%s", r.patience, beside))
	case errors.Is(err, process.ErrTooMuch):
		return nil, faulty(file, fmt.Errorf("'describe' printed more than %d bytes%s", maxDescribe, beside))
	case err != nil:
		return nil, errors.New(unstarted(line(file, maxPath), file, err))
	case unknownToEnv(file, reply):
		return nil, errors.New(unstarted(line(file, maxPath), file, fs.ErrNotExist))
	case reply.Code != 0:
		return nil, faulty(file, fmt.Errorf("'describe' %s%s", programEndText(reply), beside))
	case len(bytes.TrimSpace(reply.Out)) == 0:
		return nil, faulty(file, errors.New("'describe' printed nothing"+beside))
	}
	return reply.Out, nil
}

// programEndText describes a failed end of a program.
func programEndText(reply process.Reply) string {
	how := "ended with code " + strconv.Itoa(reply.Code)
	if reply.Signal != "" {
		how = "was ended by the signal " + reply.Signal
	}
	said := reply.Said
	if said == "" {
		said = string(reply.Out)
	}
	if said = readable(strings.ToValidUTF8(said, "\ufffd"), maxComplaint); said != "" {
		how += ": " + said
	}
	return how
}

// A told is a description as the program prints it.
type told struct {
	name, description string
	parameters        json.RawMessage
	timeout           time.Duration
	tools             []json.RawMessage
	slips             error // keys that may be meant to be others
}

// read parses a program's description.
func read(said []byte, file, hash string) ([]ProgramTool, error) {
	whole, err := readTold(said)
	if err != nil {
		return nil, err
	}
	if whole.tools == nil {
		d, err := define(whole, file, hash)
		d.ID, d.Name = programBase(file), ""
		if err == nil {
			err = d.check()
		}
		if err != nil {
			return nil, errors.Join(err, whole.slips)
		}
		return []ProgramTool{d}, whole.slips
	}
	if len(whole.tools) == 0 || len(whole.tools) > maxTools {
		return nil, fmt.Errorf("it describes %d tools, and 1 to %d are what one program may have", len(whole.tools), maxTools)
	}
	var all []ProgramTool
	problems := []error{whole.slips}
	seen := map[string]bool{}
	for i, raw := range whole.tools {
		d, slips, err := readDefinition(raw, whole, file)
		if err == nil && seen[d.ID] {
			err = fmt.Errorf("there is another tool %s", line(d.ID, maxQuote))
		}
		for _, problem := range []error{err, slips} {
			if problem != nil {
				problems = append(problems, fmt.Errorf("tools[%d]: %w", i, problem))
			}
		}
		if err != nil {
			continue
		}
		d.Hash, seen[d.ID] = hash, true
		all = append(all, d)
	}
	return all, errors.Join(problems...)
}

// readDefinition reads one of several tools. slips are no reason to do without it.
func readDefinition(raw json.RawMessage, whole told, file string) (d ProgramTool, slips, err error) {
	t, err := readTold(raw)
	if err != nil {
		return d, nil, err
	}
	if t.tools != nil {
		return d, nil, errors.New(`it has "tools" within "tools"`)
	}
	if t.timeout == 0 {
		t.timeout = whole.timeout
	}
	if d, err = define(t, file, ""); err != nil {
		return d, t.slips, err
	}
	d.ID = programBase(file)
	if d.Name != "" {
		d.ID += "_" + d.Name
	}
	return d, t.slips, d.check()
}

// define makes a definition without an id.
func define(t told, file, hash string) (ProgramTool, error) {
	d := ProgramTool{Name: t.name, Description: readable(t.description, maxDescription), Schema: t.parameters, Timeout: t.timeout, File: file, Hash: hash}
	switch {
	case d.Description == "":
		return d, errors.New(`it has no "description", which tells a model what the tool does`)
	case len(t.description) > maxDescription:
		return d, fmt.Errorf(`its "description" has %d bytes, and %d are the most`, len(t.description), maxDescription)
	case d.Schema == nil:
		d.Schema = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	if d.Timeout == 0 {
		d.Timeout = callTime
	}
	return d, nil
}

// check reports whether a tool can be made of it.
func (d ProgramTool) check() error {
	spec, err := d.spec()
	if err == nil {
		_, err = tool.Dynamic(spec, func(context.Context, *tool.Call) (*tool.Result, error) { return nil, nil })
	}
	return err
}

func (d ProgramTool) spec() (tool.Spec, error) {
	spec := tool.Spec{Name: d.ID, Description: d.Description, Schema: &jsonschema.Schema{}}
	if len(d.Schema) > maxSchema {
		return spec, fmt.Errorf(`its "parameters" have %d bytes, and %d are the most`, len(d.Schema), maxSchema)
	}
	if nesting(d.Schema) > maxNesting {
		return spec, fmt.Errorf(`its "parameters" are nested more than %d deep`, maxNesting)
	}
	if err := checkSchema(d.Schema); err != nil {
		return spec, fmt.Errorf(`its "parameters" are no JSON Schema: %w`, err)
	}
	if err := json.Unmarshal(d.Schema, spec.Schema); err != nil {
		return spec, fmt.Errorf(`its "parameters" are no JSON Schema: %s`, line(err.Error(), maxQuote))
	}
	return spec, nil
}

// nesting returns how deep lists and objects of valid JSON are nested.
func nesting(raw []byte) (deepest int) {
	depth, quoted := 0, false
	for i := 0; i < len(raw); i++ {
		switch b := raw[i]; {
		case quoted && b == '\\':
			i++
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '{' || b == '[':
			depth++
			deepest = max(deepest, depth)
		case b == '}' || b == ']':
			depth--
		}
	}
	return deepest
}

// readTold reads one description. Unknown keys are ignored, and reported if they look like a
// misspelling.
func readTold(raw []byte) (t told, err error) {
	keys, err := readObject(raw)
	if err != nil {
		return t, err
	}
	for key, into := range map[string]any{"name": &t.name, "description": &t.description, "tools": &t.tools} {
		if err := take(keys, key, into); err != nil {
			return t, err
		}
	}
	if p, ok := keys["parameters"]; ok && !isNull(p) {
		if p[0] != '{' {
			return t, errors.New(`its "parameters" are not an object, and so no JSON Schema of arguments`)
		}
		t.parameters = p
	}
	var ms float64
	if err := take(keys, "timeout", &ms); err != nil {
		return t, err
	}
	if most := float64(maxCallTime.Milliseconds()); ms < 0 || ms > most || ms > 0 && ms < 1 {
		return t, fmt.Errorf(`its "timeout" is not from 1 to %.0f milliseconds`, most)
	}
	t.timeout = time.Duration(ms * float64(time.Millisecond))
	t.slips = slips(keys, "description", "parameters", "timeout", "name", "tools")
	return t, nil
}

// slips reports unknown keys that may be misspellings of a missing one.
func slips(keys map[string]json.RawMessage, known ...string) error {
	var missing []string
	for _, k := range known {
		if _, ok := keys[k]; !ok {
			missing = append(missing, k)
		}
	}
	var all []error
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if slices.Contains(known, key) {
			continue
		}
		meant, ok := text.Nearest(key, missing)
		if other := synonym(key); !ok && slices.Contains(missing, other) {
			meant, ok = other, true
		}
		if ok && len(all) < maxSlips {
			all = append(all, fmt.Errorf("it has the key %q, which means nothing here; %q may be meant", line(key, maxQuote), meant))
		}
	}
	return errors.Join(all...)
}

// synonym is the key that others call by another name.
func synonym(key string) string {
	switch strings.ToLower(key) {
	case "args", "arguments", "params", "schema", "inputschema", "input_schema":
		return "parameters"
	case "timeoutms", "timeout_ms":
		return "timeout"
	case "desc":
		return "description"
	}
	return ""
}

// readObject reads the keys of an object. Unlike the decoder of structs it takes
// no key for another that differs in case, and no second value of a key.
func readObject(raw []byte) (map[string]json.RawMessage, error) {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0:
		return nil, errors.New("it is empty, and a JSON object is wanted")
	case !utf8.Valid(raw):
		return nil, errors.New("it is not UTF-8, and a JSON object is wanted")
	case raw[0] != '{':
		return nil, fmt.Errorf("it is no JSON object, but begins with %s", line(string(raw), 40))
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(raw, &keys); err != nil {
		return nil, fmt.Errorf("it is no JSON: %s", line(err.Error(), maxQuote))
	}
	if key, twice := twice(raw); twice {
		return nil, fmt.Errorf("it has the key %q twice", line(key, maxQuote))
	}
	return keys, nil
}

// twice finds a duplicate key in a valid object, for which it is ambiguous which one is meant.
func twice(raw []byte) (string, bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return "", false
	}
	seen := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		key, ok := token.(string)
		if err != nil || !ok {
			return "", false
		}
		if seen[key] {
			return key, true
		}
		seen[key] = true
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return "", false
		}
	}
	return "", false
}

// take reads the value of a key where there is one.
func take(keys map[string]json.RawMessage, key string, into any) error {
	raw, ok := keys[key]
	if !ok || isNull(raw) {
		return nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("its %q is %s, and %s is wanted", key, kind(raw), expectedKind(into))
	}
	return nil
}

func isNull(raw json.RawMessage) bool { return string(raw) == "null" }

// kind names what a JSON value is.
func kind(raw json.RawMessage) string {
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a text"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	}
	return "a number"
}

func expectedKind(into any) string {
	switch into.(type) {
	case *string:
		return "a text"
	case *float64:
		return "a number"
	case *map[string]any:
		return "an object"
	}
	return "a list"
}
