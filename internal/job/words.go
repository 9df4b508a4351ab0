package job

import "fmt"

// Words says how a job stands.
func (i Info) Words() string {
	switch {
	case i.State == Running && i.Exited:
		return "running (the command itself has ended, what it started goes on)"
	case i.State == Running && i.Orphan:
		return "running without its runtime"
	case i.State != Ended:
		return string(i.State)
	case i.Signal != "":
		return "ended by " + i.Signal
	}
	return fmt.Sprintf("ended with exit code %d", i.Code)
}
