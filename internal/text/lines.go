package text

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// The functions below read and write JSON Lines: lines of limited length, objects without duplicate
// keys, values on one line each.

// MaxLine is the maximum length of a JSON line in bytes: the largest arguments of a call, escaped.
const MaxLine = 160 << 20

// ErrLongLine says that a line is too long.
var ErrLongLine = fmt.Errorf("the line is longer than %d bytes", MaxLine)

// A LineReader reads lines of limited length. It holds at most one.
type LineReader struct {
	r    *bufio.Reader
	most int // bytes of a line
	n    int // the line read last, from 1
}

// NewLineReader returns a reader of lines with at most most bytes.
func NewLineReader(r io.Reader, most int) *LineReader {
	return &LineReader{r: bufio.NewReaderSize(r, 64<<10), most: most}
}

// Number returns the number of the last line read, counted from 1.
func (l *LineReader) Number() int { return l.n }

// Waiting returns how many bytes were read from the stream and not returned yet.
func (l *LineReader) Waiting() int { return l.r.Buffered() }

// Drop discards what was read from the stream and not returned yet.
func (l *LineReader) Drop() {
	_, _ = l.r.Discard(l.r.Buffered()) // it holds as many
}

// Next returns the next line without its end, and io.EOF after the last. For a line that is too
// long the error is [ErrLongLine], and nothing of the line is kept.
func (l *LineReader) Next() ([]byte, error) {
	var line []byte
	long := false
	l.n++
	for {
		part, err := l.r.ReadSlice('\n')
		if len(line)+len(part) > l.most+1 {
			long, line = true, nil
		}
		if !long {
			line = append(line, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err != nil && err != io.EOF:
			return nil, err
		case err == io.EOF && len(line) == 0 && !long:
			return nil, io.EOF
		case long:
			return nil, ErrLongLine
		}
		return bytes.TrimSuffix(line, []byte("\n")), nil
	}
}

// BlankLine reports whether a line holds nothing.
func BlankLine(line []byte) bool {
	for _, c := range line {
		if c != ' ' && c != '\t' && c != '\r' {
			return false
		}
	}
	return true
}

// DecodeObject decodes the members of a JSON object. A duplicate key is an error, because nobody
// can know which one was meant.
func DecodeObject(data []byte) (map[string]json.RawMessage, error) {
	if !json.Valid(data) {
		var v any
		return nil, fmt.Errorf("not JSON: %w", json.Unmarshal(data, &v))
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return nil, errors.New("not a JSON object")
	}
	fields := map[string]json.RawMessage{}
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("not JSON: %w", err)
		}
		key, _ := tok.(string)
		if _, twice := fields[key]; twice {
			return nil, fmt.Errorf("the key %q stands twice", key)
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, fmt.Errorf("not JSON: %w", err)
		}
		fields[key] = raw
	}
	return fields, nil
}

// IsNull reports whether a value is null.
func IsNull(raw json.RawMessage) bool { return string(raw) == "null" }

// EncodeLine returns a value as one line of JSON.
func EncodeLine(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
