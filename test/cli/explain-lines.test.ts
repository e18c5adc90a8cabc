/** `volctl explain 'LINE'` and `explain -`, as a person types them. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { CAPTURES } from '../helpers/captures.ts'
import { volctl } from '../helpers/run-main.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { BUNDLE } from '../helpers/volctl-program.ts'

const SNAPSHOT = `${CAPTURES}stuck/after.json`
const POD = 'a9f3dbe9-481b-4d79-b89a-57df604c4135'
const LINE = `Nov 22 20:01:02 pg-node kubelet[812]: E1122 20:01:02.123456     812 kubelet_volumes.go:263] "There were many similar errors. Turn up verbosity to see them." err="orphaned pod \\"${POD}\\" found, but error occurred when trying to remove the volumes dir: not a directory" numErrs=3`
const directory = temporaryDirectory()

describe('a line', () => {
  it('of a kubelet that was stuck: what is left of the pod and what to type, then what the line means', async () => {
    const { status, stdout, stderr } = await volctl(['explain', LINE, '--snapshot', SNAPSHOT])
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(
      /^Pod [0-9a-f-]{36} on node pg-node: .*\n(?:.*\n)+ {2}✗ bad {5}sub-path and 1 more .*\n(?:.*\n)*\nSaid by the kubelet:\n/,
    )
    expect(stdout).toMatch(
      new RegExp(`\nMore: volctl explain pod/${POD}\nNext: on node pg-node: volctl apply --pod ${POD} `),
    )
  })

  it('through a pipe, as JSON', async () => {
    const run = await execa(BUNDLE, ['explain', '-', '--snapshot', SNAPSHOT, '-o', 'json'], { input: `${LINE}\n` })
    expect(JSON.parse(run.stdout)).toMatchObject({
      kind: 'LineExplanation',
      line: { host: 'pg-node', program: 'kubelet', severity: 'error', source: 'kubelet_volumes.go:263' },
      sentence: { by: 'the kubelet', harmless: false },
      main: { ask: `pod/${POD}` },
      explanation: { kind: 'Explanation' },
    })
  })

  it('whose node cannot be looked at: the meaning, then the error', async () => {
    const { status, stdout, stderr } = await volctl(['explain', LINE, '--snapshot', join(directory, 'none.json')])
    expect(status).toBe(1)
    expect(stdout).toMatch(/^Said by the kubelet:/)
    expect(stderr).toMatch(/^volctl: snapshot .+none\.json/)
  })

  it('on a machine without a kubelet: the meaning, and why what it names was looked for nowhere', async () => {
    const host = join(directory, 'host.json')
    writeFileSync(host, JSON.stringify({ rootDir: join(directory, 'none') }))
    const env = { VOLCTL_TEST_HOST: host }
    const { status, stdout, stderr } = await volctl(['explain', LINE], { env })
    expect(status).toBe(0)
    expect(stdout).toMatch(/^Said by the kubelet:/)
    expect(stderr).toMatch(/^volctl: .+\n {8}\S/)
    expect(await volctl(['explain', 'hello world'], { env })).toEqual({ status: 1, stdout: '', stderr })
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

  it.each([
    { args: ['hello world'], says: 'volctl does not know this sentence, and it names no pod, volume, path or driver' },
    { args: [`${LINE}\n${LINE}`], says: 'these are 2 lines, and explain takes one' },
    { args: ['orphaned', 'pod', 'found'], says: 'Unexpected argument: found\n {8}Put a line of a log in quotes' },
    { args: [], says: 'WHAT is missing' },
  ])('$args: one clear line', async ({ args, says }) => {
    const { status, stdout, stderr } = await volctl(['explain', ...args, '--snapshot', SNAPSHOT])
    expect([status, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(new RegExp(`^volctl: ${says}(?:\n {8})?.+\n$`))
  })
})
