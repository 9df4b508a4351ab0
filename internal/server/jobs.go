package server

import (
	"context"

	"github.com/helve-dev/helve/record"
)

type jobsInput struct {
	Session string `query:"session" maxLength:"256" doc:"only those of this session"`
}

type jobs struct {
	Jobs []record.Job `json:"jobs"`
}

type jobInput struct {
	Job string `path:"job" maxLength:"256"`
}

type outputInput struct {
	Job    string `path:"job" maxLength:"256"`
	Offset int64  `query:"offset" doc:"where to begin, in bytes; a negative one counts from the end"`
}

// jobOutput is a piece of what a job has printed, with how the job is.
type jobOutput struct {
	record.JobOutput
	State string `json:"state" doc:"running, ended or lost"`
}

func (s *Server) routeJobs() {
	route(s, about{at: "GET /v1/jobs", id: "listJobs", tag: "jobs", fails: []int{422}, summary: "Commands in the background"},
		func(_ context.Context, in *jobsInput) (*body[jobs], error) {
			all, err := s.rt.Jobs().List(in.Session)
			if err != nil {
				return nil, err
			}
			return answerOf(jobs{list(all)}), nil
		})
	route(s, about{at: "GET /v1/jobs/{job}/output", id: "readJobOutput", tag: "jobs", fails: []int{404, 422},
		summary: "What a job has printed", text: "At most 256 KiB from an offset on. It gives what is there and does not wait."}, s.getOutput)
	route(s, about{at: "POST /v1/jobs/{job}/stop", id: "stopJob", tag: "jobs", fails: []int{404, 422},
		summary: "End a job, with all its processes"},
		func(ctx context.Context, in *jobInput) (*body[record.Job], error) {
			job, err := s.rt.Jobs().Stop(ctx, in.Job)
			if err != nil {
				return nil, err
			}
			return answerOf(job), nil
		})
}

func (s *Server) getOutput(_ context.Context, in *outputInput) (*body[jobOutput], error) {
	out := jobOutput{State: "lost"}
	jobs, err := s.rt.Jobs().List("") // before the output: of a job that had ended it is all
	if err != nil {
		return nil, err
	}
	for _, j := range jobs {
		if j.ID == in.Job {
			out.State = j.State
		}
	}
	if out.JobOutput, err = s.rt.Jobs().Output(in.Job, in.Offset); err != nil {
		return nil, err
	}
	return answerOf(out), nil
}
