package main

import (
	"reflect"
	"testing"
)

func TestScreenOf(t *testing.T) {
	plain := style{}
	for name, c := range map[string]struct {
		captured string
		x, y     int
		want     []line
	}{
		"plain text": {"one\n\n  two\n", -1, 0, []line{
			{{0, 3, "one", plain}}, nil, {{0, 5, "  two", plain}},
		}},
		"styles go on to the next row": {"\x1b[31ma\nb\x1b[0mc\n", -1, 0, []line{
			{{0, 1, "a", style{fg: "1"}}}, {{0, 1, "b", style{fg: "1"}}, {1, 1, "c", plain}},
		}},
		"colours of all kinds": {"\x1b[1;92mx\x1b[22;38;5;208my\x1b[38;2;1;2;255mz\x1b[39;48;5;244mw", -1, 0, []line{{
			{0, 1, "x", style{fg: "10", bold: true}}, {1, 1, "y", style{fg: "#ff8700"}},
			{2, 1, "z", style{fg: "#0102ff"}}, {3, 1, "w", style{bg: "#808080"}},
		}}},
		"blanks show nothing without a colour": {"a\x1b[2m  \x1b[0m \x1b[7m \x1b[0m", -1, 0, []line{{
			{0, 1, "a", plain}, {4, 1, " ", style{invert: true}},
		}}},
		"wide characters and marks":       {"世e\u0301x", -1, 0, []line{{{0, 4, "世e\u0301x", plain}}}},
		"other sequences are passed over": {"a\x1b[2Kb\x1b[", -1, 0, []line{{{0, 2, "ab", plain}}}},
		"the cursor on a character":       {"abc", 1, 0, []line{{{0, 1, "a", plain}, {1, 1, "b", style{bg: cursor}}, {2, 1, "c", plain}}}},
		"the cursor behind the text":      {"$\n", 3, 0, []line{{{0, 3, "$  ", plain}, {3, 1, " ", style{bg: cursor}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			got := screenOf(c.captured, c.x, c.y)
			if len(got) != len(c.want) {
				t.Fatalf("%d rows: %+v", len(got), got)
			}
			for i := range got {
				if (len(got[i]) > 0 || len(c.want[i]) > 0) && !reflect.DeepEqual(got[i], c.want[i]) {
					t.Errorf("row %d is %+v, and not %+v", i, got[i], c.want[i])
				}
			}
		})
	}
}

func TestPlainOf(t *testing.T) {
	if got, want := plainOf("\x1b[31ma\x1b[0m b  \n\n$ \nc\n", 2), "a b\n\n$"; got != want {
		t.Errorf("%q, and not %q", got, want)
	}
}
