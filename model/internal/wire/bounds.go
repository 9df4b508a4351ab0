package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/helve-dev/helve/model"
)

// Limits for one answer. The weights make sure that a stream of nearly empty pieces ends as well.
const (
	maxAnswer   = 32 << 20 // bytes of texts, thoughts, arguments, names and ids
	maxCalls    = 1000
	pieceWeight = 16
	blockWeight = 1 << 10
	maxList     = 1000
)

// ErrTooMany says that a list in an answer is too long.
var ErrTooMany = errors.New("a list has more than 1000 elements")

// A Tally counts the contents of one answer, so that a server that never stops cannot fill the
// memory.
type Tally struct {
	Who         string // the provider, for messages
	size, calls int
}

// Piece counts a piece of an answer with its texts.
func (t *Tally) Piece(texts ...string) error { return t.add(pieceWeight, texts) }

// Block counts the start of a part that is kept until it ends.
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

// TooMuch returns the error for an answer that is too large. Repeating the request would not help.
func (t *Tally) TooMuch(what string) error {
	return &model.Error{Kind: model.Invalid, Message: fmt.Sprintf("%s has sent %s, which is not taken: ask for less at once", t.Who, what)}
}

// Few is a JSON array of at most 1000 elements. For a longer one, unmarshalling fails with
// [ErrTooMany] before memory is allocated: two bytes of JSON can become a hundred bytes of memory.
type Few[T any] []T

// UnmarshalJSON parses an array, or null.
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
