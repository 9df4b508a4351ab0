package media

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/bmp"
	"golang.org/x/image/draw"
	"golang.org/x/image/tiff"
	"golang.org/x/image/webp"
)

// The limits on an image unless the caller sets others.
const (
	MaxBytes  = 3_750_000  // in base64 just below 5 MB, the least that providers take
	MaxEdge   = 2000       // pixels; longer edges are refused or scaled by providers
	MaxPixels = 64_000_000 // of which the memory for decoding follows
)

// Limits say what an image may be. Fields that are not positive take the
// defaults above.
type Limits struct {
	// MaxBytes is the most an attachment may have.
	MaxBytes int

	// MaxEdge is the longest a side of an attachment may be, in pixels.
	MaxEdge int

	// MaxPixels is the most pixels of four bytes that are ever decoded. An
	// image whose decoding takes twice the memory (16 bits a channel, a
	// progressive JPEG) counts twice. All frames of an animation count.
	MaxPixels int

	// Still asks for the first frame of an animation, for providers that
	// refuse the whole.
	Still bool
}

func (l Limits) withDefaults() Limits {
	if l.MaxBytes <= 0 {
		l.MaxBytes = MaxBytes
	}
	if l.MaxEdge <= 0 {
		l.MaxEdge = MaxEdge
	}
	if l.MaxPixels <= 0 {
		l.MaxPixels = MaxPixels
	}
	return l
}

// A Picture is an image that a model can be sent.
type Picture struct {
	Data []byte // encoded as Mime; the caller's own bytes if nothing had to be changed
	Mime string // PNG, JPEG, GIF or WebP

	// Width and Height are of the image in Data, in pixels.
	Width, Height int

	// OriginalWidth and OriginalHeight are of the image in the file. If Data
	// is not the file's bytes, they are given as seen upright.
	OriginalWidth, OriginalHeight int

	// Scaled says that Data has fewer pixels than the file.
	Scaled bool
}

// Image returns the image in data as it may be sent to a model.
//
// An image within the limits is passed through byte for byte, after it has
// been decoded completely. One that is too large is scaled, keeping its
// proportions, and encoded again: as PNG if it has transparency or few
// colours, else as JPEG in the best quality that fits. Of an animation beyond
// the limits, and of an animated WebP in any case, the first frame is taken.
// BMP and TIFF become PNG or JPEG.
//
// Everything else is an error whose text can be shown to a model: what is in
// data, how large it is, and what to do. A call ends within a few seconds; if
// a decoder is slower, its goroutine may outlive the call until it has read on.
func Image(ctx context.Context, data []byte, lim Limits) (Picture, error) {
	lim = lim.withDefaults()
	mime := Type(data)
	if err := checkKind(data, mime); err != nil {
		return Picture{}, err
	}
	within, cancel := limited(ctx)
	defer cancel()
	p, err := guarded(within, func(ctx context.Context) (Picture, error) {
		f := &file{data: data, mime: mime, lim: lim}
		size, err := f.check(ctx)
		if err != nil {
			return Picture{}, err
		}
		m, err := f.decode(ctx)
		if err != nil {
			return Picture{}, f.damaged(err)
		}
		if ctx.Err() != nil {
			return Picture{}, context.Cause(ctx)
		}
		if f.sendable(size) {
			return Picture{
				Data: f.data, Mime: f.mime,
				Width: size.X, Height: size.Y,
				OriginalWidth: size.X, OriginalHeight: size.Y,
			}, nil
		}
		return f.remake(ctx, m)
	})
	switch {
	case err == nil:
		return p, nil
	case ctx.Err() != nil:
		return Picture{}, fmt.Errorf("read image: %w", context.Cause(ctx))
	case errors.Is(err, errPatience):
		return Picture{}, fmt.Errorf("%s image (%s) can not be shown: decoding it takes more than %s; make a smaller copy of it and read that",
			label(mime), formatSize(int64(len(data))), patience)
	}
	return Picture{}, err
}

// checkKind refuses what is no image that can be decoded here.
func checkKind(data []byte, mime string) error {
	switch mime {
	case PNG, JPEG, GIF, WebP, BMP, TIFF:
		return nil
	case PDF:
		return errors.New("not an image but a PDF document; read its text instead")
	}
	if len(data) == 0 {
		return errors.New("image is empty (0 bytes): there is nothing to show")
	}
	if kind := otherPicture(data); kind != "" {
		return fmt.Errorf("%s image (%s) can not be shown: models take PNG, JPEG, GIF and WebP; convert it to PNG and read the copy",
			kind, formatSize(int64(len(data))))
	}
	return fmt.Errorf("not an image (%s): its content is neither PNG, JPEG, GIF, WebP, BMP nor TIFF, whatever its name says",
		formatSize(int64(len(data))))
}

// A file is an image on its way through.
type file struct {
	data   []byte
	mime   string
	lim    Limits
	turned int  // the orientation of EXIF, 1 to 8
	still  bool // only the first frame is wanted
}

// check looks at the headers alone and refuses what must not be decoded. It
// decides whether one frame is enough.
func (f *file) check(ctx context.Context) (image.Point, error) {
	if f.mime == WebP {
		if frame, animated := firstWebP(f.data); animated {
			f.data, f.still = frame, true
		}
	}
	cfg, err := f.config(ctx)
	if err != nil {
		return image.Point{}, f.damaged(err)
	}
	if cfg.Width <= 0 || cfg.Height <= 0 {
		return image.Point{}, f.damaged(errors.New("it has no pixels"))
	}
	weight := 1
	switch cfg.ColorModel {
	case color.RGBA64Model, color.NRGBA64Model:
		weight = 2
	}
	if f.mime == JPEG {
		var progressive bool
		progressive, f.turned = scanJPEG(f.data)
		if progressive {
			weight = 2
		}
	}
	if cfg.Width > f.lim.MaxPixels/weight/cfg.Height {
		return image.Point{}, fmt.Errorf("%s image of %dx%d pixels (%s) is too large to decode, the limit is %d million pixels; make a smaller copy of it and read that",
			label(f.mime), cfg.Width, cfg.Height, formatSize(int64(len(f.data))), f.lim.MaxPixels/weight/1e6)
	}
	if tooShort(f.mime, cfg.Width*cfg.Height, len(f.data)) {
		return image.Point{}, f.damaged(io.ErrUnexpectedEOF)
	}
	if f.mime == GIF {
		frames, pixels := countGIF(f.data)
		f.still = frames > 1 && (f.lim.Still || pixels > f.lim.MaxPixels)
	}
	return image.Pt(cfg.Width, cfg.Height), nil
}

// tooShort reports whether n bytes can not possibly hold the pixels, so that
// no memory need be taken for them.
func tooShort(mime string, pixels, n int) bool {
	const (
		perByteBMP  = 8        // one bit a pixel, nothing packed
		perByteFlat = 8 * 1032 // the same, packed as well as deflate can
		header      = 64
	)
	switch mime {
	case BMP:
		return pixels/perByteBMP > n
	case PNG, GIF:
		return pixels/perByteFlat > n+header
	}
	return false
}

// sendable reports whether the file can be sent as it is.
func (f *file) sendable(size image.Point) bool {
	return !f.still && f.mime != BMP && f.mime != TIFF &&
		len(f.data) <= f.lim.MaxBytes && max(size.X, size.Y) <= f.lim.MaxEdge
}

func (f *file) damaged(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, errPatience) {
		return err
	}
	return fmt.Errorf("%s image (%s) is damaged or of a kind that can not be read, so it is not shown: %w; get a sound copy of it, or convert it to PNG",
		label(f.mime), formatSize(int64(len(f.data))), err)
}

func (f *file) config(ctx context.Context) (image.Config, error) {
	r := untilDone(ctx, f.data)
	switch f.mime {
	case PNG:
		return png.DecodeConfig(r)
	case JPEG:
		return jpeg.DecodeConfig(r)
	case GIF:
		return gif.DecodeConfig(r)
	case WebP:
		return webp.DecodeConfig(r)
	case BMP:
		return bmp.DecodeConfig(r)
	default:
		return tiff.DecodeConfig(bytes.NewReader(f.data))
	}
}

func (f *file) decode(ctx context.Context) (image.Image, error) {
	r := untilDone(ctx, f.data)
	switch f.mime {
	case PNG:
		return png.Decode(r)
	case JPEG:
		return jpeg.Decode(r)
	case GIF:
		return f.decodeGIF(ctx)
	case WebP:
		return webp.Decode(r)
	case BMP:
		return bmp.Decode(r)
	default:
		return tiff.Decode(r)
	}
}

// decodeGIF decodes all frames. If only the first is wanted, or only that is
// sound, the result is the canvas after it.
func (f *file) decodeGIF(ctx context.Context) (image.Image, error) {
	if !f.still {
		all, err := gif.DecodeAll(untilDone(ctx, f.data))
		if err == nil {
			return onCanvas(all.Image[0], all.Config), nil
		}
		f.still = true
	}
	cfg, err := gif.DecodeConfig(untilDone(ctx, f.data))
	if err != nil {
		return nil, err
	}
	first, err := gif.Decode(untilDone(ctx, f.data))
	if err != nil {
		return nil, err
	}
	return onCanvas(first, cfg), nil
}

// onCanvas puts a frame that covers only a part into its place.
func onCanvas(frame image.Image, cfg image.Config) image.Image {
	all := image.Rect(0, 0, cfg.Width, cfg.Height)
	if frame.Bounds() == all {
		return frame
	}
	canvas := image.NewNRGBA(all)
	draw.Draw(canvas, frame.Bounds(), frame, frame.Bounds().Min, draw.Src)
	return canvas
}
