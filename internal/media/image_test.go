package media

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func TestType(t *testing.T) {
	for want, files := range map[string][][]byte{
		PNG:  {asPNG(flat(3, 3)), []byte("\x89PNG\r\n\x1a\n")},
		JPEG: {asJPEG(flat(3, 3)), []byte("\xff\xd8\xff\xe0")},
		GIF:  {asGIF(3, 3, 1), []byte("GIF87a")},
		WebP: {asWebP(3, 3), smallWebP(), movingWebP(3, 3)},
		BMP:  {asBMP(flat(3, 3))},
		TIFF: {asTIFF(flat(3, 3)), []byte("MM\x00*\x00")},
		PDF:  {[]byte("%PDF-1.7\n"), []byte("\xef\xbb\xbf%PDF-2.0"), []byte("\r\n %PDF-1.4")},
		"": {
			nil, []byte("BM"), []byte("BMW is a maker of cars, and this is a text about it."), []byte("RIFF....WAVEfmt "),
			[]byte("GIF8"), []byte("PNG"), []byte("%PDF"), []byte("%PDF-x"), []byte("see %PDF-1.4"), []byte("<svg/>"),
			[]byte("\x00\x00\x00\x1cftypavif"), []byte("II is two"), []byte("RIFF\x00\x00\x00\x00WEBP"),
		},
	} {
		for _, b := range files {
			if got := Type(b); got != want {
				t.Errorf("Type(%.20q) = %q, want %q", b, got, want)
			}
			if got := Type(b[:min(len(b), HeadSize)]); got != want {
				t.Errorf("Type of the head of %.20q = %q, want %q", b, got, want)
			}
		}
	}
}

func TestImage(t *testing.T) {
	small := Limits{MaxBytes: 60_000, MaxEdge: 100}
	for what, c := range map[string]struct {
		data []byte
		lim  Limits
		want Picture // without data
		same bool
	}{
		"PNG":                 {asPNG(gradient(90, 50)), small, Picture{Mime: PNG, Width: 90, Height: 50, OriginalWidth: 90, OriginalHeight: 50}, true},
		"JPEG":                {asJPEG(gradient(100, 50)), small, Picture{Mime: JPEG, Width: 100, Height: 50, OriginalWidth: 100, OriginalHeight: 50}, true},
		"GIF":                 {asGIF(30, 20, 1), small, Picture{Mime: GIF, Width: 30, Height: 20, OriginalWidth: 30, OriginalHeight: 20}, true},
		"moving GIF":          {asGIF(30, 20, 4), small, Picture{Mime: GIF, Width: 30, Height: 20, OriginalWidth: 30, OriginalHeight: 20}, true},
		"WebP":                {asWebP(30, 20), small, Picture{Mime: WebP, Width: 30, Height: 20, OriginalWidth: 30, OriginalHeight: 20}, true},
		"lossy WebP":          {smallWebP(), small, Picture{Mime: WebP, Width: 1, Height: 1, OriginalWidth: 1, OriginalHeight: 1}, true},
		"defaults":            {asPNG(flat(2000, 20)), Limits{}, Picture{Mime: PNG, Width: 2000, Height: 20, OriginalWidth: 2000, OriginalHeight: 20}, true},
		"default edge":        {asPNG(flat(2001, 20)), Limits{}, Picture{Mime: PNG, Width: 2000, Height: 20, OriginalWidth: 2001, OriginalHeight: 20, Scaled: true}, false},
		"BMP of few colours":  {asBMP(flat(30, 20)), small, Picture{Mime: PNG, Width: 30, Height: 20, OriginalWidth: 30, OriginalHeight: 20}, false},
		"BMP of many":         {asBMP(noise(90, 90)), small, Picture{Mime: JPEG, Width: 90, Height: 90, OriginalWidth: 90, OriginalHeight: 90}, false},
		"TIFF":                {asTIFF(glass(30, 20)), small, Picture{Mime: PNG, Width: 30, Height: 20, OriginalWidth: 30, OriginalHeight: 20}, false},
		"large photo":         {asJPEG(gradient(400, 300)), small, Picture{Mime: JPEG, Width: 100, Height: 75, OriginalWidth: 400, OriginalHeight: 300, Scaled: true}, false},
		"large photo as PNG":  {asPNG(gradient(300, 400)), small, Picture{Mime: JPEG, Width: 75, Height: 100, OriginalWidth: 300, OriginalHeight: 400, Scaled: true}, false},
		"large screenshot":    {asPNG(flat(150, 100)), small, Picture{Mime: PNG, Width: 100, Height: 67, OriginalWidth: 150, OriginalHeight: 100, Scaled: true}, false},
		"large with alpha":    {asPNG(glass(200, 200)), small, Picture{Mime: PNG, Width: 100, Height: 100, OriginalWidth: 200, OriginalHeight: 200, Scaled: true}, false},
		"large WebP":          {asWebP(600, 300), small, Picture{Mime: PNG, Width: 100, Height: 50, OriginalWidth: 600, OriginalHeight: 300, Scaled: true}, false},
		"large moving GIF":    {asGIF(200, 100, 3), small, Picture{Mime: PNG, Width: 100, Height: 50, OriginalWidth: 200, OriginalHeight: 100, Scaled: true}, false},
		"moving, too much":    {asGIF(50, 50, 5), Limits{MaxPixels: 12_000}, Picture{Mime: PNG, Width: 50, Height: 50, OriginalWidth: 50, OriginalHeight: 50}, false},
		"moving, not allowed": {asGIF(50, 50, 2), Limits{Still: true}, Picture{Mime: PNG, Width: 50, Height: 50, OriginalWidth: 50, OriginalHeight: 50}, false},
		"still is still":      {asGIF(50, 50, 1), Limits{Still: true}, Picture{Mime: GIF, Width: 50, Height: 50, OriginalWidth: 50, OriginalHeight: 50}, true},
		"moving WebP":         {movingWebP(40, 30), small, Picture{Mime: PNG, Width: 40, Height: 30, OriginalWidth: 40, OriginalHeight: 30}, false},
		"too many bytes":      {asPNG(noise(150, 100)), Limits{MaxBytes: 30_000}, Picture{Mime: JPEG, Width: 150, Height: 100, OriginalWidth: 150, OriginalHeight: 100}, false},
		"far too many bytes":  {asPNG(noise(300, 300)), Limits{MaxBytes: 9_000}, Picture{Mime: JPEG, Width: 147, Height: 147, OriginalWidth: 300, OriginalHeight: 300, Scaled: true}, false},
		"long and thin":       {asPNG(gradient(9000, 1)), small, Picture{Mime: PNG, Width: 100, Height: 1, OriginalWidth: 9000, OriginalHeight: 1, Scaled: true}, false},
		"trailing bytes":      {append(asPNG(flat(9, 9)), "after the end"...), small, Picture{Mime: PNG, Width: 9, Height: 9, OriginalWidth: 9, OriginalHeight: 9}, true},
		"GIF without its end": {asGIF(50, 50, 3)[:len(asGIF(50, 50, 3))-1], small, Picture{Mime: PNG, Width: 50, Height: 50, OriginalWidth: 50, OriginalHeight: 50}, false},
	} {
		t.Run(what, func(t *testing.T) {
			got, err := Image(t.Context(), c.data, c.lim)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got, cmpopts.IgnoreFields(Picture{}, "Data")); diff != "" {
				t.Errorf("picture (-want +got):\n%s", diff)
			}
			if same := bytes.Equal(got.Data, c.data); same != c.same {
				t.Errorf("same bytes: %v, want %v", same, c.same)
			}
			checkPicture(t, got, c.lim)
		})
	}
}

// checkPicture checks that a picture is what it says and within the limits.
func checkPicture(t testing.TB, p Picture, lim Limits) {
	t.Helper()
	lim = lim.withDefaults()
	if len(p.Data) > lim.MaxBytes || p.Width > lim.MaxEdge || p.Height > lim.MaxEdge {
		t.Errorf("%d bytes, %dx%d are beyond the limits", len(p.Data), p.Width, p.Height)
	}
	if Type(p.Data) != p.Mime {
		t.Errorf("the content is %q, it says %q", Type(p.Data), p.Mime)
	}
	f := &file{data: p.Data, mime: p.Mime, lim: lim}
	m, err := f.decode(context.Background())
	if err != nil {
		t.Fatalf("the result can not be decoded: %v", err)
	}
	if got := m.Bounds().Size(); got != image.Pt(p.Width, p.Height) {
		t.Errorf("the size is %v, it says %dx%d", got, p.Width, p.Height)
	}
	if p.Scaled != (p.Width != p.OriginalWidth || p.Height != p.OriginalHeight) {
		t.Errorf("Scaled is %v", p.Scaled)
	}
}

func TestImageContent(t *testing.T) {
	// Half red, half blue: the halves stay where they are.
	m := image.NewRGBA(image.Rect(0, 0, 600, 400))
	for y := range 400 {
		for x := range 600 {
			m.SetRGBA(x, y, color.RGBA{255, 0, 0, 255})
			if x >= 300 {
				m.SetRGBA(x, y, color.RGBA{0, 0, 255, 255})
			}
		}
	}
	p, err := Image(t.Context(), asPNG(m), Limits{MaxEdge: 150})
	if err != nil {
		t.Fatal(err)
	}
	got, err := png.Decode(bytes.NewReader(p.Data))
	if err != nil {
		t.Fatal(err)
	}
	if near(got.At(20, 50), color.RGBA{255, 0, 0, 255}) > 8 || near(got.At(130, 50), color.RGBA{0, 0, 255, 255}) > 8 {
		t.Errorf("colours: %v %v", got.At(20, 50), got.At(130, 50))
	}
}

// near returns how far two colours are apart.
func near(a, b color.Color) int {
	x, y := color.RGBAModel.Convert(a).(color.RGBA), color.RGBAModel.Convert(b).(color.RGBA)
	d := func(p, q uint8) int { return max(int(p)-int(q), int(q)-int(p)) }
	return max(d(x.R, y.R), d(x.G, y.G), d(x.B, y.B), d(x.A, y.A))
}

func TestImageUpright(t *testing.T) {
	// The corners of a photo, as seen upright: red, green, blue, white from
	// the top left in reading order. It is stored in each of the eight ways.
	corners := []color.RGBA{{255, 0, 0, 255}, {0, 255, 0, 255}, {0, 0, 255, 255}, {255, 255, 255, 255}}
	const w, h = 240, 160
	for orientation := byte(1); orientation <= 8; orientation++ {
		sw, sh := w, h
		if orientation >= 5 {
			sw, sh = h, w
		}
		stored := image.NewRGBA(image.Rect(0, 0, sw, sh))
		for y := range h {
			for x := range w {
				sx, sy := x, y
				switch orientation { // where the upright pixel x, y is stored
				case 2:
					sx = w - 1 - x
				case 3:
					sx, sy = w-1-x, h-1-y
				case 4:
					sy = h - 1 - y
				case 5:
					sx, sy = y, x
				case 6:
					sx, sy = y, w-1-x
				case 7:
					sx, sy = h-1-y, w-1-x
				case 8:
					sx, sy = h-1-y, x
				}
				stored.SetRGBA(sx, sy, corners[y*2/h*2+x*2/w])
			}
		}
		order := binary.AppendByteOrder(binary.BigEndian)
		if orientation%2 == 0 {
			order = binary.LittleEndian
		}
		p, err := Image(t.Context(), turned(asJPEG(stored), orientation, order), Limits{MaxEdge: 120})
		if err != nil {
			t.Fatal(err)
		}
		if p.Width != 120 || p.Height != 80 || p.OriginalWidth != w || p.OriginalHeight != h {
			t.Errorf("orientation %d: %dx%d of %dx%d", orientation, p.Width, p.Height, p.OriginalWidth, p.OriginalHeight)
		}
		got, err := jpeg.Decode(bytes.NewReader(p.Data))
		if err != nil {
			t.Fatal(err)
		}
		for i, at := range []image.Point{{20, 20}, {100, 20}, {20, 60}, {100, 60}} {
			if near(got.At(at.X, at.Y), corners[i]) > 60 {
				t.Errorf("orientation %d: corner %d is %v", orientation, i, got.At(at.X, at.Y))
			}
		}
	}
}

func TestImageRefused(t *testing.T) {
	cut := func(b []byte) []byte { return b[:len(b)/2] }
	for what, c := range map[string]struct {
		data []byte
		lim  Limits
		want string
	}{
		"empty":          {nil, Limits{}, "image is empty (0 bytes)"},
		"text":           {[]byte("hello"), Limits{}, "not an image (5 bytes)"},
		"SVG":            {[]byte("<svg xmlns='x'/>"), Limits{}, "not an image"},
		"PDF":            {[]byte("%PDF-1.4\n"), Limits{}, "a PDF document"},
		"AVIF":           {[]byte("\x00\x00\x00\x1cftypavif\x00\x00"), Limits{}, "AVIF image (14 bytes) can not be shown"},
		"HEIC":           {[]byte("\x00\x00\x00\x1cftypheic\x00\x00"), Limits{}, "HEIC image"},
		"ICO":            {[]byte("\x00\x00\x01\x00\x01\x00"), Limits{}, "ICO image"},
		"PNG head":       {[]byte("\x89PNG\r\n\x1a\n"), Limits{}, "PNG image (8 bytes) is damaged"},
		"half a PNG":     {cut(asPNG(noise(50, 50))), Limits{}, "is damaged"},
		"half a JPEG":    {cut(asJPEG(noise(50, 50))), Limits{}, "is damaged"},
		"half a GIF":     {cut(asGIF(50, 50, 1)), Limits{}, "is damaged"},
		"half a WebP":    {cut(asWebP(50, 50)), Limits{}, "is damaged"},
		"half a BMP":     {cut(asBMP(noise(50, 50))), Limits{}, "is damaged"},
		"half a TIFF":    {cut(asTIFF(noise(50, 50))), Limits{}, "is damaged"},
		"bomb":           {bomb(50_000, 50_000), Limits{}, "PNG image of 50000x50000 pixels (4.1 kB) is too large to decode, the limit is 64 million pixels"},
		"bomb, no data":  {bomb(7_900, 7_900)[:40], Limits{}, "unexpected EOF"},
		"large WebP":     {asWebP(16_000, 16_000), Limits{}, "too large to decode"},
		"limit":          {asPNG(flat(100, 100)), Limits{MaxPixels: 9_999}, "too large to decode"},
		"no room":        {asPNG(noise(100, 100)), Limits{MaxBytes: 300}, "can not be made to fit into 300 bytes"},
		"mislabelled":    {append([]byte("\x89PNG\r\n\x1a\n"), asJPEG(flat(9, 9))...), Limits{}, "is damaged"},
		"no frames":      {riff(riffChunk("VP8X", []byte{2, 0, 0, 0, 9, 0, 0, 9, 0, 0})), Limits{}, "is damaged"},
		"flipped byte":   {flip(asPNG(noise(50, 50)), 2000), Limits{}, "is damaged"},
		"lying BMP size": {lie(asBMP(flat(9, 9)), 18, 7000, 7000), Limits{}, "unexpected EOF"},
	} {
		t.Run(what, func(t *testing.T) {
			p, err := Image(t.Context(), c.data, c.lim)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q in it", err, c.want)
			}
			if p.Data != nil {
				t.Error("there is a picture")
			}
		})
	}
}

func flip(b []byte, at int) []byte {
	b = bytes.Clone(b)
	b[at] ^= 0x55
	return b
}

// lie overwrites the size of a BMP.
func lie(b []byte, at int, w, h uint32) []byte {
	b = bytes.Clone(b)
	binary.LittleEndian.PutUint32(b[at:], w)
	binary.LittleEndian.PutUint32(b[at+4:], h)
	return b
}

func TestImageBombMemory(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, b := range [][]byte{bomb(50_000, 50_000), bomb(1<<31-1, 1), bomb(7_900, 7_900)[:40], asWebP(16_000, 16_000), lie(asBMP(flat(9, 9)), 18, 8000, 7999)} {
		if _, err := Image(t.Context(), b, Limits{}); err == nil {
			t.Error("a bomb went through")
		}
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 32<<20 {
		t.Errorf("%d MB were taken for bombs", got>>20)
	}
}

func TestImageCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Image(ctx, asPNG(flat(9, 9)), Limits{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestGuarded(t *testing.T) {
	_, err := guarded(t.Context(), func(context.Context) (int, error) { panic("boom") })
	if err == nil || !strings.Contains(err.Error(), "boom") {
		t.Errorf("a panic gives %v", err)
	}
	// The caller is let go even if the work does not listen.
	ctx, cancel := context.WithCancelCause(t.Context())
	hold := make(chan struct{})
	_, err = guarded(ctx, func(context.Context) (int, error) {
		cancel(errPatience)
		<-hold
		return 0, nil
	})
	close(hold)
	if !errors.Is(err, errPatience) {
		t.Errorf("slow work gives %v", err)
	}
}

// TestImageLaw: whatever the size and the limits, the result is within the
// limits and keeps its proportions to a pixel.
func TestImageLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 300).Draw(t, "w"), rapid.IntRange(1, 300).Draw(t, "h")
		lim := Limits{MaxEdge: rapid.IntRange(16, 320).Draw(t, "edge"), MaxBytes: rapid.IntRange(4000, 40_000).Draw(t, "bytes")}
		kind := rapid.SampledFrom([]func(image.Image) []byte{asPNG, asJPEG, asBMP, asTIFF}).Draw(t, "kind")
		what := rapid.SampledFrom([]func(w, h int) image.Image{
			func(w, h int) image.Image { return flat(w, h) },
			func(w, h int) image.Image { return glass(w, h) },
			func(w, h int) image.Image { return noise(w, h) },
		}).Draw(t, "what")
		p, err := Image(context.Background(), kind(what(w, h)), lim)
		if err != nil {
			t.Fatal(err)
		}
		if p.OriginalWidth != w || p.OriginalHeight != h {
			t.Fatalf("original %dx%d of %dx%d", p.OriginalWidth, p.OriginalHeight, w, h)
		}
		if len(p.Data) > lim.MaxBytes || max(p.Width, p.Height) > lim.MaxEdge || p.Width > w || p.Height > h {
			t.Fatalf("%d bytes, %dx%d", len(p.Data), p.Width, p.Height)
		}
		scale := float64(max(p.Width, p.Height)) / float64(max(w, h))
		if dx, dy := float64(p.Width)-scale*float64(w), float64(p.Height)-scale*float64(h); max(dx, -dx, dy, -dy) > 1 {
			t.Fatalf("%dx%d became %dx%d", w, h, p.Width, p.Height)
		}
	})
}
