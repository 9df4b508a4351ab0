package media

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
)

func BenchmarkImage12MP(b *testing.B) {
	for what, data := range map[string][]byte{
		"JPEG": asJPEG(gradient(4000, 3000)),
		"PNG":  asPNG(flat(4000, 3000)),
	} {
		b.Run(what, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p, err := Image(context.Background(), data, Limits{})
				if err != nil || p.Width != 2000 || p.Height != 1500 {
					b.Fatal(p.Width, p.Height, err)
				}
			}
		})
	}
}

func BenchmarkImageThrough(b *testing.B) {
	data := asPNG(flat(1600, 1000))
	for b.Loop() {
		if _, err := Image(context.Background(), data, Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPDF(b *testing.B) {
	line := strings.Repeat("0 -14 Td [(Some)-333(words)-333(of)-250(a)-300(line)-333(that)-333(goes)-300(on)] TJ ", 45)
	var contents []string
	for i := range 5000 {
		contents = append(contents, hello(fmt.Sprint(i))+" BT /F1 12 Tf 72 700 Td "+line+"ET")
	}
	data := (&maker{flate: true}).pages(0, contents...).packed()
	b.Run("open 5000 pages", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := OpenPDF(context.Background(), bytes.NewReader(data), int64(len(data))); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("text of 20 pages", func(b *testing.B) {
		d, err := OpenPDF(context.Background(), bytes.NewReader(data), int64(len(data)))
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			if _, err := d.Text(context.Background(), 2001, 2020); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkNotebook100MB(b *testing.B) {
	data := []byte(`{"nbformat": 4, "cells": [{"cell_type": "code", "source": "x", "outputs": [{"output_type": "stream", "name": "stdout", "text": "` +
		strings.Repeat("a line of output, and then another one\\n", 2_500_000) + `"}]}]}`)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Notebook(data); err != nil {
			b.Fatal(err)
		}
	}
}
