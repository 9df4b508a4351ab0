package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/helve-dev/helve/model"
)

// What one answer may bring. The weights see to it that what brings next to
// nothing comes to an end as well.
const (
	maxAnswer   = 32 << 20 // bytes of texts, thoughts, arguments, names and ids
	maxCalls    = 1000
	pieceWeight = 16
	blockWeight = 1 << 10
	maxList     = 1000
)

// ErrTooMany says that a list in an answer is longer than is taken.
var ErrTooMany = errors.New("a list has more than 1000 elements")

// A Tally counts what one answer has brought. A server that never stops must
// not fill the memory.
type Tally struct {
	Who         string // the provider, for messages
	size, calls int
}

// Piece counts a piece of an answer: its texts, whatever they are for.
func (t *Tally) Piece(texts ...string) error { return t.add(pieceWeight, texts) }

// Block counts the beginning of a part that is kept until it ends.
func (t *Tally) Block(texts ...string) error { return t.add(blockWeight, texts) }

func (t *Tally) add(weight int, texts []string) error {
	t.size += weight
	for _, text := range texts {
		t.size += len(text)
	}
	if t.size > maxAnswer {
		return t.TooMuch(fmt.Sprintf("an answer of more than %d MiB", maxAnswer>>20))
	}
	return nil
}

// Call counts a tool call.
func (t *Tally) Call() error {
	if t.calls++; t.calls > maxCalls {
		return t.TooMuch(fmt.Sprintf("more than %d calls in one answer", maxCalls))
	}
	return nil
}

// TooMuch is the error for an answer that is not taken because of its size.
// The same request would bring the same again.
func (t *Tally) TooMuch(what string) error {
	return &model.Error{Kind: model.Invalid, Message: fmt.Sprintf("%s has sent %s, which is not taken: ask for less at once", t.Who, what)}
}

// Few is a JSON array with 1000 elements at the most. What is more is
// [ErrTooMany], found before there is room made for it: of two bytes of JSON
// a hundred bytes of memory can become.
type Few[T any] []T

// UnmarshalJSON reads an array, or null.
func (f *Few[T]) UnmarshalJSON(raw []byte) error {
	*f = nil
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || raw[0] != '[' {
		var list []T // null, or the usual error
		return json.Unmarshal(raw, &list)
	}
	*f = Few[T]{}
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		if len(*f) == maxList {
			return ErrTooMany
		}
		var one T
		if err := d.Decode(&one); err != nil {
			return err
		}
		*f = append(*f, one)
	}
	return nil
}
