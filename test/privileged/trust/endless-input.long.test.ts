/**
 * S34: a snapshot is read to a bound: in bytes, in time, and in depth. Answers of an API server: test/cli/hostile-api.test.ts; what unpacks to
 * more: test/trust/bytes.test.ts; output of a credential plugin: test/kube/kubeconfig/exec-credential.test.ts.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, constants, openSync, writeFileSync } from 'node:fs'
import { expect } from 'vitest'
import { it } from '../../helpers/machine.ts'
import { noRoot } from '../../helpers/namespace.ts'
import { sh } from '../../helpers/scenario.ts'
import { describeUnless } from '../describe-unless.ts'
import { end } from './strangers.ts'
import { codeOf, DEADLINE_MS, LIMIT_MIB, oneLine, type RunOptions, runWatched, type WatchedRun } from './watched-run.ts'

function expectBounded(run: WatchedRun): void {
  const { status, ended, seconds, peakMiB } = run
  expect({ status, ended, said: oneLine(run) }).toEqual({ status: 1, ended: 'itself', said: 'one line' })
  expect(codeOf(run)).toBeDefined()
  expect(seconds).toBeLessThan(DEADLINE_MS / 1000)
  expect(peakMiB).toBeLessThan(LIMIT_MIB)
  expect(peakMiB).toBeGreaterThan(0)
}

const DEPTH = 1_000_000
const SNAPSHOT = '"apiVersion":"volctl.io/v1","kind":"NodeSnapshot"'

interface Input extends RunOptions {
  readonly file: string
  readonly writer?: ChildProcess
}

const SNAPSHOTS: Readonly<Record<string, (file: string) => Input>> = {
  '/dev/zero': () => ({ file: '/dev/zero' }),
  'a FIFO without a writer': (file) => fifo(file),
  'a FIFO with a writer that does not end': (file) => written(file, 'exec cat /dev/zero'),
  'a FIFO with a writer that writes JSON for ever': (file) =>
    written(file, `printf '{${SNAPSHOT},"x":['; exec yes '{"a":1},'`),
  'standard input that does not end': () => ({ file: '-', stdin: openSync('/dev/zero', 'r') }),
  'a pipe that does not end': () => ({ file: '-', script: `yes '{"a":1},' | "$@"` }),
  'a million brackets in a snapshot': (file) =>
    plain(file, `{${SNAPSHOT},"nodeName":${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}}`),
  'a million objects in a snapshot': (file) =>
    plain(file, `{${SNAPSHOT},"api":${'{"a":'.repeat(DEPTH)}1${'}'.repeat(DEPTH)}}`),
  'a file of 10 GB': (file) => {
    sh('truncate', '-s', '10G', file)
    return { file }
  },
}

function plain(file: string, content: string): Input {
  writeFileSync(file, content)
  return { file }
}

function fifo(file: string): Input {
  sh('mkfifo', file)
  return { file }
}

/** Opened for both here, so that neither side waits for the other to be there. */
function written(path: string, script: string): Input {
  const { file } = fifo(path)
  const fd = openSync(file, constants.O_RDWR)
  const writer = spawn('sh', ['-c', script], { stdio: ['ignore', fd, 'ignore'] })
  closeSync(fd)
  return { file, writer }
}

describeUnless(noRoot, 'input that does not end', () => {
  it.for(Object.entries(SNAPSHOTS))('S34: a snapshot is one line: %s', async ([, make], { directory }) => {
    const { file, writer, ...options } = make(`${directory}/snapshot`)
    const found = await runWatched(['plan', '-o', 'json', '--snapshot', file], options)
    if (options.stdin !== undefined) closeSync(options.stdin)
    if (writer !== undefined) await end(writer)
    expectBounded(found)
  })
})
