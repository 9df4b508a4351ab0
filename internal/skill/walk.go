package skill

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/helve-dev/helve/internal/disk"
	"github.com/helve-dev/helve/skill"
)

// Bounds that are not for anybody to change.
const (
	maxEntries  = 10_000 // of one folder
	maxProblems = 100
)

// A search is one under way.
type search struct {
	opt   Options
	known map[string]note // of the search before
	start time.Time

	finds    []find
	problems []skill.Problem
	marks    []mark
	trust    map[string]bool // what the user says of a folder of the project
	notes    map[string]note
	folders  int  // looked into
	files    int  // found
	late     bool // it ran out of time
	full     bool // it may not go on
}

// A folderRef is a folder that is to be looked into.
type folderRef struct {
	path, real string
	depth      int
}

// startWalk begins the walk through a place; it returns nil if there is none.
func (s *search) startWalk(p root) *walk {
	info, err := s.stat(p.path)
	if err != nil {
		info = nil
	}
	s.marks = append(s.marks, mark{p.path, info})
	switch {
	case !p.named && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)):
		return nil
	case err != nil:
		s.problem(p.path, reason(err))
		return nil
	case !info.IsDir():
		s.problem(p.path, "not a folder")
		return nil
	}
	real, err := s.real(p.path)
	if err != nil {
		s.problem(p.path, reason(err))
		return nil
	}
	w := &walk{search: s, place: p, seen: map[string]bool{real: true}, queue: []folderRef{{p.path, real, 0}}}
	if w.guarded = !p.ours && !s.trusts(p.trust); w.guarded {
		w.fence = newFence(s.opt, p)
		if !w.fence.contains(real) {
			s.problem(p.path, "a link out of a project that is not trusted; it is not followed")
			return nil
		}
	}
	return w
}

// trusts reports whether the user trusts a folder of the project.
func (s *search) trusts(folder string) bool {
	if s.opt.Trusted == nil {
		return false
	}
	answer, asked := s.trust[folder]
	if !asked {
		answer = s.opt.Trusted(folder)
		s.trust[folder] = answer
	}
	return answer
}

// limitReached reports whether a limit is reached, and records it once.
func (s *search) limitReached(p root) bool {
	lim, what := s.opt.Limits, ""
	switch {
	case s.full:
	case time.Since(s.start) > lim.Time:
		s.late = true
		what = fmt.Sprintf("the search took longer than %v", lim.Time)
	case s.folders >= lim.Folders:
		what = fmt.Sprintf("there are more than %d folders", lim.Folders)
	case s.files >= lim.Files:
		what = fmt.Sprintf("there are more than %d skills", lim.Files)
	}
	if what != "" {
		s.full = true
		s.problem(p.path, what+"; the rest was not searched")
	}
	return s.full
}

func (s *search) problem(path, message string) {
	switch n := len(s.problems); {
	case n < maxProblems:
		s.problems = append(s.problems, skill.Problem{Path: path, Message: message})
	case n == maxProblems:
		s.problems = append(s.problems, skill.Problem{Path: path, Message: message + "; further problems are not listed"})
	}
}

// A walk goes through one place.
type walk struct {
	*search
	place   root
	guarded bool
	fence   *fence // nil for one that is not guarded
	queue   []folderRef
	seen    map[string]bool // real paths of folders, against loops
	deep    bool            // that it is too deep was said
	finds   []find
}

// readFolder searches a folder.
func (w *walk) readFolder(at folderRef) {
	w.folders++
	info, err := w.stat(at.path)
	if err != nil {
		w.problem(at.path, "can not be searched: "+reason(err))
		return
	}
	if at.depth > 0 { // of the first there is a mark
		w.marks = append(w.marks, mark{at.path, info})
	}
	entries, more, err := w.readDir(at.path, maxEntries)
	if err != nil {
		w.problem(at.path, "can not be searched: "+reason(err))
	}
	if more {
		w.problem(at.path, fmt.Sprintf("only %d of its entries were looked at", maxEntries))
	}
	for _, e := range entries {
		if w.late && w.limitReached(w.place) { // something in it does not answer
			return
		}
		path, named := filepath.Join(at.path, e.Name()), strings.EqualFold(e.Name(), fileName)
		switch {
		case e.IsDir():
			w.queueFolder(folderRef{path, filepath.Join(at.real, e.Name()), at.depth + 1}, e.Name())
		case e.Type()&fs.ModeSymlink != 0:
			w.followLink(at, path, named)
		case named:
			w.candidate(at, path)
		}
	}
}

// followLink follows a link.
func (w *walk) followLink(at folderRef, path string, named bool) {
	info, err := w.stat(path)
	if err != nil || !info.IsDir() {
		if named {
			w.candidate(at, path)
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			w.problem(path, "a link that can not be followed: "+reason(err))
		}
		return
	}
	real, err := w.real(path)
	switch {
	case err != nil:
		w.problem(path, "a link that can not be followed: "+reason(err))
	case !w.fence.contains(real):
		w.problem(path, "a link out of a project that is not trusted; it is not followed")
	default:
		w.queueFolder(folderRef{path, real, at.depth + 1}, filepath.Base(path))
	}
}

// queueFolder notes a folder for later.
func (w *walk) queueFolder(next folderRef, name string) {
	switch {
	case passed(name) || w.seen[next.real]:
	case next.depth > w.opt.Limits.Depth:
		if !w.deep {
			w.deep = true
			w.problem(next.path, fmt.Sprintf("more than %d folders deep; what is there was not searched", w.opt.Limits.Depth))
		}
	default:
		w.seen[next.real] = true
		w.queue = append(w.queue, next)
	}
}

// candidate checks a file with the name of a skill file.
func (w *walk) candidate(at folderRef, path string) {
	f := find{File: skill.File{Path: path, From: w.place.from, Guarded: w.guarded}, dir: at.path, fence: w.fence}
	w.files++
	defer func() { w.finds = append(w.finds, f) }()
	if filepath.Base(path) != fileName {
		f.Code, f.Why = Misnamed, "it has to be called "+fileName
		return
	}
	if w.fence != nil {
		real, err := w.real(path)
		if err == nil && !w.fence.contains(real) {
			f.Code, f.Why = LeadsOut, "a link out of a project that is not trusted"
			return
		}
	}
	// A file that is as it was is not read again.
	info, err := w.stat(path)
	if err != nil {
		info = nil
	}
	w.marks = append(w.marks, mark{path, info})
	n, ok := w.known[path]
	if !ok || info == nil || n.young || !unchanged(n.info, info) {
		n = w.open(path)
		n.young = info != nil && isYoung(info, w.start)
	}
	w.notes[path] = n
	f.info = n.info
	if n.fault != nil {
		f.Code, f.Why, f.Line = n.fault.Code, n.fault.Why, n.fault.Line
		return
	}
	f.Name, f.Description, f.Notes = n.doc.Name, n.doc.Description, n.doc.Notes
}

func (w *walk) open(path string) note {
	limit := w.opt.Limits.Bytes
	made, ok := disk.InTime(w.patience(), func() opened {
		data, info, err := readFile(path, limit)
		return opened{data, info, err}
	})
	if !ok {
		w.late = true
		return note{fault: unreadable(errSlow)}
	}
	data, info, err := made.data, made.info, made.err
	n := note{info: info}
	if err == nil {
		n.doc, err = Read(data)
	}
	if fault, ok := errors.AsType[*FormatError](err); ok {
		return note{info: info, fault: fault}
	}
	n.doc.Body = "" // it is read again when it is loaded
	return n
}
