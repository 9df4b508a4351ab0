package regex

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func hostilePatterns() []string {
	return []string{
		`(a*)*b`, `(a+)+$`, `(a|a)*b$`, `.{1,1000}x`, `(x{0,50}){50}`, `[^x]{500}y`, `x.{600}y`, `(a|b)*a(a|b){14}c`, `\w{300}\d`, `(?i)(k|s){200}z`,
		`\b(\w+\b\W*){20}$`, `(.*a){12}`, `(((a?){3}){3}){3}b`, `^(.*,){30}P`, `(\B|\b)+x\b`,
	}
}

// footprint is what a Matcher keeps, about.
func footprint(m *Matcher) int {
	d := m.dfa
	sum := 2*cap(d.table) + d.mem + cap(d.buf) + 8*(cap(d.from.extra)+cap(d.to.extra)+cap(d.todo))
	for k := range m.streams {
		sum += 16 * cap(m.streams[k].found)
	}
	return sum
}

// TestHostile gives long lines to patterns that are hard for some matchers.
// It bounds what a Matcher keeps, and compares with the automaton of sets.
func TestHostile(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	random := make([]byte, 1<<14)
	for i := range random {
		random[i] = "aabx, é\xff"[r.IntN(9)]
	}
	texts := map[string]string{
		"one letter":     strings.Repeat("a", 1<<12),
		"random letters": string(random),
		"not ASCII":      strings.Repeat("日本 é", 1<<9),
		"short lines":    strings.ReplaceAll(string(random), "b", "\n"),
	}
	for _, pattern := range hostilePatterns() {
		for name, text := range texts {
			t.Run(pattern+" "+name, func(t *testing.T) {
				re := unsieved(mustCompile(t, pattern, Options{}))
				m := re.Matcher(nil)
				got := matching(t, m, text)
				if size := footprint(m); size > 3<<20 {
					t.Errorf("the matcher keeps %d bytes", size)
				}
				if n := len(m.dfa.keys); n > maxStates+stateFirst {
					t.Errorf("it keeps %d states", n)
				}
				slow := re.Matcher(nil)
				slow.automaton().slow = 2 * len(text)
				if diff := cmp.Diff(matching(t, slow, text), got); diff != "" {
					t.Errorf("(-sets +states)\n%s", diff)
				}
			})
		}
	}
}

// TestFlush makes the states overflow while several streams are read.
func TestFlush(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	text := make([]byte, 1<<18)
	for i := range text {
		text[i] = "abbbbbbbc"[r.IntN(9)]
		if r.IntN(200) == 0 {
			text[i] = '\n'
		}
	}
	re := mustCompile(t, `a.{25}a[abc]{3}c`, Options{})
	m := unsieved(re).Matcher(nil)
	flushes := 0
	var got []int
	for from, last := 0, 0; ; {
		start, end, ok := m.Next(text, from)
		if n := len(m.dfa.keys); n < last {
			flushes++
		}
		last = len(m.dfa.keys)
		if !ok {
			break
		}
		got = append(got, start)
		from = end + 1
	}
	if flushes == 0 {
		t.Fatal("the states never overflowed")
	}
	var want []int
	exact := re.Matcher(nil)
	at := 0
	for line := range bytes.Lines(text) {
		if _, _, ok := exact.Find(bytes.TrimSuffix(line, []byte("\n")), 0); ok {
			want = append(want, at)
		}
		at += len(line)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-pike +streams)\n%s", diff)
	}
}

// TestLongLine has a candidate at every few bytes of one line: each line is
// looked at once.
func TestLongLine(t *testing.T) {
	text := strings.Repeat("foo ", 1<<18) + "\n" + strings.Repeat("foo ", 1<<18) + "foo1"
	m := mustCompile(t, `foo\d`, Options{}).Matcher(nil)
	if diff := cmp.Diff([]int{1}, matching(t, m, text)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestCrowded has so many candidates that are none that the sieve is given up.
func TestCrowded(t *testing.T) {
	re := mustCompile(t, `qz\w*!`, Options{})
	if re.finder == nil {
		t.Fatal("there is no sieve to give up")
	}
	m := re.Matcher(nil)
	text := strings.Repeat("qz!\nqz\nqzqz?\n", 1000) + "qz\nqz!"
	if got := matching(t, m, text); len(got) != 1001 || got[1] != 3 || got[1000] != 3001 {
		t.Errorf("%d lines: %v", len(got), got)
	}
	if m.crowd == 0 {
		t.Error("the sieve was used all the time")
	}
	if diff := cmp.Diff([]int{1}, matching(t, m, "x\nqz!\nx\n")); diff != "" || m.crowd != 0 {
		t.Errorf("crowd is %v: (-want +got)\n%s", m.crowd, diff)
	}
	// Longer than what is left to the automaton, and the sieve comes back.
	text = strings.Repeat("qz\nqzqz?\n", leaveFor/4) + strings.Repeat("x\n", leaveFor) + "qz!\nx"
	if got := matching(t, m, text); len(got) != 1 || got[0] != leaveFor/2+leaveFor {
		t.Errorf("%d lines: %v", len(got), got)
	}
}

// TestCrowdedInPlaces goes from crowded parts to others and back.
func TestCrowdedInPlaces(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	re := mustCompile(t, `qz\w*!`, Options{})
	m := re.Matcher(nil)
	crowds := 0
	for range 30 {
		var b strings.Builder
		for range 1 + r.IntN(8) {
			often := 1 + r.IntN(500)
			for range r.IntN(20000) {
				switch n := r.IntN(often); {
				case n == 0:
					b.WriteString("qz!")
				case n < 400:
					b.WriteString("qz")
				default:
					b.WriteString("it is another line that goes on and on")
				}
				b.WriteByte("\n\n\n "[r.IntN(4)])
			}
		}
		if diff := cmp.Diff(matching(t, unsieved(re).Matcher(nil), b.String()), matching(t, m, b.String())); diff != "" {
			t.Fatalf("(-without +with the sieve)\n%s", diff)
		}
		if m.crowd > 0 {
			crowds++
		}
	}
	if crowds == 0 {
		t.Error("it was never crowded")
	}
}

// TestAcrossParts puts a match across the places where the text is cut to
// look at stop.
func TestAcrossParts(t *testing.T) {
	for _, pattern := range []string{"foobar", `foo[b]\w+`, "^foobar$"} {
		re := mustCompile(t, pattern, Options{})
		for shift := range 16 {
			head := bytes.Repeat([]byte("xyz zyx\n"), 2*siftBlock/8)
			head = head[:siftBlock-shift]
			head[len(head)-1] = '\n'
			text := string(head) + "foobar\n" + strings.Repeat("xyz\n", 10)
			want := []int{bytes.Count(head, []byte("\n"))}
			for _, re := range []*Regexp{re, unsieved(re)} {
				if diff := cmp.Diff(want, matching(t, re.Matcher(nil), text)); diff != "" {
					t.Errorf("%q at %d: (-want +got)\n%s", pattern, len(head), diff)
				}
			}
		}
	}
}

func TestStopped(t *testing.T) {
	text := []byte(strings.Repeat("aab", 1<<16))
	for _, pattern := range append(hostilePatterns(), "c", "foo", "[ac]c") {
		t.Run(pattern, func(t *testing.T) {
			re := mustCompile(t, pattern, Options{})
			var stop atomic.Bool
			m := re.Matcher(&stop)
			if m.Stopped() {
				t.Error("stopped before it began")
			}
			stop.Store(true)
			if _, _, ok := m.Next(text, 0); ok {
				t.Error("Next answered though stopped")
			}
			if _, _, ok := m.Find(text, 0); ok {
				t.Error("Find answered though stopped")
			}
			if !m.Stopped() {
				t.Error("not stopped")
			}
		})
	}
}

// TestStopsInside sets stop once the work has begun, behind the look at it
// that each call begins with.
func TestStopsInside(t *testing.T) {
	line := make([]byte, 1<<20)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range line {
		line[i] = "ab"[r.IntN(2)]
	}
	var stop atomic.Bool
	stop.Store(true)
	re := unsieved(mustCompile(t, `(a|b)*a((a|b){20}|c?){90}d`, Options{}))
	begin := func() *dfa {
		d := newDFA(re.prog, &stop)
		d.live[0] = d.start
		return d
	}
	// The states are new all the time, so a step is never far from a look.
	d := begin()
	if n := d.run(0, line); !d.halted || n > len(line)/8 {
		t.Errorf("with states it read %d bytes, halted is %v", n, d.halted)
	}
	d = begin()
	d.slow = 2 * len(line)
	if n := d.run(0, line); !d.halted || n > len(line)/8 {
		t.Errorf("without states it read %d bytes, halted is %v", n, d.halted)
	}
	p := newPike(re, &stop)
	if _, _, ok := p.find(line, 0); ok || !p.halted {
		t.Errorf("the pike went on: %v", ok)
	}
	// Here the states are few and the table does it all.
	easy := unsieved(mustCompile(t, `[ab]c`, Options{}))
	for name, text := range map[string][]byte{
		"one line":   append(line, "\nac"...),
		"some lines": bytes.Repeat(append(line[:1000:1000], "\nac\n"...), 1000),
	} {
		m := easy.Matcher(&stop)
		m.readBlock(text, 0, len(text))
		if !m.Stopped() {
			t.Errorf("%s: the streams went on", name)
		}
	}
}

// TestReusedText searches other text in the same memory.
func TestReusedText(t *testing.T) {
	m := unsieved(mustCompile(t, `[ab]c`, Options{})).Matcher(nil)
	text := bytes.Repeat([]byte("ac\nx\n"), 1000)
	if _, end, ok := m.Next(text, 0); !ok || end != 2 {
		t.Fatal(end, ok)
	}
	copy(text, bytes.Repeat([]byte("xx\nx\n"), 999))
	if start, _, ok := m.Next(text, 0); !ok || start != 5*999 {
		t.Error(start, ok)
	}
	if _, _, ok := m.Next(text, 5*999+3); ok {
		t.Error("found behind the last")
	}
}

// TestConcurrent runs many matchers of one Regexp, which share what it builds
// late.
func TestConcurrent(t *testing.T) {
	re := mustCompile(t, `\b\w+é\b`, Options{})
	text := []byte(strings.Repeat("foo\ncafé au lait\n", 100))
	errs := make(chan error)
	for range 8 {
		go func() {
			if n := countLines(re.Matcher(nil), text); n != 100 {
				errs <- fmt.Errorf("%d lines", n)
				return
			}
			errs <- nil
		}()
	}
	for range 8 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}
