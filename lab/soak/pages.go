package main

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

// pages is a web server that is not always well.
type pages struct {
	url  string
	web  *http.Server
	done chan struct{}
}

// The pages that there are.
func pagePaths() []string {
	return []string{"/page", "/page", "/page", "/large", "/slow", "/cut", "/broken", "/round", "/missing", "/endless"}
}

func servePages() (*pages, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	page := func(w http.ResponseWriter, paragraphs int) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<html><head><title>A page</title></head><body><main><h1>A page</h1>")
		for i := range paragraphs {
			if _, err := fmt.Fprintf(w, "<p>Paragraph %d of <b>a page</b> that has <a href=/page>links</a>.</p>", i); err != nil {
				return
			}
		}
	}
	mux.HandleFunc("/page", func(w http.ResponseWriter, _ *http.Request) { page(w, 30) })
	mux.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) { page(w, 20_000) })
	mux.HandleFunc("/slow", func(w http.ResponseWriter, r *http.Request) {
		page(w, 3)
		_ = http.NewResponseController(w).Flush() // who does not read has gone
		select {
		case <-time.After(2 * time.Second):
		case <-r.Context().Done():
		}
	})
	mux.HandleFunc("/cut", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100000")
		page(w, 10)
		panic(http.ErrAbortHandler)
	})
	mux.HandleFunc("/broken", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		fmt.Fprint(w, strings.Repeat("this is not gzip", 50))
	})
	mux.HandleFunc("/round", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/round", http.StatusFound) })
	mux.HandleFunc("/endless", func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := fmt.Fprint(w, strings.Repeat("no end of it\n", 1000)); err != nil {
				return
			}
		}
	})
	p := &pages{url: "http://" + l.Addr().String(), web: &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		_ = p.web.Serve(l) // until it is closed
	}()
	return p, nil
}

func (p *pages) close() {
	_ = p.web.Close() // nothing is left to be said
	<-p.done
}
