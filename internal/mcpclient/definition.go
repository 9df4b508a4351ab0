package mcpclient

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/helve-dev/helve/internal/text"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The limits of a definition. Text for a model is cut; a tool whose other parts are too large is
// refused.
const (
	maxName        = 128      // bytes of the name that models call
	maxDescription = 16 << 10 // bytes of a description
	maxTitle       = 200
	maxSchema      = 256 << 10 // bytes of a schema
	maxNesting     = 256       // lists and objects inside each other in its JSON
	maxQuote       = 80        // bytes of an untrusted text in a reason
)

// A Definition is a server's description of one of its tools, bounded. Texts are safe to show:
// invisible characters are escaped.
type Definition struct {
	Server, Tool       string // as the config and the server spell them
	Origin             string // which program or address the server is
	Project            string // where it is used
	Title, Description string
	Input              json.RawMessage // the schema as the server gave it, in canonical form

	// The hints of the server about the tool, with the defaults of the protocol. They are not
	// trusted.
	ReadOnly, Destructive, Idempotent, OpenWorld bool
}

// DefinitionOf converts a server's description of a tool. An error means that the tool cannot be
// used, and says why, for people. The schema is checked by [Definition.Schema].
func DefinitionOf(server string, t *mcp.Tool) (Definition, error) {
	switch {
	case t == nil:
		return Definition{}, errors.New("there is no definition")
	case t.Name == "":
		return Definition{}, errors.New("the tool has no name")
	}
	if n := len(ToolName(server, t.Name)); n > maxName {
		return Definition{}, fmt.Errorf("the name %s has %d characters with the server's, and %d are the most",
			quoted(t.Name), n, maxName)
	}
	d := Definition{
		Server: server, Tool: t.Name,
		Title: t.Title, Description: readable(t.Description, maxDescription),
		Destructive: true, OpenWorld: true,
	}
	if a := t.Annotations; a != nil {
		if d.Title == "" {
			d.Title = a.Title
		}
		d.ReadOnly, d.Idempotent = a.ReadOnlyHint, a.IdempotentHint
		if a.DestructiveHint != nil {
			d.Destructive = *a.DestructiveHint
		}
		if a.OpenWorldHint != nil {
			d.OpenWorld = *a.OpenWorldHint
		}
		if a.DestructiveHint != nil && *a.DestructiveHint {
			d.ReadOnly = false // of two words that contradict each other the careful one counts
		}
		d.Destructive = d.Destructive && !d.ReadOnly
	}
	d.Title = line(d.Title, maxTitle)
	raw, err := json.Marshal(t.InputSchema)
	if err != nil {
		return Definition{}, errors.New("its input schema is not JSON")
	}
	if err := sized(raw); err != nil {
		return Definition{}, err
	}
	if d.Input, err = canonical(raw); err != nil {
		return Definition{}, errors.New("its input schema is not JSON")
	}
	return d, nil
}

// Hash returns a text that changes when the server's description of the tool, or the program behind
// it, changes. It does not depend on the order of keys in the schema, or on where the tool is used.
func (d Definition) Hash() string { return definitionDigest(d.Origin, d.shape()) }

// shape is the Hash of the description alone, independent of the program.
func (d Definition) shape() string {
	schema, err := canonical(d.Input)
	if err != nil {
		schema = d.Input
	}
	hints := fmt.Sprint(d.ReadOnly, d.Destructive, d.Idempotent, d.OpenWorld)
	return definitionDigest(d.Server, d.Tool, d.Title, d.Description, hints, string(schema))
}

func definitionDigest(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// sized checks that a schema is small enough to be looked at.
func sized(raw []byte) error {
	if len(raw) > maxSchema {
		return fmt.Errorf("its input schema has %d bytes, and %d are the most", len(raw), maxSchema)
	}
	if nesting(raw) > maxNesting {
		return fmt.Errorf("its input schema is nested more than %d deep", maxNesting)
	}
	return nil
}

// nesting returns how many lists and objects are inside each other in JSON.
func nesting(raw []byte) int {
	depth, most := 0, 0
	inside := false // of a string
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case inside && c == '\\':
			i++
		case c == '"':
			inside = !inside
		case inside:
		case c == '{' || c == '[':
			depth++
			most = max(most, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return most
}

// readable returns s as a model and a person may read it: valid, visible, and no longer than most
// bytes except for a note about what is missing.
func readable(s string, most int) string {
	s = shown(s)
	head, cut := text.Cut(s, most)
	if !cut {
		return s
	}
	return fmt.Sprintf("%s\n[%d more bytes of this text were left out]", head, len(s)-len(head))
}

// shown returns s with invisible characters escaped. A text without any stays as it is.
func shown(s string) string {
	if text.HasHidden(s) {
		return text.Visible(s)
	}
	return s
}

// line is readable for a place that has one line.
func line(s string, most int) string {
	s = strings.Join(strings.Fields(shown(s)), " ")
	if head, cut := text.Cut(s, most); cut {
		return head + "…"
	}
	return s
}

// quoted returns an untrusted text as a reason may quote it.
func quoted(s string) string {
	head, cut := text.Cut(s, maxQuote)
	if cut {
		head += "…"
	}
	return `"` + text.VisibleLine(head) + `"`
}
