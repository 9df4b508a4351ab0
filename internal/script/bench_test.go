package script

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// prelude is about 50 KB of plain functions and classes.
func prelude() string {
	var b strings.Builder
	for i := 0; b.Len() < 50_000; i++ {
		fmt.Fprintf(&b, `
			class Thing%[1]d { #x = %[1]d; constructor(a, b = {}) { this.a = a; this.b = { ...b, n: %[1]d } }
				get x() { return this.#x + (this.a ?? 0) }
				static of(...list) { return list.map((e, i) => new Thing%[1]d(e, { i })).filter((t) => t.x > 3) } }
			globalThis.make%[1]d = function (o) { const { p, q = "d", ...rest } = o || {}; for (const k of Object.keys(rest)) if (/^[a-z]+$/.test(k)) return %[2]s; return p?.q };`,
			i, "`${p}:${q}`")
	}
	return b.String()
}

func benchNew(b *testing.B, code Code) {
	for b.Loop() {
		v, err := NewVM(VMOptions{Host: testHost{now: echo, later: echo}})
		if err != nil {
			b.Fatal(err)
		}
		if code.Source != "" || code.Bytecode != nil {
			if err := v.Load(b.Context(), "prelude.js", code); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(v.Usage().Memory)/1024, "KiB")
		if err := v.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNew(b *testing.B)       { benchNew(b, Code{}) }
func BenchmarkNewSource(b *testing.B) { benchNew(b, Code{Source: prelude()}) }

func BenchmarkNewBytecode(b *testing.B) {
	code, err := Compile("prelude.js", prelude())
	if err != nil {
		b.Fatal(err)
	}
	benchNew(b, Code{Bytecode: code})
}

func BenchmarkCompile(b *testing.B) {
	source := prelude()
	for b.Loop() {
		if _, err := Compile("prelude.js", source); err != nil {
			b.Fatal(err)
		}
	}
}

func benchCall(b *testing.B, source string, arg Data) {
	v := open(b, VMOptions{}, source)
	if arg.Raw != nil || len(arg.JSON) > 1000 {
		b.SetBytes(int64(len(arg.Raw) + len(arg.JSON)))
	}
	for b.Loop() {
		if _, err := v.Call(b.Context(), "f", arg); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCall(b *testing.B) {
	benchCall(b, `globalThis.f = (x) => x`, Data{JSON: []byte(`{"a":1}`)})
}

func BenchmarkCallNowLater(b *testing.B) {
	benchCall(b, `globalThis.f = async (x) => { const a = __now("n", JSON.stringify(x)); return JSON.parse(await __later("l", a)) }`, Data{JSON: []byte(`{"a":1}`)})
}

func BenchmarkBytesIn(b *testing.B) {
	benchCall(b, `globalThis.f = (_, raw) => raw.byteLength`, Data{Raw: make([]byte, 1<<20)})
}

func BenchmarkBytesOut(b *testing.B) {
	v := open(b, VMOptions{}, `const big = new Uint8Array(1 << 20); globalThis.f = () => big`)
	b.SetBytes(1 << 20)
	for b.Loop() {
		if d, err := v.Call(b.Context(), "f", Data{}); err != nil || len(d.Raw) != 1<<20 {
			b.Fatal(err)
		}
	}
}

func BenchmarkBytesNow(b *testing.B) {
	v := open(b, VMOptions{}, `const big = new Uint8Array(1 << 20); globalThis.f = () => __now("x", "0", big)[1].byteLength`)
	b.SetBytes(2 << 20)
	for b.Loop() {
		if _, err := v.Call(b.Context(), "f", Data{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTextBothWays(b *testing.B) {
	benchCall(b, `globalThis.f = (x) => x`, Data{JSON: []byte(`"` + string(bytes.Repeat([]byte("x"), 1<<20)) + `"`)})
}
