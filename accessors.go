package helve

// Records are what a runtime keeps: sessions with their messages and calls, and
// what was changed on disk.
type Records struct{ rt *Runtime }

// Records returns what is kept.
func (r *Runtime) Records() Records { return Records{r} }

// Requests are what waits for a person: requests for permission, and questions
// of tools.
type Requests struct{ rt *Runtime }

// Requests returns what waits for a person.
func (r *Runtime) Requests() Requests { return Requests{r} }

// Permissions are the rules in force and the approvals that people gave.
type Permissions struct{ rt *Runtime }

// Permissions returns the rules in force and the approvals.
func (r *Runtime) Permissions() Permissions { return Permissions{r} }

// Jobs are the commands in the background.
type Jobs struct{ rt *Runtime }

// Jobs returns the commands in the background.
func (r *Runtime) Jobs() Jobs { return Jobs{r} }
