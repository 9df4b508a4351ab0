package web

import (
	"strings"
	"testing"
)

// Replies of the full size, of the kinds that could be costly to read.
func BenchmarkHostile(b *testing.B) {
	fill := func(s string) string { return strings.Repeat(s, maxReply/len(s)) }
	for name, s := range map[string]string{
		"brackets": fill("<"), "tags": fill("<b>"), "scripts": fill("<script>x</script>"), "values": fill("a=key="),
		"escapes": fill("\x1b"), "lines": fill("x\n"),
	} {
		b.Run("text/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				masked(s)
				pageText(s)
				render([]hit{{s, s, s, []string{unmarked(s), s}}}, SearchQuery{Count: 8}, same)
			}
		})
	}
	k := SearchOptions{Key: strings.Repeat("s", 63) + "k"}.secret()
	for name, s := range map[string]string{
		"plain": fill("words "), "key": fill("s"), "percents": fill("%73"), "references": fill("&#115;"), "backslashes": fill(`\`),
	} {
		b.Run("secret/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				k.hide(s)
			}
		})
	}
	for name, s := range map[string]string{
		"data": fill("data:\n"), "events": fill("data: {}\n\n"), "broken": fill("data: {\n"), "batch": "[" + fill("1,") + "1]",
		"content": `{"result":{"content":[` + fill("{},") + "{}]}}", "deep": fill("["), "answer": `{"result":{"content":[{"text":"` + fill("word ") + `"}]}}`,
	} {
		b.Run("reply/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			for b.Loop() {
				_, _ = readReply([]byte(s), false)
			}
		})
	}
}
