package files

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	wireVersion = 1
	maxSetFile  = 16 << 20 // a set is some hundred bytes a file
)

// A wireSet is a set as a line of its file. The first line is written before the change; the last
// one counts.
type wireSet struct {
	V       int          `json:"v"`
	ID      string       `json:"id"`
	Time    time.Time    `json:"time"`
	Session string       `json:"session,omitempty"`
	Message string       `json:"message,omitempty"`
	Call    string       `json:"call,omitempty"`
	Tool    string       `json:"tool,omitempty"`
	Agent   string       `json:"agent,omitempty"`
	Project fileName     `json:"project,omitempty"`
	Dir     fileName     `json:"dir,omitempty"`
	Changes []wireChange `json:"changes"`
	Undoes  []string     `json:"undoes,omitempty"`
	Seen    bool         `json:"observed,omitempty"`
	Temps   []fileName   `json:"temps,omitempty"`
}

type wireChange struct {
	Path   fileName     `json:"path"`
	Title  fileName     `json:"title,omitempty"`
	Before *wireContent `json:"before,omitempty"` // nil: there was no file
	After  *wireContent `json:"after,omitempty"`
}

type wireContent struct {
	Hash string `json:"hash,omitempty"`
	Size int64  `json:"size"`
	Mode uint32 `json:"mode"`
	Kept bool   `json:"kept,omitempty"`
}

// A fileName is a JSON string or, if it is not valid UTF-8, an object with its bytes.
type fileName string

const rawMark = `{"bytes":` // the start of such an object

type rawName struct {
	Bytes []byte `json:"bytes"`
}

// MarshalJSON preserves every byte.
func (n fileName) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(n)) {
		return json.Marshal(string(n))
	}
	return json.Marshal(rawName{[]byte(n)})
}

// UnmarshalJSON parses both forms.
func (n *fileName) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '{' {
		var raw rawName
		err := json.Unmarshal(b, &raw)
		*n = fileName(raw.Bytes)
		return err
	}
	return json.Unmarshal(b, (*string)(n))
}

// encode returns the line of a set.
func encode(set ChangeSet, temps []string) ([]byte, error) {
	w := wireSet{
		V: wireVersion, ID: set.ID, Time: set.Time.UTC(),
		Session: set.Session, Message: set.Message, Call: set.Call, Tool: set.Tool, Agent: set.Agent,
		Project: fileName(set.Project), Dir: fileName(set.Dir),
		Changes: make([]wireChange, len(set.Changes)), Undoes: set.Undoes, Seen: set.Observed,
	}
	for i, c := range set.Changes {
		w.Changes[i] = wireChange{fileName(c.Path), fileName(c.Title), c.Before.wire(), c.After.wire()}
	}
	for _, t := range temps {
		w.Temps = append(w.Temps, fileName(t))
	}
	line, err := json.Marshal(w)
	if err != nil {
		return nil, err
	}
	if len(line) > maxSetFile/2 {
		return nil, fmt.Errorf("a set of %d changes is too large", len(set.Changes))
	}
	return append(line, '\n'), nil
}

// quote returns a string as encode writes it.
func quote(s string) []byte {
	b, _ := json.Marshal(s) // a string always can be
	return b
}

func (c KeptContent) wire() *wireContent {
	if !c.Exists {
		return nil
	}
	return &wireContent{c.Hash, c.Size, uint32(c.Mode), c.Kept}
}

func (w *wireContent) toContent() KeptContent {
	if w == nil {
		return KeptContent{}
	}
	return KeptContent{Exists: true, Hash: w.Hash, Size: w.Size, Mode: fs.FileMode(w.Mode), Kept: w.Kept}
}

// lastLine returns the last whole line of a file, and where it ends.
func lastLine(data []byte) (line []byte, end int64) {
	n := bytes.LastIndexByte(data, '\n') + 1
	if n == 0 {
		return nil, 0
	}
	return data[bytes.LastIndexByte(data[:n-1], '\n')+1 : n], int64(n)
}

// decode parses a line of a set's file. The result is validated: the paths are absolute and
// distinct, and ids and hashes are well-formed.
func decode(data []byte) (ChangeSet, []string, error) {
	if len(data) > maxSetFile {
		return ChangeSet{}, nil, errors.New("the file is too large")
	}
	var w wireSet
	if err := json.Unmarshal(data, &w); err != nil {
		return ChangeSet{}, nil, err
	}
	if w.V != wireVersion {
		return ChangeSet{}, nil, fmt.Errorf("version %d is not known here", w.V)
	}
	set := ChangeSet{
		ID: w.ID, Time: w.Time,
		By:      By{Session: w.Session, Message: w.Message, Call: w.Call, Tool: w.Tool, Agent: w.Agent, Dir: string(w.Dir), Undoes: w.Undoes},
		Project: string(w.Project), Changes: make([]KeptChange, len(w.Changes)), Observed: w.Seen,
	}
	for i, c := range w.Changes {
		set.Changes[i] = KeptChange{string(c.Path), string(c.Title), c.Before.toContent(), c.After.toContent()}
	}
	if !validID(set.ID) {
		return ChangeSet{}, nil, fmt.Errorf("%q is no id", set.ID)
	}
	if err := set.check(); err != nil {
		return ChangeSet{}, nil, err
	}
	var temps []string
	for _, t := range w.Temps {
		if !validPath(string(t)) {
			return ChangeSet{}, nil, fmt.Errorf("temporary file %q is not an absolute path", t)
		}
		temps = append(temps, string(t))
	}
	return set, temps, nil
}

// check validates a set except its id.
func (set ChangeSet) check() error {
	seen := make(map[string]bool, len(set.Changes))
	for _, c := range set.Changes {
		if !validPath(c.Path) {
			return fmt.Errorf("changed file %q is not an absolute path", c.Path)
		}
		if seen[c.Path] {
			return fmt.Errorf("%s is changed twice in one set", c.Path)
		}
		seen[c.Path] = true
		for _, content := range []KeptContent{c.Before, c.After} {
			if content.Hash != "" && !validHash(content.Hash) || content.Size < 0 {
				return fmt.Errorf("%s has contents that cannot be", c.Path)
			}
		}
	}
	for _, id := range set.Undoes {
		if !validID(id) {
			return fmt.Errorf("%q is no id", id)
		}
	}
	return nil
}

func validPath(p string) bool {
	return filepath.IsAbs(p) && !strings.ContainsRune(p, 0)
}

func validHash(h string) bool {
	if len(h) != 64 {
		return false
	}
	for i := range len(h) {
		if c := h[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
