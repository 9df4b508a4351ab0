package helve_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/event"
)

// Plugins are told of the project when they are started.
func TestPluginsKnowTheProject(t *testing.T) {
	const project = `
-- .opencode/plugin/where.ts --
export default async ({ project, worktree }) => ({
  tool: { where: { description: "where", args: {}, async execute() { return [project.id, project.worktree === worktree].join(" ") } } },
})
`
	rt, _ := owned(t, project, helve.Options{Unattended: true, Project: "prj_1"})
	res, err := callJSON(t, rt, "where", `{}`)
	if err != nil || strings.TrimSpace(res.Output) != "prj_1 true" {
		t.Errorf("%+v, %v", res, err)
	}
}

// A session that a plugin makes is like any other: it has a slug, and everybody
// is told of it and of its new title.
func TestPluginsMakeSessions(t *testing.T) {
	const project = `
-- .opencode/plugin/make.ts --
export default async ({ client }) => ({
  tool: { make: { description: "makes", args: {}, async execute() {
    const { data } = await client.session.create({ body: { title: "first" } })
    const now = await client.session.update({ path: { id: data.id }, body: { title: "second" } })
    const gone = await client.session.update({ path: { id: "ses_none" }, body: { title: "x" } })
    return JSON.stringify([!!data.slug, data.title, now.data.title, now.data.version, now.data.id === data.id, gone.error.name, data.id])
  } } },
})
`
	rt, _ := owned(t, project, helve.Options{Unattended: true})
	res, err := callJSON(t, rt, "make", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	id, ok := strings.CutPrefix(strings.TrimSpace(res.Output), `[true,"first","second","helve",true,"NotFoundError","`)
	if !ok {
		t.Fatalf("got %s", res.Output)
	}
	id = strings.TrimSuffix(id, `"]`)
	if s, err := rt.Records().Session(t.Context(), id); err != nil || s.Slug == "" || s.Title != "second" {
		t.Errorf("session = %+v, %v", s, err)
	}
	rt.Plugins().Notify("end.of.test", nil)
	var told []string
	for e := range rt.Events(t.Context(), 0) {
		switch s := e.Properties.(type) {
		case event.SessionCreated:
			if s.Info.ID == id {
				told = append(told, e.Type+" "+s.Info.Title)
			}
		case event.SessionUpdated:
			if s.Info.ID == id {
				told = append(told, e.Type+" "+s.Info.Title)
			}
		}
		if e.Type == "end.of.test" {
			break
		}
	}
	if want := []string{"session.created first", "session.updated second"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}
