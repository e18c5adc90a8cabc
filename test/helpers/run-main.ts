/**
 * Runs a command line of volctl's source in this process: `await volctl(['plan'], { env: scene.env, terminal: { columns: 80 } })`.
 * `env` is added to this process's; VOLCTL_TEST_HOST in it names the node to look at (test-host.ts), without it it is this machine.
 * Without `terminal` all streams are pipes; `input` is what is typed, or stands in standard input. Several may run at the same time.
 * Its own children (they look at /proc) are processes of the tests' bundle. Only what is about the process itself starts one
 * (volctl-program.ts): the launcher, real signals, another mount namespace or user, a file that is full.
 */
import { EventEmitter } from 'node:events'
import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import type { Interfaces } from '@oclif/core'
import type { Io, OutputStream } from '../../src/core/trust/run.ts'
import { main } from '../../src/main.ts'
import { testHost } from './test-host.ts'
import { TEST_BUNDLE } from './volctl-program.ts'

/** Flags that a help lists, each at the beginning of a line. */
export function flagsIn(text: string): string[] {
  return [...text.matchAll(/^ *(?:-\w, )?(--[a-z-]+)/gm)].map(([, flag = '']) => flag)
}

export interface Result {
  readonly status: number | undefined
  readonly stdout: string
  readonly stderr: string
}

export interface World {
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly cwd?: string
  /** All three streams are one. */
  readonly terminal?: { readonly columns?: number; readonly rows?: number }
  readonly input?: string
  /** By which volctl is called. */
  readonly name?: string
  readonly signals?: EventEmitter
  /** Called with what is written to standard output, piece by piece. */
  readonly onOutput?: (text: string) => void
}

const ROOT = join(TEST_BUNDLE, '..', '..')
let manifest: Interfaces.Manifest | undefined
let inputs = 0

export async function volctl(args: readonly string[], world: World = {}): Promise<Result> {
  const { env, cwd = process.cwd(), terminal, input, name = 'volctl', signals = new EventEmitter(), onOutput } = world
  manifest ??= JSON.parse(readFileSync(join(ROOT, 'manifest.json'), 'utf8')) as Interfaces.Manifest
  const said = { stdout: '', stderr: '' }
  const stdout = sink((text) => {
    said.stdout += text
    onOutput?.(text)
  }, terminal)
  const stderr = sink((text) => {
    said.stderr += text
  }, terminal)
  const fd = descriptorOf(input)
  const stdin = { fd, isTTY: terminal !== undefined, stream: Readable.from(input === undefined ? [] : [input]) }
  const io: Io = { stdin, stdout, stderr, env: { ...process.env, ...env }, signals, directory: cwd, name }
  try {
    const script = join(ROOT, 'dist', 'launch.cjs')
    return { status: await main(args, io, { manifest, root: ROOT, script, node: testHost }), ...said }
  } finally {
    closeSync(fd)
  }
}

function sink(take: (text: string) => void, terminal: World['terminal']): OutputStream {
  const write = (data: Buffer, _: string, done: () => void): void => {
    take(data.toString())
    done()
  }
  return Object.assign(new Writable({ write }), terminal && { columns: 80, rows: 24, ...terminal, isTTY: true })
}

/** A file without a name. */
function descriptorOf(input: string | undefined): number {
  if (input === undefined) return openSync('/dev/null', 'r')
  const path = join(tmpdir(), `volctl-input-${process.pid}-${++inputs}`)
  writeFileSync(path, input, { mode: 0o600 })
  const fd = openSync(path, 'r')
  rmSync(path)
  return fd
}
