package builtin_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
)

// pictures are small images of every kind, by the usual end of their names.
func pictures(t *testing.T) map[string]string {
	t.Helper()
	webp, err := base64.StdEncoding.DecodeString("UklGRiQAAABXRUJQVlA4IBgAAAAwAQCdASoBAAEAAwA0JaQAA3AA/vuUAAA=") // one pixel
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"png": picture(t, 40, 30, png.Encode), "bmp": picture(t, 40, 30, bmp.Encode), "webp": string(webp),
		"jpg":  picture(t, 40, 30, func(w io.Writer, i image.Image) error { return jpeg.Encode(w, i, nil) }),
		"gif":  picture(t, 40, 30, func(w io.Writer, i image.Image) error { return gif.Encode(w, i, nil) }),
		"tiff": picture(t, 40, 30, func(w io.Writer, i image.Image) error { return tiff.Encode(w, i, nil) }),
	}
}

// zooImages are pictures: whole, under wrong names, and broken in many ways.
func zooImages(t *testing.T) (all []creature) {
	t.Helper()
	whole := pictures(t)
	kinds := slices.Sorted(maps.Keys(whole))
	for i, kind := range kinds {
		data := whole[kind]
		other := kinds[(i+1)%len(kinds)]
		all = append(all,
			creature{name: "whole." + kind, data: []byte(data), want: "image"},
			creature{name: kind + "." + other, data: []byte(data), want: "image"},
			creature{name: kind + ".txt", data: []byte(data), want: "image"},
			creature{name: kind + "-head.png", data: []byte(data[:6]), want: "any"},
			creature{name: kind + "-then-text.png", data: []byte(data[:min(len(data), 30)] + "and then words, a lot of them"), want: "any"},
			creature{name: kind + "-twice.png", data: []byte(data + data), want: "picture"},
		)
		for _, part := range []int{4, 2} {
			all = append(all, creature{name: fmt.Sprintf("cut-%d.%s", part, kind), data: []byte(data[:len(data)-len(data)/part]), want: "picture"})
		}
		for at := 20; at < 60; at += 13 {
			flipped := []byte(data)
			flipped[at%len(data)] ^= 0x5a
			all = append(all, creature{name: fmt.Sprintf("flipped-%d.%s", at, kind), data: flipped, want: "any"})
		}
	}
	return all
}

// zooGiants are images that are large, or say that they are. Decoding may take
// longer than it is let, so a large one may end with an error too.
func zooGiants(t *testing.T) []creature {
	t.Helper()
	claim := func(w, h uint32) []byte { // a PNG with nothing behind its first words
		head := binary.BigEndian.AppendUint32([]byte("IHDR"), w)
		head = append(binary.BigEndian.AppendUint32(head, h), 8, 6, 0, 0, 0)
		out := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\r"), head...)
		return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(head))
	}
	grey := func(w, h int) string {
		var b strings.Builder
		if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	small := pictures(t)
	wide := func(kind string, at int, bytes ...byte) []byte {
		data := []byte(small[kind])
		copy(data[at:], bytes)
		return data
	}
	return []creature{
		{name: "claims-100000.png", data: claim(100_000, 100_000), want: "bad-image"},
		{name: "claims-most.png", data: claim(1<<31-1, 1<<31-1), want: "bad-image"},
		{name: "claims-none.png", data: claim(0, 0), want: "bad-image"},
		{name: "claims.gif", data: wide("gif", 6, 0xff, 0xff, 0xff, 0xff), want: "picture"},
		{name: "claims.bmp", data: wide("bmp", 18, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f), want: "bad-image"},
		{name: "grey-6000.png", data: []byte(grey(6000, 6000)), want: "picture", shows: "2000 x 2000"},
		{name: "grey-30000.png", data: []byte(grey(30_000, 3)), want: "image", shows: "30000 x 3 pixels"},
		{name: "grey-12000.png", data: []byte(grey(12_000, 12_000)), want: "picture"},
		{name: "heavy.png", data: []byte(picture(t, 1900, 1900, png.Encode)), want: "picture"},
		{name: "over-64MB.png", build: holes(64<<20+1, map[int64]string{0: small["png"]}), want: "too-large"},
	}
}

// pdfOf writes a PDF of n pages, each with a sentence of its own.
func pdfOf(n int) []byte {
	var b bytes.Buffer
	var at []int
	object := func(format string, args ...any) {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n"+format+"\nendobj\n", append([]any{len(at)}, args...)...)
	}
	b.WriteString("%PDF-1.4\n")
	object("<</Type/Catalog/Pages 2 0 R>>")
	kids := make([]string, n)
	for i := range kids {
		kids[i] = fmt.Sprintf("%d 0 R", 4+2*i)
	}
	object("<</Type/Pages/Count %d/Kids[%s]/MediaBox[0 0 200 200]/Resources<</Font<</F 3 0 R>>>>>>", n, strings.Join(kids, " "))
	object("<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>")
	for i := range n {
		text := fmt.Sprintf("BT /F 12 Tf 20 100 Td (This is page number %d) Tj ET", i+1)
		object("<</Type/Page/Parent 2 0 R/Contents %d 0 R>>", 5+2*i)
		object("<</Length %d>>\nstream\n%s\nendstream", len(text), text)
	}
	table := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
	for _, o := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(at)+1, table)
	return b.Bytes()
}

func zooPDFs() []creature {
	one, many := pdfOf(1), pdfOf(5000)
	return []creature{
		{name: "one.pdf", data: one, want: "pdf", shows: "PDF read successfully"},
		{name: "one.txt", data: one, want: "pdf"},
		{name: "hundred.pdf", data: pdfOf(100), want: "pdf"},
		{name: "hundred-one.pdf", data: pdfOf(101), want: "text", shows: "This is page number 20"},
		{name: "many.pdf", data: many, want: "text", shows: "PDF with 5000 pages"},
		{name: "many.pdf", data: many, args: map[string]any{"offset": 4990}, want: "text", shows: "This is page number 5000"},
		{name: "many.pdf", data: many, args: map[string]any{"offset": 5000}, want: "range"},
		{name: "cut-many.pdf", data: many[:len(many)/2], want: "any"},
		{name: "cut-one.pdf", data: one[:len(one)/2], want: "any"},
		{name: "head.pdf", data: []byte("%PDF-1.7\n"), want: "bad-pdf"},
		{name: "junk.pdf", data: append([]byte("%PDF-1.7\n"), bytes.Repeat([]byte("\x00\xff<<[("), 5000)...), want: "bad-pdf"},
		{name: "in-front.pdf", data: append([]byte("\r\n  "), one...), want: "pdf"},
		{name: "no-table.pdf", data: one[:bytes.Index(one, []byte("xref"))], want: "any"},
		{name: "wrong-table.pdf", data: bytes.Replace(one, []byte("startxref\n"), []byte("startxref\n9"), 1), want: "pdf"},
		{name: "loop.pdf", data: bytes.Replace(one, []byte("/Kids[4 0 R]"), []byte("/Kids[2 0 R]"), 1), want: "any"},
		{name: "liar.pdf", data: bytes.Replace(one, []byte("/Count 1/"), []byte("/Count 9999999/"), 1), want: "any"},
		{name: "nested.pdf", data: append([]byte("%PDF-1.4\n1 0 obj\n"), bytes.Repeat([]byte("["), 200_000)...), want: "bad-pdf"},
	}
}

// zooNotebooks are notebooks, good ones and broken ones. What is no notebook
// is shown as the text that it is.
func zooNotebooks() (all []creature) {
	text := func(v any) string { return encoded(v) }
	cell := func(kind, source string, outputs ...any) map[string]any {
		return map[string]any{"cell_type": kind, "source": []string{source}, "metadata": map[string]any{}, "outputs": outputs}
	}
	book := func(cells ...any) string {
		return text(map[string]any{"nbformat": 4, "nbformat_minor": 5, "metadata": map[string]any{}, "cells": cells})
	}
	stream := func(s string) any {
		return map[string]any{"output_type": "stream", "name": "stdout", "text": s}
	}
	good := book(cell("markdown", "# A title"), cell("code", "print(1)", stream("1\n")))
	for name, c := range map[string]struct{ text, shows string }{
		"good":       {good, "print(1)"},
		"marked":     {"\ufeff" + good, "print(1)"},
		"none":       {book(), ""},
		"long":       {book(cell("code", "go()", stream(strings.Repeat("a line of output\n", 100_000)))), "go()"},
		"many":       {book(slices.Repeat([]any{cell("code", "x = 1")}, 5000)...), "x = 1"},
		"picture":    {book(cell("code", "plot()", map[string]any{"output_type": "display_data", "data": map[string]string{"image/png": strings.Repeat("QUJD", 500_000)}})), "plot()"},
		"cut":        {good[:len(good)-20], "cell_type"},
		"list":       {"[1, 2, 3]", "[1, 2, 3]"},
		"cells":      {`{"nbformat":4,"cells":{"a":1}}`, "nbformat"},
		"types":      {`{"nbformat":4,"cells":[1,"x",null,{"cell_type":5,"source":7}]}`, ""},
		"words":      {"these are words, no notebook\n", "these are words"},
		"old":        {`{"nbformat":3,"worksheets":[{"cells":[{"cell_type":"code","input":["print(3)"],"outputs":[]}]}]}`, "print(3)"},
		"duplicates": {`{"nbformat":4,"nbformat":4,"cells":[],"cells":[]}`, ""},
		"numbers":    {`{"nbformat":4e400,"cells":[]}`, ""},
	} {
		all = append(all, creature{name: "book-" + name + ".ipynb", data: []byte(c.text), want: "text", shows: c.shows})
	}
	return append(all,
		creature{name: "book-nul.ipynb", data: append([]byte(good), 0), want: "any"},
		creature{name: "book-random.ipynb", data: bytes.Repeat([]byte{0, 1, 2, 3, 0xfe, 0xff}, 100), want: "binary"},
		creature{name: "book-png.ipynb", data: []byte("\x89PNG\r\n\x1a\nrest"), want: "bad-image"},
	)
}
