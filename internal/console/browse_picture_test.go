package console_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestBrowsePicture makes the picture of the README: a session with its calls,
// a change and a request that waits. HELVE_PICTURE names the file.
func TestBrowsePicture(t *testing.T) {
	path := os.Getenv("HELVE_PICTURE")
	if path == "" {
		t.Skip("HELVE_PICTURE names no file for the picture")
	}
	h := newHost(t, "{}")
	if home := filepath.Join(os.TempDir(), "ann"); os.Mkdir(home, 0o700) == nil { // a name that does not look strange
		t.Cleanup(func() { _ = os.RemoveAll(home) })
		h.home, h.dir = home, filepath.Join(home, "greeter")
		h.write(".git/HEAD", "ref: refs/heads/main\n")
	}
	s := setScene(h, "")
	b := newTab(t, s.host)
	b.enter("#/sessions/" + s.session + "/calls/" + s.lastCall("write"))
	b.settle()
	b.calm()
	raw, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	if len(raw) > 300<<10 {
		t.Errorf("the picture has %d bytes", len(raw))
	}
	if err := os.WriteFile(path, raw, 0o644); err != nil {
		t.Fatal(err)
	}
}
