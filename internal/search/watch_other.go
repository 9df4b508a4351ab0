//go:build !linux

package search

// A watcher reports changes in folders. There is none on this system.
type watcher struct{}

func newWatcher() (*watcher, error) { return nil, errNoWatch }

func (*watcher) add(string, uint32) error { return errNoWatch }

func (*watcher) removeWatch(uint32) {}

func (*watcher) drain(func(change)) (bool, error) { return false, errNoWatch }

func (*watcher) close() {}

func watchable(string) bool { return false }
