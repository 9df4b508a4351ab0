package terminal

import (
	"bytes"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// A Key is a key press, a character or a paste.
type Key struct {
	name keyName
	text string // of typed and pasted
}

// Interrupt reports whether the key is Ctrl-C.
func (k Key) Interrupt() bool { return k.name == interrupt }

type keyName int

const (
	unknown keyName = iota
	typed
	pasted
	enter
	newLine
	tab
	escape
	interrupt
	endOfInput // or delete
	clearScreen
	left
	right
	up
	down
	home
	end
	wordLeft
	wordRight
	backspace
	deleteNext
	killEnd
	killStart
	killWord
	killNextWord
)

// Bounds on the input.
const (
	maxQueue    = 4096    // unread keys
	maxPaste    = 4 << 20 // bytes of a paste; the rest of it is left out
	maxSequence = 64      // bytes of the sequence of a key
	// escapeWait is how long a terminal may take to send the rest of a
	// sequence. After it an escape is the key of that name.
	escapeWait = 50 * time.Millisecond
)

// Keys reads keys from a terminal in raw mode. A key received from C is consumed: there is one
// reader at a time.
type Keys struct {
	c    chan Key
	done chan struct{}
}

// NewKeys begins to read r. It reads until r ends, which is also when C is
// closed, or the next key after Close.
func NewKeys(r io.Reader) *Keys {
	k := &Keys{c: make(chan Key, maxQueue), done: make(chan struct{})}
	pieces := make(chan []byte)
	go k.fetch(r, pieces)
	go k.parse(pieces)
	return k
}

// C has the keys.
func (k *Keys) C() <-chan Key { return k.c }

// Forget removes the unread keys, and returns them.
func (k *Keys) Forget() (keys []Key) {
	for {
		select {
		case key, ok := <-k.c:
			if !ok {
				return keys
			}
			keys = append(keys, key)
		default:
			return keys
		}
	}
}

// Close ends the reading. A pending read goes on until a key arrives.
func (k *Keys) Close() { close(k.done) }

func (k *Keys) fetch(r io.Reader, to chan<- []byte) {
	defer close(to)
	for {
		buf := make([]byte, 4096)
		n, err := r.Read(buf)
		if n > 0 {
			select {
			case to <- buf[:n]:
			case <-k.done:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (k *Keys) parse(pieces <-chan []byte) {
	defer close(k.c)
	var p keyParser
	wait := time.NewTimer(time.Hour)
	defer wait.Stop()
	for {
		var keys []Key
		select {
		case piece, ok := <-pieces:
			if !ok {
				return
			}
			keys = p.feed(piece)
			wait.Reset(escapeWait)
		case <-wait.C:
			keys = p.flushKeys()
		case <-k.done:
			return
		}
		for _, key := range keys {
			select {
			case k.c <- key:
			case <-k.done:
				return
			}
		}
	}
}

// A keyParser takes the bytes of a terminal apart.
type keyParser struct {
	pending []byte
	pasting bool
	paste   bytes.Buffer
}

const (
	pasteStart = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// feed returns the keys that are whole.
func (p *keyParser) feed(b []byte) (keys []Key) {
	p.pending = append(p.pending, b...)
	for len(p.pending) > 0 {
		if p.pasting {
			if !p.goOn(&keys) {
				return keys
			}
			continue
		}
		n, key := p.readKey()
		if n == 0 {
			return keys
		}
		p.pending = p.pending[n:]
		if key.name == pasted {
			p.pasting = true
		} else if key.name != unknown {
			keys = append(keys, key)
		}
	}
	return keys
}

// flushKeys returns what is left as if nothing more came: the escape key.
func (p *keyParser) flushKeys() []Key {
	if p.pasting || len(p.pending) == 0 || p.pending[0] != 0x1b {
		return nil
	}
	alone := len(p.pending) == 1
	p.pending = nil
	if alone {
		return []Key{{name: escape}}
	}
	return nil // a sequence that broke off
}

// goOn reads on in a paste and reports whether it has ended.
func (p *keyParser) goOn(keys *[]Key) bool {
	keep := func(b []byte) { p.paste.Write(b[:min(len(b), maxPaste-p.paste.Len())]) }
	at := bytes.Index(p.pending, []byte(pasteEnd))
	if at < 0 {
		n := max(len(p.pending)-len(pasteEnd)+1, 0) // its end may have begun
		keep(p.pending[:n])
		p.pending = append(p.pending[:0], p.pending[n:]...)
		return false
	}
	keep(p.pending[:at])
	p.pending = p.pending[at+len(pasteEnd):]
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.ToValidUTF8(p.paste.String(), "�"))
	*keys = append(*keys, Key{pasted, text})
	p.pasting = false
	p.paste.Reset()
	return true
}

// readKey reads one key and returns its length; 0 where it is not whole yet.
func (p *keyParser) readKey() (int, Key) {
	b := p.pending
	if b[0] == 0x1b {
		return p.sequence()
	}
	if b[0] < ' ' || b[0] == 0x7f {
		keys := [...]keyName{
			1: home, 2: left, 3: interrupt, 4: endOfInput, 5: end, 6: right, 8: backspace, 9: tab, 10: newLine,
			11: killEnd, 12: clearScreen, 13: enter, 14: down, 16: up, 21: killStart, 23: killWord, 0x7f: backspace,
		}
		return 1, Key{name: keys[b[0]]}
	}
	if !utf8.FullRune(b) {
		return 0, Key{}
	}
	r, size := utf8.DecodeRune(b)
	return size, Key{typed, string(r)}
}

// sequence reads what an escape begins.
func (p *keyParser) sequence() (int, Key) {
	b := p.pending
	if len(b) == 1 {
		return 0, Key{}
	}
	switch b[1] {
	case '[':
		return p.longSequence()
	case 'O':
		if len(b) == 2 {
			return 0, Key{}
		}
		return 3, Key{name: sequenceKey(string(b[2:3]))}
	case '\r', '\n':
		return 2, Key{name: newLine}
	case 'b', 'B':
		return 2, Key{name: wordLeft}
	case 'f', 'F':
		return 2, Key{name: wordRight}
	case 'd', 'D':
		return 2, Key{name: killNextWord}
	case 0x7f, 8:
		return 2, Key{name: killWord}
	case 0x1b:
		return 1, Key{name: escape}
	}
	_, size := utf8.DecodeRune(b[1:])
	return 1 + size, Key{}
}

// longSequence reads a sequence that may have numbers in it.
func (p *keyParser) longSequence() (int, Key) {
	b := p.pending
	for i := 2; i < len(b); i++ {
		switch {
		case b[i] >= 0x40 && b[i] <= 0x7e && string(b[:i+1]) == pasteStart:
			return i + 1, Key{name: pasted}
		case b[i] >= 0x40 && b[i] <= 0x7e:
			return i + 1, Key{name: sequenceKey(string(b[2 : i+1]))}
		case i >= maxSequence || b[i] < ' ':
			return i, Key{}
		}
	}
	return 0, Key{}
}

// sequenceKey is the key that a sequence stands for, without its beginning.
func sequenceKey(s string) keyName {
	switch s {
	case "A":
		return up
	case "B":
		return down
	case "C":
		return right
	case "D":
		return left
	case "H", "1~", "7~":
		return home
	case "F", "4~", "8~":
		return end
	case "3~":
		return deleteNext
	case "1;5C", "1;3C", "5C":
		return wordRight
	case "1;5D", "1;3D", "5D":
		return wordLeft
	case "3;5~":
		return killNextWord
	case "13;2u", "13;3u", "27;2;13~", "27;3;13~":
		return newLine
	}
	return unknown
}
