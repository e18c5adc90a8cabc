/** How often the kernel is asked: counts, which a busy machine does not change. */
import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { temporary } from '../helpers/left-behind.ts'

const FILES = new URL('../../src/core/trust/files.ts', import.meta.url).href
const noStrace =
  spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0 ? undefined : 'strace(1) does not work here'

/** Paths that a program of one line opens, below /proc. */
function openedInProc(script: string): string[] {
  const trace = join(directory, 'trace')
  const node = [process.execPath, '--no-warnings', '-e', script]
  const { status, stderr } = spawnSync('strace', ['-e', 'trace=openat', '-o', trace, ...node], { encoding: 'utf8' })
  expect([status, stderr]).toEqual([0, ''])
  return [...readFileSync(trace, 'utf8').matchAll(/"(\/proc\/self\/[^"]+)"/g)].map(([, path = '']) => path)
}

const directory = temporary('volctl-steps-')
afterAll(() => rmSync(directory, { recursive: true, force: true }))

describe.skipIf(noStrace !== undefined)(`system calls${noStrace === undefined ? '' : ` (${noStrace})`}`, () => {
  it('S33: files below /tmp are judged by one reading of the mount table, as nothing is mounted on the way', () => {
    const file = join(directory, 'f')
    writeFileSync(file, '')
    const twice = `files.checkTrusted('${file}'), files.checkTrusted('${file}')`
    const opened = openedInProc(`import(${JSON.stringify(FILES)}).then((files) => [${twice}])`)
    expect(opened.filter((path) => path.startsWith('/proc/self/fdinfo/')).length).toBeGreaterThan(0)
    for (const once of ['mountinfo', 'uid_map'])
      expect(opened.filter((path) => path === `/proc/self/${once}`)).toHaveLength(1)
  })
})
