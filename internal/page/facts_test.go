package page

import (
	"strings"
	"testing"
)

func TestRefresh(t *testing.T) {
	for _, c := range []struct{ html, want string }{
		{`<meta http-equiv="refresh" content="0; url=/new">`, "/new"},
		{`<meta http-equiv="Refresh" content=" 5 ; URL = 'https://x.org/a b' x">`, "https://x.org/a b"},
		{`<meta http-equiv=refresh content="0.5,next.html">`, "next.html"},
		{`<base href="https://x.org/d/"><meta http-equiv=refresh content="0;url=../e?f=1">`, "https://x.org/e?f=1"},
		{`<noscript><meta http-equiv=refresh content="0;url=plain"></noscript>`, "plain"},
		{`<meta http-equiv=refresh content="30"><meta http-equiv=refresh content="1; url=second">`, "second"},
		{`<meta http-equiv=refresh content="30">`, ""},
		{`<meta http-equiv=refresh content="url=/x">`, ""},
		{`<meta http-equiv=refresh content="0; url=javascript:x()">`, ""},
		{`<meta http-equiv=refresh content="0; url=">`, ""},
		{`<meta name=refresh content="0; url=/x">`, ""},
		{``, ""},
	} {
		got, ok := parsed(t, c.html).Refresh()
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q, %v", c.html, got, ok)
		}
	}
}

func TestScripted(t *testing.T) {
	words := strings.Repeat("words ", 50)
	for _, c := range []struct {
		html string
		want bool
	}{
		{`<title>` + words + `</title><div id=root></div><script src=a.js></script>`, true},
		{`<div id=root>Loading</div><noscript>` + words + `</noscript><script type=module>x()</script>`, true},
		{`<script>` + words + `</script>`, true},
		{`<p>` + words + `</p><script src=a.js></script>`, false},
		{`<script src=a.js></script><p>` + words, false},
		{`<p>short</p>`, false},
		{`<p>short</p><script type="application/ld+json">{}</script>`, false},
		{`<p hidden>` + words + `</p><script src=a.js></script>`, true},
		{``, false},
	} {
		if got := parsed(t, c.html).Scripted(); got != c.want {
			t.Errorf("%.80s: %v", c.html, got)
		}
	}
	if (&Doc{}).Scripted() {
		t.Error("a page without nodes is made by a program")
	}
}
