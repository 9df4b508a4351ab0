package openai

import (
	"encoding/json"
	"strings"
)

// maxScalar limits the arguments that are checked for completeness if they are no object or array.
const maxScalar = 64

// A callBuilder collects a tool call that is still arriving.
type callBuilder struct {
	index     int    // from the server; -1 if it sent none
	given     string // the id from the server; may be empty
	id, name  string
	seal      string
	arguments strings.Builder
	nesting   nesting
	senseless bool // the arguments are complete and not JSON
}

func (c *callBuilder) write(arguments string) {
	c.arguments.WriteString(arguments)
	c.nesting.take(arguments)
}

// argumentsComplete reports whether the arguments seem complete while more may come. All calls of
// it together read the text once.
func (c *callBuilder) argumentsComplete() bool {
	switch {
	case c.senseless:
		return false
	case c.nesting.closed:
		ok := c.valid()
		c.senseless = !ok
		return ok
	}
	return c.nesting.depth == 0 && c.arguments.Len() <= maxScalar && c.valid()
}

// valid reports whether the arguments are JSON.
func (c *callBuilder) valid() bool { return json.Valid([]byte(c.arguments.String())) }

// nesting tracks JSON that arrives in pieces, up to the end of the object or array that it begins
// with.
type nesting struct {
	depth         int
	text, escaped bool
	closed        bool
}

func (n *nesting) take(piece string) {
	for i := 0; i < len(piece) && !n.closed; i++ {
		switch b := piece[i]; {
		case n.escaped:
			n.escaped = false
		case n.text:
			n.escaped, n.text = b == '\\', b != '"'
		case b == '"':
			n.text = true
		case b == '{' || b == '[':
			n.depth++
		case b == '}' || b == ']':
			n.depth--
			n.closed = n.depth <= 0
		}
	}
}
