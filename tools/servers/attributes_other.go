//go:build !linux

package servers

import "syscall"

// attributes: a group of its own, whose children are ended with it.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
