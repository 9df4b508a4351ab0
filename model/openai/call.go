package openai

import (
	"encoding/json"
	"strings"
)

// maxScalar is how long arguments are looked at that are no object or array.
const maxScalar = 64

// A call is a tool call that is being written.
type callBuilder struct {
	index     int    // that the server gave it; -1 where it gave none
	given     string // the id that the server gave it; maybe none
	id, name  string
	seal      string
	arguments strings.Builder
	nesting   nesting
	senseless bool // the arguments are closed and no JSON: nothing can mend them
}

func (c *callBuilder) write(arguments string) {
	c.arguments.WriteString(arguments)
	c.nesting.take(arguments)
}

// argumentsComplete reports whether all arguments are there, as far as one can tell while
// more may come. All questions together take as long as one look at the text.
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

// nesting follows JSON that comes in pieces, up to where the object or array
// ends that it begins with.
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
