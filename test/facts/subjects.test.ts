import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { NodeState } from '../../src/core/facts/actual/snapshot.ts'
import type { Ledger } from '../../src/core/facts/ledger.ts'
import type { VolumeRow } from '../../src/core/facts/row.ts'
import type { PlanOptions } from '../../src/core/plan/plan.ts'
import type { Subject } from '../../src/core/plan/subject.ts'
import { planWithDecisions } from '../../src/core/reconcile/decisions.ts'
import { captureFiles, recorded } from '../helpers/captures.ts'
import { planOptions } from '../helpers/plan-options.ts'
import { buildNode, randomNode } from '../helpers/random-node.ts'

/** Findings that say of nothing whose they are, or of something that the node does not have. */
function lostFindings(state: NodeState, options: Partial<PlanOptions>): string[] {
  const { plan, context, decisions } = planWithDecisions(state, planOptions(options))
  const found: (readonly [string, Subject | undefined])[] = [
    ...plan.operations.map(({ kind, subject }) => [kind, subject] as const),
    ...plan.waiting.map(({ code, subject }) => [code, subject] as const),
    ...plan.problems.map(({ code, subject }) => [code, subject] as const),
    ...decisions.map(({ path, subject }) => [path, subject] as const),
  ]
  return found.flatMap(([what, subject]) => {
    const why = subject === undefined ? 'no subject' : unknownBy(context.ledger, subject)
    return why === undefined ? [] : [`${what}: ${why} ${JSON.stringify(subject)}`]
  })
}

function unknownBy(ledger: Ledger, subject: Subject): string | undefined {
  if ('path' in subject) return subject.path.startsWith('/') ? undefined : 'no absolute path'
  if (!('row' in subject)) return undefined
  const row = ledger.row(subject.row)
  if (row === undefined) return 'no such row'
  return subject.pod === undefined || row.podUids.has(subject.pod) ? undefined : 'the pod has nothing of this row'
}

/** A thing's row is the same whether it is asked of the thing, or of all rows. */
function strayThings(ledger: Ledger): string[] {
  const subjects = (row: VolumeRow): Subject[] => [
    ...[...row.wanted, ...row.ended].map((volume) => ledger.wanted(volume)),
    ...row.unresolved.map((volume) => ledger.unresolved(volume)),
    ...row.onDisk.map((volume) => ledger.podVolume(volume)),
    ...row.leaked.map((subPaths) => ledger.leaked(subPaths)),
    ...row.staged.map((staged) => ledger.staged(staged)),
    ...row.globals.map((global) => ledger.global(global)),
    ...row.maps.map((block) => ledger.block(block)),
    ...(row.attachment === undefined ? [] : [ledger.attachment(row.attachment)]),
  ]
  return ledger.all.flatMap((row) =>
    subjects(row).flatMap((each) =>
      'row' in each && each.row === row.key ? [] : `${row.key}: ${JSON.stringify(each)}`,
    ),
  )
}

function expectWhole(state: NodeState, options: Partial<PlanOptions>): void {
  expect(lostFindings(state, options)).toEqual([])
  expect(strayThings(planWithDecisions(state, planOptions(options)).context.ledger)).toEqual([])
}

describe('every operation, wait, problem and decision has a subject that the node has', () => {
  it.each(captureFiles())('%s', async (path) => {
    const state = await recorded(path)
    expectWhole(state, {})
    expectWhole(state, { orphans: true, remount: true, expand: true, settleMs: 0 })
  })

  it('nodes as no one would think of them', () =>
    fc.assert(
      fc.property(randomNode, fc.boolean(), (random, orphans) => expectWhole(buildNode(random), { orphans })),
      { numRuns: 100, seed: 34 },
    ))
})
