/** The JSON Schemas of what volctl writes, and real documents. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { beforeAll, describe, expect, it } from 'vitest'
import { schemas } from '../../scripts/schema.ts'
import { readSnapshot, snapshotText } from '../../src/core/plan/documents/snapshot-file.ts'
import { type ApplyResult, applyDocument } from '../../src/core/plan/events.ts'
import type { Refusal } from '../../src/core/plan/plan.ts'
import { planNode } from '../../src/core/reconcile/plan-node.ts'
import { Fixture, operation, planOf, ROOT, step } from '../apply/apply-fixture.ts'
import { CAPTURES, captureFiles } from '../helpers/captures.ts'
import { schemaCheck } from '../helpers/closed-schema.ts'
import { planOptions } from '../helpers/plan-options.ts'
import { volctl } from '../helpers/run-main.ts'

const folder = join(import.meta.dirname, '..', '..', 'schema')
const made = schemas()
const schema = (name: string): { $defs: Record<string, object>; properties: object } =>
  JSON.parse(made.get(`${name}.schema.json`) ?? '')

it.each([...made.keys()])('%s is made of the shapes: else npm run schema', (name) =>
  expect(readFileSync(join(folder, name), 'utf8')).toBe(made.get(name)),
)

it('each is a schema, and what it refers to is there', () => {
  const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true })
  const files = readdirSync(folder).map(
    (name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as { $id: string },
  )
  for (const file of files) ajv.addSchema(file)
  for (const { $id } of files) expect(ajv.getSchema($id), $id).toBeDefined()
})

const captures = captureFiles().map((path) => join(CAPTURES, path))

describe('snapshots and plans', () => {
  const { $defs, ...own } = schema('node-snapshot')
  // Of the API's objects only what decisions rely on is described, of everything else all.
  const check = schemaCheck({ ...own, $defs: Object.fromEntries(Object.keys($defs).map((name) => [name, true])) })
  const checkObjects = schemaCheck({ $defs: opened($defs), type: 'object', properties: opened(own).properties })

  const checkPlan = schemaCheck(schema('plan'))

  it.each(captures)('%s, and its plan', async (path) => {
    const state = await readSnapshot(path)
    const written = JSON.parse(snapshotText(state.snapshot))
    expect(check(written)).toEqual([])
    expect(checkObjects({ api: written.api })).toEqual([])
    expect(checkPlan(planNode(state, planOptions({ orphans: true, remount: true, expand: true })))).toEqual([])
  })

  it.each([
    { about: 'no tree entry has a size in words', change: { tree: [{ path: 'a', type: 'file', size: '1' }] } },
    { about: 'no pod is without a spec', change: { api: { pods: [{ metadata: { name: 'a', uid: 'u' } }] } } },
  ])('$about', ({ change }) => expect(checkObjects(change)).not.toEqual([]))

  /** So that closed-schema.ts lets other fields pass. */
  function opened<T>(value: T): T {
    return JSON.parse(JSON.stringify(value), (_, inner) =>
      inner?.type === 'object' ? { additionalProperties: true, ...inner } : inner,
    )
  }
})

describe('an apply', () => {
  const directory = `${ROOT}/pods/u/volumes/kubernetes.io~secret`
  const refused: Refusal = {
    rule: 'S1',
    code: 'WrongMachine',
    message: 'not this machine',
    args: { id: 'a' },
    hint: 'x',
  }
  let fixture: Fixture
  let results: readonly ApplyResult[]
  /** Done, failed, skipped, changed, blocked, left; and refused as a whole. */
  beforeAll(async () => {
    fixture = new Fixture()
    const unmount = (id: string) => {
      const path = `${directory}/${id}`
      return operation(id, { steps: [step('umount', path), step('rmdir', path)], expects: [fixture.host.mount(path)] })
    }
    const all = [unmount('a'), unmount('b'), operation('c', { after: ['b'] }), unmount('d')]
    fixture.host.busy.add(`${directory}/b`)
    const volume = { name: 'v', plugin: 'kubernetes.io/secret', mode: 'Filesystem' } as const
    const plan = planOf([...all, operation('e', { volume, blocked: { code: 'HeldBy', message: 'held', hint: 'x' } })])
    const fresh = planOf(plan.operations.map((each) => (each.id === 'd' ? { ...each, after: ['z'] } : each)))
    const first = await fixture.apply(plan, (look) => (look === 0 ? fresh : planOf([unmount('f')])))
    // Alone, so that its steps are said.
    results = [first, await fixture.apply({ ...plan, refused }), await fixture.apply(planOf([unmount('g')]))]
  })

  it('ends in every way', () =>
    expect(new Set(results.flatMap(({ outcomes }) => outcomes.map(({ state }) => state)))).toEqual(
      new Set(['done', 'failed', 'skipped', 'refused', 'blocked']),
    ))

  it('its result', () => {
    const check = schemaCheck(schema('apply-result'))
    for (const result of results) expect(check(applyDocument(planOf([]), result))).toEqual([])
    expect(check({ ...applyDocument(planOf([]), results[0] as ApplyResult), exit: 9 })).not.toEqual([])
    const withArgs = new Set(
      results.flatMap(({ outcomes }) => outcomes.flatMap(({ args, state }) => (args ? [state] : []))),
    )
    expect(withArgs).toEqual(new Set(['failed', 'skipped', 'refused']))
  })

  it('its events', () => {
    const types = fixture.events.map(({ type }) => type)
    expect(types).toEqual(expect.arrayContaining(['start', 'step', 'done', 'failed', 'skipped', 'refused', 'left']))
  })
})

it('an error', async () => {
  const { stderr } = await volctl(['plan', '-o', 'json', '--snapshot', '/nonexistent'])
  expect(schemaCheck(schema('error'))(JSON.parse(stderr))).toEqual([])
})
