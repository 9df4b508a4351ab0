package media

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"unicode/utf8"
)

// sound are files as they should be, by the name they have.
func sound() map[string][]byte {
	return map[string][]byte{
		"photo.jpg":      asJPEG(gradient(120, 90)),
		"turned.jpg":     turned(asJPEG(gradient(120, 90)), 6, binary.LittleEndian),
		"screen.png":     asPNG(flat(120, 90)),
		"glass.png":      asPNG(glass(60, 60)),
		"moving.gif":     asGIF(40, 30, 3),
		"still.gif":      asGIF(40, 30, 1),
		"one.webp":       asWebP(40, 30),
		"lossy.webp":     smallWebP(),
		"moving.webp":    movingWebP(40, 30),
		"bits.bmp":       asBMP(flat(40, 30)),
		"scan.tiff":      asTIFF(gradient(40, 30)),
		"plain.pdf":      (&maker{}).pages(0, hello("one"), hello("two")).plain(),
		"packed.pdf":     (&maker{flate: true}).pages(0, hello("one"), hello("two")).packed(),
		"locked.pdf":     lock(4, "").pages(0, hello("one")).plain(),
		"password.pdf":   lock(3, "secret").pages(0, hello("one")).plain(),
		"notebook.ipynb": []byte(notebook4),
		"old.ipynb":      []byte(notebook3),
	}
}

// zoo are the sound files and what can become of them: cut off at many
// places, with bytes changed, with another file's beginning or end.
func zoo() map[string][]byte {
	files := sound()
	names := slices.Sorted(maps.Keys(files))
	all := maps.Clone(files)
	for i, name := range names {
		b := files[name]
		for _, at := range []int{1, 3, 5, 8, 10, 16, 20, 26, 30, len(b) / 4, len(b) / 3, len(b) / 2, len(b) * 3 / 4, len(b) - 20, len(b) - 5, len(b) - 1} {
			if at > 0 && at < len(b) {
				all[fmt.Sprintf("cut at %d of %s", at, name)] = b[:at]
			}
		}
		for k := range 40 {
			at := (k*k*7 + k*31) % len(b)
			all[fmt.Sprintf("flipped at %d of %s", at, name)] = flip(b, at)
		}
		for _, v := range []byte{0, 0xff, ' '} {
			c := bytes.Clone(b)
			for at := 12; at < len(c); at += 37 {
				c[at] = v
			}
			all[fmt.Sprintf("%#x all over %s", v, name)] = c
		}
		other := files[names[(i+1)%len(names)]]
		all[name+" with another's end"] = append(bytes.Clone(b[:min(40, len(b))]), other...)
		all[name+" twice"] = append(bytes.Clone(b), b...)
		all[name+" after nothing"] = append(make([]byte, 100), b...)
	}
	for what, c := range hostile() {
		all["hostile: "+what] = c.data
	}
	return all
}

// TestZoo hands every file to every function, whatever it is.
func TestZoo(t *testing.T) {
	files := zoo()
	if len(files) < 900 {
		t.Fatalf("only %d files", len(files))
	}
	for what, b := range files {
		within(t, what, func() { feed(t, what, b) })
	}
}

// feed checks that each function gives content or an error, and no both.
func feed(t testing.TB, what string, b []byte) {
	t.Helper()
	ctx := context.Background()
	Type(b)
	lim := Limits{MaxEdge: 100}
	if p, err := Image(ctx, b, lim); err == nil {
		checkPicture(t, p, lim)
	} else if p.Data != nil || err.Error() == "" {
		t.Errorf("%s: a picture and an error: %v", what, err)
	}
	if d, err := OpenPDF(ctx, bytes.NewReader(b), int64(len(b))); err == nil {
		if d.Pages < 1 {
			t.Errorf("%s: a document of %d pages", what, d.Pages)
		}
		s, err := d.Text(ctx, 1, 0)
		if err == nil && (s == "" || !utf8.ValidString(s)) {
			t.Errorf("%s: text %q", what, s)
		}
	} else if d != nil {
		t.Errorf("%s: a document and an error: %v", what, err)
	}
	if s, err := Notebook(b); err == nil {
		if s == "" || !utf8.ValidString(s) {
			t.Errorf("%s: text %q", what, s)
		}
	} else if s != "" || !errors.Is(err, ErrNotNotebook) {
		t.Errorf("%s: %q and the error %v", what, s, err)
	}
}

func TestSound(t *testing.T) {
	for name, b := range sound() {
		var err error
		switch Type(b) {
		case "":
			_, err = Notebook(b)
		case PDF:
			_, err = OpenPDF(t.Context(), bytes.NewReader(b), int64(len(b)))
		default:
			_, err = Image(t.Context(), b, Limits{})
		}
		if (err != nil) != (name == "password.pdf") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
