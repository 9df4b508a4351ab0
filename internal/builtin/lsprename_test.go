package builtin

import "testing"

func TestNameAt(t *testing.T) {
	const text = "func größe(a_1 int) {\r\n\treturn 😀word+$x\n}\n\nlast"
	for _, c := range []struct {
		line, character int
		want            string
	}{
		{1, 1, "func"}, {1, 4, "func"}, {1, 5, "func"}, // also right behind it
		{1, 6, "größe"}, {1, 10, "größe"}, {1, 12, "a_1"}, {1, 14, "a_1"}, {1, 21, ""}, {1, 22, ""}, {1, 99, ""},
		{2, 1, ""}, {2, 2, "return"}, {2, 9, ""}, {2, 10, "word"}, {2, 11, "word"}, {2, 14, "word"}, {2, 15, "word"}, {2, 16, "$x"},
		{3, 1, ""}, {4, 1, ""}, {4, 7, ""}, {5, 1, "last"}, {5, 5, "last"}, {5, 50, "last"}, {6, 1, ""}, {99, 1, ""},
	} {
		if got := nameAt(text, c.line, c.character); got != c.want {
			t.Errorf("%d:%d: %q, want %q", c.line, c.character, got, c.want)
		}
	}
	if got := nameAt("", 1, 1); got != "" {
		t.Errorf("in nothing there is %q", got)
	}
}
