package process

import (
	"bytes"
	"iter"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// maxLine is how much of a command line is shown.
const maxLine = 160

// A processInfo is what the process table says about a process.
type processInfo struct {
	pid, parent, group, session int
	since                       uint64 // ticks from the start of the system
	zombie                      bool
	name                        string
}

// readEntry reads an entry of the process table.
func readEntry(pid int) (processInfo, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return processInfo{}, false
	}
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 0 || end < open {
		return processInfo{}, false
	}
	f := bytes.Fields(b[end+1:])
	if len(f) < 20 {
		return processInfo{}, false
	}
	num := func(i int) int { n, _ := strconv.Atoi(string(f[i])); return n }
	since, _ := strconv.ParseUint(string(f[19]), 10, 64)
	return processInfo{
		pid: pid, parent: num(1), group: num(2), session: num(3), since: since,
		zombie: f[0][0] == 'Z' || f[0][0] == 'X', name: string(b[open+1 : end]),
	}, true
}

// table reads the whole process table.
func table() ([]processInfo, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	list := make([]processInfo, 0, len(names))
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if e, ok := readEntry(pid); ok {
			list = append(list, e)
		}
	}
	return list, nil
}

// environment goes through the variables of a process, as they were when its
// program started.
func environment(pid int) iter.Seq[[]byte] {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		b = nil
	}
	return bytes.SplitSeq(b, []byte{0})
}

// hasVariable says whether a process has a variable.
func hasVariable(pid int, mark string) bool {
	for v := range environment(pid) {
		if string(v) == mark {
			return true
		}
	}
	return false
}

// markedBy says whether a process has a variable that begins so.
func markedBy(pid int, prefix string) bool {
	for v := range environment(pid) {
		if strings.HasPrefix(string(v), prefix) {
			return true
		}
	}
	return false
}

// newSurvivor makes a survivor of a process.
func newSurvivor(e processInfo) Survivor {
	s := Survivor{PID: e.pid, Name: e.name, Line: e.name}
	f, err := os.Open("/proc/" + strconv.Itoa(e.pid) + "/cmdline")
	if err != nil {
		return s
	}
	defer f.Close()
	b := make([]byte, maxLine)
	n, _ := f.Read(b)
	line := string(bytes.ReplaceAll(bytes.Trim(b[:n], "\x00"), []byte{0}, []byte{' '}))
	if line != "" {
		s.Line = strings.ToValidUTF8(line, "\uFFFD")
	}
	return s
}

// tagOf reads the tag of a process: its limit of message queues, which is inherited and which only
// a supervisor changes.
func tagOf(pid int) uint64 {
	var lim unix.Rlimit
	if unix.Prlimit(pid, unix.RLIMIT_MSGQUEUE, nil, &lim) == nil {
		return lim.Cur
	}
	// Another user's process, such as one of sudo: the table may still tell.
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/limits")
	if err != nil {
		return 0
	}
	_, line, _ := bytes.Cut(b, []byte("Max msgqueue size"))
	f := bytes.Fields(line)
	if len(f) == 0 {
		return 0
	}
	tag, _ := strconv.ParseUint(string(f[0]), 10, 64)
	return tag
}

// A childTree finds the children of processes.
type childTree struct {
	self  int
	files []*os.File // that list the children of the supervisor's own threads
	scan  bool       // they do not exist: the whole table is to be read
	buf   []byte
}

// newTree makes a tree for this process, whose only thread that starts
// children is the given one. Those who have lost their parent come to the
// first thread.
func newTree(thread int) *childTree {
	t := &childTree{self: os.Getpid(), buf: make([]byte, 16<<10)}
	if link, err := os.Readlink("/proc/self"); err != nil || link != strconv.Itoa(t.self) {
		return t // there is none, or that of another namespace: nothing can be found
	}
	tids := []int{t.self}
	if thread != t.self {
		tids = append(tids, thread)
	}
	for _, tid := range tids {
		f, err := os.Open("/proc/self/task/" + strconv.Itoa(tid) + "/children")
		if err != nil {
			t.scan = true
			break
		}
		t.files = append(t.files, f)
	}
	return t
}

// ownChildren lists the children of this process. It is exact while none is reaped.
func (t *childTree) ownChildren() (pids []int) {
	if t.scan {
		return t.scanned()[t.self]
	}
	for _, f := range t.files {
		n := 0
		for {
			m, err := f.ReadAt(t.buf[n:], int64(n))
			n += m
			if err != nil || m == 0 {
				break
			}
			if n == len(t.buf) {
				t.buf = append(t.buf, make([]byte, len(t.buf))...)
			}
		}
		pids = appendPIDs(pids, t.buf[:n])
	}
	return pids
}

// descendants lists processes and all that come of them.
func (t *childTree) descendants(pids []int) []int {
	all := append([]int(nil), pids...)
	var scanned map[int][]int
	if t.scan {
		scanned = t.scanned()
	}
	seen := make(map[int]bool, len(pids))
	for _, pid := range pids {
		seen[pid] = true
	}
	for i := 0; i < len(all); i++ {
		below := scanned[all[i]]
		if !t.scan {
			below = childrenOf(all[i])
		}
		for _, pid := range below {
			if !seen[pid] {
				seen[pid] = true
				all = append(all, pid)
			}
		}
	}
	return all
}

// scanned reads the whole table, by parent.
func (t *childTree) scanned() map[int][]int {
	by := map[int][]int{}
	list, _ := table()
	for _, e := range list {
		by[e.parent] = append(by[e.parent], e.pid)
	}
	return by
}

// childrenOf lists the children of a process, of each of its threads.
func childrenOf(pid int) (pids []int) {
	base := "/proc/" + strconv.Itoa(pid) + "/task"
	dir, err := os.Open(base)
	if err != nil {
		return nil
	}
	defer dir.Close()
	tids, _ := dir.Readdirnames(-1)
	for _, tid := range tids {
		b, err := os.ReadFile(base + "/" + tid + "/children")
		if err == nil {
			pids = appendPIDs(pids, b)
		}
	}
	return pids
}

func appendPIDs(pids []int, b []byte) []int {
	for len(b) > 0 {
		i := bytes.IndexByte(b, ' ')
		if i < 0 {
			i = len(b)
		}
		if pid, err := strconv.Atoi(string(b[:i])); err == nil {
			pids = append(pids, pid)
		}
		b = b[min(i+1, len(b)):]
	}
	return pids
}
