// Package console is the web console: its files, and the handler that serves
// them under the policy that they are written for.
package console

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

//go:embed assets
var assets embed.FS

// Policy is the Content-Security-Policy of every file: scripts, styles and
// requests of our own origin, nothing inline, and no text that becomes markup
// or code.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// home is where the console is.
const home = "/console/"

// A file is one of the console, ready to be sent.
type asset struct {
	body []byte
	mime string
	etag string // of what it holds
}

// A handler serves the files by their path.
type handler map[string]asset

// Handler serves the console below /console/, and leads there from / and
// /console. It answers GET and HEAD, knows no folders, and holds only what is
// compiled in. Whoever mounts it decides who may talk to it.
func Handler() http.Handler {
	h := handler{}
	err := fs.WalkDir(assets, "assets", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := assets.ReadFile(name)
		if err != nil {
			return err
		}
		mime, ok := typeOf(name)
		if !ok {
			return nil // a note for those who write it, not for browsers
		}
		sum := sha256.Sum256(body)
		h[home+strings.TrimPrefix(name, "assets/")] = asset{body, mime, `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`}
		return nil
	})
	if err != nil { // reading what is compiled in: can not fail
		panic(err)
	}
	h[home] = h[home+"index.html"]
	return h
}

// typeOf says what a browser is told about a file. The machine's own tables
// are not asked: with nosniff a wrong word there would break the page.
func typeOf(name string) (mime string, ok bool) {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8", true
	case ".css":
		return "text/css; charset=utf-8", true
	case ".js":
		return "text/javascript; charset=utf-8", true
	case ".svg":
		return "image/svg+xml", true
	}
	return "", false
}

// ServeHTTP answers one request.
func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("Content-Security-Policy", Policy)
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Referrer-Policy", "no-referrer")
	head.Set("Cross-Origin-Opener-Policy", "same-origin")
	head.Set("Cross-Origin-Resource-Policy", "same-origin")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		head.Set("Allow", "GET, HEAD")
		writeProblem(w, http.StatusMethodNotAllowed, "The console is read with GET. Its work goes through /v1.")
		return
	}
	if r.URL.Path == "/" || r.URL.Path == strings.TrimSuffix(home, "/") {
		head.Set("Location", home)
		head.Set("Cache-Control", "no-store")
		w.WriteHeader(http.StatusSeeOther)
		return
	}
	f, ok := h[r.URL.Path]
	if !ok {
		writeProblem(w, http.StatusNotFound, "The console has no such file. It begins at "+home+".")
		return
	}
	// A browser asks each time, and is told that nothing has changed: an older
	// page must not talk to a newer server. The gate makes no-store of it.
	head.Set("Cache-Control", "no-cache")
	head.Set("Content-Type", f.mime)
	head.Set("ETag", f.etag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.body))
}

// writeProblem answers with a problem. Nothing that a client sent is repeated.
func writeProblem(w http.ResponseWriter, status int, detail string) {
	body, err := json.Marshal(struct {
		Type   string `json:"type"`
		Title  string `json:"title"`
		Status int    `json:"status"`
		Detail string `json:"detail"`
		Code   string `json:"code,omitempty"`
	}{"about:blank", http.StatusText(status), status, detail, problemCode(status)})
	if err != nil { // strings and a number: can not fail
		panic(err)
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // the peer may be gone
}

func problemCode(status int) string {
	if status == http.StatusNotFound {
		return "not-found"
	}
	return ""
}
