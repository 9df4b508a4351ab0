package config

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What can not work is told where it stands, and without its value.
func TestNetworkProblems(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []string // after the file
	}{
		{`{"web": {"proxy": "http://proxy:3128"}}`, nil},
		{`{"web": {"proxy": "environment"}}`, nil},
		{`{"web": {"proxy": "SOCKS5://u:hunter2@[::1]:1080"}}`, nil},
		{`{"web": {"proxy": "ftp://hunter2"}}`, []string{`1:19: "web.proxy" is not the URL of a proxy; write http://, https:// or socks5:// with a host, or "environment"`}},
		{`{"web": {"proxy": "hunter2:8080"}}`, []string{`1:19: "web.proxy" is not`}},
		{`{"web": {"proxy": "http://hunter2:99999"}}`, []string{`1:19: "web.proxy" is not`}},
		{`{"websearch": {"provider": "exa"}}`, nil},
		{`{"websearch": {"timeout_ms": 5}}`, nil},
		{`{"websearch": {"provider": "brave", "key": "{env:KEY}"}}`, nil},
		{`{"websearch": {"provider": "brave"}}`, []string{`1:28: "websearch.provider" is brave, which needs "websearch.key": your key, such as "{env:BRAVE_API_KEY}"`}},
		{"{\"codesearch\": {\"provider\": \"tavily\",\n\"key\": \"{env:NONE}\"}}",
			[]string{`2:8: "codesearch.key" is empty, and the provider tavily needs it: your key, such as "{env:TAVILY_API_KEY}"`}},
		{`{"websearch": {"provider": "exa", "key": "hunter2 hunter2"}}`, []string{`1:42: "websearch.key" holds a character that can not be part of a key`}},
		{`{"websearch": {"provider": "searxng"}}`, []string{`1:28: "websearch.provider" is searxng, which needs "websearch.endpoint": the address of your server, such as http://localhost:8080`}},
		{`{"websearch": {"provider": "searxng", "endpoint": " http://localhost:8080/x?y=z "}}`, nil},
		{`{"websearch": {"provider": "command"}, "codesearch": {"provider": "command", "command": [""]}}`,
			[]string{`1:28: "websearch.provider" is command, which needs "websearch.command": `, `1:89: "codesearch.command" is empty, and the provider command needs it: `}},
		{`{"websearch": {"provider": "command", "command": ["my-search"]}}`, nil},
		{`{"websearch": {"provider": "exa", "endpoint": "https://u:hunter2@exa.example"}}`,
			[]string{`1:47: "websearch.endpoint" is not the address of a server; write it as https://host or http://host:port, without a user name or password`}},
	} {
		_, opt := project(t)
		opt.Env = func(name string) string { return map[string]string{"KEY": "k"}[name] }
		file := filepath.Join(opt.Home, ".config/helve/helve.json")
		write(t, file, tt.text)
		var got []string
		for _, p := range load(t, opt).Problems {
			if p.Severity != Warning {
				t.Errorf("%s: %+v", tt.text, p)
			}
			said := strings.TrimPrefix(p.Error(), file+":")
			if i := len(got); i < len(tt.want) && strings.HasPrefix(said, tt.want[i]) {
				said = tt.want[i]
			}
			if strings.Contains(said, "hunter2") {
				t.Errorf("%s shows a secret", said)
			}
			got = append(got, said)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", tt.text, diff)
		}
	}
}

// Of a file that is not trusted, a check tells what it can know.
func TestNetworkOfOthers(t *testing.T) {
	_, opt := project(t)
	opt.Env = func(name string) string { return map[string]string{"KEY": "hunter2"}[name] }
	write(t, filepath.Join(opt.Dir, "helve.json"), `{
  "websearch": {"provider": "brave", "key": "{env:KEY}"},
  "codesearch": {"provider": "searxng"},
  "web": {"proxy": "x"}
}`)
	c, err := Check(opt)
	if err != nil {
		t.Fatal(err)
	}
	var lines []int
	for _, p := range c.Problems {
		lines = append(lines, p.Line)
	}
	if !slices.Equal(lines, []int{3, 4}) {
		t.Errorf("got %+v", c.Problems)
	}
	if n := len(load(t, opt).Problems); n != 0 {
		t.Errorf("what is not in force has %d problems", n)
	}
}

func TestUsableAddress(t *testing.T) {
	for address, want := range map[string]bool{
		"http://localhost:8888": true, "HTTPS://search.example/a?b=c#d": true, "http://[::1]:80/": true, "http://127.0.0.1": true,
		"http://a.2b": true, "http://xn--bcher-kva.example.": true, "http://bücher.example": true,
		"": false, "localhost:8888": false, "//x": false, "ftp://x": false, "http://": false, "http:x": false, "http:///x": false,
		"http://u@x": false, "http://x:": false, "http://x:0": false, "http://x:080": false, "http://x:65536": false, "http://x:y": false,
		"http://x\\y": false, "http://x/\u202ey": false, "http://x/\x01": false, "http://\xff": false, "http://%41": false,
		"http://2130706433": false, "http://0x7f.1": false, "http://127.1": false, "http://017.0.0.1": false, "http://[fe80::1%25eth0]": false,
	} {
		if got := usableAddress(address); got != want {
			t.Errorf("%q: %t", address, got)
		}
	}
}
