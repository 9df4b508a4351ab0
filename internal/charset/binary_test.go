package charset

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

func notText(err error) bool { return errors.Is(err, ErrBinary) || errors.Is(err, ErrUnknown) }

// Bytes that were drawn are not text. A few of them are by chance as a word
// would be; that must be rare, and end with the length of a short line.
func TestRandomBytes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256, 1024, 4096, 70000} {
		tried, text := 0, 0
		for range max(5, min(1000, 40000/size)) {
			p := make([]byte, size)
			for i := range p {
				p[i] = byte(rng.Uint32())
			}
			if utf8.Valid(p) {
				continue
			}
			tried++
			if _, err := Detect(p, size < 32 || tried%2 == 0); !notText(err) {
				text++
			}
		}
		t.Logf("%5d bytes: %d of %d are called text", size, text, tried)
		if size >= 32 && text > 0 || text*100 > tried {
			t.Errorf("%d of %d draws of %d bytes are called text", text, tried, size)
		}
	}
}

func TestBinaryFiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	var zipped, picture, floats, sound bytes.Buffer
	w := gzip.NewWriter(&zipped)
	w.Write(program[:200_000])
	w.Close()
	img := image.NewRGBA(image.Rect(0, 0, 64, 64))
	for i := range 64 * 64 {
		img.Set(i%64, i/64, color.RGBA{byte(rng.Uint32()), byte(i), byte(i / 64), 255})
	}
	if err := png.Encode(&picture, img); err != nil {
		t.Fatal(err)
	}
	for i := range 4000 {
		binary.Write(&floats, binary.LittleEndian, rng.NormFloat64())
		binary.Write(&sound, binary.LittleEndian, int16(900*math.Sin(float64(i)/20)))
	}
	for name, data := range map[string][]byte{
		"program":       program[:1<<20],
		"gzip":          zipped.Bytes(),
		"png":           picture.Bytes(),
		"floats":        floats.Bytes(),
		"sound":         sound.Bytes(),
		"jpeg head":     []byte("\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00\xff\xdb\x00C\x00"),
		"icon":          []byte("\x00\x00\x01\x00"),
		"icon head":     []byte("\x00\x00\x01\x00\x01\x00\x10\x10\x00\x00\x01\x00\x20\x00\x68\x04\x00\x00\x16\x00\x00\x00"),
		"icons":         bytes.Repeat([]byte("\x00\x00\x01\x00"), 9),
		"cursor":        []byte("\x00\x00\x02\x00"),
		"numbers":       []byte("\x00\x00\x01\x2c\x00\x00\x01\x90\x00\x00\x01\xf4\x00\x00\x02\x58\x00\x00\x02\xbc"),
		"zip head":      []byte("PK\x03\x04\x14\x00\x08\x08\x08\x00\x21\x00"),
		"zeros":         make([]byte, 100),
		"text and NUL":  []byte("a line\x00another\n"),
		"inside a gzip": zipped.Bytes()[500:5000],
		"ones":          bytes.Repeat([]byte{0xff}, 300),
		"utf-16 of NUL": []byte("\xff\xfea\x00\x00\x00b\x00"),
	} {
		for _, whole := range []bool{true, false} {
			for _, size := range []int{len(data), 4096, 512} {
				p := data[:min(size, len(data))]
				if e, err := Detect(p, whole); !notText(err) {
					t.Errorf("%s, first %d bytes: called text in %s (%v)", name, len(p), e, err)
				}
			}
		}
		if _, err := Decode(data); !notText(err) {
			t.Errorf("%s: decoded, %v", name, err)
		}
	}
}

// The rule for binary data of the reference, at its edges.
func TestBinaryRule(t *testing.T) {
	as := func(n int) string { return strings.Repeat("a", n) }
	tests := []struct {
		name, data string
		want       error
	}{
		{"empty", "", nil},
		{"30 % controls", strings.Repeat("\x01", 30) + as(70), nil},
		{"more than 30 % controls", strings.Repeat("\x01", 31) + as(69), ErrBinary},
		{"controls after the head", as(4096) + strings.Repeat("\x01", 9000), nil},
		{"NUL in the head", as(4095) + "\x00", ErrBinary},
		{"NUL after the head", as(4096) + "\x00" + as(10), nil},
		{"controls that are text", "\t\n\v\f\r\t\n\v\f\r", nil},
		{"escape sequences", strings.Repeat("\x1b[0mred\x1b[1m", 50), nil},
	}
	for _, tt := range tests {
		e, err := Detect([]byte(tt.data), true)
		if !errors.Is(err, tt.want) || e != (Encoding{}) {
			t.Errorf("%s: %v, %v; want utf-8, %v", tt.name, e, err, tt.want)
		}
	}
}

// Text with broken bytes has no reading for the whole of it.
func TestMixed(t *testing.T) {
	gbkLine := string(encoded(t, "这个函数返回文件中的行数。", "gbk"))
	latin := string(encoded(t, "déjà créé à l'école", "iso-8859-1"))
	for name, data := range map[string]string{
		"utf-8 and a broken byte":       "这个函数返回文件中的行数。\nplain\xff\n检查用户是否已经登录\n",
		"utf-8 and gbk":                 "检查用户是否已经登录，否则跳转到首页。\n昨天晚上我们沿着河边散步\n" + gbkLine,
		"french utf-8 and latin-1":      "Les élèves étudient le français à l'école\nété créé\n" + latin,
		"bom and not utf-8":             "\uFEFF" + gbkLine,
		"utf-16 with half a pair":       "\xff\xfea\x00\x00\xd8b\x00",
		"one byte":                      "\xe9",
		"a surrogate in utf-8":          "abc \xed\xa0\x80 def 这个函数",
		"ascii and bytes of no letters": "int x = 1; // \x81 \x8d\n",
	} {
		if e, err := Detect([]byte(data), true); !errors.Is(err, ErrUnknown) {
			t.Errorf("%s: %v, %v; want %v", name, e, err, ErrUnknown)
		}
	}
}

// Base64 and the like are ASCII, so text.
func TestASCIIIsText(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	p := make([]byte, 3000)
	for i := range p {
		p[i] = byte(rng.Uint32())
	}
	s := base64.StdEncoding.EncodeToString(p)
	if e, err := Detect([]byte(s), true); err != nil || e != (Encoding{}) {
		t.Errorf("%v, %v", e, err)
	}
}
