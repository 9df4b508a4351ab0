package cli

import "testing"

func TestPlainName(t *testing.T) {
	for name, want := range map[string]bool{
		"plot.png": true, "Bild 1 é.svg": true, "a.tar.gz": true,
		"": false, ".bashrc": false, "-rf": false, "../x": false, "a/b": false, `a\b`: false, "a:b": false, "x.": false, " x": false, "a\nb": false,
		"a\u202egnp.exe": false, "a\x1bb": false, "$(x)": false,
	} {
		if got := isPlainName(name); got != want {
			t.Errorf("%q: got %t", name, got)
		}
	}
}
