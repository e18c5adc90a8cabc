import { chownSync, lstatSync, mkdirSync, readdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import schema from '../../schema/plan.schema.json' with { type: 'json' }
import { differencesOf } from '../../src/core/plan/differences.ts'
import { parsePlanFile, planFileText, readPlanFile, writePlanFile } from '../../src/core/plan/documents/plan-file.ts'
import type { Operation, Plan } from '../../src/core/plan/plan.ts'
import { planId } from '../../src/core/plan/plan-id.ts'
import { anOperation, aPlan } from '../cli/plan-builder.ts'
import { NOBODY, noOthersFiles } from '../helpers/others-files.ts'
import { planOptions } from '../helpers/plan-options.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

const VERSION = '0.0.0-test'
const OPTIONS = planOptions({
  ...{ orphans: true, handles: { a: 'b' }, devices: { a: 'none' }, only: ['UnmountVolume'] },
  ...{ acceptOutage: 2, acceptInsecureApi: true },
})
/** Every field that an operation can have. */
const FULL: Operation = {
  ...anOperation({ blocked: { code: 'HeldBy', message: 'm', hint: 'h' } }),
  steps: [
    { op: 'mountDevice', target: '/t', detail: 'd', source: '/s', fsType: 'ext4', options: ['ro'] },
    { op: 'mkdir', target: '/t', detail: 'exact', mode: '0750' },
    {
      op: 'setOwnership',
      target: '/t',
      ownership: { gid: 1, policy: 'Always', readOnly: true, ignoreErrors: false },
    },
    { op: 'writeVolumeData', target: '/t', label: 'u:r:t' },
  ],
  volume: {
    ...{ name: 'v', podVolumeName: 'p', uniqueName: 'u', plugin: 'x', driver: 'd', handle: 'h', mode: 'Block' },
    ...{ handleFrom: 'f', claim: 'c', persistentVolume: 'pv', accessModes: ['RWO'], attachedElsewhere: ['n'] },
    ...{ attached: true, inUse: false, device: '8:1', givenDevice: '/dev/sdb' },
  } as NonNullable<Operation['volume']>,
  args: { path: '/t', left: 2 },
  subject: { row: 'u', pod: 'p' },
  deletes: { files: 0, bytes: 0, counted: false },
  kubeletWould: 'k',
  dead: [{ path: '/t', error: 'stale file handle (ESTALE)' }],
  expects: [{ path: '/t', layers: [{ id: 1, dev: '0:1', root: '/', fsType: 'tmpfs', source: 's' }] }],
  basis: {
    pod: { listed: true, uid: 'u', resourceVersion: '5' },
    files: [{ path: '/t', dev: 1, ino: 2, size: 3, mtime: 4 }],
  },
  attachment: { name: 'a', uid: 'u', resourceVersion: '1' },
}

const parse = (document: unknown) => parsePlanFile('node', Buffer.from(JSON.stringify(document)), VERSION, 'x.plan')
const document = (given: object = {}): Record<string, unknown> => ({
  ...aPlan({ operations: [FULL] }),
  options: OPTIONS,
  ...given,
})

describe('reading a saved plan', () => {
  it('what was written is read, with its options', () => {
    const plan = aPlan({ operations: [FULL], refused: { rule: 'S1', code: 'WrongMachine', message: 'm', hint: 'h' } })
    const read = parsePlanFile('node', Buffer.from(planFileText(plan, OPTIONS)), VERSION, 'x')
    expect(read.operations).toEqual(plan.operations)
    expect(read).toMatchObject({ node: plan.node, bootID: plan.bootID, refused: plan.refused, options: OPTIONS })
    expect(planId(read)).toBe(planId(plan))
  })

  it('of the schema no field of an operation is forgotten', () => {
    const { step, volume, operation } = schema.$defs
    const [read] = parse(document()).operations
    expect(Object.keys(read ?? {}).toSorted()).toEqual(Object.keys(operation.properties).toSorted())
    expect(Object.keys(read?.volume ?? {}).toSorted()).toEqual(Object.keys(volume.properties).toSorted())
    const fields = new Set(read?.steps.flatMap(Object.keys))
    expect([...fields].toSorted()).toEqual(Object.keys(step.properties).toSorted())
  })

  it('fields that this version does not know are left out', () => {
    const operation = { ...anOperation(), later: { a: 1 }, steps: [{ op: 'umount', target: '/t', later: 1 }] }
    const read = parse(document({ later: 1, operations: [operation], options: { ...OPTIONS, later: true } }))
    expect(read.operations).toEqual([{ ...anOperation(), steps: [{ op: 'umount', target: '/t' }] }])
    expect(read.options).toEqual(OPTIONS)
    expect(read).not.toHaveProperty('later')
  })

  const operation = (given: object): object => ({ operations: [{ ...anOperation(), ...given }] })
  const option = (given: object): object => ({ options: { ...OPTIONS, ...given } })
  it.each<[name: string, given: object, message: string, code?: string]>([
    ['another kind', { kind: 'NodeSnapshot' }, 'kind is "NodeSnapshot"'],
    ['no kind', { kind: undefined }, 'kind is missing'],
    ['another API version', { apiVersion: 'volctl.io/v2' }, 'volctl.io/v2'],
    ['another volctl', { volctlVersion: '9.9.9' }, 'by volctl "9.9.9"'],
    ['another scope', { scope: 'cluster' }, 'scope is "cluster"', 'Usage'],
    ['a plan that was printed', { options: undefined }, 'not a file saved with --out'],
    ['no node', { node: undefined }, 'node is missing'],
    ['a relative root', { rootDir: 'x' }, 'rootDir is not an absolute path'],
    ['no operations', { operations: {} }, 'operations is not a list'],
    ['an operation that is null', { operations: [null] }, 'operations[0] is not an object'],
    ['an unknown kind', operation({ kind: 'Rm' }), 'operations[0].kind is not one of'],
    [
      'an inherited step',
      operation({ steps: [{ op: 'constructor', target: '/t' }] }),
      'operations[0].steps[0].op is not one of',
    ],
    [
      'a code that no operation is blocked with',
      operation({ blocked: { code: 'Usage', message: '' } }),
      'operations[0].blocked.code is not a code',
    ],
    [
      'an inode that is text',
      operation({ basis: { files: [{ path: '/x', dev: 1, ino: '2' }] } }),
      'operations[0].basis.files[0].ino is not a whole number',
    ],
    ['two of one id', { operations: [anOperation(), anOperation()] }, 'two operations have the id op-1'],
    ['an option of another type', option({ orphans: 'yes' }), 'options.orphans is not true or false'],
    ['an inherited option', option({ settleMs: undefined, constructor: 1 }), 'options.settleMs is missing'],
    ['a settle time below zero', option({ settleMs: -1 }), 'options.settleMs is not a count'],
    ['a relative path to force', option({ forceUnmount: ['x'] }), 'options.forceUnmount[0] is not an absolute path'],
    ['an unknown kind of operations', option({ only: ['X'] }), 'options.only[0] is not one of'],
  ])('%s', (_name, given, message, code = 'FileDamaged') => {
    const says = { message: expect.stringContaining(message), hint: expect.stringMatching(/./) }
    const wanted = expect.objectContaining({ code, exit: 1, ...says })
    expect(() => parse(document(given))).toThrow(wanted)
  })

  const later = (value: string): string => JSON.stringify(document()).replace(/}$/, `,"later":${value}}`)
  const many = Array.from({ length: 300_000 }, (_, index) => `"n${index}":0`)

  it.each([
    { name: 'a list', text: '[]', message: 'the file is not a JSON object' },
    { name: 'too much of it', text: later(`{${many}}`), message: 'the file has more than 3000000 values' },
  ])('$name is one clear line (S34)', ({ text, message }) => {
    const wanted = expect.objectContaining({ code: 'FileDamaged', message: expect.stringContaining(message) })
    expect(() => parsePlanFile('node', Buffer.from(text), VERSION, 'x')).toThrow(wanted)
  })
})

it('a field that the op of a step has not is read, and differs from the step that is planned now', () => {
  const steps = [{ op: 'umount', target: '/t', source: '/s' }]
  const [saved = FULL] = parse(document({ operations: [{ ...FULL, steps }] })).operations
  const fresh: Operation = { ...FULL, steps: [{ op: 'umount', target: '/t' }] }
  expect(differencesOf(saved, fresh, () => true)).toEqual([
    { what: 'step 1', was: 'umount /t {"source":"/s"}', now: 'umount /t' },
  ])
})

describe('the file', () => {
  let directory: string
  let path: string
  beforeEach(() => {
    directory = temporaryDirectory()
    path = join(directory, 'node.plan')
  })
  const plan: Plan = aPlan({ operations: [FULL] })

  it('is for its owner alone whatever the umask, replaces the one before, and leaves nothing beside it', () => {
    writeFileSync(path, 'an older one', { mode: 0o644 })
    writePlanFile(plan, OPTIONS, path)
    expect(lstatSync(path).mode & 0o777).toBe(0o600)
    expect(readdirSync(directory)).toEqual(['node.plan'])
    expect(readPlanFile('node', path, VERSION).operations).toEqual(plan.operations)
  })

  it('that no apply could read is not written', () => {
    const large = aPlan({ operations: [{ ...FULL, message: 'x'.repeat(76 * 2 ** 20) }] })
    expect(() => writePlanFile(large, OPTIONS, path)).toThrow(
      expect.objectContaining({
        code: 'NotWritten',
        message: `plan file ${path}: too large for apply to read: the plan is larger than ${76 * 2 ** 20} bytes`,
        args: { subject: 'plan file', name: path, why: `is larger than ${76 * 2 ** 20} bytes` },
        hint: expect.stringContaining('--only'),
      }),
    )
    expect(readdirSync(directory)).toEqual([])
  })

  it.each([
    ['is not there', 'FileUnreadable', () => undefined],
    ['is a directory', 'FileUnreadable', (path: string) => mkdirSync(path)],
    [
      'is larger than any plan',
      'FileDamaged',
      (path: string) => {
        writeFileSync(path, '')
        truncateSync(path, 500 * 2 ** 20)
      },
    ],
  ])('one that %s is %s', (_name, code, make) => {
    make(path)
    expect(() => readPlanFile('node', path, VERSION)).toThrow(expect.objectContaining({ code }))
  })

  it.skipIf(noOthersFiles !== undefined)('one of another user is not obeyed', () => {
    writePlanFile(plan, OPTIONS, path)
    chownSync(path, NOBODY, NOBODY)
    expect(() => readPlanFile('node', path, VERSION, 'node.plan')).toThrow(
      expect.objectContaining({
        code: 'NotBelieved',
        message: expect.stringContaining(`plan file node.plan: ${path} belongs to uid ${NOBODY}, and whoever`),
        hint: expect.stringContaining('chown root'),
      }),
    )
  })
})
