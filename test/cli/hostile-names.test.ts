/** Names and messages of the cluster and the disk cannot reach the terminal as control sequences, in any form. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { JOURNAL_FILE } from '../../src/core/apply/journal/write-journal.ts'
import type { NodeSnapshot } from '../../src/core/volumes/snapshot.ts'
import { BROKEN } from '../helpers/captures.ts'
import { volctl } from '../helpers/run-main.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

/** A title, a colour with 8-bit CSI, bells, lines, directions turned, what is not seen. */
const HOSTILE =
  '\u001b]0;owned\u0007\u009b31m\u0007\r\nrm -rf /\u202ecod\u2066\u200b\u2028\ufeff\u0085\u206a\ufff9\u3164\u{e0001}'
const CONTROL = /[[\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}]--[ \n]]/v

let directory: string
let snapshot: string
beforeAll(() => {
  directory = temporaryDirectory()
  snapshot = join(directory, 'node.json')
  writeFileSync(snapshot, JSON.stringify(hostile(JSON.parse(readFileSync(BROKEN, 'utf8')))))
})

/** The same node, whose pods, claims, volumes, drivers, users and errors have names of that kind. */
function hostile(node: NodeSnapshot): unknown {
  const text = JSON.stringify(node)
  const api = node.api as NonNullable<NodeSnapshot['api']>
  const worse = (name: string): string => `${name}${HOSTILE}`
  const names = new Set([
    ...api.pods.map(({ metadata }) => metadata.name),
    ...api.persistentVolumes.map(({ metadata }) => metadata.name),
    ...api.volumeAttachments.map(({ metadata }) => metadata.name),
    ...api.csiDrivers.map(({ metadata }) => metadata.name),
  ])
  const quoted = (name: string): string => JSON.stringify(name).slice(1, -1)
  let changed = text
  for (const name of names) changed = changed.replaceAll(`"${quoted(name)}"`, `"${quoted(worse(name))}"`)
  const made = JSON.parse(changed) as {
    api: { user?: string; server: string; errors: object[] }
    kubelet?: { note?: string }
  }
  made.api.user = worse('admin')
  made.api.server = worse(made.api.server)
  made.api.errors = [
    { resource: 'persistentvolumes', name: worse('pv'), status: 500, reason: worse('Bad'), message: HOSTILE },
  ]
  if (made.kubelet !== undefined) made.kubelet.note = HOSTILE
  return made
}

describe('plan, status and explain', () => {
  const pod = 'db6d1004-a99c-440c-b9bc-c7d975d3b12f'
  it.each([['table'], ['wide'], ['json'], ['yaml']])('-o %s', async (format) => {
    for (const asked of [['plan', '--orphans'], ['status'], ['explain', pod], ['explain', `pv/pv-a${HOSTILE}`]]) {
      const { stdout, stderr } = await volctl([...asked, '-v', '--snapshot', snapshot, '-o', format])
      expect(stdout, stderr).toMatch(format === 'json' || format === 'yaml' ? 'owned' : /\\x1b\]0;owned\\x07/)
      expect(CONTROL.exec(stdout)).toBeNull()
      expect(CONTROL.exec(stderr)).toBeNull()
    }
  })

  it('a name like nothing, which is taken for a line of a log', async () => {
    for (const what of [HOSTILE, `pv-a${HOSTILE}x`]) {
      const { status, stdout, stderr } = await volctl(['explain', what, '--snapshot', snapshot])
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
      expect(stderr).toMatch(/^volctl: \S/)
      expect(CONTROL.exec(stderr)).toBeNull()
    }
  })
})

it.each([
  { name: 'a snapshot of such a name', args: ['plan', '--snapshot', `/nonexistent/${HOSTILE}`] },
  { name: 'a pod', args: ['plan', '--pod', HOSTILE] },
  { name: 'a flag', args: ['plan', `--${HOSTILE}`] },
  { name: 'a command', args: [HOSTILE] },
])('errors, as lines and as objects: $name', async ({ args }) => {
  for (const more of [[], ['-o', 'json'], ['-v']]) {
    const { status, stdout, stderr } = await volctl([...args, ...more])
    expect(status).not.toBe(0)
    expect(CONTROL.exec(stderr)).toBeNull()
    expect(CONTROL.exec(stdout)).toBeNull()
  }
})

it.each([['table'], ['json']])('journal: -o %s', async (format) => {
  const journal = join(directory, `journal-${format}`)
  mkdirSync(journal)
  const line = { time: HOSTILE, run: HOSTILE }
  const operation = { id: HOSTILE, kind: 'UnmountVolume', pod: { uid: HOSTILE, name: HOSTILE } }
  const lines = [
    {
      ...line,
      type: 'begin',
      node: HOSTILE,
      rootDir: HOSTILE,
      plan: HOSTILE,
      by: { pid: 1, uid: 0, user: HOSTILE },
      guards: { [HOSTILE]: HOSTILE },
    },
    {
      ...line,
      type: 'intent',
      operations: [{ ...operation, reason: HOSTILE, message: HOSTILE, steps: [{ op: HOSTILE, target: HOSTILE }] }],
    },
    { ...line, type: 'stateFile', operation: HOSTILE, path: HOSTILE, content: HOSTILE },
    {
      ...line,
      type: 'outcome',
      outcomes: [
        {
          ...operation,
          state: 'failed',
          code: HOSTILE,
          message: HOSTILE,
          hint: HOSTILE,
          volume: HOSTILE,
          elapsedMs: 1,
        },
      ],
    },
  ]
  writeFileSync(join(journal, JOURNAL_FILE), `${lines.map((each) => JSON.stringify(each)).join('\n')}\n`)
  const { status, stdout } = await volctl(['journal', '--journal', journal, '-o', format])
  expect(status).toBe(0)
  expect(stdout).toContain('owned')
  expect(CONTROL.exec(stdout)).toBeNull()
})
