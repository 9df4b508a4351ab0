package mcpclient

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// BenchmarkSchema reads the corpus, and the worst that fits into the limits.
func BenchmarkSchema(b *testing.B) {
	raw, err := os.ReadFile("testdata/foreign/schemas.txtar")
	if err != nil {
		b.Fatal(err)
	}
	files := txtar.Parse(raw).Files
	b.Run("corpus", func(b *testing.B) {
		for b.Loop() {
			for _, f := range files {
				_, _ = given(string(f.Data)).Schema()
			}
		}
	})
	worst := map[string]string{}
	var chain strings.Builder
	for i := range 3_000 {
		fmt.Fprintf(&chain, `"d%d":{"oneOf":[{"$ref":"#/$defs/d%d"},{"format":"x"}]},`, i, i+1)
	}
	worst["chain"] = `{"properties":{"a":{"$ref":"#/$defs/d0"}},"$defs":{` + chain.String() + `"d3000":{}}}`
	var wide strings.Builder
	for i := range 9_000 {
		fmt.Fprintf(&wide, `"property%d":{"x-a":1},`, i)
	}
	worst["wide"] = `{"properties":{` + wide.String() + `"a":{}}}`
	worst["deep"] = `{"properties":{"a":` + strings.Repeat(`{"items":{"x":"`+strings.Repeat("y", 4000)+`","not":`, 31) + `{}` + strings.Repeat("}}", 31) + `}}`
	var patterns strings.Builder
	for i := range 5_000 {
		fmt.Fprintf(&patterns, `"p%d":{"pattern":"^(a{99}){10}$"},`, i)
	}
	worst["patterns"] = `{"properties":{` + patterns.String() + `"a":{}}}`
	for name, schema := range worst {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, err = given(schema).Schema()
			}
			b.Logf("%d bytes: %v", len(schema), err)
		})
	}
}
