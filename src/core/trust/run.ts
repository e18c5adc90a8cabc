/**
 * What one run of volctl is given of the world around it. Nothing that a run notes outlives it: what is kept until its end is kept by
 * this object. Asked for where it is needed, since streams, environment and directory belong to no call in particular.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { basename } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { isatty } from 'node:tty'
import { memoize } from '../base/memoize.ts'

/** Standard output or standard error. */
export type OutputStream = Writable & {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
}

export interface Io {
  /** A stream once it is asked for: to look at `process.stdin` begins to read from it. */
  readonly stdin: { readonly fd: number; readonly isTTY: boolean; readonly stream: Readable }
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  readonly env: NodeJS.ProcessEnv
  /** Where the signals come from. */
  readonly signals: Pick<NodeJS.EventEmitter, 'on' | 'off'>
  /** The working directory. */
  readonly directory: string
  /** The name by which volctl was called. */
  readonly name: string
}

/** Who started this run, if volctl runs again to enter another mount namespace (caller.ts). */
export interface Caller {
  /** Of the volctl that the user started. */
  readonly pid: number
  /** How many times volctl has started itself again. */
  readonly depth: number
  /** Its working directory, as a path within that directory's file system. */
  readonly directory: string
}

/** One run: from its command line to its exit status. */
export interface Run {
  readonly io: Io
  /** The command line, without what only volctl itself adds. */
  readonly argv: readonly string[]
  readonly isPlugin?: boolean
  readonly caller?: Caller
  /** What volctl's own children are started from, where Node.js runs a script. */
  readonly script: string | undefined
  status: number
}

/** The process's own. */
export const PROCESS: Io = {
  stdin: {
    fd: 0,
    get isTTY() {
      return isatty(0)
    },
    get stream() {
      return process.stdin
    },
  },
  get stdout() {
    return process.stdout
  },
  get stderr() {
    return process.stderr
  },
  get env() {
    return process.env
  },
  signals: process,
  get directory() {
    return process.cwd()
  },
  name: basename(process.argv0),
}

/** Of volctl's own children, and of a part that is called alone. */
const NO_RUN: Run = {
  io: PROCESS,
  argv: [],
  script: process.argv[1],
  status: 0,
}

const runs = new AsyncLocalStorage<Run>()

export function thisRun(): Run {
  return runs.getStore() ?? NO_RUN
}

export function io(): Io {
  return thisRun().io
}

export async function within<T>(which: Run, work: () => Promise<T>): Promise<T> {
  return await runs.run(which, work)
}

/** What is worked out once a run, and is gone with it. */
export function perRun<T>(make: () => T): () => T {
  const of = memoize(make as (run: Run) => T)
  return () => of(thisRun())
}
