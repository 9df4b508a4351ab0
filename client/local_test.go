package client_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/helve-dev/helve/client"
)

// announce leaves the note of a server, as the command does; a live one holds
// its lock.
func announce(t *testing.T, data string, s client.LocalServer, live bool) {
	t.Helper()
	folder := filepath.Join(data, "servers")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	stem := filepath.Join(folder, strconv.Itoa(s.PID))
	if err := os.WriteFile(stem+".json", text, 0o600); err != nil {
		t.Fatal(err)
	}
	lock := flock.New(stem + ".lock")
	if ok, err := lock.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if !live {
		if err := lock.Unlock(); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Cleanup(func() { _ = lock.Unlock() })
}

func TestLocal(t *testing.T) {
	data, home := t.TempDir(), t.TempDir()
	t.Setenv("HELVE_DATA_DIR", data)
	h := build(t, nil)
	secret := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(secret, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Local(h.dir); !errors.Is(err, client.ErrNoServer) {
		t.Errorf("where there is none: %v", err)
	}
	below := filepath.Join(h.dir, "a", "b")
	if err := os.MkdirAll(below, 0o755); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	announce(t, data, client.LocalServer{URL: "http://127.0.0.1:1", PID: 10, Directory: filepath.Dir(h.dir), TokenFile: secret, Started: begun.Add(time.Hour)}, true)
	announce(t, data, client.LocalServer{URL: "http://127.0.0.1:2", PID: 11, Directory: h.dir, TokenFile: secret, Started: begun.Add(-time.Hour)}, true)
	announce(t, data, client.LocalServer{URL: h.URL(), PID: 12, Directory: h.dir, TokenFile: secret, Started: begun}, true)
	announce(t, data, client.LocalServer{URL: "http://127.0.0.1:3", PID: 13, Directory: h.dir, TokenFile: secret, Started: begun.Add(time.Minute)}, false)
	announce(t, data, client.LocalServer{URL: "http://127.0.0.1:4", PID: 14, Directory: filepath.Join(h.dir, "gone"), TokenFile: secret}, true)
	for name, text := range map[string]string{"15.json": "{", "16.json": `{"url":7}`, "17.json": `{"directory":"/"}`, "note.txt": "x"} {
		if err := os.WriteFile(filepath.Join(data, "servers", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(data, "servers", "18.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{h.dir, below} {
		c, err := client.Local(dir)
		if err != nil {
			t.Fatal(err)
		}
		if info := must[client.Info](t)(c.GetInfo(soon(t))); info.Directory != h.dir {
			t.Errorf("for %s it is the server of %s", dir, info.Directory)
		}
		c.Close()
	}
	link := filepath.Join(home, "link")
	if err := os.Symlink(below, link); err != nil {
		t.Skipf("no links here: %v", err)
	}
	t.Chdir(link)
	c, err := client.Local("")
	if err != nil || c.URL() != h.URL() {
		t.Errorf("by another name of the folder: %v", err)
	}
	list, err := client.LocalServers()
	if err != nil || len(list) != 3 || list[0].PID != 10 || list[1].PID != 12 || list[2].PID != 11 {
		t.Errorf("the servers are %+v, %v", list, err)
	}
	if _, err := client.Local(string(filepath.Separator)); !errors.Is(err, client.ErrNoServer) {
		t.Errorf("for another folder: %v", err)
	}
	if _, err := client.Local(filepath.Join(home, "none")); err == nil {
		t.Error("for a folder that is not there")
	}
	if _, err := (client.LocalServer{URL: h.URL(), TokenFile: filepath.Join(home, "none")}).Client(); err == nil {
		t.Error("without its token")
	}
}

// TestLocalTLS finds a server that speaks TLS, under a name that this machine
// does not know, and sends no token to one with another certificate.
func TestLocalTLS(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(secret, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var met atomic.Int64
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if met.Add(1); r.Header.Get("Authorization") != "Bearer "+token {
			t.Errorf("it was sent %q", r.Header.Get("Authorization"))
		}
		_, _ = w.Write([]byte(`{"version":"of TLS"}`))
	}))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	defer srv.Close()
	sum := sha256.Sum256(srv.Certificate().Raw)
	s := client.LocalServer{URL: "https://nowhere.invalid:1", Local: srv.URL, TokenFile: secret, Certificate: hex.EncodeToString(sum[:])}
	c := must[*client.Client](t)(s.Client())
	defer c.Close()
	if info := must[client.Info](t)(c.GetInfo(soon(t))); info.Version != "of TLS" || met.Load() != 1 {
		t.Errorf("it says %+v", info)
	}
	for name, digest := range map[string]string{"another": strings.Repeat("0", 64), "none": ""} {
		s.Certificate = digest
		other := must[*client.Client](t)(s.Client(client.WithTries(1)))
		if _, err := other.GetInfo(soon(t)); err == nil || met.Load() != 1 {
			t.Errorf("with %s certificate: %v", name, err)
		}
		other.Close()
	}
}

// TestWhereServersAreLookedFor goes by the environment, as the command does.
func TestWhereServersAreLookedFor(t *testing.T) {
	base := t.TempDir()
	dir := t.TempDir()
	for name, c := range map[string]struct{ env, data string }{
		"HELVE_DATA_DIR": {filepath.Join(base, "own"), filepath.Join(base, "own")},
		"XDG_DATA_HOME":  {filepath.Join(base, "xdg"), filepath.Join(base, "xdg", "helve")},
		"HOME":           {filepath.Join(base, "home"), filepath.Join(base, "home", ".local", "share", "helve")},
	} {
		t.Run(name, func(t *testing.T) {
			for _, other := range []string{"HELVE_DATA_DIR", "XDG_DATA_HOME", "HOME"} {
				t.Setenv(other, "")
			}
			t.Setenv(name, c.env)
			announce(t, c.data, client.LocalServer{URL: "http://127.0.0.1:1", PID: 10, Directory: dir}, true)
			if _, err := client.Local(dir); err != nil {
				t.Error(err)
			}
		})
	}
}
