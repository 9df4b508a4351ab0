package toolschema

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// members writes a schema of n members of allOf.
func members(n int, one func(i int) string) json.RawMessage {
	var all []string
	for i := range n {
		all = append(all, one(i))
	}
	return json.RawMessage(`{"type":"object","allOf":[` + strings.Join(all, ",") + `]}`)
}

// Four times as many members of allOf take about four times the memory, not
// sixteen times.
func TestMembersAreTakenOneByOne(t *testing.T) {
	for name, one := range map[string]func(i int) string{
		"other properties":  func(i int) string { return fmt.Sprintf(`{"required":["r%d"],"properties":{"r%d":{}}}`, i, i) },
		"the same property": func(i int) string { return fmt.Sprintf(`{"properties":{"r":{"minLength":%d}}}`, i) },
		"other keywords":    func(i int) string { return fmt.Sprintf(`{"x%d":1}`, i) },
	} {
		cost := func(n int) uint64 {
			schema := members(n, one)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if _, err := Fit(OpenAI, schema); err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc
		}
		if few, many := cost(300), cost(1200); many > 8*few {
			t.Errorf("%s: 300 members take %d bytes, 1200 take %d", name, few, many)
		}
	}
}

func TestManyDemandsOnAProperty(t *testing.T) {
	got, err := Fit(Anthropic, members(100, func(i int) string {
		return fmt.Sprintf(`{"properties":{"r":{"type":"string","properties":{"q%d":{}}}}}`, i%50)
	}))
	if err != nil {
		t.Fatal(err)
	}
	var out struct {
		Properties map[string]struct{ Properties map[string]any }
	}
	if err := json.Unmarshal(got, &out); err != nil || len(out.Properties["r"].Properties) != 50 {
		t.Errorf("%s %v", got, err)
	}
}

func TestLargeInput(t *testing.T) {
	_, err := Fit(OpenAI, json.RawMessage(`{"x":"`+strings.Repeat("x", maxInput)+`"}`))
	if err == nil || !strings.Contains(err.Error(), "make it smaller") {
		t.Error(err)
	}
	if _, err = Fit(OpenAI, members(20000, func(int) string { return `{}` })); err == nil {
		t.Error("20000 members are taken")
	}
}

func TestAnchors(t *testing.T) {
	got, err := Fit(OpenAI, json.RawMessage(`{"properties":{"a":{"$ref":"#x"},"b":{"$ref":"#y"}},
		"$defs":{"one":{"$anchor":"x","type":"string"},"two":{"$anchor":"x","type":"null"},"three":{"$id":"#y","type":"integer"}}}`))
	if err != nil || !strings.Contains(string(got), `"a":{"type":"string"},"b":{"type":"integer"}`) {
		t.Errorf("%s %v", got, err)
	}
}

func TestMessagesAreShort(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for _, schema := range []string{
		`{"properties":{"` + long + `":{}}}`, `{"properties":{"` + long + `":{"enum":[]}}}`,
		`{"properties":{"a":{"$ref":"` + long + `"}}}`, `{"properties":{"a":{"$ref":"#/` + long + `"}}}`,
	} {
		if _, err := Fit(Anthropic, json.RawMessage(schema)); err == nil || len(err.Error()) > 1000 {
			t.Errorf("%.100s: %v", schema, err)
		}
	}
}
