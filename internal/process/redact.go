package process

import (
	"bytes"
	"io"
	"sort"
)

// A redactor removes secrets from a stream: each is replaced by a note that names the variable. It
// holds back no more than a secret's length, to find one that arrives in two pieces.
type redactor struct {
	secrets []hidden // longest first
	longest int
	held    []byte

	// Buffers that are reused.
	joined, out []byte
	where       []int
}

// A hidden is a secret and its replacement.
type hidden struct{ value, note []byte }

func newRedactor(secrets []Secret) *redactor {
	r := &redactor{}
	for _, s := range secrets {
		if s.Value != "" {
			r.secrets = append(r.secrets, hidden{[]byte(s.Value), []byte("[redacted:" + s.Name + "]")})
			r.longest = max(r.longest, len(s.Value))
		}
	}
	sort.SliceStable(r.secrets, func(i, j int) bool { return len(r.secrets[i].value) > len(r.secrets[j].value) })
	r.where = make([]int, len(r.secrets))
	return r
}

// next returns what can be shown of the stream after p. It may be p itself,
// and is good until the next call.
func (r *redactor) next(p []byte) []byte {
	if len(r.secrets) == 0 {
		return p
	}
	all := p
	if len(r.held) > 0 {
		r.joined = append(append(r.joined[:0], r.held...), p...)
		all = r.joined
	}
	all, safe := r.replace(all)
	keep := r.open(all[safe:])
	r.held = append(r.held[:0], all[len(all)-keep:]...)
	return all[:len(all)-keep]
}

// heldBack returns what was held back.
func (r *redactor) heldBack() []byte {
	held := r.held
	r.held = nil
	return held
}

// replace replaces every complete secret in p, and returns the end of the last one.
func (r *redactor) replace(p []byte) (out []byte, safe int) {
	const gone = -1
	next := r.where // where each stands next
	for i, s := range r.secrets {
		next[i] = bytes.Index(p, s.value)
	}
	done, found := 0, false
	out = r.out[:0]
	for {
		first := gone
		for i, s := range r.secrets {
			if next[i] != gone && next[i] < done {
				if next[i] = bytes.Index(p[done:], s.value); next[i] != gone {
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
		out = append(out, r.secrets[first].note...)
		done, found = next[first]+len(r.secrets[first].value), true
	}
	if !found {
		return p, 0
	}
	safe = len(out)
	r.out = append(out, p[done:]...)
	return r.out, safe
}

// open returns how many bytes at the end of p may be the beginning of a secret.
func (r *redactor) open(p []byte) int {
	for n := min(len(p), r.longest-1); n > 0; n-- {
		tail := p[len(p)-n:]
		for _, s := range r.secrets {
			if n < len(s.value) && bytes.Equal(tail, s.value[:n]) {
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
			out = append(out[:len(out):len(out)], r.heldBack()...)
		}
		return out
	}
}

// reader returns the rest of a stream whose beginning went through the filter: what the filter
// holds back comes first.
func (r *redactor) reader(of io.ReadCloser) io.ReadCloser {
	if len(r.secrets) == 0 {
		return of
	}
	return &redacted{ReadCloser: of, by: r}
}

// A redacted reader is a stream without secrets.
type redacted struct {
	io.ReadCloser
	by   *redactor
	buf  []byte
	rest []byte // what was read and not yet given
	err  error
}

// Read gives what can be shown of the next piece.
func (r *redacted) Read(p []byte) (int, error) {
	for len(r.rest) == 0 && r.err == nil {
		if len(r.buf) < len(p) {
			r.buf = make([]byte, max(len(p), 4096))
		}
		n, err := r.ReadCloser.Read(r.buf)
		r.rest, r.err = r.by.next(r.buf[:n]), err
		if err != nil {
			r.rest = append(r.rest[:len(r.rest):len(r.rest)], r.by.heldBack()...)
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	if n == 0 {
		return 0, r.err
	}
	return n, nil
}
