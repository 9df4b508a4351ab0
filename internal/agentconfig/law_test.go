package agentconfig

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"github.com/tailscale/hujson"
	"pgregory.net/rapid"
)

// theEntry is the one that the laws are tried with.
func theEntry(toml bool) serverEntry {
	e := serverEntry{table: []string{"mcpServers"}, name: "helve", program: "helve", fields: []field{
		{key: "command", value: "/opt/helve"}, {key: "args", value: []string{"mcp"}},
		{key: "env", value: map[string]string{"A": "x\"\\\n\u00e9"}, merge: true},
	}}
	if toml {
		e.table = []string{"mcp_servers"}
	}
	return e
}

// A document is JSON with comments as people write it, or worse.
type document struct {
	text    string
	unclear bool // an object is empty that the entry goes into
}

func documents() *rapid.Generator[document] {
	return rapid.Custom(func(t *rapid.T) document {
		var doc document
		gap := rapid.SampledFrom([]string{"", "", " ", "\n", "\n  ", "\n\t", " // c\n", "\n    // c\n  ", "/* c */", " /* c\n*/ ", "\n\n"})
		style := rapid.SampledFrom([]string{"", " ", "\n  ", "\n\t", "?"}).Draw(t, "style")
		space := func() string {
			if style != "?" {
				return style
			}
			return gap.Draw(t, "gap")
		}
		trailing := rapid.Bool().Draw(t, "trailing comma")
		object := func(members []string) string {
			var b strings.Builder
			b.WriteByte('{')
			for i, m := range members {
				b.WriteString(space() + m)
				if style == "?" {
					b.WriteString(space())
				}
				if i < len(members)-1 || trailing {
					b.WriteByte(',')
				}
			}
			b.WriteString(space() + "}")
			return b.String()
		}
		value := rapid.SampledFrom([]string{`1`, `"// no \" comment"`, `[ 1, /* c */ 2]`, `{"x":{}}`, `{ "helve": "}" }`, `null`, `-1e9`})
		plain := func(prefix string) (all []string) {
			for i := range rapid.IntRange(0, 3).Draw(t, "members") {
				all = append(all, fmt.Sprintf("%q:%s%s", fmt.Sprint(prefix, i), space(), value.Draw(t, "value")))
			}
			return all
		}
		members := plain("r")
		if rapid.Bool().Draw(t, "table") {
			servers := plain("s")
			doc.unclear = len(servers) == 0
			members = append(members, `"mcpServers":`+space()+object(servers))
			members = append(members, plain("t")...)
		}
		doc.unclear = doc.unclear || len(members) == 0
		doc.text = rapid.SampledFrom([]string{"", "\n", "// c\n", "/* c */"}).Draw(t, "head") + object(members) +
			rapid.SampledFrom([]string{"", "\n", " // c\n", "\n// c"}).Draw(t, "foot")
		if rapid.Bool().Draw(t, "crlf") {
			doc.text = strings.ReplaceAll(doc.text, "\n", "\r\n")
		}
		if rapid.Bool().Draw(t, "mark") {
			doc.text = byteOrderMark + doc.text
		}
		return doc
	})
}

// TestJSONThereAndBack is the law that putting an entry and taking it out
// again leaves the file as it was, byte for byte. Where an object was empty
// the space in it, and the object, may go; comments may not.
func TestJSONThereAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := documents().Draw(t, "document")
		e := theEntry(false)
		old, err := parseJSON([]byte(doc.text))
		if err != nil {
			t.Fatalf("%q: %v", doc.text, err)
		}
		with, err := old.put(e)
		if err != nil {
			t.Fatalf("%q: put: %v", doc.text, err)
		}
		checkPut(t, doc.text, string(with.bytes()))
		again, err := parseJSON(with.bytes())
		if err != nil {
			t.Fatal(err)
		}
		if twice, err := again.put(e); err != nil || !bytes.Equal(twice.bytes(), with.bytes()) {
			t.Fatalf("%q: again: %v: %q", doc.text, err, twice.bytes())
		}
		back, err := again.take(e)
		if err != nil {
			t.Fatalf("%q: take from %q: %v", doc.text, with.bytes(), err)
		}
		got := string(back.bytes())
		if !doc.unclear {
			if got != doc.text {
				t.Fatalf("%q\nbecame %q\nand then %q", doc.text, with.bytes(), got)
			}
			return
		}
		if strings.Count(got, " c") != strings.Count(doc.text, " c") {
			t.Fatalf("comments are lost: %q became %q", doc.text, got)
		}
		if !reflect.DeepEqual(bare(t, doc.text), bare(t, got)) {
			t.Fatalf("%q became %q", doc.text, got)
		}
	})
}

type failer interface {
	Helper()
	Fatalf(string, ...any)
}

// decode reads JSON with comments without the code under test.
func decode(t failer, text string) map[string]any {
	t.Helper()
	text = strings.TrimPrefix(text, byteOrderMark)
	m := map[string]any{}
	if text == "" {
		return m
	}
	std, err := hujson.Standardize([]byte(text + "\n"))
	if err != nil {
		if len(extra([]byte(text))) == len(text) {
			return m
		}
		t.Fatalf("%q: %v", text, err)
	}
	d := json.NewDecoder(bytes.NewReader(std))
	d.UseNumber()
	if err := d.Decode(&m); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return m
}

// bare is what a document says, but for an empty table.
func bare(t failer, text string) map[string]any {
	t.Helper()
	m := decode(t, text)
	if servers, ok := m["mcpServers"].(map[string]any); ok && len(servers) == 0 {
		delete(m, "mcpServers")
	}
	return m
}

// checkPut makes sure that a document differs from what it was by the entry
// alone: in what it says, and in that nothing but space is gone from it.
func checkPut(t failer, before, after string) {
	t.Helper()
	want, got := decode(t, before), decode(t, after)
	servers, ok := want["mcpServers"].(map[string]any)
	if !ok {
		servers = map[string]any{}
		want["mcpServers"] = servers
	}
	servers["helve"] = decode(t, string(rawFields(theEntry(false).fields)))
	if !reflect.DeepEqual(want, got) {
		t.Fatalf("%q became %q", before, after)
	}
	if !within(before, after) {
		t.Fatalf("something is gone: %q became %q", before, after)
	}
}

// within reports whether a text can be had from another one by taking bytes
// out, space aside.
func within(a, b string) bool {
	a, b = strings.Join(strings.Fields(a), ""), strings.Join(strings.Fields(b), "")
	for i := 0; i < len(b) && a != ""; i++ {
		if a[0] == b[i] {
			a = a[1:]
		}
	}
	return a == ""
}

// FuzzJSON puts the entry into whatever is JSON with comments.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{"", " ", "{}", "// c", "{\n}\n", "{\"mcpServers\":{}}", "{\"a\":1,\n // c\n}", byteOrderMark + "{\r\n\t\"mcpServers\": {\"x\": 1}\r\n}",
		"{ /* c */ }", "{\"mcpServers\" : { // c\n } , }", "{\"mcpServers\":{\"helve\":{\"command\":\"helve\",\"x\":1,},},}",
		"{\"\\u006dcpServers\":{\"x\":1}}", "[]", "{\"a\":1}}", "{\"mcpServers\":{\"helve\":{\"command\":\"/a/helve\",\"env\":{\n\"B\":\"1\"}}}}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e := theEntry(false)
		old, err := parseJSON(bytes.Clone(data))
		if err != nil {
			return
		}
		with, err := old.put(e)
		if err != nil {
			if strings.Contains(err.Error(), "the edit") {
				t.Fatalf("%q: %v", data, err)
			}
			return
		}
		had, _ := old.find("mcpServers", "helve")
		if had == nil {
			checkPut(t, string(data), string(with.bytes()))
		}
		now, err := parseJSON(with.bytes())
		if err != nil {
			t.Fatal(err)
		}
		if twice, err := now.put(e); err != nil || !bytes.Equal(twice.bytes(), with.bytes()) {
			t.Fatalf("%q: again: %v", data, err)
		}
		back, err := now.take(e)
		if err != nil {
			t.Fatalf("%q: take from %q: %v", data, with.bytes(), err)
		}
		if had == nil && !reflect.DeepEqual(bare(t, string(data)), bare(t, string(back.bytes()))) {
			t.Fatalf("%q became %q and then %q", data, with.bytes(), back.bytes())
		}
	})
}

// FuzzTOML puts the entry into whatever is TOML.
func FuzzTOML(f *testing.F) {
	for _, s := range []string{"", "a = 1", "a = 1\n", "\r\n# c\r\n", "[a]\nb = '''\n[mcp_servers.helve]\n'''", "[mcp_servers.helve]\ncommand = 'helve'",
		"[mcp_servers.helve]\ncommand = \"/x/helve\" # c\n\n[mcp_servers.helve.env]\nA = '1'\n[b]\n", "mcp_servers.x.y = 1", "mcp_servers = {}", "[[mcp_servers.helve]]",
		"a = [1, # c\n]\nb = { c.d = \"\"\"x\"\"\"\"\" }", byteOrderMark + "x = 1979-05-27 07:32:00"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e := theEntry(true)
		old, err := parseTOML(bytes.Clone(data))
		if err != nil {
			return
		}
		found, err := old.sections(e)
		if err != nil {
			return
		}
		with, err := old.put(e)
		if err != nil {
			if strings.Contains(err.Error(), "the edit") {
				t.Fatalf("%q: %v", data, err)
			}
			return
		}
		now, err := parseTOML(with.bytes())
		if err != nil {
			t.Fatalf("%q became %q: %v", data, with.bytes(), err)
		}
		sections, err := now.sections(e)
		if err != nil || get(sections, "command") == nil {
			t.Fatalf("%q: no entry in %q: %v", data, with.bytes(), err)
		}
		if twice, err := now.put(e); err != nil || !bytes.Equal(twice.bytes(), with.bytes()) {
			t.Fatalf("%q: again: %v", data, err)
		}
		back, err := now.take(e)
		if err != nil {
			t.Fatalf("%q: take from %q: %v", data, with.bytes(), err)
		}
		if len(found) == 0 && (!bytes.HasPrefix(with.bytes(), data) || !bytes.Equal(back.bytes(), data)) {
			t.Fatalf("%q became %q and then %q", data, with.bytes(), back.bytes())
		}
	})
}

// TestTOMLThereAndBack makes documents of pieces. Python's reader, where
// there is one, has to agree on which are TOML, and that with the entry they
// say the same and the entry.
func TestTOMLThereAndBack(t *testing.T) {
	pieces := []string{"a = 1", "b.c = 'x'", "[t]", "[t.u]", "[[l]]", "[l.m]", "[t.u.v]", "\"q r\".s = \"\\u00e9\\\\\"", "# c", "", "  ", "\tk\t=\t[ 1,\n # c\n [\"]\"] , ]",
		"[mcp_servers.files]", "command = \"x\" # c", "args = []", "[mcp_servers]", "[mcp_servers.files.env]", "m = \"\"\"\n[mcp_servers.helve]\n\"\"\"", "n = '''a''b'''''",
		"d = 1979-05-27 07:32:00.5Z", "f = [1_0.5e-3, 0xFf, +inf, nan, 07:32:00, 1979-05-27]", "i = { a.b = 1, a.c = { } }", "bad", "[", "x = ", "z = 01", "y = 1 2", "w = \"\\q\"",
		"[mcp_servers.helve]", "command = '/x/helve'", "env = { B = '2' }", "[mcp_servers.helve.env]", "B = '3'", "t.x = 1", "l = []", "e = { a = 1, a = 2 }", "[\"\"]", "'' = 1"}
	rng := rand.New(rand.NewPCG(1, 2))
	type probe struct {
		Before   string `json:"before"`
		After    string `json:"after"`
		Back     string `json:"back"`
		Accepted bool   `json:"accepted"` // by our reader
		Edited   bool   `json:"edited"`
	}
	var probes []probe
	edited := 0
	for range 4000 {
		var lines []string
		for range rng.IntN(7) {
			lines = append(lines, pieces[rng.IntN(len(pieces))])
		}
		text := strings.Join(lines, "\n")
		if rng.IntN(2) == 0 {
			text += "\n"
		}
		if rng.IntN(4) == 0 {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		p := probe{Before: text}
		if old, err := parseTOML([]byte(text)); err == nil {
			p.Accepted = true
			if with, err := old.put(theEntry(true)); err == nil {
				p.Edited, p.After = true, string(with.bytes())
				edited++
				now, err := parseTOML(with.bytes())
				ok(t, err)
				back, err := now.take(theEntry(true))
				ok(t, err)
				p.Back = string(back.bytes())
			}
		}
		probes = append(probes, p)
	}
	if edited < 1000 {
		t.Fatalf("only %d of the documents were edited", edited)
	}
	if exec.Command("python3", "-c", "import tomllib").Run() != nil {
		t.Skip("there is no python3 with tomllib to ask")
	}
	input, err := json.Marshal(probes)
	ok(t, err)
	cmd := exec.Command("python3", "-c", `
import json, sys, tomllib, math
def same(a, b): return repr(a) == repr(b)
def load(s):
    try: return tomllib.loads(s)
    except tomllib.TOMLDecodeError as e: return None
for p in json.load(sys.stdin):
    before = load(p["before"])
    if (before is not None) != p["accepted"]:
        print("accepted:", p["accepted"], repr(p["before"]))
    if before is None or not p["edited"]: continue
    after, back = load(p["after"]), load(p["back"])
    if after is None or back is None:
        print("spoilt:", p); continue
    mine = after["mcp_servers"].pop("helve", None)
    before.get("mcp_servers", {}).pop("helve", None)
    for d in (before, after, back):
        if d.get("mcp_servers") == {}: del d["mcp_servers"]
    if not mine or mine["command"] != "/opt/helve" or mine["args"] != ["mcp"] or mine["env"]["A"] != 'x"\\\né':
        print("entry:", mine, p)
    if not same(before, after) or not same(before, back): print("changed:", p)
`)
	cmd.Stdin = bytes.NewReader(input)
	out, err := cmd.CombinedOutput()
	if err != nil || len(out) > 0 {
		if len(out) > 3000 {
			out = out[:3000]
		}
		t.Errorf("%v\n%s", err, out)
	}
}
