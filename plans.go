package helve

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/builtin"
	"github.com/helve-dev/helve/internal/loop"
	"github.com/helve-dev/helve/tool"
)

// plans gives the planning tools what they need.
type plans struct{ r *Runtime }

var _ builtin.Plans = plans{}

// PlanFile returns where a session's plan is or will be.
func (p plans) PlanFile(ctx context.Context, session string) (shown, path string, err error) {
	s, err := p.r.store.get()
	if err != nil {
		return "", "", err
	}
	row, err := s.Session(ctx, session)
	if err != nil {
		return "", "", err
	}
	name := row.Slug
	if name == "" {
		name = strings.ToLower(session)
	}
	base := filepath.Join(p.r.opt.DataDir, "plans")
	if isGit(p.r.worktree) {
		base = filepath.Join(p.r.worktree, ".opencode", "plans")
	} else if p.r.opt.DataDir == "" {
		return "", "", errors.New("there is no folder for plans: give the runtime a data folder")
	}
	path = filepath.Join(base, fmt.Sprintf("%d-%s.md", row.Time.Created, name))
	shown = path
	if rel, err := filepath.Rel(p.r.worktree, path); err == nil && filepath.IsLocal(rel) {
		shown = filepath.ToSlash(rel)
	}
	return shown, path, nil
}

// SavePlan writes a session's plan: the only file that planning creates, at a path that no model
// chooses.
func (p plans) SavePlan(ctx context.Context, session, text string) error {
	_, path, err := p.PlanFile(ctx, session)
	if err != nil {
		return err
	}
	root := p.r.worktree
	if !isGit(root) {
		root = p.r.opt.DataDir
	}
	name, err := filepath.Rel(root, path)
	if err != nil {
		return err
	}
	dir, err := os.OpenRoot(root) // no link can lead out of it
	if err != nil {
		return fmt.Errorf("saving the plan: %w", err)
	}
	defer dir.Close()
	for at := name; at != "."; at = filepath.Dir(at) {
		if info, err := dir.Lstat(at); err == nil && info.Mode()&os.ModeSymlink != 0 {
			return fmt.Errorf("saving the plan: %s is a link, and plans are not written through links", at)
		}
	}
	if err := dir.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return fmt.Errorf("saving the plan: %w", err)
	}
	if err := dir.WriteFile(name, []byte(strings.TrimRight(text, "\n")+"\n"), 0o644); err != nil {
		return fmt.Errorf("saving the plan: %w", err)
	}
	p.r.events.publish(event.FileEdited{Session: session, File: path})
	return nil
}

// Switch lets another agent continue the conversation.
func (p plans) Switch(_ context.Context, c *tool.Call, name, text string) error {
	a := p.r.agent(name)
	if a == nil {
		return tool.Fail("not-found", "there is no agent called %q here: go on as you are", name)
	}
	if p.r.active.session(c.Session) == nil {
		return tool.Fail("no-conversation", "nobody works on this conversation here, so it can not be handed to %s: go on as you are", name)
	}
	p.r.loop.Next(c.Session, loop.Said{Agent: a.Name, Model: a.Model, Text: text, Synthetic: true})
	return nil
}

// slug returns a readable name for a session's files.
func slug() string {
	first := strings.Fields("amber bold brave brisk calm clear clever cosmic crisp eager early fair fresh gentle glad golden happy keen kind light " +
		"lively lucky mellow neat nimble proud quick quiet rapid ready silent silver sleek smart solid steady swift tidy vivid warm")
	second := strings.Fields("acorn anchor badger beacon birch brook cedar cliff comet coral crane delta ember falcon fern finch forest garden glade harbor " +
		"hazel heron island lagoon lantern maple meadow meteor orchard otter panda pebble pine planet raven ridge river sparrow tiger willow")
	return pick(first) + "-" + pick(second)
}

func pick(words []string) string {
	n, err := rand.Int(rand.Reader, big.NewInt(int64(len(words))))
	if err != nil {
		return words[0] // the random reader does not fail
	}
	return words[n.Int64()]
}
