package diff

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/internal/text"
)

// errAbsent stands for everything only a disk can say.
var errAbsent = errors.New("no such file")

// apply does what a patch says to a set of files that is only a map. It fails
// without a change.
func apply(files map[string]string, patchText string) (map[string]string, error) {
	p, err := Parse(patchText)
	if err != nil {
		return nil, err
	}
	after := map[string]string{}
	for k, v := range files {
		after[k] = v
	}
	for _, h := range p.Hunks {
		old, ok := after[h.Path]
		switch {
		case h.Kind == Add:
			after[h.Path] = h.Content
			if h.Content != "" && !strings.HasSuffix(h.Content, "\n") {
				after[h.Path] += "\n"
			}
		case !ok:
			return nil, errAbsent
		case h.Kind == Delete:
			delete(after, h.Path)
		default:
			edits, err := PatchEdits(old, h.Path, h.Chunks)
			if err != nil {
				return nil, err
			}
			if h.MoveTo != "" {
				delete(after, h.Path)
				h.Path = h.MoveTo
			}
			after[h.Path] = text.Apply(old, edits)
		}
	}
	return after, nil
}

func code(err error) (string, int) {
	var syntax *SyntaxError
	var match *MatchError
	switch {
	case errors.As(err, &syntax):
		return syntax.Code, syntax.Line
	case errors.As(err, &match):
		return match.Code(), match.Line
	case err != nil:
		return "disk", 0
	}
	return "", 0
}

// long reads a string, or the short form of a long one.
func long(t *testing.T, raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var form struct {
		Repeat string            `json:"$repeat"`
		Times  int               `json:"times"`
		Concat []json.RawMessage `json:"$concat"`
	}
	if err := json.Unmarshal(raw, &form); err != nil {
		t.Fatal(err)
	}
	s = strings.Repeat(form.Repeat, form.Times)
	for _, part := range form.Concat {
		s += long(t, part)
	}
	return s
}

func TestVectors(t *testing.T) {
	file, err := os.Open("testdata/patch/vectors.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	disk := "not-found is-a-directory target-exists duplicate-target external denied invalid-path name-too-long"
	seen := 0
	for in := bufio.NewScanner(file); in.Scan(); seen++ {
		var v struct {
			ID     string            `json:"id"`
			Files  map[string]string `json:"files"`
			Args   struct{ PatchText json.RawMessage }
			Expect string          `json:"expect"`
			Accept []string        `json:"accept"`
			Code   string          `json:"code"`
			Line   int             `json:"line"`
			After  json.RawMessage `json:"files_after"`
			Shows  string          `json:"shows"`
		}
		if err := json.Unmarshal(in.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		t.Run(v.ID, func(t *testing.T) {
			crlf := false
			for name, content := range v.Files { // endings are the caller's business
				crlf = crlf || strings.Contains(content, "\r\n")
				v.Files[name] = strings.ReplaceAll(content, "\r\n", "\n")
			}
			after, err := apply(v.Files, long(t, v.Args.PatchText))
			got, line := code(err)
			if v.Expect == "error" && strings.Contains(disk, v.Code) {
				if err != nil && got != "disk" {
					t.Fatalf("fails before the disk is asked: %v", err)
				}
				return
			}
			if err == nil && len(v.Accept) > 1 && v.Expect == "error" {
				return // accepted; what it makes is tested elsewhere
			}
			if (err == nil) != (v.Expect == "ok") || got != v.Code {
				t.Fatalf("got %v (%s), want %s %s", err, got, v.Expect, v.Code)
			}
			if err != nil {
				if v.Line != 0 && line != v.Line {
					t.Errorf("names line %d, want %d: %v", line, v.Line, err)
				}
				if !strings.Contains(err.Error(), v.Shows) {
					t.Errorf("%q does not show %q", err, v.Shows)
				}
				return
			}
			var want map[string]string
			if err := json.Unmarshal(v.After, &want); err != nil {
				t.Fatal(err)
			}
			if crlf {
				for name, content := range want {
					want[name] = strings.ReplaceAll(content, "\r\n", "\n")
				}
			}
			if d := cmp.Diff(want, after); d != "" {
				t.Error(d)
			}
		})
	}
	if seen < 40 {
		t.Fatalf("only %d vectors", seen)
	}
}

// TestPatchRecordings compares with what the reference did. Where we differ, wanted
// says how.
func TestPatchRecordings(t *testing.T) {
	type outcome struct{ after, code string }
	wanted := map[string]outcome{
		"add_blank_lines":            {code: "patch-unknown-line"}, // a line was dropped
		"update_no_chunks":           {code: "patch-empty-hunk"},   // nothing was done
		"update_no_change":           {code: "patch-empty-hunk"},
		"update_no_at_header":        {after: "alpha\nB\ngamma\n"}, // lines were dropped
		"update_blank_context_line":  {after: "one\n\n2\n"},        // it failed
		"update_no_trailing_newline": {after: "alpha\nB"},          // one was added
		"update_eof_marker":          {after: "x\nm\ny\n"},         // the mark did nothing
		"update_crlf_patch":          {after: "alpha\nB\ngamma\n"}, // a carriage return was written
		"update_crlf_file":           {after: "one\r\nTWO\nthree\r\n"},
		"update_bom":                 {after: "\ufeffF\nsecond\n"}, // the mark is the caller's to keep
		"header_no_path":             {code: "patch-header"},
		"update_directory":           {code: "disk"},
		"delete_directory":           {code: "disk"},
	}
	data, err := os.ReadFile("testdata/patch/recordings.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []struct {
		Name, Patch, Status, Error string
		Files, After               map[string]string
	}
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	if len(list) < 35 {
		t.Fatalf("only %d recordings", len(list))
	}
	for _, r := range list {
		name := strings.TrimPrefix(r.Name, "apply_patch.")
		t.Run(name, func(t *testing.T) {
			if name == "update_bom" {
				r.Files["a.txt"] = strings.TrimPrefix(r.Files["a.txt"], "\ufeff")
			}
			after, err := apply(r.Files, r.Patch)
			got, _ := code(err)
			if w, ok := wanted[name]; ok {
				delete(wanted, name)
				if name == "update_bom" {
					after["a.txt"] = "\ufeff" + after["a.txt"]
				}
				if got != w.code || w.code == "" && after["a.txt"] != w.after {
					t.Fatalf("got %q, %v; want %+v", after["a.txt"], err, w)
				}
				return
			}
			if r.Status == "error" {
				want := strings.TrimPrefix(r.Error, "Error: apply_patch verification failed: Error: ")
				if err == nil || err.Error() != want {
					t.Fatalf("got %v, want %s", err, want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(r.After, after); d != "" {
				t.Error(d)
			}
		})
	}
	for name := range wanted {
		t.Errorf("no recording is called %s", name)
	}
}
