package servers

import "syscall"

// attributes: a group of its own, whose children are ended with it, and no life beyond the test, even
// one that panics.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
