package run

import (
	"bytes"
	"io"
	"sort"
)

// A redactor takes secrets out of a stream: each is replaced by a note that
// names the variable. It holds back no more than a secret's length, so that
// one that comes in two pieces is found too.
type redactor struct {
	secrets []Secret // longest first
	longest int
	held    []byte
}

func newRedactor(secrets []Secret) *redactor {
	r := &redactor{}
	for _, s := range secrets {
		if s.Value != "" {
			r.secrets = append(r.secrets, s)
			r.longest = max(r.longest, len(s.Value))
		}
	}
	sort.SliceStable(r.secrets, func(i, j int) bool { return len(r.secrets[i].Value) > len(r.secrets[j].Value) })
	return r
}

// next returns what can be shown of the stream after p. It may be p itself.
func (r *redactor) next(p []byte) []byte {
	if len(r.secrets) == 0 {
		return p
	}
	all := p
	if len(r.held) > 0 {
		all = append(r.held, p...)
		r.held = nil
	}
	all, safe := r.replace(all)
	keep := r.open(all[safe:])
	r.held = append([]byte(nil), all[len(all)-keep:]...)
	return all[:len(all)-keep]
}

// rest returns what was held back.
func (r *redactor) rest() []byte {
	held := r.held
	r.held = nil
	return held
}

// replace replaces every secret that stands whole in p, and says behind which
// place nothing was replaced.
func (r *redactor) replace(p []byte) (out []byte, safe int) {
	const gone = -1
	next := make([]int, len(r.secrets)) // where each stands next
	for i, s := range r.secrets {
		next[i] = bytes.Index(p, []byte(s.Value))
	}
	done := 0
	for {
		first := gone
		for i, s := range r.secrets {
			if next[i] != gone && next[i] < done {
				if next[i] = bytes.Index(p[done:], []byte(s.Value)); next[i] != gone {
					next[i] += done
				}
			}
			if next[i] != gone && (first == gone || next[i] < next[first]) {
				first = i
			}
		}
		if first == gone {
			break
		}
		out = append(out, p[done:next[first]]...)
		out = append(out, "[redacted:"+r.secrets[first].Name+"]"...)
		done = next[first] + len(r.secrets[first].Value)
	}
	if out == nil {
		return p, 0
	}
	return append(out, p[done:]...), len(out)
}

// open says how many bytes at the end of p may be the beginning of a secret.
func (r *redactor) open(p []byte) int {
	for n := min(len(p), r.longest-1); n > 0; n-- {
		tail := p[len(p)-n:]
		for _, s := range r.secrets {
			if n < len(s.Value) && string(tail) == s.Value[:n] {
				return n
			}
		}
	}
	return 0
}

// filter is what a stream goes through; nil where there is nothing to hide.
// At the end of the stream it is called without a piece.
func (r *redactor) filter() func(p []byte, end bool) []byte {
	if len(r.secrets) == 0 {
		return nil
	}
	return func(p []byte, end bool) []byte {
		out := r.next(p)
		if end {
			out = append(out[:len(out):len(out)], r.rest()...)
		}
		return out
	}
}

// A redacted reader is a stream without secrets.
type redacted struct {
	io.ReadCloser
	by   *redactor
	rest []byte // what was read and not yet given
	err  error
}

// Read gives what can be shown of the next piece.
func (r *redacted) Read(p []byte) (int, error) {
	for len(r.rest) == 0 && r.err == nil {
		buf := make([]byte, max(len(p), 4096))
		n, err := r.ReadCloser.Read(buf)
		r.rest, r.err = r.by.next(buf[:n]), err
		if err != nil {
			r.rest = append(r.rest[:len(r.rest):len(r.rest)], r.by.rest()...)
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	if n == 0 {
		return 0, r.err
	}
	return n, nil
}
