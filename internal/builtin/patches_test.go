package builtin_test

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// A patchVector is a set of files and a change, and what has to become of
// them.
type patchVector struct {
	ID      string                     `json:"id"`
	Tool    string                     `json:"tool"`
	Tier    string                     `json:"tier"`
	Files   map[string]json.RawMessage `json:"files"`
	Args    map[string]json.RawMessage `json:"args"`
	RawArgs string                     `json:"raw_args"`
	Rules   [][3]string                `json:"rules"`
	Setup   []struct {
		Chmod   string `json:"chmod"`
		Mode    string `json:"mode"`
		Append  string `json:"after_read_append"`
		Content string `json:"content"`
		Tmpfs   string `json:"tmpfs"`
		Size    string `json:"size"`
	} `json:"setup"`
	Expect  string          `json:"expect"`
	Accepts []string        `json:"accept"`
	Code    string          `json:"code"`
	Line    int             `json:"line"`
	Like    string          `json:"message_like"`
	Shows   string          `json:"shows"`
	After   json.RawMessage `json:"files_after"`
	Mode    string          `json:"mode_after"`
	Reason  string          `json:"reason"`
}

func TestPatchVectors(t *testing.T) {
	file, err := os.Open("testdata/vectors/patches.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20)
	count := 0
	for lines.Scan() {
		var v patchVector
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		count++
		t.Run(v.ID, func(t *testing.T) { v.run(t) })
	}
	if err := lines.Err(); err != nil || count < 50 {
		t.Errorf("%d vectors were read: %v", count, err)
	}
}

// fileOf is the contents of a file in a vector: text, generated text or bytes.
func fileOf(t *testing.T, raw json.RawMessage) []byte {
	t.Helper()
	var h struct {
		Hex *string `json:"hex"`
	}
	if json.Unmarshal(raw, &h) == nil && h.Hex != nil {
		data, err := hex.DecodeString(*h.Hex)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	return []byte(generated(t, raw))
}

func (v patchVector) run(t *testing.T) {
	ws := filepath.Join(t.TempDir(), "ws")
	mkdir(t, ws)
	for name, raw := range v.Files {
		mkdir(t, filepath.Dir(filepath.Join(ws, name)))
		write(t, filepath.Join(ws, name), fileOf(t, raw))
	}
	v.prepare(t, ws)
	rt := v.runtime(t, ws)
	before := scan(t, ws, nil)
	for name := range v.Files {
		_, _ = rt.Call(t.Context(), tool.Call{Session: "s", Tool: "read", Input: asInput(t, map[string]any{"filePath": name})})
	}
	for _, s := range v.Setup {
		if s.Append != "" {
			path := filepath.Join(ws, s.Append)
			write(t, path, append(fileOf(t, v.Files[s.Append]), s.Content...))
		}
	}
	_, err := rt.Call(t.Context(), tool.Call{Session: "s", Tool: v.Tool, Input: v.input(t)})
	v.judge(t, err)
	v.compare(t, ws, before, err)
}

// prepare does what a vector wants done to its files first.
func (v patchVector) prepare(t *testing.T, ws string) {
	t.Helper()
	for _, s := range v.Setup {
		switch {
		case s.Chmod != "":
			mode, _ := strconv.ParseUint(s.Mode, 8, 32)
			if err := os.Chmod(filepath.Join(ws, s.Chmod), os.FileMode(mode)); err != nil {
				t.Fatal(err)
			}
		case s.Tmpfs != "":
			mountSmall(t, filepath.Join(ws, s.Tmpfs), s.Size)
		}
	}
}

func mountSmall(t *testing.T, dir, size string) {
	t.Helper()
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		t.Skip("mounting needs Linux and root")
	}
	mkdir(t, dir)
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size="+size, "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("mounting is not permitted: %s", out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %s", out)
		}
	})
}

func (v patchVector) runtime(t *testing.T, ws string) *helve.Runtime {
	t.Helper()
	rules := permission.Ruleset{{Permission: "*", Pattern: "*", Action: permission.Allow}}
	for _, r := range v.Rules {
		rules = append(rules, permission.Rule{Permission: r[0], Pattern: r[1], Action: permission.Action(r[2])})
	}
	rt, err := helve.Open(helve.Options{Dir: ws, Worktree: ws, Unattended: true,
		Agents: []agent.Spec{{Name: "test", Policy: permission.Policy{Rules: rules}}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rt.Close() })
	return rt
}

func (v patchVector) input(t *testing.T) json.RawMessage {
	t.Helper()
	if v.RawArgs != "" {
		return json.RawMessage(v.RawArgs)
	}
	args := map[string]any{}
	for key, raw := range v.Args {
		var b bool
		if json.Unmarshal(raw, &b) == nil {
			args[key] = b
			continue
		}
		args[key] = generated(t, raw)
	}
	return asInput(t, args)
}

func asInput(t *testing.T, args map[string]any) json.RawMessage {
	t.Helper()
	b, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (v patchVector) judge(t *testing.T, err error) {
	t.Helper()
	got := "ok"
	if err != nil {
		got = "error"
	}
	accepts := v.Accepts
	if accepts == nil {
		accepts = []string{v.Expect}
	}
	if !slices.Contains(accepts, got) {
		t.Fatalf("%s: is %s and not %v: %v", v.Reason, got, accepts, err)
	}
	if err == nil {
		return
	}
	e, ok := errors.AsType[*tool.Error](err)
	if !ok {
		t.Fatalf("no tool error: %v", err)
	}
	if e.Code != v.Code {
		t.Errorf("%s: has the code %s and not %s: %v", v.Reason, e.Code, v.Code, err)
	}
	said := e.Error() + e.Hint
	if v.Line > 0 && !strings.Contains(said, fmt.Sprintf("line %d", v.Line)) {
		t.Errorf("%s: does not name line %d: %s", v.Reason, v.Line, said)
	}
	if !strings.Contains(said, v.Like) || !strings.Contains(said, v.Shows) {
		t.Errorf("%s: does not say %q %q: %s", v.Reason, v.Like, v.Shows, said)
	}
}

// compare holds the files against what they shall be.
func (v patchVector) compare(t *testing.T, ws string, before snapshot, err error) {
	t.Helper()
	after := scan(t, ws, nil)
	var want map[string]json.RawMessage
	switch {
	case json.Unmarshal(v.After, &want) != nil || err != nil && v.Expect == "ok":
		want = nil
		if err != nil || v.Expect == "ok" {
			if encoded(after) != encoded(before) {
				t.Errorf("%s: the files are %s and were %s", v.Reason, encoded(after), encoded(before))
			}
		}
		return
	case v.Tier == "should" && err == nil && v.Expect == "error":
		return
	}
	shall := snapshot{}
	for name, raw := range want {
		shall[name] = contentsOf(fileOf(t, raw))
	}
	if encoded(after) != encoded(shall) {
		t.Errorf("%s: the files are %.500s and should be %.500s", v.Reason, encoded(after), encoded(shall))
	}
	if v.Mode != "" {
		for name := range want {
			info, err := os.Stat(filepath.Join(ws, name))
			if err != nil || strconv.FormatUint(uint64(info.Mode().Perm()), 8) != v.Mode {
				t.Errorf("%s: the mode is %v (%v), not %s", v.Reason, info.Mode(), err, v.Mode)
			}
		}
	}
}
