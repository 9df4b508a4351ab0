package helve

// Records gives access to what a runtime keeps: sessions with their messages and calls, and changes
// on disk. See [Runtime.Records].
type Records struct{ rt *Runtime }

// Records returns access to what the runtime keeps.
func (r *Runtime) Records() Records { return Records{r} }

// Requests gives access to what waits for a person: permission requests, and questions of tools.
// See [Runtime.Requests].
type Requests struct{ rt *Runtime }

// Requests returns access to what waits for a person.
func (r *Runtime) Requests() Requests { return Requests{r} }

// Permissions gives access to the rules in force and to people's approvals. See
// [Runtime.Permissions].
type Permissions struct{ rt *Runtime }

// Permissions returns access to the rules in force and to people's approvals.
func (r *Runtime) Permissions() Permissions { return Permissions{r} }

// Jobs gives access to the background commands. See [Runtime.Jobs].
type Jobs struct{ rt *Runtime }

// Jobs returns access to the background commands.
func (r *Runtime) Jobs() Jobs { return Jobs{r} }
