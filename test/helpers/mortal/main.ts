/**
 * For a process that should die: loaded before everything else (`--import`), it ends the process with SIGKILL right before
 * its n-th change. Calls of `change` (see start.ts) count and, if a directory is given, changes of files below it and
 * programs.
 *
 *     MORTAL_DIRECTORY=DIR MORTAL_CHANGES=N node --import main.ts …
 */
import childProcess from 'node:child_process'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

type Call = (...args: unknown[]) => unknown

const { MORTAL_DIRECTORY: directory = '', MORTAL_CHANGES: changes = '' } = process.env

/** Which argument is the changed path. */
const CHANGES: Readonly<Record<string, number>> = {
  mkdirSync: 0,
  rmdirSync: 0,
  unlinkSync: 0,
  chmodSync: 0,
  chownSync: 0,
  lchownSync: 0,
  symlinkSync: 1,
  renameSync: 1,
  openSync: 0,
}

/** Programs that only look. */
const LOOKING = new Set(['stat', 'blkid', 'blockdev'])

let left = Number(changes)
function change(): void {
  if (left-- <= 0) process.kill(process.pid, 'SIGKILL')
}

if (directory !== '') countFiles()
Object.assign(globalThis, { mortalChange: change })

function countFiles(): void {
  const files = fs as unknown as Record<string, Call>
  for (const [name, index] of Object.entries(CHANGES)) {
    const real = files[name] as Call
    files[name] = (...args) => {
      const path = String(args[index])
      const isOurs = path.startsWith(`${directory}/`) || path.startsWith('/proc/self/fd/')
      if (isOurs && (name !== 'openSync' || makes(args[1]))) change()
      return real(...args)
    }
  }

  const programs = childProcess as unknown as { spawn: Call }
  const { spawn } = programs
  programs.spawn = (...args) => {
    if (!LOOKING.has(String(args[0]).split('/').at(-1) ?? '')) change()
    return spawn(...args)
  }
  syncBuiltinESMExports()
}

function makes(flags: unknown): boolean {
  return typeof flags === 'number' ? (flags & fs.constants.O_CREAT) !== 0 : /[wax]/.test(String(flags ?? 'r'))
}
