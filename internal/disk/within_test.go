package disk

import (
	"path/filepath"
	"runtime"
	"testing"
)

func TestWithin(t *testing.T) {
	tests := []struct {
		dir, path string
		want      bool
	}{
		{"/a", "/a", true},
		{"/a", "/a/b", true},
		{"/a", "/a/b/c", true},
		{"/a/b", "/a", false},
		{"/a/b", "/a/bc", false},
		{"/a/bc", "/a/b", false},
		{"/a", "/b", false},
		{"/", "/", true},
		{"/", "/a", true},
		{"/a", "/", false},
		{"/a", "/a/..b", true},
		{"/a", "/a/...", true},
		{"/a", "/a/..b/c", true},
		{"/a", "/..a", false},
		{"/a/", "/a", true},
		{"/a/", "/a/b/", true},
		{"/a", "/a/", true},
		{"/a/b/", "/a/bc/", false},
		{"/a", "/a/../b", false},
		{"/a", "/b/../a/c", true},
		{"/a/./b", "/a/b/c", true},
		{"/a", "/a\x00b", false},
		{"", "", false},
		{"", "/a", false},
		{"/a", "", false},
		{"/a", "a", false},
		{"a", "/a", false},
		{"/", "a", false},
	}
	for _, tt := range tests {
		if got := Within(filepath.FromSlash(tt.dir), filepath.FromSlash(tt.path)); got != tt.want {
			t.Errorf("%q in %q: %t", tt.path, tt.dir, got)
		}
	}
}

// Volumes are apart, and capitals make no other name.
func TestWithinVolumes(t *testing.T) {
	if runtime.GOOS != "windows" {
		t.Skip("only Windows has volumes")
	}
	tests := []struct {
		dir, path string
		want      bool
	}{
		{`C:\a`, `C:\a\b`, true},
		{`C:\a`, `c:\A\b`, true},
		{`C:\`, `C:\a`, true},
		{`C:\a`, `D:\a\b`, false},
		{`C:\`, `D:\`, false},
		{`C:\a`, `C:\ab`, false},
		{`\\host\share\a`, `\\host\share\a\b`, true},
		{`\\host\share\a`, `\\host\other\a\b`, false},
		{`C:\a`, `C:\a/b`, true},
	}
	for _, tt := range tests {
		if got := Within(tt.dir, tt.path); got != tt.want {
			t.Errorf("%q in %q: %t", tt.path, tt.dir, got)
		}
	}
}
