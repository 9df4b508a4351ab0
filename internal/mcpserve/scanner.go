package mcpserve

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxDepth is how deep a value may nest that is looked at by a scanner.
const maxDepth = 100

// A scanner validates JSON without decoding it. It accepts less than the standard, and never more:
// what it refuses is decoded in the general way, which reports the error.
type scanner struct {
	b []byte
	i int
}

// plainCall decodes a tool call, unless it contains anything unusual.
func plainCall(line []byte) *fastCall {
	s := &scanner{b: line}
	x := &fastCall{}
	var version, method, params bool
	ok := s.walkObject(func(key, raw []byte) bool {
		switch string(key) {
		case "jsonrpc":
			version = !version && string(raw) == `"2.0"`
			return version
		case "method":
			method = !method && string(raw) == `"tools/call"`
			return method
		case "id":
			return !x.id.IsValid() && x.readID(raw)
		case "params":
			again := params
			params = true
			return !again && x.readParams(raw)
		}
		return false
	})
	if s.skipSpace(); !ok || s.i != len(line) || !version || !method || !x.id.IsValid() || x.params.Name == "" {
		return nil
	}
	return x
}

// readID reads the id of a call: a short whole number, or a text.
func (x *fastCall) readID(raw []byte) bool {
	var id any
	if raw[0] == '"' {
		text, ok := plainText(raw)
		if !ok {
			return false
		}
		id = text
	} else {
		n, err := strconv.ParseInt(string(raw), 10, 64)
		if err != nil || len(raw) > 15 || raw[0] == '-' {
			return false
		}
		id = float64(n)
	}
	made, err := jsonrpc.MakeID(id)
	x.id = made
	return err == nil
}

// readParams reads the parameters of a call.
func (x *fastCall) readParams(raw []byte) bool {
	s := &scanner{b: raw}
	return raw[0] == '{' && s.walkObject(func(key, raw []byte) bool {
		switch string(key) {
		case "name":
			text, ok := plainText(raw)
			ok = ok && x.params.Name == ""
			x.params.Name = text
			return ok
		case "arguments":
			again := x.params.Arguments != nil
			x.params.Arguments = bytes.Clone(raw)
			return !again && raw[0] == '{'
		case "_meta":
			return x.params.Meta == nil && raw[0] == '{' && json.Unmarshal(raw, &x.params.Meta) == nil && !x.reserved()
		}
		return false
	})
}

// reserved reports whether the call names a version of the protocol that has no handshake, which
// the SDK refuses.
func (x *fastCall) reserved() bool {
	for key := range x.params.Meta {
		if strings.HasPrefix(key, "io.modelcontextprotocol/") {
			return true
		}
	}
	return false
}

// plainText is a text that is written as it is.
func plainText(raw []byte) (string, bool) {
	if raw[0] != '"' || bytes.IndexByte(raw, '\\') >= 0 || !utf8.Valid(raw) {
		return "", false
	}
	return string(raw[1 : len(raw)-1]), true
}

func (s *scanner) skipSpace() {
	for s.i < len(s.b) && (s.b[s.i] == ' ' || s.b[s.i] == '\t' || s.b[s.i] == '\r' || s.b[s.i] == '\n') {
		s.i++
	}
}

// next passes over space and reports whether c follows, which it takes.
func (s *scanner) next(c byte) bool {
	s.skipSpace()
	if s.i < len(s.b) && s.b[s.i] == c {
		s.i++
		return true
	}
	return false
}

// walkObject walks over an object whose keys are written as they are. visit gets
// each value, and ends the walk with false.
func (s *scanner) walkObject(visit func(key, raw []byte) bool) bool {
	return s.list('{', '}', func() bool {
		s.skipSpace()
		start := s.i
		if !s.skipString() {
			return false
		}
		key := s.b[start+1 : s.i-1]
		if bytes.IndexByte(key, '\\') >= 0 || !s.next(':') {
			return false
		}
		s.skipSpace()
		from := s.i
		return s.skipValue(0) && visit(key, s.b[from:s.i])
	})
}

// list scans elements between brackets, separated by commas.
func (s *scanner) list(first, last byte, item func() bool) bool {
	if !s.next(first) {
		return false
	}
	if s.next(last) {
		return true
	}
	for item() {
		if s.next(last) {
			return true
		}
		if !s.next(',') {
			return false
		}
	}
	return false
}

// skipValue passes over one value.
func (s *scanner) skipValue(depth int) bool {
	s.skipSpace()
	if s.i >= len(s.b) || depth > maxDepth {
		return false
	}
	switch c := s.b[s.i]; c {
	case '"':
		return s.skipString()
	case '[':
		return s.list('[', ']', func() bool { return s.skipValue(depth + 1) })
	case '{':
		return s.list('{', '}', func() bool {
			s.skipSpace()
			return s.skipString() && s.next(':') && s.skipValue(depth+1)
		})
	case 't':
		return s.skipLiteral("true")
	case 'f':
		return s.skipLiteral("false")
	case 'n':
		return s.skipLiteral("null")
	}
	return s.skipNumber()
}

func (s *scanner) skipLiteral(w string) bool {
	if !bytes.HasPrefix(s.b[s.i:], []byte(w)) {
		return false
	}
	s.i += len(w)
	return true
}

// skipString passes over a text with its quotes.
func (s *scanner) skipString() bool {
	if s.i >= len(s.b) || s.b[s.i] != '"' {
		return false
	}
	for s.i++; s.i < len(s.b); s.i++ {
		switch c := s.b[s.i]; {
		case c == '"':
			s.i++
			return true
		case c < ' ':
			return false
		case c == '\\':
			if !s.skipEscape() {
				return false
			}
		}
	}
	return false
}

// skipEscape passes over an escape but for its last byte.
func (s *scanner) skipEscape() bool {
	s.i++
	if s.i >= len(s.b) {
		return false
	}
	if s.b[s.i] != 'u' {
		return bytes.IndexByte([]byte(`"\/bfnrt`), s.b[s.i]) >= 0
	}
	for range 4 {
		s.i++
		if s.i >= len(s.b) || bytes.IndexByte([]byte("0123456789abcdefABCDEF"), s.b[s.i]) < 0 {
			return false
		}
	}
	return true
}

// skipNumber passes over a number.
func (s *scanner) skipNumber() bool {
	if s.b[s.i] == '-' {
		s.i++
	}
	zero := s.i < len(s.b) && s.b[s.i] == '0'
	if n := s.digits(); n == 0 || zero && n > 1 {
		return false
	}
	if s.i < len(s.b) && s.b[s.i] == '.' {
		if s.i++; s.digits() == 0 {
			return false
		}
	}
	if s.i < len(s.b) && (s.b[s.i] == 'e' || s.b[s.i] == 'E') {
		s.i++
		if s.i < len(s.b) && (s.b[s.i] == '+' || s.b[s.i] == '-') {
			s.i++
		}
		return s.digits() > 0
	}
	return true
}

func (s *scanner) digits() (n int) {
	for ; s.i < len(s.b) && s.b[s.i] >= '0' && s.b[s.i] <= '9'; s.i++ {
		n++
	}
	return n
}
