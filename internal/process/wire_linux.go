package process

import (
	"encoding/binary"
	"errors"
	"time"
)

// The messages between the runner and a supervisor are frames: a length of four bytes, then the
// message. A message that starts a command carries three descriptors.
const (
	// asked by the runner
	opSpawn  = 's' // id, path, argv, env, dir, mark
	opSignal = 'k' // id, ask, signal
	opEnd    = 'e' // id, ask, grace
	opList   = 'l' // id, ask
	opQuit   = 'q' // end everything and yourself
	opRetire = 'r' // end yourself when there is nothing left to keep
	// sent by the supervisor
	opHello   = 'h'
	opStarted = 'S' // id, pid, tag
	opFailed  = 'F' // id, error number, whether it was the folder
	opExited  = 'x' // id, code, signal
	opAnswer  = 'a' // ask, error number, survivors
)

const (
	frameHead = 4
	maxFrame  = 16 << 20 // more than the system takes as arguments and environment
	maxList   = 1000     // survivors in an answer
)

var errFrame = errors.New("broken message")

// A message is what a frame holds; which fields count depends on op.
type message struct {
	op     byte
	id     uint64 // of the command
	ask    uint64 // by which an answer finds who asked
	num    int64  // pid, code, error number
	signal int64
	tag    uint64
	dir    bool // the folder failed
	grace  time.Duration
	path   string
	cwd    string
	mark   string
	argv   []string
	env    []string
	list   []Survivor
}

// encode makes a frame of a message.
func (m *message) encode() []byte {
	b := make([]byte, frameHead, 256)
	b = append(b, m.op)
	b = binary.AppendUvarint(b, m.id)
	b = binary.AppendUvarint(b, m.ask)
	b = binary.AppendVarint(b, m.num)
	b = binary.AppendVarint(b, m.signal)
	b = binary.AppendUvarint(b, m.tag)
	if m.dir {
		b = append(b, 1)
	} else {
		b = append(b, 0)
	}
	b = binary.AppendVarint(b, int64(m.grace))
	if m.op == opSpawn {
		for _, s := range []string{m.path, m.cwd, m.mark} {
			b = appendString(b, s)
		}
		for _, list := range [][]string{m.argv, m.env} {
			b = binary.AppendUvarint(b, uint64(len(list)))
			for _, s := range list {
				b = appendString(b, s)
			}
		}
	}
	if m.op == opAnswer {
		b = binary.AppendUvarint(b, uint64(len(m.list)))
		for _, s := range m.list {
			b = binary.AppendVarint(b, int64(s.PID))
			b = appendString(appendString(b, s.Name), s.Line)
		}
	}
	binary.LittleEndian.PutUint32(b, uint32(len(b)-frameHead))
	return b
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// cutFrame takes the first frame off a stream. It returns nil when there is not
// yet a whole one.
func cutFrame(stream []byte) (frame, rest []byte, err error) {
	if len(stream) < frameHead {
		return nil, stream, nil
	}
	n := binary.LittleEndian.Uint32(stream)
	if n > maxFrame {
		return nil, stream, errFrame
	}
	if len(stream)-frameHead < int(n) {
		return nil, stream, nil
	}
	end := frameHead + int(n)
	return stream[frameHead:end:end], stream[end:], nil
}

// decode reads a message. The frame may come from a process that a command
// has got hold of, so anything can be in it.
func decode(frame []byte) (*message, error) {
	d := decoder{rest: frame}
	m := &message{op: d.byte()}
	m.id, m.ask = d.uint(), d.uint()
	m.num, m.signal = d.int(), d.int()
	m.tag = d.uint()
	m.dir = d.byte() == 1
	m.grace = time.Duration(d.int())
	if m.op == opSpawn {
		m.path, m.cwd, m.mark = d.string(), d.string(), d.string()
		m.argv, m.env = d.strings(), d.strings()
	}
	if m.op == opAnswer {
		n := d.count()
		for range n {
			m.list = append(m.list, Survivor{PID: int(d.int()), Name: d.string(), Line: d.string()})
		}
	}
	if d.bad || len(d.rest) > 0 {
		return nil, errFrame
	}
	return m, nil
}

// A decoder takes values off a frame; after the first that is not there it is
// bad, and all further ones are zero.
type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) discardBytes(n int) {
	if n <= 0 {
		d.bad, d.rest = true, nil
		return
	}
	d.rest = d.rest[n:]
}

func (d *decoder) byte() (b byte) {
	if len(d.rest) > 0 {
		b = d.rest[0]
	}
	d.discardBytes(min(1, len(d.rest)))
	return b
}

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.rest)
	d.discardBytes(n)
	return v
}

func (d *decoder) int() int64 {
	v, n := binary.Varint(d.rest)
	d.discardBytes(n)
	return v
}

// count reads how many things follow. Each takes a byte at least.
func (d *decoder) count() int {
	n := d.uint()
	if n > uint64(len(d.rest)) {
		d.discardBytes(0)
		return 0
	}
	return int(n)
}

func (d *decoder) string() string {
	n := d.count()
	s := string(d.rest[:n])
	d.rest = d.rest[n:]
	return s
}

func (d *decoder) strings() []string {
	n := d.count()
	list := make([]string, 0, n)
	for range n {
		if d.bad {
			return nil
		}
		list = append(list, d.string())
	}
	return list
}
