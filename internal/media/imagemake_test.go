package media

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
)

// The kinds of picture the tests use.
func gradient(w, h int) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.SetRGBA(x, y, color.RGBA{uint8(x * 255 / w), uint8(y * 255 / h), uint8((x * y) >> 5), 255})
		}
	}
	return m
}

func noise(w, h int) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	r := rand.NewChaCha8([32]byte{1})
	r.Read(m.Pix)
	for i := 3; i < len(m.Pix); i += 4 {
		m.Pix[i] = 255
	}
	return m
}

// flat has three colours, as a screenshot has few.
func flat(w, h int) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.SetRGBA(x, y, []color.RGBA{{255, 255, 255, 255}, {0, 0, 0, 255}, {200, 30, 30, 255}}[(x/8+y/8)%3])
		}
	}
	return m
}

// glass is transparent on its left side.
func glass(w, h int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.SetNRGBA(x, y, color.NRGBA{uint8(x), uint8(y), uint8(x + y), uint8(x * 255 / w)})
		}
	}
	return m
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func asPNG(m image.Image) []byte {
	var b bytes.Buffer
	must((&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, m))
	return b.Bytes()
}

func asJPEG(m image.Image) []byte {
	var b bytes.Buffer
	must(jpeg.Encode(&b, m, &jpeg.Options{Quality: 90}))
	return b.Bytes()
}

func asBMP(m image.Image) []byte {
	var b bytes.Buffer
	must(bmp.Encode(&b, m))
	return b.Bytes()
}

func asTIFF(m image.Image) []byte {
	var b bytes.Buffer
	must(tiff.Encode(&b, m, &tiff.Options{Compression: tiff.Deflate}))
	return b.Bytes()
}

func asGIF(w, h, frames int) []byte {
	g := &gif.GIF{}
	for i := range frames {
		m := image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.Black, color.White, color.RGBA{255, 0, 0, 255}})
		for p := range m.Pix {
			m.Pix[p] = uint8((p/3 + i) % 3)
		}
		g.Image = append(g.Image, m)
		g.Delay = append(g.Delay, 5)
	}
	var b bytes.Buffer
	must(gif.EncodeAll(&b, g))
	return b.Bytes()
}

// asWebP is a lossless picture of one colour: each of its five codes has one
// symbol only, so that the pixels take no bits at all.
func asWebP(w, h int) []byte {
	var bits []byte
	n := 0
	put := func(v, count int) {
		for range count {
			if n%8 == 0 {
				bits = append(bits, 0)
			}
			bits[n/8] |= byte(v&1) << (n % 8)
			v >>= 1
			n++
		}
	}
	put(0x2f, 8)
	put(w-1, 14)
	put(h-1, 14)
	put(0, 1+3)                                    // no alpha, version
	put(0, 1+1+1)                                  // no transform, no cache, no groups
	for _, v := range []int{90, 200, 40, 255, 0} { // green, red, blue, alpha, distance
		put(1, 1) // simple
		put(0, 1) // one symbol
		put(1, 1) // of eight bits
		put(v, 8)
	}
	return riff(riffChunk("VP8L", bits))
}

// smallWebP is a lossy picture of one pixel.
func smallWebP() []byte {
	b, err := base64.StdEncoding.DecodeString("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA")
	must(err)
	return b
}

func riffChunk(name string, body []byte) []byte {
	b := binary.LittleEndian.AppendUint32([]byte(name), uint32(len(body)))
	b = append(b, body...)
	if len(body)%2 == 1 {
		b = append(b, 0)
	}
	return b
}

func riff(chunks ...[]byte) []byte {
	return riffChunk("RIFF", append([]byte("WEBP"), bytes.Join(chunks, nil)...))
}

// movingWebP is an animation of two frames.
func movingWebP(w, h int) []byte {
	size := func(v int) []byte { return []byte{byte(v - 1), byte((v - 1) >> 8), byte((v - 1) >> 16)} }
	canvas := bytes.Join([][]byte{{2, 0, 0, 0}, size(w), size(h)}, nil)
	frame := bytes.Join([][]byte{make([]byte, 6), size(w), size(h), {100, 0, 0, 0}, asWebP(w, h)[12:]}, nil)
	return riff(riffChunk("VP8X", canvas), riffChunk("ANIM", make([]byte, 6)), riffChunk("ANMF", frame), riffChunk("ANMF", frame))
}

// bomb is a PNG of a few bytes that says it is huge.
func bomb(w, h int) []byte {
	head := binary.BigEndian.AppendUint32([]byte("IHDR"), uint32(w))
	head = binary.BigEndian.AppendUint32(head, uint32(h))
	head = append(head, 8, 2, 0, 0, 0)
	b := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), head...)
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(head))
	data := append([]byte("IDAT"), deflate(make([]byte, 4<<20))...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(data)-4))
	b = append(b, data...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(data))
}

// turned adds an EXIF orientation to a JPEG.
func turned(b []byte, orientation byte, order binary.AppendByteOrder) []byte {
	mark := "MM"
	if order == binary.AppendByteOrder(binary.LittleEndian) {
		mark = "II"
	}
	tiff := order.AppendUint16([]byte(mark), 42)
	tiff = order.AppendUint32(tiff, 8)
	tiff = order.AppendUint16(tiff, 2)
	for _, e := range [][2]uint16{{0x010f, 1}, {0x0112, uint16(orientation)}} {
		tiff = order.AppendUint16(tiff, e[0])
		tiff = order.AppendUint16(tiff, 3)
		tiff = order.AppendUint32(tiff, 1)
		tiff = order.AppendUint16(tiff, e[1])
		tiff = order.AppendUint16(tiff, 0)
	}
	app := append([]byte("Exif\x00\x00"), tiff...)
	out := binary.BigEndian.AppendUint16([]byte{0xff, 0xd8, 0xff, 0xe1}, uint16(len(app)+2))
	out = append(out, app...)
	return append(out, b[2:]...)
}
