package media

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"

	"golang.org/x/image/draw"
)

// remake scales and encodes m until it is within the limits.
func (f *file) remake(ctx context.Context, m image.Image) (Picture, error) {
	const (
		shrink   = 0.7 // from one try to the next
		smallest = 16  // pixels; less shows nothing
	)
	original := m.Bounds().Size()
	plain := f.mime != JPEG && fewColours(m)
	edge := min(f.lim.MaxEdge, max(original.X, original.Y))
	for {
		target := fitEdge(original, edge)
		out, err := scaled(ctx, m, target)
		if err != nil {
			return Picture{}, err
		}
		if target != original {
			m = out // the next try begins with what there is
		}
		out = upright(out, f.turned)
		data, mime, err := encode(ctx, out, plain, f.lim.MaxBytes)
		if err == nil {
			if f.turned >= 5 {
				original.X, original.Y = original.Y, original.X
			}
			got := out.Bounds().Size()
			return Picture{
				Data: data, Mime: mime,
				Width: got.X, Height: got.Y,
				OriginalWidth: original.X, OriginalHeight: original.Y,
				Scaled: got != original,
			}, nil
		}
		if !errors.Is(err, errFull) {
			return Picture{}, err
		}
		edge = int(float64(edge) * shrink)
		if edge < smallest {
			return Picture{}, fmt.Errorf("%s image of %dx%d pixels (%s) can not be made to fit into %s; show a part of it instead",
				label(f.mime), original.X, original.Y, formatSize(int64(len(f.data))), formatSize(int64(f.lim.MaxBytes)))
		}
	}
}

// fitEdge returns the size whose longer side is edge, or s if that is less.
func fitEdge(s image.Point, edge int) image.Point {
	long := max(s.X, s.Y)
	if long <= edge {
		return s
	}
	scale := func(v int) int { return max(1, int((int64(v)*int64(edge)+int64(long)/2)/int64(long))) }
	return image.Pt(scale(s.X), scale(s.Y))
}

// scaled returns m in the given size, which is not larger than its own. Halving
// is an exact average of four pixels and quick, so it is done as often as
// possible; what remains, less than a half, is done with a better kernel
// unless that would take too much memory.
func scaled(ctx context.Context, m image.Image, to image.Point) (image.Image, error) {
	const (
		kernelPixel = 32 // bytes of scratch
		kernelMost  = 100 << 20
	)
	for {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		from := m.Bounds().Size()
		if from == to {
			return m, nil
		}
		var how draw.Scaler = draw.ApproxBiLinear
		next := to
		switch {
		case from.X >= 2*to.X && from.Y >= 2*to.Y:
			next = image.Pt(max(to.X, from.X/2), max(to.Y, from.Y/2))
		case to.X*from.Y <= kernelMost/kernelPixel:
			how = draw.CatmullRom
		}
		out := image.NewRGBA(image.Rectangle{Max: next})
		how.Scale(out, out.Bounds(), m, m.Bounds(), draw.Src, nil)
		m = out
	}
}

// upright turns and mirrors m as the orientation of EXIF asks. Encoding loses
// that mark, and a photo taken upright would lie on its side.
func upright(m image.Image, orientation int) image.Image {
	if orientation <= 1 {
		return m
	}
	src, ok := m.(*image.RGBA)
	if !ok {
		src = image.NewRGBA(image.Rectangle{Max: m.Bounds().Size()})
		draw.Draw(src, src.Bounds(), m, m.Bounds().Min, draw.Src)
	}
	w, h := src.Rect.Dx(), src.Rect.Dy()
	dst := image.NewRGBA(image.Rect(0, 0, w, h))
	if orientation >= 5 {
		dst = image.NewRGBA(image.Rect(0, 0, h, w))
	}
	for y := range h {
		for x := range w {
			tx, ty := x, y
			switch orientation {
			case 2:
				tx = w - 1 - x
			case 3:
				tx, ty = w-1-x, h-1-y
			case 4:
				ty = h - 1 - y
			case 5:
				tx, ty = y, x
			case 6:
				tx, ty = h-1-y, x
			case 7:
				tx, ty = h-1-y, w-1-x
			case 8:
				tx, ty = y, w-1-x
			}
			copy(dst.Pix[dst.PixOffset(tx, ty):][:4], src.Pix[src.PixOffset(x, y):][:4])
		}
	}
	return dst
}

// encode encodes m as PNG if it is plain or has transparency, else as JPEG in
// the best quality that fits. The error is errFull if nothing fits.
func encode(ctx context.Context, m image.Image, plain bool, most int) ([]byte, string, error) {
	o, ok := m.(interface{ Opaque() bool })
	glass := !(ok && o.Opaque())
	if glass || plain {
		out := &bounded{most: most, canceled: func() error { return context.Cause(ctx) }}
		err := png.Encode(out, m)
		if err == nil {
			return out.buf.Bytes(), PNG, nil
		}
		if glass || !errors.Is(err, errFull) {
			return nil, "", err
		}
	}
	err := errFull
	for _, quality := range []int{88, 75, 55} {
		out := &bounded{most: most, canceled: func() error { return context.Cause(ctx) }}
		if err = jpeg.Encode(out, m, &jpeg.Options{Quality: quality}); err == nil {
			return out.buf.Bytes(), JPEG, nil
		}
		if !errors.Is(err, errFull) {
			break
		}
	}
	return nil, "", err
}

// fewColours reports whether m looks drawn and not photographed: a screenshot,
// a chart. It looks at a sample.
func fewColours(m image.Image) bool {
	const grid, few = 256, 1024
	if p, ok := m.ColorModel().(color.Palette); ok {
		return len(p) <= few
	}
	b := m.Bounds()
	seen := make(map[color.RGBA]struct{}, few)
	dx, dy := max(1, b.Dx()/grid), max(1, b.Dy()/grid)
	for y := b.Min.Y; y < b.Max.Y; y += dy {
		for x := b.Min.X; x < b.Max.X; x += dx {
			seen[color.RGBAModel.Convert(m.At(x, y)).(color.RGBA)] = struct{}{}
			if len(seen) > few {
				return false
			}
		}
	}
	return true
}

// errFull is what a bounded writer answers beyond its bound.
var errFull = errors.New("it does not fit")

// A bounded writer takes so many bytes and no more, so that an encoder stops
// as soon as the result can not be used.
type bounded struct {
	most     int
	canceled func() error // why nothing more is taken, nil before that
	buf      bytes.Buffer
}

func (b *bounded) Write(p []byte) (int, error) {
	if err := b.canceled(); err != nil {
		return 0, err
	}
	if b.buf.Len()+len(p) > b.most {
		return 0, errFull
	}
	return b.buf.Write(p)
}
