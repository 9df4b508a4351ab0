package lspclient

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/helve-dev/helve/internal/disk"
	"github.com/helve-dev/helve/internal/process"
	"github.com/helve-dev/helve/lsp"
)

// A Set is the language servers of a project. It is safe for concurrent use.
type Set struct {
	opt Options
	// servers are those that may be started, in the order in which they are queried.
	servers []Server
	real    string // where the working folder really lies
	place   environment
	board   *board
	life    context.Context
	end     context.CancelFunc
	work    sync.WaitGroup

	showing sync.Mutex

	mu       sync.Mutex
	closed   bool
	clients  map[clientKey]*client
	logs     map[string]*process.Journal // by id: servers of one id share theirs
	order    []*client                   // as they came
	owed     map[string]bool
	doubt    bool
	looked   time.Time     // when files were last looked at
	lookTook time.Duration // how long that took
	cut      bool          // it was not looked at all of them
}

// A clientKey names a server in a root.
type clientKey struct{ id, root string }

// New returns a set. Nothing is started before a file needs it.
func New(opt Options) (*Set, error) {
	servers, err := Merge(opt.Own)
	if err != nil {
		return nil, err
	}
	if !opt.Builtin {
		servers = slices.DeleteFunc(servers, func(s Server) bool {
			return !slices.ContainsFunc(opt.Own, func(o lsp.Server) bool { return o.Name == s.Name })
		})
	}
	opt.Wait = cmp.Or(opt.Wait, 5*time.Second)
	opt.Request = cmp.Or(opt.Request, 15*time.Second)
	opt.Start = cmp.Or(opt.Start, 45*time.Second)
	opt.Idle = cmp.Or(opt.Idle, 10*time.Minute)
	opt.Memory = cmp.Or(opt.Memory, 4<<30)
	if opt.Getenv == nil {
		opt.Getenv = os.Getenv
	}
	s := &Set{
		opt: opt, servers: servers, board: newBoard(opt.Board), clients: map[clientKey]*client{}, logs: map[string]*process.Journal{}, owed: map[string]bool{},
		place: environment{dir: opt.Dir, worktree: opt.Worktree, trusted: opt.Trusted, getenv: opt.Getenv},
	}
	s.real = actual(opt.Dir)
	s.life, s.end = context.WithCancel(context.Background())
	return s, nil
}

// A match is a server that takes a file, in the root that it does so for.
type match struct {
	server Server
	root   string
}

// matches are the servers that take a file, in order.
func (s *Set) matches(file string) (out []match) {
	for _, server := range s.servers {
		if server.Disabled || !server.matches(file) {
			continue
		}
		if root, ok := server.root(file, s.place); ok {
			out = append(out, match{server, root})
		}
	}
	return out
}

// Has reports whether there is a server that takes a file, which need not be
// installed. It starts nothing.
func (s *Set) Has(file string) bool { return len(s.matches(s.serverPath(file))) > 0 }

// serverPath is a file under the name that its servers know it by: one that is
// named by where the working folder really lies is called as in that folder.
func (s *Set) serverPath(file string) string {
	if disk.Within(s.opt.Dir, file) {
		return file
	}
	if rel, err := filepath.Rel(s.real, file); err == nil && filepath.IsLocal(rel) {
		return filepath.Join(s.opt.Dir, rel)
	}
	return file
}

// client is the server of a match, which is made if it is new.
func (s *Set) client(m match) (*client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errSetClosed
	}
	key := clientKey{m.server.Name, m.root}
	c := s.clients[key]
	if c == nil {
		if s.logs[m.server.Name] == nil {
			s.logs[m.server.Name] = process.NewJournal(s.opt.Logs, m.server.Name)
		}
		c = &client{
			set: s, server: m.server, root: m.root, log: s.logs[m.server.Name],
			state: lsp.StateStopped, since: time.Now(), used: time.Now(),
		}
		s.clients[key] = c
		s.order = append(s.order, c)
	}
	return c, nil
}

var errSetClosed = errors.New("language servers: closed")

// maxServers is how many servers run at once, unless all are in use.
const maxServers = 10

// makeRoom stops the servers that were not used for longest, where there are
// too many.
func (s *Set) makeRoom() {
	var running []*client
	for _, c := range s.allClients() {
		if c.current() != nil {
			running = append(running, c)
		}
	}
	slices.SortFunc(running, func(a, b *client) int { return cmp.Compare(b.idle(), a.idle()) })
	for i, c := range running {
		if len(running)-i < maxServers || c.idle() == 0 {
			return
		}
		c.reset()
	}
}

// spawn runs something in the background, unless the set is closed.
func (s *Set) spawn(do func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.work.Go(do)
	return true
}

// allClients are the servers that were ever needed, in the order that they were.
func (s *Set) allClients() []*client {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.order)
}

// links are the servers that run.
func (s *Set) links() (out []*link) {
	for _, c := range s.allClients() {
		if l := c.current(); l != nil {
			out = append(out, l)
		}
	}
	return out
}

// Warm starts what a file needs and opens the file there, in the background.
func (s *Set) Warm(file string) {
	if s.opt.Brief || !s.Has(file) {
		return
	}
	s.spawn(func() {
		ctx, cancel := context.WithTimeout(s.life, s.opt.Start)
		defer cancel()
		_, _ = s.Open(ctx, file) // callers get the error when they need it
	})
}

// Open returns the servers of a file, started and with the file open as it is on disk. Its error is
// [ErrNone], or an [Unavailable] or [Missing] if none of the servers can be queried.
func (s *Set) Open(ctx context.Context, file string) ([]*View, error) {
	file = s.serverPath(file)
	found := s.matches(file)
	if len(found) == 0 {
		return nil, ErrNone
	}
	s.flush(ctx)
	views := make([]*View, len(found))
	errs := make([]error, len(found))
	var wg sync.WaitGroup
	for i, m := range found {
		wg.Go(func() { views[i], errs[i] = s.open(ctx, m, file) })
	}
	wg.Wait()
	views = slices.DeleteFunc(views, func(v *View) bool { return v == nil })
	if len(views) > 0 {
		return views, nil
	}
	// The most informative error is one of a server that is installed, if there is any.
	slices.SortStableFunc(errs, func(a, b error) int { return rankOf(a) - rankOf(b) })
	return nil, errs[0]
}

func rankOf(err error) int {
	if _, ok := errors.AsType[*Missing](err); ok {
		return 1
	}
	return 0
}

// open opens a file in one server.
func (s *Set) open(ctx context.Context, m match, file string) (*View, error) {
	c, err := s.client(m)
	if err != nil {
		return nil, err
	}
	defer c.acquire()()
	l, err := c.ensure(ctx)
	if err != nil {
		return nil, err
	}
	d, _, err := l.sync(file)
	if err != nil {
		return nil, err
	}
	return &View{link: l, doc: d}, nil
}

// Running are the servers that are ready, without a file.
func (s *Set) Running() (out []*View) {
	s.flush(s.life)
	for _, l := range s.links() {
		out = append(out, &View{link: l})
	}
	return out
}

// Status is how the servers are that were started.
func (s *Set) Status() []lsp.Status {
	out := []lsp.Status{}
	for _, c := range s.allClients() {
		if st, started := c.status(); started {
			out = append(out, st)
		}
	}
	return out
}

// Log returns the newest lines that servers of an id have printed.
func (s *Set) Log(id string) []string {
	s.mu.Lock()
	log := s.logs[id]
	s.mu.Unlock()
	if log == nil {
		return nil
	}
	return log.Lines()
}

// Found reports for every server whether it could be started in the working folder. It starts
// nothing.
func (s *Set) Found() (out []lsp.Found) {
	for _, server := range s.servers {
		f := lsp.Found{ID: server.Name, Extensions: server.Extensions}
		l, err := server.launch(s.opt.Dir, s.place)
		if err != nil {
			f.Missing = err.Error()
		}
		f.Command = l.argv
		out = append(out, f)
	}
	return out
}

// Restart starts the servers of a file anew, or with "" all that were ever
// started, also those that were given up. It returns what they are called, and
// the first error of starting one.
func (s *Set) Restart(ctx context.Context, file string) (ids []string, err error) {
	var chosen []*client
	if file != "" {
		file = s.serverPath(file)
	}
	if file == "" {
		chosen = s.allClients()
	}
	for _, m := range s.matches(file) {
		c, err := s.client(m)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, c)
	}
	if file != "" && len(chosen) == 0 {
		return nil, ErrNone
	}
	errs := make([]error, len(chosen))
	var wg sync.WaitGroup
	for i, c := range chosen {
		wg.Go(func() {
			c.reset()
			_, errs[i] = c.ensure(ctx)
		})
	}
	wg.Wait()
	for i, c := range chosen {
		if _, missing := errors.AsType[*Missing](errs[i]); missing && len(chosen) > 1 {
			continue
		}
		ids = append(ids, c.server.Name)
		err = cmp.Or(err, errs[i])
	}
	return ids, err
}

// Close ends all servers, with all that they have started.
func (s *Set) Close() error {
	s.mu.Lock()
	again := s.closed
	s.closed = true
	s.mu.Unlock()
	if again {
		return nil
	}
	s.end()
	var wg sync.WaitGroup
	for _, c := range s.allClients() {
		wg.Go(c.close)
	}
	wg.Wait()
	s.work.Wait()
	s.board.close()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, log := range s.logs {
		log.Close()
	}
	return nil
}

// notifyChange notifies the watchers that a server has changed.
func (s *Set) notifyChange() {
	s.publishStatus()
	if s.opt.OnChange != nil {
		s.opt.OnChange()
	}
}

// publishStatus shows other processes how the servers are.
func (s *Set) publishStatus() {
	if s.opt.Board == "" {
		return
	}
	s.showing.Lock() // so that the newest state is shown last
	defer s.showing.Unlock()
	s.board.publish(s.Status())
}
