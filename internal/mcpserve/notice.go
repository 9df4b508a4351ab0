package mcpserve

import (
	"context"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// noticeWait is how long a client may take to take a notice.
const noticeWait = 5 * time.Second

// A notice notifies a client of a change. The SDK sends such notifications only for what is
// registered with it, which ours is not, and to all clients, whether concerned or not. So a notice
// is sent as the token of a progress report, and sendNotice unwraps it.
type notice struct {
	method string
	uri    string // of a resource that has changed
}

// request is the notice in its own clothes.
func (n notice) request(ss *mcp.ServerSession) mcp.Request {
	if n.uri != "" {
		return &mcp.ServerRequest[*mcp.ResourceUpdatedNotificationParams]{Session: ss, Params: &mcp.ResourceUpdatedNotificationParams{URI: n.uri}}
	}
	return &mcp.ServerRequest[*mcp.ToolListChangedParams]{Session: ss, Params: &mcp.ToolListChangedParams{}} // all lists have the same
}

// sendNotice is the sending middleware for notices.
func sendNotice(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if p, ok := req.GetParams().(*mcp.ProgressNotificationParams); ok && p != nil {
			n, ours := p.ProgressToken.(notice)
			if ss, ok := req.GetSession().(*mcp.ServerSession); ok && ours {
				return next(ctx, n.method, n.request(ss))
			}
		}
		return next(ctx, method, req)
	}
}

// notices are those that a client is still to get, each once. They are under
// the lock of the session.
type notices struct {
	waiting []notice
	sending bool
}

// notify sends a notice to the client without waiting for it.
func (se *session) notify(h *sharedRuntime, n notice) {
	se.mu.Lock()
	defer se.mu.Unlock()
	if slices.Contains(se.notices.waiting, n) {
		return
	}
	se.notices.waiting = append(se.notices.waiting, n)
	if !se.notices.sending {
		se.notices.sending = h.talk(se.sendNotices)
	}
}

// sendNotices sends what waits, one after the other.
func (se *session) sendNotices() {
	for {
		se.mu.Lock()
		if len(se.notices.waiting) == 0 {
			se.notices.sending = false
			se.mu.Unlock()
			return
		}
		n := se.notices.waiting[0]
		se.notices.waiting = se.notices.waiting[1:]
		se.mu.Unlock()
		ctx, cancel := context.WithTimeout(se.life, noticeWait)
		err := se.ss.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: n})
		cancel()
		if err != nil {
			se.s.log.Debug("the client was not told of a change", "client", se.client, "notice", n.method, "error", err)
		}
	}
}
