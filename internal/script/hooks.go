package script

import "sync"

// Hooks are the names of the hooks that started plugins have. Its methods may be called from any
// goroutine.
type Hooks struct {
	mu    sync.Mutex
	names map[string]bool
}

// Set takes those of the plugins that were started, in place of all before.
func (h *Hooks) Set(started []PluginFile) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.names = map[string]bool{}
	for _, f := range started {
		for _, p := range f.Plugins {
			for _, name := range p.Hooks {
				h.names[name] = true
			}
		}
	}
}

// Has reports whether a plugin has a hook of a name.
func (h *Hooks) Has(name string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.names[name]
}
