/** Whatever stands in a plan file, reading it gives a plan of the right shape or one clear error. */
import fc from 'fast-check'
import { it } from 'vitest'
import { VolctlError } from '../../src/core/messages/findings.ts'
import { differencesOf } from '../../src/core/plan/differences.ts'
import { parsePlanFile, planFileText } from '../../src/core/plan/documents/plan-file.ts'
import { planId } from '../../src/core/plan/plan-id.ts'
import { anOperation, aPlan } from '../cli/plan-builder.ts'
import { planOptions } from '../helpers/plan-options.ts'

const TEXT = planFileText(
  aPlan({
    operations: [
      anOperation({
        expects: [{ path: '/t', layers: [{ id: 1, dev: '0:1', root: '/', fsType: 'tmpfs', source: 's' }] }],
        basis: { pod: { listed: false }, files: [{ path: '/t', dev: 1, ino: 2, size: 3, mtime: 4 }] },
      }),
    ],
  }),
  planOptions(),
)

/** Reads, and does with the result all that apply does before it has found an operation again. */
function read(bytes: Buffer): void {
  try {
    const plan = parsePlanFile('node', bytes, '0.0.0-test', 'x.plan')
    planId(plan)
    for (const operation of plan.operations) differencesOf(operation, anOperation(), () => true)
  } catch (error) {
    if (!(error instanceof VolctlError)) throw error
  }
}

/** Every place of the document, by its keys. */
function placesOf(value: unknown, at: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [at]
  return [at, ...Object.entries(value).flatMap(([key, inner]) => placesOf(inner, [...at, key]))]
}
const places = placesOf(JSON.parse(TEXT)).filter((place) => place.length > 0)

it('any JSON value in any place', () => {
  fc.assert(
    fc.property(fc.constantFrom(...places), fc.jsonValue(), (place, value) => {
      const document = JSON.parse(TEXT)
      const parent = place.slice(0, -1).reduce((at, key) => at[key], document)
      parent[place.at(-1) ?? ''] = value
      read(Buffer.from(JSON.stringify(document)))
    }),
    { numRuns: 2000 },
  )
})

it('any bytes changed, anything cut off', () => {
  const bytes = Buffer.from(TEXT)
  fc.assert(
    fc.property(fc.nat(bytes.length - 1), fc.uint8Array({ maxLength: 8 }), fc.nat(bytes.length), (at, put, end) => {
      const changed = Buffer.from(bytes)
      changed.set(put.subarray(0, bytes.length - at), at)
      read(changed)
      read(changed.subarray(0, end))
    }),
    { numRuns: 1000 },
  )
})
