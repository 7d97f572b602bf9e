// Package disk is how every file of this module is opened, locked, replaced and trusted.
//
// A file is trusted if nobody but its owner, who is the user of this process or root, can write to
// it: it is a regular file and no link, has one name, and others can put no file into its folder.
// Where root could be led to read or to overwrite the file of another user, that is refused, and
// the error says which file it is and what to do. Windows shows neither owners nor modes: there a
// folder's own access list has to keep others out.
//
// A lock is the system's, on the file itself, and ends with the process. Whoever has locked a file
// compares it with what is at its path ([File.Check]): a lock file that was removed locks nobody out,
// and a file that was moved, restored or covered by another disk is not what the next process opens.
package disk
