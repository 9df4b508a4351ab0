package plugins

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/helve-dev/helve/tool"
)

// A word is the answer of a hook.
type word struct {
	HookVerdict
	blocked bool                       // Block holds, with or without a reason
	changed map[string]json.RawMessage // the keys of its result
}

// readWord parses what a hook printed. An answer without a known key is an error, because it may be
// a misspelled refusal.
func readWord(out []byte, when string) (w word, err error) {
	if len(bytes.TrimSpace(out)) == 0 {
		return w, nil
	}
	keys, err := readObject(out)
	if err != nil || len(keys) == 0 {
		return w, err
	}
	if err := w.readBlock(keys); w.blocked || err != nil {
		return w, err
	}
	words := []string{"block", "args", "result"}
	if when == "after" {
		words = []string{"block", "result"}
	}
	if err := isKnownKeyword(keys, words); err != nil {
		return w, err
	}
	if raw, ok := keys["result"]; ok && !isNull(raw) {
		return w, w.readResult(raw, when)
	}
	if raw, ok := keys["args"]; ok && when == "before" && !isNull(raw) {
		if raw[0] != '{' {
			return w, fmt.Errorf(`its "args" are %s, and an object is wanted`, kind(raw))
		}
		w.Args = raw
	}
	return w, nil
}

// isKnownKeyword returns an error if an answer has unknown keys and no known one, or a key that
// looks like a misspelling. A key with null does not count as known.
func isKnownKeyword(keys map[string]json.RawMessage, words []string) error {
	others, said := false, false
	for key, raw := range keys {
		is := slices.Contains(words, key)
		others = others || !is
		said = said || is && !isNull(raw)
	}
	if others && !said {
		return fmt.Errorf("it has none of the keys %q", words)
	}
	return slips(keys, words...)
}

// readBlock reads a refusal: a reason, or true for one without. An empty reason
// is a refusal too.
func (w *word) readBlock(keys map[string]json.RawMessage) error {
	raw, ok := keys["block"]
	if !ok || isNull(raw) || string(raw) == "false" {
		return nil
	}
	if err := take(keys, "block", &w.Block); err != nil && string(raw) != "true" {
		return err
	}
	w.Block, w.blocked = readable(w.Block, maxComplaint), true
	return nil
}

// readResult reads the result that a hook gives. Where there is no result yet, it must have an
// output.
func (w *word) readResult(raw json.RawMessage, when string) error {
	keys, err := readObject(raw)
	if err != nil {
		return fmt.Errorf(`its "result": %w`, err)
	}
	if _, ok := keys["output"]; !ok && when == "before" {
		return errors.New(`its "result" has no "output"`)
	}
	res, err := readResult(keys)
	if err != nil {
		return fmt.Errorf(`its "result": %w`, err)
	}
	w.Result, w.changed = res, keys
	return nil
}

// merge is a result with what the hook has changed of it.
func (w *word) merge(old *tool.Result) *tool.Result {
	res := *old
	given := func(key string) bool { return len(w.changed[key]) > 0 && !isNull(w.changed[key]) }
	if given("title") {
		res.Title = w.Result.Title
	}
	if given("metadata") {
		res.Metadata = w.Result.Metadata
		for _, own := range []string{"truncated", "outputPath"} {
			if v, ok := old.Metadata[own]; ok {
				res.Metadata[own] = v
			}
		}
	}
	if given("attachments") {
		res.Attachments = w.Result.Attachments
	}
	if given("output") && w.Result.Output != old.Output {
		res.Output, res.Data = w.Result.Output, nil // what it holds for programs is of the old one
	}
	return &res
}
