package media

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

// seed adds the sound files whose name ends so, if they are small.
func seed(f *testing.F, ends ...string) {
	for name, b := range sound() {
		for _, end := range ends {
			if strings.HasSuffix(name, end) && len(b) < 10_000 {
				f.Add(b)
			}
		}
	}
}

func FuzzImage(f *testing.F) {
	seed(f, ".png", ".jpg", ".gif", ".webp", ".bmp", ".tiff")
	lim := Limits{MaxEdge: 64, MaxBytes: 20_000, MaxPixels: 1_000_000}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := Image(context.Background(), b, lim)
		if err != nil {
			if p.Data != nil || errors.Is(err, errPatience) {
				t.Fatalf("picture with error %v", err)
			}
			return
		}
		checkPicture(t, p, lim)
	})
}

func FuzzPDF(f *testing.F) {
	seed(f, ".pdf")
	for _, c := range hostile() {
		if len(c.data) < 5_000 {
			f.Add(c.data)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := OpenPDF(context.Background(), bytes.NewReader(b), int64(len(b)))
		if err != nil {
			if strings.Contains(err.Error(), "gave up") {
				t.Fatal(err)
			}
			return
		}
		s, err := d.Text(context.Background(), 1, 20)
		if err != nil && strings.Contains(err.Error(), "gave up") {
			t.Fatal(err)
		}
		if !utf8.ValidString(s) || len(s) > maxText+1000 {
			t.Fatalf("%d bytes of text", len(s))
		}
	})
}

func FuzzNotebook(f *testing.F) {
	seed(f, ".ipynb")
	f.Add([]byte(`{"nbformat":4,"cells":[{"source":"\ud800\u12"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := Notebook(b)
		if err != nil {
			if s != "" || !errors.Is(err, ErrNotNotebook) {
				t.Fatalf("%q, %v", s, err)
			}
			return
		}
		if !utf8.ValidString(s) || !strings.HasPrefix(s, "Jupyter notebook, nbformat ") || strings.ContainsRune(strings.ReplaceAll(s, "\\", ""), '\x1b') && !bytes.Contains(b, []byte("source")) {
			t.Fatalf("text %q", s)
		}
	})
}
