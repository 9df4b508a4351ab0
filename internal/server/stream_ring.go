package server

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
	"unique"

	"github.com/helve-dev/helve/event"
)

// How frames are laid out. Events are kept for long, and made between much that
// is not. If each were small objects of its own, these would lie scattered over
// all the memory of a busy time and keep it from being given back.
const (
	slabSize  = 64 << 10     // bytes of texts that lie side by side, so that many events are one write
	slabShare = slabSize / 2 // what a text may take of them
)

// A frame is an event as subscribers get it, encoded once for all of them.
type encodedEvent struct {
	seq      uint64
	kind     string
	session  unique.Handle[string] // one for all frames of a session; of "": of none
	everyone bool                  // no filter holds it back
	text     []byte                // does not change; the next one may lie behind it, within the capacity
}

// A ring keeps the newest frames. Frames have positions, which number them
// without gaps: numbers of events may have some, where the runtime told that
// events were missed. It has no lock of its own.
type ring struct {
	maxFrames, maxBytes int

	frames []encodedEvent // oldest first
	first  uint64         // position of the oldest
	bytes  int
	slab   []byte // what the next texts are put into
	gone   uint64 // number of the newest event that is kept no more
	last   uint64 // number of the newest event
}

// end is the position that the next frame will have.
func (k *ring) end() uint64 { return k.first + uint64(len(k.frames)) }

// add puts a frame behind the others, and lets the oldest go where there are
// too many. The newest is always kept. The text is the ring's from then on.
func (k *ring) add(f encodedEvent, text []byte) {
	f.text = k.lay(text)
	k.frames = append(k.frames, f)
	k.bytes += len(text)
	k.last = f.seq
	drop := 0
	for n := len(k.frames); n-drop > 1 && (n-drop > k.maxFrames || k.bytes > k.maxBytes); drop++ {
		k.bytes -= len(k.frames[drop].text)
		k.gone = k.frames[drop].seq
		k.frames[drop] = encodedEvent{}
	}
	k.frames = k.frames[drop:]
	k.first += uint64(drop)
}

// lay puts a text behind the one before. A large one stays where it is: the rest
// of a slab that it does not fit into would be lost.
func (k *ring) lay(text []byte) []byte {
	if len(text) > slabShare {
		return slices.Clip(text)
	}
	if cap(k.slab)-len(k.slab) < len(text) {
		k.slab = make([]byte, 0, slabSize)
	}
	from := len(k.slab)
	k.slab = append(k.slab, text...)
	return k.slab[from:]
}

// read copies frames from a position on, as many as fit.
func (k *ring) read(pos uint64, into []encodedEvent) int {
	return copy(into, k.frames[pos-k.first:])
}

// find is the position of the first frame past an event.
func (k *ring) find(seq uint64) uint64 {
	n := sort.Search(len(k.frames), func(i int) bool { return k.frames[i].seq > seq })
	return k.first + uint64(n)
}

// appendRun is a run of texts with that of the frame behind it, where it lies there.
func (f *encodedEvent) appendRun(run []byte) ([]byte, bool) {
	n := len(f.text)
	if len(run) == 0 || n == 0 || cap(run)-len(run) < n {
		return nil, false
	}
	longer := run[:len(run)+n]
	return longer, &longer[len(run)] == &f.text[0]
}

// An eventFilter is what a subscriber wants to hear of; nil sets are everything.
type eventFilter struct {
	sessions []unique.Handle[string]
	kinds    []string
}

func (w eventFilter) wants(f *encodedEvent) bool {
	return f.everyone || (w.sessions == nil || slices.Contains(w.sessions, f.session)) &&
		(w.kinds == nil || slices.Contains(w.kinds, f.kind))
}

// encodeEvent makes a frame of an event. An event that can not be encoded is told
// with nothing but its name: numbers have no gaps that nobody explains.
func encodeEvent(instance string, e event.Event) (f encodedEvent, text []byte, err error) {
	f = encodedEvent{seq: e.Seq, kind: e.Type}
	session := ""
	_, f.everyone = e.Properties.(event.Missed)
	e.Properties = solidEvent(e.Properties)
	data, err := json.Marshal(e)
	if err != nil {
		e.Properties = nil
		data, _ = json.Marshal(e) // a number, a time and a string
	} else {
		session = eventSession(e.Properties, data)
	}
	f.session = unique.Make(session)
	if !utf8.Valid(data) { // of raw JSON that somebody handed in
		data = bytes.ToValidUTF8(data, []byte("\uFFFD"))
	}
	return f, eventBlock(instance+"-"+strconv.FormatUint(e.Seq, 10), e.Type, data), err
}

// eventBlock is one event of a stream. data is JSON as encoding/json writes it,
// which has no line breaks; the name may be a plugin's, and loses them.
func eventBlock(id, name string, data []byte) []byte {
	if strings.ContainsAny(name, "\r\n\x00") {
		name = strings.NewReplacer("\r", "", "\n", "", "\x00", "").Replace(name)
	}
	b := make([]byte, 0, len(id)+len(name)+len(data)+24)
	if id != "" {
		b = append(append(append(b, "id: "...), id...), '\n')
	}
	b = append(append(append(b, "event: "...), name...), '\n')
	b = append(append(append(b, "data: "...), data...), '\n')
	return append(b, '\n')
}

// eventSession is the session that an event is about. The frequent ones are not
// read again.
func eventSession(h event.Payload, data []byte) string {
	switch e := h.(type) {
	case event.CallStarted:
		return e.Call.Session
	case event.CallRunning:
		return e.Session
	case event.CallProgress:
		return e.Session
	case event.CallFinished:
		return e.Session
	case event.PartDelta:
		return e.Session
	case event.PartUpdated:
		return e.Part.Session
	case event.MessageUpdated:
		return e.Info.Session
	case event.SessionCreated:
		return e.Info.ID
	case event.SessionUpdated:
		return e.Info.ID
	case event.ToolsChanged, event.FileChanged, event.Missed:
		return ""
	}
	return eventSessionIn(data)
}

// eventSessionIn looks for the session in the text of an event, for those that
// plugins and programs bring too.
func eventSessionIn(data []byte) string {
	type named struct {
		ID        string `json:"id"`
		Session   string `json:"session"`
		SessionID string `json:"sessionID"`
	}
	var e struct {
		Type       string `json:"type"`
		Properties struct {
			named
			Call, Info, Part named
		} `json:"properties"`
	}
	_ = json.Unmarshal(data, &e) // fields of another kind are left out, which is right
	p, ofSession := &e.Properties, ""
	if strings.HasPrefix(e.Type, "session.") {
		ofSession = p.Info.ID
	}
	return cmp.Or(p.SessionID, p.Session, p.Call.Session, p.Info.SessionID, ofSession, p.Part.SessionID)
}
