package builtin_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A webBody says what a server sends, and what it says about it.
type webBody struct {
	Type       string          `json:"type"`
	HTML       json.RawMessage `json:"html"`
	Text       json.RawMessage `json:"text"`
	Length     *int64          `json:"content_length"` // as announced
	Send       *int64          `json:"send"`           // bytes that are sent
	Encoding   string          `json:"encoding"`
	Compressed int64           `json:"compressed"` // what is sent of a body that inflates
	Inflated   int64           `json:"inflated"`   // to so many bytes
	Slow       float64         `json:"slow_bytes_per_s"`

	content string
}

func bodyOf(t *testing.T, raw json.RawMessage) webBody {
	t.Helper()
	var b webBody
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&b); err != nil {
		t.Fatalf("the body %s: %v", raw, err)
	}
	b.content = "hello"
	kind := "text/plain"
	switch {
	case b.HTML != nil:
		b.content, kind = generated(t, b.HTML), "text/html; charset=utf-8"
	case b.Text != nil:
		b.content = generated(t, b.Text)
	}
	if b.Type == "" {
		b.Type = kind
	}
	if b.Send == nil && b.Length != nil {
		b.Send = b.Length
	}
	return b
}

// honest reports whether a body is what it says it is. Of those that are not
// even the size of what is kept counts as an attack.
func (v webVector) honest(t *testing.T) bool {
	t.Helper()
	if v.Body == nil {
		return true
	}
	b := bodyOf(t, v.Body)
	return b.Encoding == "" && b.Inflated == 0 && (b.Length == nil || *b.Length == *b.Send)
}

func (b webBody) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", b.Type)
	if b.Encoding != "" {
		h.Set("Content-Encoding", b.Encoding)
	}
	switch {
	case b.Inflated > 0:
		bomb(w, b.Inflated)
	case b.Slow > 0:
		b.drip(w, r)
	case b.Send != nil:
		b.lie(w)
	default:
		_, _ = io.Copy(w, strings.NewReader(b.packed()))
	}
}

// packed is the content in the encoding that is announced, where it is one.
func (b webBody) packed() string {
	var out bytes.Buffer
	var z io.WriteCloser
	switch b.Encoding {
	case "gzip", "x-gzip":
		z = gzip.NewWriter(&out)
	case "deflate":
		z = zlib.NewWriter(&out)
	default:
		return b.content
	}
	_, _ = io.WriteString(z, b.content)
	_ = z.Close()
	return out.String()
}

// lie sends as many bytes as it likes, whatever it has announced.
func (b webBody) lie(w http.ResponseWriter) {
	conn, buf, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	fmt.Fprint(buf, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: "+b.Type+"\r\n")
	if b.Length != nil {
		fmt.Fprintf(buf, "Content-Length: %d\r\n", *b.Length)
	}
	fmt.Fprint(buf, "\r\n")
	chunk := bytes.Repeat([]byte("0123456789abcdef"), 1<<10)
	for left := *b.Send; left > 0; left -= int64(len(chunk)) {
		if _, err := buf.Write(chunk[:min(left, int64(len(chunk)))]); err != nil {
			return
		}
	}
	_ = buf.Flush()
}

// bomb sends little that inflates to much, for as long as somebody reads it.
func bomb(w io.Writer, inflated int64) {
	var member bytes.Buffer
	z, _ := gzip.NewWriterLevel(&member, gzip.BestCompression) // the level is one
	const size = 1 << 20
	_, _ = z.Write(make([]byte, size))
	_ = z.Close()
	for ; inflated > 0; inflated -= size {
		if _, err := w.Write(member.Bytes()); err != nil {
			return
		}
	}
}

// drip sends byte by byte until nobody listens.
func (b webBody) drip(w http.ResponseWriter, r *http.Request) {
	tick := time.NewTicker(time.Duration(float64(time.Second) / b.Slow))
	defer tick.Stop()
	for {
		_, _ = io.WriteString(w, "x")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
			return
		case <-tick.C:
		}
	}
}
