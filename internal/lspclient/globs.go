package lspclient

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// The kinds of changes that a server may watch for.
const (
	maxWatchers = 1000
	maxAllSteps = 1 << 17 // of all patterns of one registration
)

// watchers are the patterns of files that a server watches.
type watchers []watcher

type watcher struct {
	base string // the folder that the pattern begins in
	bare bool   // the pattern may also be one for whole paths
	kind int    // what may happen to the file, as bits
	glob glob
}

// parseWatchers reads the options of a registration for
// workspace/didChangeWatchedFiles. With an error it still returns those
// watchers that could be read.
func parseWatchers(options json.RawMessage, root string) (watchers, error) {
	var opts struct {
		Watchers json.RawMessage `json:"watchers"`
	}
	if err := json.Unmarshal(options, &opts); err != nil {
		return nil, fmt.Errorf("watchers: %w", err)
	}
	var list watchers
	var trouble error
	steps, count := 0, 0
	err := eachIn(opts.Watchers, '[', func(_ string, d *json.Decoder) error {
		var o struct {
			GlobPattern json.RawMessage `json:"globPattern"`
			Kind        *int            `json:"kind"`
		}
		if err := d.Decode(&o); err != nil {
			return fmt.Errorf("watchers: %w", err)
		}
		if count++; count > maxWatchers {
			return fmt.Errorf("watchers: %d is the most", maxWatchers)
		}
		w, err := parseWatcher(o.GlobPattern, root)
		if err != nil {
			if trouble == nil { // the first stands for all
				trouble = err
			}
			return nil
		}
		if steps += len(w.glob.steps); steps > maxAllSteps {
			return errors.New("watchers: the patterns are too long together")
		}
		w.kind = 7
		if o.Kind != nil {
			w.kind = *o.Kind
		}
		list = append(list, w)
		return nil
	})
	return list, errors.Join(trouble, err)
}

// parseWatcher reads one pattern: a text, or an object with a base.
func parseWatcher(raw json.RawMessage, root string) (w watcher, err error) {
	var pattern string
	if json.Unmarshal(raw, &pattern) == nil {
		w = watcher{base: filepath.Clean(root), bare: true}
	} else {
		var rel struct {
			BaseURI json.RawMessage `json:"baseUri"`
			Pattern string          `json:"pattern"`
		}
		if err := json.Unmarshal(raw, &rel); err != nil {
			return w, fmt.Errorf("watcher: %w", err)
		}
		var uri string
		if json.Unmarshal(rel.BaseURI, &uri) != nil {
			var folder struct {
				URI string `json:"uri"`
			}
			if err := json.Unmarshal(rel.BaseURI, &folder); err != nil {
				return w, fmt.Errorf("watcher: %w", err)
			}
			uri = folder.URI
		}
		base, err := pathOf(uri)
		if err != nil {
			return w, fmt.Errorf("watcher: %w", err)
		}
		w, pattern = watcher{base: filepath.Clean(base)}, rel.Pattern
	}
	w.glob, err = parseGlob(globForm(pattern))
	return w, err
}

// wants reports whether the server watches for this kind of change to a file: Created, Altered or
// Deleted, or 0 for any of them.
func (w watchers) wants(path string, kind int) bool {
	bits := 7
	switch kind {
	case Created:
		bits = 1
	case Altered:
		bits = 2
	case Deleted:
		bits = 4
	}
	whole := globForm(path)
	for i := range w {
		if w[i].kind&bits != 0 && w[i].covers(path, whole) {
			return true
		}
	}
	return false
}

// covers reports whether the pattern matches a file, given as it is and in the normalized form.
func (w *watcher) covers(path, whole string) bool {
	if !w.glob.mayEnd(whole) {
		return false
	}
	if rel, ok := relativePath(w.base, path); ok && w.glob.match(globForm(rel)) {
		return true
	}
	return w.bare && w.glob.match(whole)
}

// relativePath returns the path from a folder to a file in it.
func relativePath(base, path string) (string, bool) {
	rest, ok := strings.CutPrefix(path, base)
	if !ok || rest == "" {
		return "", false
	}
	if c := base[len(base)-1]; c == filepath.Separator || c == '/' { // a root
		return rest, true
	}
	if rest[0] != filepath.Separator && rest[0] != '/' {
		return "", false
	}
	return rest[1:], true
}

// globForm is a path or a pattern in the form in which both are compared:
// with slashes, and on Windows without the difference of letters' cases.
func globForm(s string) string {
	if runtime.GOOS == "windows" {
		return strings.ToLower(strings.ReplaceAll(s, `\`, "/"))
	}
	return s
}
