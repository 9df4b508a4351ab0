package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A body whose connection is closed because the time is over ends as if it
// were whole, where TLS says goodbye.
func TestHalfAPageIsNone(t *testing.T) {
	for range 20 {
		sent := make(chan struct{})
		w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
			fmt.Fprint(rw, "the first part")
			rw.(http.Flusher).Flush()
			close(sent)
			<-r.Context().Done()
		})
		w.secure.TLS.NextProtos = []string{"http/1.1"}
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() {
			<-sent
			cancel(errAsked)
		}()
		p, err := New(w.options()).Get(ctx, Get{Address: mustRead(t, "https://8.8.8.8/")})
		if p != nil || err != errAsked {
			t.Fatalf("%+v, %v", p, err)
		}
	}
}

func TestPageOfExactlyTheLimit(t *testing.T) {
	body := strings.Repeat("x", 1<<20)
	for range 5 {
		w := newWorld(t, func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Length", fmt.Sprint(len(body)))
			fmt.Fprint(rw, body)
		})
		w.secure.TLS.NextProtos = []string{"http/1.1"}
		p, err := New(w.options()).Get(t.Context(), Get{Address: mustRead(t, "https://8.8.8.8/"), Limit: int64(len(body))})
		if err != nil || p.Cut || len(p.Body) != len(body) {
			t.Fatalf("%v, %v", p != nil && p.Cut, err)
		}
	}
}

func TestProxyOfTheEnvironment(t *testing.T) {
	for set, fails := range map[string]bool{
		"http://user:PP%zzASS@127.0.0.1:1": true, "http://": true, "127.0.0.1:8080": false, "socks5://127.0.0.1:1": false, "": false,
	} {
		t.Setenv("HTTP_PROXY", set)
		t.Setenv("HTTPS_PROXY", "")
		_, err := proxyOf(environment)
		if (err != nil) != fails || err != nil && strings.Contains(err.Error(), "PP") {
			t.Errorf("%q: %v", set, err)
		}
	}
}

// Names that are given inside a network are not left to a proxy.
func TestInsideNamesPassNoProxy(t *testing.T) {
	for host, want := range map[string]bool{
		"metadata": true, "ip6-localhost": true, "metadata.azure.internal": true, "printer.local": true, "nas.home.arpa": true,
		"localhost.localdomain": true, "example.com": false, "internal.example.com": false,
	} {
		if looksInside(host) != want {
			t.Errorf("%s: %t", host, !want)
		}
	}
	w := newWorld(t, func(http.ResponseWriter, *http.Request) {}).name("intranet", "10.0.0.5")
	o := w.options()
	o.Proxy = "http://127.0.0.1:1"
	_, err := New(o).Get(t.Context(), Get{Address: mustRead(t, "http://intranet/")})
	wantCode(t, err, CodeBlockedAddress, "private network")
}

func TestDeadProxyIsNamed(t *testing.T) {
	_, err := New(Options{Proxy: "http://user:secret@127.0.0.1:1"}).Get(t.Context(), Get{Address: mustRead(t, "http://example.com/")})
	wantCode(t, err, CodeConnection, "the proxy 127.0.0.1:1")
	if strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}

func TestAliases(t *testing.T) {
	for raw, want := range map[string][]string{
		"http://[64:ff9b::808:808]/x":       {"http://8.8.8.8/x"},
		"http://[2002:808:808::]:81/":       {"http://8.8.8.8:81/"},
		"https://xn--mnchen-3ya.example/?q": {"https://münchen.example/?q"},
		"https://example.com/":              nil,
		"http://8.8.8.8/":                   nil,
	} {
		if diff := cmp.Diff(want, mustRead(t, raw).Aliases()); diff != "" {
			t.Errorf("%s: %s", raw, diff)
		}
	}
}

// An answer that is no HTTP, and one that is HTTP without TLS, say what to try.
func TestWrongProtocol(t *testing.T) {
	_, err := fetchFrom(t, sends(t, "SSH-2.0-OpenSSH_9.9\r\n\r\n"), "http://8.8.8.8/")
	wantCode(t, err, CodeConnection, "does not speak HTTP")
	w := newWorld(t, func(http.ResponseWriter, *http.Request) {})
	o := w.options()
	o.Dial = nil
	_, err = New(o).Get(t.Context(), Get{Address: mustRead(t, "https://"+w.plain.Listener.Addr().String()+"/"), Judge: anywhere})
	wantCode(t, err, CodeConnection, "try http://")
}

// A body that is decoded to nothing, for ever, ends.
func TestEndlessNothing(t *testing.T) {
	var member bytes.Buffer
	gzip.NewWriter(&member).Close()
	w := newWorld(t, func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Encoding", "gzip")
		for many := bytes.Repeat(member.Bytes(), 1000); ; {
			if _, err := rw.Write(many); err != nil {
				return
			}
		}
	})
	_, err := New(w.options()).Get(t.Context(), Get{Address: mustRead(t, "http://8.8.8.8/"), Limit: 1 << 16})
	wantCode(t, err, CodeTooLarge, "say nothing")
}
