package helve

import (
	"time"

	"github.com/helve-dev/helve/event"
)

// An Event tells what happened in a runtime. Events have one order, the same
// for every subscriber, and Seq numbers them from 1 without gaps.
type Event struct {
	Seq        uint64        `json:"seq"`
	Time       time.Time     `json:"time"`
	Type       string        `json:"type"`       // the name of what happened, such as "call.started"
	Properties event.Payload `json:"properties"` // what happened: a type of the package event
}
