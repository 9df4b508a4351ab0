package custom

import (
	"encoding/json"
	"maps"
	"slices"
)

// drifted names a file that has changed, appeared or disappeared since the folder first ran after
// it was trusted; "" for none. When a folder is trusted, its own files are shown. What else a
// program was made of (installed packages, settings above the folder, other folders that the config
// names) is recorded at that time, and stays valid until the folder is trusted anew.
func (u *unit) drifted(b *build) string {
	if u.stamp == nil || len(b.result.Inputs.Files) == 0 {
		return ""
	}
	now := map[string]string{}
	for _, f := range b.result.Inputs.Files {
		now[f.Path] = f.Sum
	}
	key := hashTexts("inputs", u.root, u.stamp())
	if _, head, ok := u.set.store.get(key); ok {
		known := map[string]string{}
		if json.Unmarshal(head, &known) == nil {
			return difference(known, now)
		}
	}
	if head, err := json.Marshal(now); err == nil {
		u.set.store.put(key, head)
	}
	return ""
}

// difference names the first file that two records of files disagree about.
func difference(a, b map[string]string) string {
	for _, path := range slices.Sorted(maps.Keys(a)) {
		if a[path] != b[path] {
			return path
		}
	}
	for _, path := range slices.Sorted(maps.Keys(b)) {
		if _, ok := a[path]; !ok {
			return path
		}
	}
	return ""
}
