import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import schema from '../../schema/plan.schema.json' with { type: 'json' }
import type { PlanOptions, Refusal } from '../../src/core/plan/plan.ts'
import { planNode } from '../../src/core/reconcile/plan-node.ts'
import { readSnapshot } from '../../src/core/snapshot/read-snapshot.ts'
import { captureFiles } from '../helpers/captures.ts'
import { planOptions } from '../helpers/plan-options.ts'
import { anOperation, aPlan } from './plan-builder.ts'
import { CAPTURES } from './run-volctl.ts'

const validate = new Ajv2020({ allErrors: true }).compile(closed(schema) as object)

/** The schema lets fields be added; for these tests nothing may be in a plan that it does not describe. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed)
  if (typeof value !== 'object' || value === null) return value
  const made = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, closed(inner)]))
  return made.type === 'object' && made.properties !== undefined ? { additionalProperties: false, ...made } : made
}

function defectsOf(plan: unknown): unknown {
  return validate(JSON.parse(JSON.stringify(plan))) ? [] : validate.errors
}

const everything: Partial<PlanOptions> = { orphans: true, remount: true, expand: true }
const files = captureFiles()

describe('plans of real nodes', () => {
  it.each(files)('%s', async (path) => {
    const state = await readSnapshot(join(CAPTURES, path))
    for (const options of [{}, everything, { only: ['DetachVolume'] as const }]) {
      expect(defectsOf(planNode(state, planOptions(options)))).toEqual([])
    }
  })

  it('of a snapshot that lacks nearly everything', async () => {
    const { snapshot, mounts } = await readSnapshot(join(CAPTURES, 'healthy', 'node.json'))
    const { apiVersion, kind, capturedAt, nodeName, rootDir } = snapshot
    const state = { snapshot: { apiVersion, kind, capturedAt, nodeName, rootDir }, mounts }
    expect(defectsOf(planNode(state, planOptions()))).toEqual([])
  })
})

it('a refused plan', () => {
  const refused: Refusal = { rule: 'S1', code: 'WrongMachine', message: 'x', hint: 'y' }
  expect(defectsOf(aPlan({ refused, operations: [anOperation()] }))).toEqual([])
})

it.each([
  { name: 'an unknown kind', plan: aPlan({ operations: [{ ...anOperation(), kind: 'Foo' as 'MapVolume' }] }) },
  { name: 'a relative path', plan: aPlan({ operations: [anOperation({ paths: ['pods/x'] })] }) },
  { name: 'a code in lower case', plan: aPlan({ operations: [anOperation({ reason: 'pod gone' as 'PodGone' })] }) },
  { name: 'a field that is not described', plan: { ...aPlan(), extra: 1 } },
  { name: 'no summary', plan: { ...aPlan(), summary: undefined } },
])('$name is noticed', ({ plan }) => expect(defectsOf(plan)).not.toEqual([]))
