package process

import "testing"

func TestParseStat(t *testing.T) {
	const rest = " 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 4711 99"
	for line, start := range map[string]string{
		"7 (sh) S 1 2 3" + rest:        "4711",
		"7 (a) b (c) S 1 2 3" + rest:   "4711",
		"7 (x S 9 9 9) R 1 2 3" + rest: "4711",
		"7 (sh) Z 1 2 3" + rest:        "",
		"7 (sh) S 1 2":                 "",
		"":                             "",
		"7 (sh) S one 2 3" + rest:      "",
	} {
		p, found := parseStat(7, line)
		if found != (start != "") || found && p != (process{7, 1, 2, 3, start}) {
			t.Errorf("%q: %+v, %v", line, p, found)
		}
	}
}
