package tool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// A Tool is something a model can call. [New] and [Dynamic] make one. It never changes and is safe
// for concurrent use. Copies are the same tool.
type Tool struct {
	d *definition
}

type definition struct {
	spec Spec
	run  func(context.Context, *Call) (*Result, error)
	// root returns the schema, prepared for walking.
	root func() *node
	// gate returns a second validator, for schemas that may say more than the walker knows. Both
	// gate and its result may be nil.
	gate func() *jsonschema.Resolved
	// mark returns the fingerprint.
	mark func() string
}

// New makes a tool of a spec and a function. In is a struct; unless the spec
// brings a schema, it is derived from In.
//
// A field is named by its json tag and described by its jsonschema tag. It is
// optional if the json tag says omitempty. Further tags say more:
//
//	enum:"a,b"           one of these
//	min:"1" max:"9"      limits of a number
//	default:"5"          what an absent field gets
//	coerce:"number"      a string that holds a number is taken for one
//	minItems:"1"         the least length of a list, and
//	minItemsMessage:"…"  what to say of a shorter one
//
// New panics if the spec, In or a tag is wrong: that is a mistake in the
// program, and the first test finds it.
func New[In any](s Spec, run func(context.Context, *Call, In) (*Result, error)) Tool {
	if run == nil {
		panic(fmt.Sprintf("tool %s: no function", s.Name))
	}
	d := definition{spec: s, run: func(ctx context.Context, c *Call) (*Result, error) {
		var in In
		if err := json.Unmarshal(c.Input, &in); err != nil {
			return nil, &Error{
				Tool: s.Name, Kind: InvalidInput, Code: "invalid-json",
				Err: fmt.Errorf("decoding the input of %s: %w", s.Name, err),
			}
		}
		return run(ctx, c, in)
	}}
	if s.Schema != nil {
		if err := d.adopt(true); err != nil {
			panic(fmt.Sprintf("tool %s: %v", s.Name, err))
		}
		return Tool{&d}
	}
	schema, extras, err := derive(reflect.TypeFor[In]())
	if err == nil {
		err = d.checkName()
	}
	if err != nil {
		panic(fmt.Sprintf("tool %s: %v", s.Name, err))
	}
	d.spec.Schema = schema
	d.compile(compiler{refs: &refs{root: schema}, extras: extras})
	return Tool{&d}
}

// Dynamic makes a tool whose schema is known only at run time, such as one that another program
// offers. The function gets its arguments in the call's Input. With a nil schema, the tool takes
// any object.
//
// A schema that does not describe an object, refers to something outside of itself, or is too large
// to validate against, is an error with the code bad-schema, and so is a name that models cannot
// call. A pattern that Go's regexp does not accept is not checked.
func Dynamic(s Spec, run func(context.Context, *Call) (*Result, error)) (Tool, error) {
	d := definition{spec: s, run: run}
	err := error(nil)
	if run == nil {
		err = errors.New("the tool has no function")
	} else {
		err = d.adopt(false)
	}
	if err != nil {
		return Tool{}, &Error{Tool: s.Name, Kind: Failed, Code: "bad-schema", Err: err}
	}
	return Tool{&d}, nil
}

// adopt uses the schema of the spec, without changing it.
func (d *definition) adopt(folding bool) error {
	if err := d.checkName(); err != nil {
		return err
	}
	schema := d.spec.Schema
	if schema == nil {
		schema = &jsonschema.Schema{}
	}
	if err := bounded(schema); err != nil {
		return err
	}
	schema = schema.CloneSchemas()
	if len(schema.Types) == 1 {
		schema.Type, schema.Types = schema.Types[0], nil
	}
	if schema.Type == "" && schema.Types == nil && !isFalse(schema) {
		schema.Type = "object"
	}
	if schema.Type != "object" {
		return errors.New("the schema is not that of an object")
	}
	if schema.Properties == nil {
		schema.Properties = map[string]*jsonschema.Schema{}
	}
	r := &refs{root: schema}
	recursive, err := tame(schema, r)
	if err != nil {
		return err
	}
	d.spec.Schema = schema
	d.compile(compiler{refs: r, recursive: recursive, folding: folding})
	if !recursive { // the cost of a recursive one has no bound
		d.gate = sync.OnceValue(func() *jsonschema.Resolved {
			resolved, err := loosened(schema).Resolve(nil)
			if err != nil {
				return nil // only the walker checks
			}
			return resolved
		})
	}
	return nil
}

// checkName checks the name and sets what the spec leaves out.
func (d *definition) checkName() error {
	name := d.spec.Name
	if len(name) == 0 || len(name) > 128 {
		return fmt.Errorf("the name %s has %d characters, and 1 to 128 are wanted", shortQuote(name), len(name))
	}
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
	if strings.Trim(name, letters) != "" {
		return fmt.Errorf("the name %s has other characters than letters, digits, _ and -", shortQuote(name))
	}
	if d.spec.Permission == "" {
		d.spec.Permission = name
	}
	return nil
}

func (d *definition) compile(c compiler) {
	schema := d.spec.Schema
	d.root = sync.OnceValue(func() *node {
		c.nodes = map[*jsonschema.Schema]*node{}
		return c.compileNode(schema)
	})
	d.mark = sync.OnceValue(func() string {
		shape, err := json.Marshal(schema)
		if err != nil {
			shape = []byte(err.Error())
		}
		h := sha256.New()
		for _, part := range [...]string{d.spec.Name, d.spec.Description, string(shape)} {
			fmt.Fprintf(h, "%d:%s", len(part), part)
		}
		return hex.EncodeToString(h.Sum(nil))
	})
}

// Spec returns the tool's spec, with Permission and Schema filled in. The schema is the tool's own
// and must not be changed.
func (t Tool) Spec() Spec { return t.d.spec }

// Fingerprint returns a text that changes with the tool's name, description or schema, so that an
// approval of one tool does not hold for another that takes its place.
func (t Tool) Fingerprint() string { return t.d.mark() }

// Run runs the tool on a call that has passed [Tool.Check]. Without an error, the result and its
// Metadata are not nil.
func (t Tool) Run(ctx context.Context, c *Call) (*Result, error) {
	res, err := t.d.run(ctx, c)
	if err != nil {
		return nil, err
	}
	if res == nil {
		return nil, &Error{
			Tool: t.d.spec.Name, Kind: Internal, Code: "no-result",
			Err: fmt.Errorf("the tool %s returned neither a result nor an error", t.d.spec.Name),
		}
	}
	if res.Metadata == nil {
		res.Metadata = map[string]any{}
	}
	return res, nil
}
