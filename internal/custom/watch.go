package custom

import (
	"context"
	"time"
)

// watchPause is how long the watcher waits for the files of one folder before it checks the next:
// they continue loading.
const watchPause = 2 * time.Second

// pollFiles checks the files periodically, so that changes are seen without calls. Once all tools
// were gathered, it keeps them so: files that are added, fixed or trusted are loaded without a
// request.
func (s *Set) pollFiles() {
	t := time.NewTicker(max(s.opt.Watch, lookPause))
	defer t.Stop()
	for {
		select {
		case <-s.life.Done():
			return
		case <-t.C:
		}
		w := want{idle: true, all: s.gathered.Load()}
		for _, u := range s.units {
			if (w.all || u.inUse()) && u.wants(w) {
				ctx, cancel := context.WithTimeout(s.life, watchPause)
				u.load(ctx, w)
				cancel()
			}
		}
		if s.life.Err() == nil {
			s.events.open()
		}
	}
}

// inUse reports whether something of the unit was brought, so that its changes are of interest.
func (u *unit) inUse() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.build != nil
}

// still reports whether a watcher has nothing to do: everything is loaded and unchanged, and the
// folder was trusted. Then trust need not be looked up again.
func (u *unit) still(w want) bool {
	u.mu.Lock()
	root, scripts, built := u.root, u.scripts, u.build
	unsure := u.denied != "" || u.asked.IsZero() && u.trusted != nil
	there := u.hasAll(w) && len(u.marks) <= len(u.programs) && !u.news(w)
	u.mu.Unlock()
	return !unsure && there && (built == nil || built.isCurrent(root, scripts))
}

// news reports whether a program is to describe itself, for the first time or because it has
// changed.
func (u *unit) news(w want) bool {
	for _, e := range u.programs {
		known := u.facts[e.name] != nil
		if (known || w.includes(e)) && (!known || u.marks[e.name] != markOf(u.path(u.root, e))) {
			return true
		}
	}
	return false
}
