package custom

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"strings"
)

// repacked names a file of an installed package that is not what it was when the folder was first run after it was trusted; "" for
// none. Packages are not part of what is shown when a folder is trusted, as they are not written by hand: what they held then counts,
// until the folder is trusted anew.
func (u *unit) repacked(b *build) string {
	if u.stamp == nil {
		return ""
	}
	now := map[string]string{}
	for _, f := range b.result.Inputs.Files {
		if strings.Contains(filepath.ToSlash(f.Path), "/node_modules/") {
			now[f.Path] = f.Sum
		}
	}
	if len(now) == 0 {
		return ""
	}
	key := digest("packages", u.root, u.stamp())
	known := map[string]string{}
	if _, head, ok := u.set.store.get(key); ok {
		if json.Unmarshal(head, &known) != nil {
			known = map[string]string{}
		}
	}
	for path, sum := range now {
		if was, ok := known[path]; ok && was != sum {
			return path
		}
	}
	before := len(known)
	maps.Copy(known, now)
	if len(known) == before {
		return ""
	}
	if head, err := json.Marshal(known); err == nil {
		u.set.store.put(key, head)
	}
	return ""
}
