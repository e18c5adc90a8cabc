/** /proc/PID/maps (proc_pid_maps(5)): what a process has mapped into its memory. */
export interface MappedFile {
  /** "major:minor" of the file system. */
  readonly dev: string
  readonly inode: number
  /** As the process sees it; may end in " (deleted)". */
  readonly path: string
}

/**
 * address perms offset dev(hex) inode, then the path behind blanks: nothing for anonymous memory, a name in brackets for the
 * kernel's. Only a newline ends a line: `^`, `$` and `.` would take a carriage return in a path for an end as well.
 */
const LINE = /(?<![^\n])[0-9a-f]+-[0-9a-f]+ \S+ [0-9a-f]+ ([0-9a-f]+):([0-9a-f]+) (\d+) +(\/[^\n]*)/g

/** Mapped files only; all other lines are left out. */
export function parseMaps(text: string): MappedFile[] {
  return [...text.matchAll(LINE)].map(([, major = '', minor = '', inode = '', path = '']) => ({
    dev: `${Number.parseInt(major, 16)}:${Number.parseInt(minor, 16)}`,
    inode: Number(inode),
    // The kernel escapes only line ends here.
    path: path.replaceAll('\\012', '\n'),
  }))
}
