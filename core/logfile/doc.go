// Package logfile reads Hudi log files: their names, the frames of their blocks, the
// headers, and the content of data, delete and command blocks. It knows one file and
// no timeline; package logscan decides what a block means for a table.
//
// A log file is a run of blocks without any header or footer of its own. One block of
// log format version 1 (spec log-format.md section 3), all numbers big-endian:
//
//	offset          bytes  field
//	Start               6  magic "#HUDI#"
//	+6                  8  block size: from "format version" to "reverse length", both included
//	+14                 4  format version, 1
//	+18                 4  block type
//	+22                 4  header: number of entries
//	                       header: entries of (key ordinal 4, length 4, UTF-8 text)
//	                    8  content length
//	ContentOffset       …  content
//	                    4  footer: number of entries (0 today), then entries
//	End-8               8  reverse length: from the magic to here, = block size + 6
//	End
//
// Reading a file (section 5) touches headers and footers only. A block whose size does
// not lead to a matching reverse length, or that is not followed by another magic or
// the end of the file, is corrupt: it then runs from after its magic to the next magic,
// and reading goes on there. This check is always made, as Hudi makes it on every
// storage but S3 and GCS. A block that passes the check but whose insides do not add up
// is reported with its Damage, and reading goes on behind it.
//
// The content of an Avro data block (section 6.1) and of a delete block (section 7):
//
//	data:    version 4 | record count 4 | count × (length 4, Avro record)
//	deletes: version 4 | data length 4  | Kryo (version 1, 2) or Avro (version 3) bytes
package logfile
