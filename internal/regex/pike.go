package regex

import (
	"sync/atomic"
)

// A pike finds where in a line the pattern matches: of all matches the one
// that begins first, of those the one the pattern prefers. It keeps one thread
// for each instruction at most, so its time is bounded by the size of the
// program times the length of the line.
type pike struct {
	prog   *program
	finder *Scanner // of what every match begins with; may be nil
	stop   *atomic.Bool
	halted bool
	seen   []uint32 // the round in which an instruction was last entered
	round  uint32
	todo   []uint32
	now    []thread // the more wanted ones first
	then   []thread
	work   int
}

// A thread is one way to match: an instruction, the node of its class, and
// where it began.
type thread struct {
	pc    uint32
	node  uint16
	start int
}

// A corner is a place in a line, with what stands around it once it is known.
type corner struct {
	line          []byte
	at            int
	before, after side
}

func newPike(re *Regexp, stop *atomic.Bool) *pike {
	p := &pike{prog: re.prog, stop: stop, seen: make([]uint32, len(re.prog.insts))}
	if re.need.at != placeInner {
		p.finder = re.finder
	}
	return p
}

// find returns the first match at or after from.
func (p *pike) find(line []byte, from int) (start, end int, ok bool) {
	p.now = p.now[:0]
	here := corner{line: line, at: from}
	p.nextRound()
	for here.at <= len(line) && !p.halted {
		if !ok && !p.addStart(&here) || ok && len(p.now) == 0 {
			break
		}
		p.nextRound()
		next := corner{line: line, at: here.at + 1}
		if t, matched := p.stepByte(&here, &next); matched {
			start, end, ok = t.start, here.at, true
		}
		p.checkStop(len(p.now))
		p.now, p.then = p.then, p.now
		here = next
	}
	return start, end, ok
}

// addStart adds the match that begins here, with the lowest priority; if there is no other match it
// may skip to where one can begin. It returns false if there is none.
func (p *pike) addStart(here *corner) bool {
	if len(p.now) == 0 && p.finder != nil {
		at := p.finder.Next(here.line, here.at)
		if at < 0 {
			return false
		}
		if at > here.at {
			*here = corner{line: here.line, at: at}
		}
	}
	if p.prog.anchored && here.at > 0 {
		return len(p.now) > 0
	}
	p.now = p.followThread(p.now, thread{pc: p.prog.start, start: here.at}, here)
	return true
}

// stepByte moves the threads over the byte that stands here. It returns the first
// one that has matched, behind which none is wanted any more.
func (p *pike) stepByte(here, next *corner) (thread, bool) {
	p.then = p.then[:0]
	for _, t := range p.now {
		in := &p.prog.insts[t.pc]
		if in.op == opMatch {
			return t, true
		}
		if here.at == len(here.line) {
			continue
		}
		switch how, node := p.prog.read(in, t.node, here.line[here.at]); how {
		case reachPart:
			p.then = append(p.then, thread{t.pc, node, t.start})
		case reachOut:
			p.then = p.followThread(p.then, thread{pc: in.out, start: t.start}, next)
		}
	}
	return thread{}, false
}

func (p *pike) nextRound() {
	p.round++
	if p.round == 0 {
		clear(p.seen)
		p.round = 1
	}
}

func (p *pike) checkStop(work int) {
	if p.work += work + 1; p.work >= workPerLook {
		p.work = 0
		p.halted = p.stop != nil && p.stop.Load()
	}
}

// followThread adds the instructions that read, or match, and that can be reached
// from t without reading.
func (p *pike) followThread(list []thread, t thread, at *corner) []thread {
	p.todo = append(p.todo[:0], t.pc)
	for len(p.todo) > 0 {
		pc := p.todo[len(p.todo)-1]
		p.todo = p.todo[:len(p.todo)-1]
		if p.seen[pc] == p.round {
			continue
		}
		p.seen[pc] = p.round
		p.work++
		switch in := &p.prog.insts[pc]; in.op {
		case opFail:
		case opSplit:
			p.todo = append(p.todo, in.alt, in.out)
		case opLook:
			if at.before == 0 {
				at.before, at.after = p.prog.sideBefore(at.line, at.at), p.prog.sideAfter(at.line, at.at)
			}
			if in.look.satisfied(at.before, at.after) {
				p.todo = append(p.todo, in.out)
			}
		default:
			list = append(list, thread{pc, 0, t.start})
		}
	}
	return list
}
