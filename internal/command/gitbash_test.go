package command

import "testing"

func TestFromGitBash(t *testing.T) {
	for name, want := range map[string]string{
		"/c/Users/x/.ssh": `C:\Users\x\.ssh`, "/c": `C:\`, "/c/": `C:\`, "/cygdrive/d/a": `D:\a`, "/mnt/c/a": `C:\a`,
		"/tmp/x": "/tmp/x", "a/b": "a/b", "/": "/", "": "", "/cc/x": "/cc/x", "/1/x": "/1/x", "c/x": "c/x",
	} {
		if got := fromGitBash(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
