// Package idbspill is the browser's spill store: chunks in an IndexedDB database of their own, in a
// Web Worker. It holds nothing on other platforms.
//
// A browser removes no database by itself, not even after a tab has crashed. So every store holds a
// Web Lock of its database's name while it is in use; the browser gives the lock back when the
// worker ends, however it ends, and Sweep deletes the databases whose lock is free. Where there are
// no Web Locks (pages of plain http other than localhost) the name tells when the database was made,
// and Sweep deletes those that are older than a day.
package idbspill
