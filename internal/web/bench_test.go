package web

import (
	"net/http"
	"strings"
	"testing"
)

func BenchmarkRead(b *testing.B) {
	for name, raw := range map[string]string{
		"plain":         "https://example.com/docs/reference/page.html?section=2",
		"international": "https://münchen.example/straße",
		"dots":          "http://example.com" + strings.Repeat("/../a", 12000),
		"escapes":       "http://example.com/" + strings.Repeat("%41", 20000),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Read(raw); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkGet(b *testing.B) {
	page := []byte(strings.Repeat("hello ", 10000))
	w := newWorld(b, func(rw http.ResponseWriter, _ *http.Request) { rw.Write(page) })
	c := New(w.options())
	for _, scheme := range []string{"http", "https"} {
		b.Run(scheme, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Get(b.Context(), Get{Address: mustRead(b, scheme+"://8.8.8.8/")}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
