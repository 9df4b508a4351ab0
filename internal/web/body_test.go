package web

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func gzipped(b []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	z.Write(b)
	z.Close()
	return out.Bytes()
}

func zlibbed(b []byte) []byte {
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	z.Write(b)
	z.Close()
	return out.Bytes()
}

func deflated(b []byte) []byte {
	var out bytes.Buffer
	z, _ := flate.NewWriter(&out, flate.BestSpeed)
	z.Write(b)
	z.Close()
	return out.Bytes()
}

// sends makes a world whose only answer is these bytes.
func sends(t *testing.T, answer ...string) *world {
	return newWorld(t, func(rw http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(rw).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		for _, s := range answer {
			if _, err := io.WriteString(conn, s); err != nil {
				return
			}
		}
	})
}

func TestEncodings(t *testing.T) {
	text := []byte(strings.Repeat("hello ", 1000))
	noise := make([]byte, 80000)
	rand.NewChaCha8([32]byte{}).Read(noise)
	for _, tt := range []struct {
		name, encoding string
		body           []byte
		want, code     string
		cut            bool
	}{
		{name: "none", body: text, want: string(text)},
		{name: "identity", encoding: "identity", body: text, want: string(text)},
		{name: "gzip", encoding: "gzip", body: gzipped(text), want: string(text)},
		{name: "x-gzip", encoding: " X-GZip ,", body: gzipped(text), want: string(text)},
		{name: "two members", encoding: "gzip", body: append(gzipped(text), gzipped(text)...), want: string(text) + string(text)},
		{name: "deflate", encoding: "deflate", body: zlibbed(text), want: string(text)},
		{name: "bare deflate", encoding: "deflate", body: deflated(text), want: string(text)},
		{name: "with identity", encoding: "identity, gzip", body: gzipped(text), want: string(text)},
		{name: "inside is left", encoding: "gzip", body: gzipped(gzipped(text)), want: string(gzipped(text))},
		{name: "no body", encoding: "gzip"},
		{name: "no deflate body", encoding: "deflate"},
		{name: "ends early", encoding: "gzip", body: gzipped(noise)[:40000], cut: true, want: string(noise[:1000])},
		{name: "ends in the header", encoding: "gzip", body: gzipped(text)[:5], cut: true},
		{name: "ends in the deflate header", encoding: "deflate", body: []byte{0x78}, cut: true},
		{name: "bad checksum", encoding: "gzip", body: append(gzipped(text)[:len(gzipped(text))-8], 1, 2, 3, 4, 5, 6, 7, 8), cut: true, want: string(text)},
		{name: "rubbish follows", encoding: "gzip", body: append(gzipped(text), "rubbish"...), cut: true, want: string(text)},
		{name: "not gzip", encoding: "gzip", body: text, code: CodeUnsupportedEncoding},
		{name: "not deflate", encoding: "deflate", body: []byte("\xff\xff\xff\xff"), code: CodeUnsupportedEncoding},
		{name: "brotli", encoding: "br", body: text, code: CodeUnsupportedEncoding},
		{name: "twice", encoding: "gzip, gzip", body: gzipped(gzipped(text)), code: CodeUnsupportedEncoding},
		{name: "stacked", encoding: "br,gzip,gzip,gzip", body: text, code: CodeUnsupportedEncoding},
	} {
		for _, scheme := range []string{"http", "https"} {
			w := newWorld(t, func(rw http.ResponseWriter, _ *http.Request) {
				if tt.encoding != "" {
					rw.Header().Set("Content-Encoding", tt.encoding)
				}
				rw.Write(tt.body)
			})
			p, err := fetchFrom(t, w, scheme+"://8.8.8.8/")
			if codeOf(err) != tt.code {
				t.Errorf("%s: %v, want %q", tt.name, err, tt.code)
			}
			if err == nil && (p.Cut != tt.cut || string(p.Body) != tt.want && !(tt.cut && strings.HasPrefix(string(p.Body), tt.want))) {
				t.Errorf("%s: %d bytes, cut %t, want %d", tt.name, len(p.Body), p.Cut, len(tt.want))
			}
		}
	}
	w := sends(t, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Encoding: gzip\r\n\r\n")
	_, err := fetchFrom(t, w, "http://8.8.8.8/")
	wantCode(t, err, CodeUnsupportedEncoding, "gzip, gzip")
	w = sends(t, "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n")
	_, err = fetchFrom(t, w, "http://8.8.8.8/")
	wantCode(t, err, CodeUnsupportedEncoding)
}

func TestLimit(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 3000).Draw(rt, "size")
		limit := rapid.IntRange(1, 3000).Draw(rt, "limit")
		body := bytes.Repeat([]byte("0123456789"), n/10+1)[:n]
		pack := rapid.SampledFrom([]func([]byte) []byte{func(b []byte) []byte { return b }, gzipped, zlibbed}).Draw(rt, "pack")
		packed := pack(body)
		kind := map[bool]string{true: "identity", false: "gzip"}[bytes.Equal(packed, body)]
		if len(packed) > 1 && packed[0] == 0x78 {
			kind = "deflate"
		}
		got, cut, err := readAll(packed, kind, int64(limit))
		if err != nil || !bytes.Equal(got, body[:min(n, limit)]) || cut != (n > limit) {
			rt.Fatalf("%d of %d as %s: %d, cut %t, %v", limit, n, kind, len(got), cut, err)
		}
	})
}

// readAll reads a body without a network.
func readAll(packed []byte, encoding string, limit int64) ([]byte, bool, error) {
	resp := &http.Response{StatusCode: 200, ContentLength: -1, Header: http.Header{"Content-Encoding": {encoding}}, Body: io.NopCloser(bytes.NewReader(packed))}
	p, err := (&response{resp: resp}).page(context.Background(), limit)
	if err != nil {
		return nil, false, err
	}
	return p.Body, p.Cut, nil
}

func TestOversize(t *testing.T) {
	chunk := bytes.Repeat([]byte("some text that is honest\n"), 1<<12)
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/announced" {
			rw.Header().Set("Content-Length", fmt.Sprint(len(chunk)*200))
		}
		for range 200 { // 20 MB
			if _, err := rw.Write(chunk); err != nil {
				return
			}
		}
	})
	for path, size := range map[string]int64{"/announced": int64(len(chunk) * 200), "/chunked": -1} {
		for _, scheme := range []string{"http", "https"} {
			p, err := fetchFrom(t, w, scheme+"://8.8.8.8"+path)
			if err != nil || len(p.Body) != 5<<20 || !p.Cut || p.Size != size {
				t.Errorf("%s %s: %v", scheme, path, err)
			}
		}
	}
}

// allocated is what f took from the heap, all told.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestBomb(t *testing.T) {
	var block bytes.Buffer // a megabyte of zeros, which can be sent again and again
	z, _ := flate.NewWriter(&block, flate.BestSpeed)
	z.Write(make([]byte, 1<<20))
	z.Flush()
	for encoding, head := range map[string]string{"gzip": "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x00", "deflate": "\x78\x9c"} {
		w := newWorld(t, func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Encoding", encoding)
			_, err := io.WriteString(rw, head)
			for i := 0; i < 10<<10 && err == nil; i++ { // 10 GiB, if somebody takes them
				_, err = rw.Write(block.Bytes())
			}
		})
		var err error
		if n := allocated(func() { _, err = fetchFrom(t, w, "http://8.8.8.8/") }); n > 32<<20 {
			t.Errorf("%d bytes were allocated", n)
		}
		wantCode(t, err, CodeTooLarge, "inflates")
	}
	if _, cut, err := readAll(gzipped(make([]byte, 6<<20)), "gzip", 5<<20); codeOf(err) != CodeTooLarge {
		t.Error(cut, err)
	}
	if got, cut, err := readAll(gzipped(make([]byte, 4<<20)), "gzip", 5<<20); err != nil || cut || len(got) != 4<<20 {
		t.Error("what stays within the limit is no bomb:", err)
	}
}

func TestLies(t *testing.T) {
	mega := strings.Repeat("x", 1<<20)
	flood := []string{"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789"}
	for range 20 {
		flood = append(flood, mega)
	}
	var err error
	w := sends(t, flood...)
	if n := allocated(func() { _, err = fetchFrom(t, w, "http://8.8.8.8/") }); n > 32<<20 {
		t.Errorf("%d bytes were allocated", n)
	}
	wantCode(t, err, CodeTooLarge, "announced 10 bytes")

	flood[0] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
	_, err = fetchFrom(t, sends(t, flood...), "http://8.8.8.8/")
	wantCode(t, err, CodeTooLarge, "announced 0 bytes")

	flood[0] = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789"
	w = sends(t, flood...)
	w.secure.TLS.NextProtos = []string{"http/1.1"}
	_, err = fetchFrom(t, w, "https://8.8.8.8/")
	wantCode(t, err, CodeTooLarge, "announced 10 bytes")

	for name, tt := range map[string]struct {
		answer, want string
		cut          bool
	}{
		"a little more":   {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n0123456789", "01234", false},
		"less":            {"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n0123456789", "0123456789", true},
		"nothing":         {"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n", "", true},
		"half a chunk":    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nabc", "abc", true},
		"no last chunk":   {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", "abc", true},
		"until the end":   {"HTTP/1.1 200 OK\r\n\r\nabc", "abc", false},
		"both":            {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", "abc", false},
		"after hints":     {"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab", "ab", false},
		"very old":        {"HTTP/1.0 200 OK\r\n\r\nabc", "abc", false},
		"no content type": {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n<p>", "<p>", false},
	} {
		p, err := fetchFrom(t, sends(t, tt.answer), "http://8.8.8.8/")
		if err != nil || string(p.Body) != tt.want || p.Cut != tt.cut || p.Type != "" || p.Cacheable() == tt.cut {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}

func TestBadAnswers(t *testing.T) {
	for name, tt := range map[string]struct{ answer, code string }{
		"nothing":        {"", CodeConnection},
		"not http":       {"SSH-2.0-OpenSSH_9.9\r\n", CodeConnection},
		"escapes":        {"\x1b[2J\x1b]52;c;x\x07\r\n\r\n", CodeConnection},
		"half a header":  {"HTTP/1.1 200 OK\r\nContent-", CodeConnection},
		"two lengths":    {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", CodeConnection},
		"bad length":     {"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nab", CodeConnection},
		"bad chunk":      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", CodeConnection},
		"upgrade":        {"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n", CodeConnection},
		"one header":     {"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 100<<10) + "\r\n\r\n", CodeTooLarge},
		"many headers":   {"HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", 100<<10) + "\r\n", CodeTooLarge},
		"endless line":   {"HTTP/1.1 200 " + strings.Repeat("x", 1<<20), CodeTooLarge},
		"endless hints":  {strings.Repeat("HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n", 10<<10), CodeTooLarge},
		"forged in text": {"HTTP/1.1 200 OK\r\nA\x00B: c\r\n\r\n", CodeConnection},
	} {
		_, err := fetchFrom(t, sends(t, tt.answer), "http://8.8.8.8/")
		if codeOf(err) != tt.code {
			t.Errorf("%s: %v, want %s", name, err, tt.code)
		}
		if err != nil && (strings.ContainsAny(err.Error(), "\x1b\x07\x00") || len(err.Error()) > 1000) {
			t.Errorf("%s: %q", name, err)
		}
	}
	w := newWorld(t, func(rw http.ResponseWriter, _ *http.Request) {
		for i := range 2000 {
			rw.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("y", 100))
		}
	})
	_, err := fetchFrom(t, w, "https://8.8.8.8/") // HTTP/2, which does not say what is wrong
	wantCode(t, err, CodeConnection)
}

func TestMediaType(t *testing.T) {
	for header, want := range map[string][2]string{
		"":                                 {"", ""},
		"text/html":                        {"text/html", ""},
		"TEXT/HTML;Charset=\"UTF-8\"":      {"text/html", "utf-8"},
		"text/html; charset=a; charset=b":  {"text/html", "a"},
		"text/html; charset='latin1'; ; =": {"text/html", "latin1"},
		"text / html":                      {"text / html", ""},
		";":                                {"", ""},
		"text/plain;":                      {"text/plain", ""},
	} {
		if media, charset := mediaType(header); media != want[0] || charset != want[1] && want[1] != strings.Trim(charset, "'") {
			t.Errorf("%q is %q, %q", header, media, charset)
		}
	}
}
