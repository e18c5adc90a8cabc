import pjson from '../../../package.json' with { type: 'json' }

/** What `volctl --version` and `volctl version` print, as oclif would; the executable answers before it loads anything else. */
export function versionLine(): string {
  return `${pjson.name}/${pjson.version} ${process.platform}-${process.arch} node-${process.version}\n`
}

/** @param args of the command line, without Node.js and the program */
export function asksForVersion([first, ...others]: readonly string[]): boolean {
  return first === '--version' || (first === 'version' && others.length === 0)
}
