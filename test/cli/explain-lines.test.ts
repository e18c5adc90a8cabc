/** `volctl explain 'LINE'` and `--log`, as a person types them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, describe, expect, it } from 'vitest'
import type { LogExplanation } from '../../src/core/log-lines/log-explanation.ts'
import { BUNDLE } from '../helpers/volctl-program.ts'
import { CAPTURES, volctl } from './run-volctl.ts'

const SNAPSHOT = `${CAPTURES}stuck/after.json`
const POD = 'a9f3dbe9-481b-4d79-b89a-57df604c4135'
const LINE = `Nov 22 20:01:02 pg-node kubelet[812]: E1122 20:01:02.123456     812 kubelet_volumes.go:263] "There were many similar errors. Turn up verbosity to see them." err="orphaned pod \\"${POD}\\" found, but error occurred when trying to remove the volumes dir: not a directory" numErrs=3`
const directory = mkdtempSync(join(tmpdir(), 'volctl-lines-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

describe('a line', () => {
  it('of a kubelet that was stuck: what it means, what the pod is, and the next command', async () => {
    const { status, stdout, stderr } = await volctl(['explain', LINE, '--snapshot', SNAPSHOT])
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(
      /^On node pg-node, as of .*\n {2}pod [0-9a-f-]{36}\n(?:.*\n)+?\nOrphanedPodFile, said by the kubelet\n/,
    )
    expect(stdout).toContain(`  pod ${POD}\n    MountedButNotAttached: `)
    expect(stdout).toMatch(new RegExp(`\nMore: volctl explain pod/${POD}\n$`))
  })

  it('whose node cannot be looked at: the meaning, then the error', async () => {
    const { status, stdout, stderr } = await volctl(['explain', LINE, '--snapshot', join(directory, 'none.json')])
    expect(status).toBe(1)
    expect(stdout).toMatch(/^OrphanedPodFile, /)
    expect(stderr).toMatch(/^volctl: snapshot .+none\.json/)
  })

  it('on a machine without a kubelet: the meaning, and why what it names was looked for nowhere', async () => {
    const host = join(directory, 'host.json')
    writeFileSync(host, JSON.stringify({ rootDir: join(directory, 'none') }))
    const env = { VOLCTL_TEST_HOST: host }
    const { status, stdout, stderr } = await volctl(['explain', LINE], { env })
    expect(status).toBe(0)
    expect(stdout).toMatch(/^OrphanedPodFile, /)
    expect(stderr).toMatch(/^volctl: .+\n {8}\S/)
    const unknown = await volctl(['explain', 'hello world'], { env })
    expect([unknown.status, unknown.stdout]).toEqual([1, ''])
  })

  it('with control characters prints none', async () => {
    const { stdout } = await volctl([
      'explain',
      `\u001b[31m orphaned pod "${POD}" \u202e found "x\u001b]0;`,
      '--snapshot',
      SNAPSHOT,
    ])
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be there
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/)
  })
})

describe('a log', () => {
  const log = `${`${LINE}\n`.repeat(3)}Nov 22 20:01:03 pg-node kubelet[812]: I1122 20:01:03.1 812 a.go:1] "news"\n`

  it('from a pipe, as JSON', async () => {
    const run = await execa(BUNDLE, ['explain', '--log', '-', '--snapshot', SNAPSHOT, '-o', 'json'], { input: log })
    const { lines, troubles } = JSON.parse(run.stdout) as LogExplanation
    expect(lines).toEqual({ total: 4, read: 4, explained: 3 })
    expect(troubles).toMatchObject([
      { count: 3, sentence: { name: 'OrphanedPodFile' }, command: `volctl explain pod/${POD}` },
    ])
  })

  it('from a file', async () => {
    const file = join(directory, 'kubelet.log')
    writeFileSync(file, log)
    const { status, stdout } = await volctl(['explain', '--log', file, '--snapshot', SNAPSHOT])
    expect(status).toBe(0)
    expect(stdout).toMatch(
      /^4 lines: 1 trouble in 3 lines, the most frequent first; node pg-node as of .*\n\n3x OrphanedPodFile, /,
    )
  })

  it.each([
    { args: ['--log', '/none'], says: 'log /none: no such file' },
    { args: ['--log', '/etc'], says: 'log /etc: it is a directory, not a plain file' },
    { args: ['orphaned', 'pod', 'found'], says: 'Unexpected argument: found\n {8}Put a line of a log in quotes' },
    { args: ['--log', '-', 'shop/web-0'], says: '--log takes the place of WHAT' },
  ])('$args: one clear line', async ({ args, says }) => {
    const { status, stdout, stderr } = await volctl(['explain', ...args, '--snapshot', SNAPSHOT])
    expect([status, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(new RegExp(`^volctl: ${says}(?:\n {8})?.+\n$`))
  })
})
