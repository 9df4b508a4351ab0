package custom

import "time"

// watch looks at the files now and then, so that changes are seen while nobody calls.
func (s *Set) watch() {
	t := time.NewTicker(max(s.opt.Watch, lookPause))
	defer t.Stop()
	for {
		select {
		case <-s.life.Done():
			return
		case <-t.C:
		}
		for _, u := range s.units {
			if u.inUse() {
				u.load(s.life, want{})
			}
		}
	}
}

// inUse reports whether something of the unit was brought, so that its changes are of interest.
func (u *unit) inUse() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.build != nil
}
