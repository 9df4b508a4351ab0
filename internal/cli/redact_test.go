package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is secret in a URL is not shown, wherever the URL stands.
func TestURLsWithoutSecrets(t *testing.T) {
	for in, want := range map[string]string{
		"":                                    "",
		"no URL: a@b?key=1":                   "no URL: a@b?key=1",
		"http://localhost:8080/@scope/x?q=a":  "http://localhost:8080/@scope/x?q=a",
		"http://[::1]/@x":                     "http://[::1]/@x",
		"https://user:pw@proxy:3128":          "https://[redacted]@proxy:3128",
		"socks5://pw@proxy/x@y":               "socks5://[redacted]@proxy/x@y",
		"http://user:p@w@proxy/":              "http://[redacted]@proxy/",
		"http://user:p/w?x@proxy/a":           "http://[redacted]@proxy/a",
		"http://x/?api_key=pw&q=a&X-Sig=pw#f": "http://x/?api_key=[redacted]&q=a&X-Sig=[redacted]#f",
		"http://x?q=a;Password=pw;pw&b=c":     "http://x?q=a;Password=[redacted]&b=c",
		"http://x/monkey=1?to%6ben=pw":        "http://x/monkey=1?to%6ben=[redacted]",
		"http://x#access_token=pw":            "http://x#access_token=[redacted]",
		"http://x?auth":                       "http://x?auth",
		"curl 'https://u:pw@a/' https://pw@b": "curl 'https://[redacted]@a/' https://[redacted]@b",
		"://":                                 "://",
	} {
		got := redactText(in)
		if diff := cmp.Diff(want, got); diff != "" || strings.Contains(got, "pw") {
			t.Errorf("%s: %s", in, diff)
		}
	}
	const config = `{"web":{"proxy":"http://u:hunter2@p"},"a":["https://x?token=hunter2"]}`
	const shown = `{"web":{"proxy":"http://[redacted]@p"},"a":["https://x?token=[redacted]"]}`
	if diff := cmp.Diff(shown, string(redactJSON([]byte(config)))); diff != "" {
		t.Error(diff)
	}
}

// Variables and arguments of commands may hold anything; names of variables do not.
func TestCommandsWithoutSecrets(t *testing.T) {
	in := `{"mcp":{"a":{"command":["x","--token","t0p","--api-key=k","-v","b","--port","80"],"environment":{"FOO":"f00"}}},` +
		`"provider":{"p":{"env":["P_NAME"]}},"lsp":{"l":{"env":{"BAR":"b4r"}}}}`
	want := `{"mcp":{"a":{"command":["x","--token","[redacted]","--api-key=[redacted]","-v","b","--port","80"],"environment":{"FOO":"[redacted]"}}},` +
		`"provider":{"p":{"env":["P_NAME"]}},"lsp":{"l":{"env":{"BAR":"[redacted]"}}}}`
	if diff := cmp.Diff(want, string(redactJSON([]byte(in)))); diff != "" {
		t.Error(diff)
	}
}

func TestRedacted(t *testing.T) {
	const in = `{"b":1,"a":{"apiKey":"x","n":[true,null,"y"],"headers":{"X":"z","list":["q"]}},"token_file":"t","c":1.50}`
	const want = `{"b":1,"a":{"apiKey":"[redacted]","n":[true,null,"y"],"headers":{"X":"[redacted]","list":["[redacted]"]}},"token_file":"[redacted]","c":1.50}`
	if diff := cmp.Diff(want, string(redactJSON([]byte(in)))); diff != "" {
		t.Error(diff)
	}
}

func TestMember(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"apiKey", `"x`, `"[redacted]"`}, // its end was cut off
		{"apiKey", "", ""},
		{"url", `"http://u:pw@h"`, `"http://[redacted]@h"`},
		{"server", `{"token":"pw","n":1}`, `{"token":"[redacted]","n":1}`},
		{"url", `"http://pw@h`, `"the config can not be shown"`},
	} {
		if got := string(redactMember(c.name, []byte(c.value))); got != c.want {
			t.Errorf("%s %s: %s", c.name, c.value, got)
		}
	}
}
