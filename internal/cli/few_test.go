package cli

import (
	"fmt"
	"testing"

	"github.com/helve-dev/helve/permission"
)

// Of a whole tree no more is told than somebody reads, and the strictest first.
func TestFew(t *testing.T) {
	var ds []permission.Decision
	for i := range 500 {
		ds = append(ds, permission.Decision{Permission: "read", Pattern: fmt.Sprintf("/d/%d.txt", i), Action: permission.Allow})
	}
	ds = append(ds, permission.Decision{Permission: "bash", Pattern: "rm x", Action: permission.Deny})
	few, more := fewDecisions(ds)
	if len(few) != 2 || more != 0 || few[0].Action != permission.Deny || few[1].Pattern != "/d/… (500 files)" {
		t.Errorf("alike: %v and %d more", few, more)
	}
	for i := range ds[:500] {
		ds[i].Pattern = fmt.Sprintf("/top/%d/sub%d/x", i%250, i)
	}
	if few, more = fewDecisions(ds); len(few) != 2 || more != 0 || few[1].Pattern != "/top/… (500 files)" {
		t.Errorf("alike further up: %v and %d more", few, more)
	}
	for i := range ds {
		ds[i].Permission, ds[i].Pattern = "bash", fmt.Sprintf("x %d", i)
	}
	if few, more = fewDecisions(ds); len(few) != maxUnits || more != len(ds)-maxUnits || few[0].Action != permission.Deny {
		t.Errorf("unlike: %d and %d more, the first %v", len(few), more, few[0])
	}
}
