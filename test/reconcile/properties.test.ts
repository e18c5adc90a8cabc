/**
 * What holds of every plan, shown on nodes made at random. A counter-example is printed with its seed and shrunk;
 * VOLCTL_RUNS=100000 tries as many, another seed each time.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CodeEntry } from '../../src/core/messages/code-entry.ts'
import { CODES, type Code } from '../../src/core/messages/codes.ts'
import { type Finding, OF_ANY_CODE } from '../../src/core/messages/findings.ts'
import type { Operation, Plan, PlanOptions } from '../../src/core/plan/plan.ts'
import { planNode } from '../../src/core/reconcile/plan-node.ts'
import type { NodeState } from '../../src/core/volumes/snapshot.ts'
import { attachmentName, csiGlobalDir } from '../../src/core/volumes/volume-names.ts'
import { DRIVER, ROOT } from '../helpers/node-builder.ts'
import { planOptions } from '../helpers/plan-options.ts'
import {
  buildNode,
  isProtected,
  podUid,
  protectedVolumes,
  type RandomNode,
  randomNode,
} from '../helpers/random-node.ts'
import { SimulatedNode } from '../helpers/simulated-node.ts'

const { VOLCTL_RUNS: runs } = process.env
// The same nodes each time, so that a change is what turns a test red; more, and others, when asked for.
const parameters = runs === undefined ? { numRuns: 200, seed: 1136 } : { numRuns: Number(runs) }
const timeout = runs === undefined ? 60_000 : 3_600_000

const options = fc
  .record({ orphans: fc.boolean(), acceptOutage: fc.constant(undefined) })
  .map(({ orphans }) => ({ orphans }))

/** It would be carried out, and takes something away. */
const undoes = ({ kind, blocked }: Operation): boolean =>
  /^(Unmount|Unmap|CleanOrphan|Detach|RemoveOrphan)/.test(kind) && blocked === undefined

/** Operations that would be carried out. */
const runnable = ({ operations }: Plan): Operation[] => {
  const out = new Set(operations.filter(({ blocked }) => blocked !== undefined).map(({ id }) => id))
  // One whose predecessor does not run does not run either (S26).
  for (let before = -1; before !== out.size; ) {
    before = out.size
    for (const { id, after } of operations) if (after.some((each) => out.has(each))) out.add(id)
  }
  return operations.filter(({ id }) => !out.has(id))
}

const planned = (state: NodeState, given: Partial<PlanOptions>): Plan => planNode(state, planOptions(given))

type Check = (plan: Plan, random: RandomNode) => void

/** Nothing of a pod that is wanted, or of which something runs, is undone (S5, S9). */
const sparesPods: Check = ({ operations }, random) => {
  const mine = random.pods.flatMap((pod, n) => (isProtected(pod) ? podUid(n) : []))
  for (const { pod, paths, steps } of operations.filter(undoes)) {
    expect(mine).not.toContain(pod?.uid)
    const touched = [...paths, ...steps.map(({ target }) => target)]
    for (const uid of mine) expect(touched.filter((path) => path.includes(uid))).toEqual([])
  }
}

/** No device that such a pod wants or has is unstaged or detached (S4, S21). */
const sparesDevices: Check = ({ operations }, random) => {
  for (const name of protectedVolumes(random)) {
    const global = `${ROOT}/${csiGlobalDir(DRIVER, name)}`
    for (const { steps, attachment } of operations.filter(undoes)) {
      expect(steps.filter(({ target }) => target.startsWith(global))).toEqual([])
      if (attachment !== undefined) expect(attachment.name).not.toBe(attachmentName(name, DRIVER, 'node-1'))
    }
  }
}

/** Nothing is undone where the list of pods failed, a kubelet may act on devices, or a witness is blind. */
const waitsForSight: Check = ({ operations }, { around, podListFailed }) => {
  const undone = operations.filter(undoes)
  if (podListFailed) expect(undone).toEqual([])
  // It runs, may return, has just stopped, or nobody knows.
  if ('kubelet' in around.kubelet) expect(undone.filter(({ kind }) => /Device$|^Detach/.test(kind))).toEqual([])
  // What is mounted was made in this boot: of a pod whose life nobody can tell nothing is unmounted (S9).
  if (around.runtime.runtime?.error !== undefined)
    expect(undone.flatMap(({ expects = [], pod }) => (pod === undefined ? [] : expects))).toEqual([])
}

/** Predecessors come first, and no file is named that is not below the root directory. */
const isOrdered: Check = ({ operations }) => {
  const seen = new Set<string>()
  for (const { id, after, steps } of operations) {
    expect(after.filter((each) => !seen.has(each))).toEqual([])
    expect(seen.has(id)).toBe(false)
    seen.add(id)
    for (const { target } of steps)
      expect(target).toMatch(/^(\/var\/lib\/kubelet\/(?!.*\/\.\.?\/)|volumeattachments\/)/)
  }
}

/** Within a volume sub-paths come first, then the pods’ mounts, then the device, then the attachment. */
const goesInside: Check = ({ operations }) => {
  for (const { steps } of operations) {
    const targets = steps.flatMap(({ op, target }) => (/umount|Node|deleteContent/i.test(op) ? [target] : []))
    const ranks = targets.map((target) => (target.includes('/volume-subpaths/') ? 0 : 1))
    expect(ranks).toEqual(ranks.toSorted())
  }
  const byId = new Map(operations.map((operation) => [operation.id, operation]))
  const predecessors = ({ after }: Operation): Operation[] =>
    after.flatMap((id) => byId.get(id) ?? []).flatMap((each) => [each, ...predecessors(each)])
  for (const operation of operations) {
    const name = operation.volume?.uniqueName
    if (name === undefined || !/^(UnmountDevice|DetachVolume)$/.test(operation.kind)) continue
    const earlier = operations.filter(
      ({ kind, volume }) =>
        volume?.uniqueName === name &&
        (/^(UnmountVolume|CleanOrphanVolume)$/.test(kind) ||
          (operation.kind === 'DetachVolume' && kind === 'UnmountDevice')),
    )
    expect(predecessors(operation)).toEqual(expect.arrayContaining(earlier))
  }
}

/** What a finding is about makes its message, by a sentence of its code or of any. */
const saysWhatItIsAbout: Check = ({ operations, waiting, problems }) => {
  const findings: Finding[] = [...operations.flatMap(({ blocked }) => blocked ?? []), ...waiting, ...problems]
  for (const { code, message, args } of findings.filter((each) => each.args !== undefined)) {
    const { says = '' }: CodeEntry = CODES[code as Code]
    const own = typeof says === 'string' ? [says] : Object.values(says)
    const sentences = [...own, ...Object.values(OF_ANY_CODE)]
    expect(sentences.map((text) => text.replace(/\{(\w+)\}/g, (_, name) => `${args?.[name]}`))).toContain(message)
  }
}

describe('of every plan', () => {
  it(
    'the pods and devices that are in use are spared, sight is waited for, order is kept, and findings say what they are about',
    () =>
      fc.assert(
        fc.property(randomNode, options, (random, given) => {
          const plan = planned(buildNode(random), given)
          const checks = [sparesPods, sparesDevices, waitsForSight, isOrdered, goesInside, saysWhatItIsAbout]
          for (const check of checks) check(plan, random)
        }),
        parameters,
      ),
    timeout,
  )

  it(
    'the same node gives the same bytes, however its lists are ordered',
    () =>
      fc.assert(
        fc.property(randomNode, options, (random, given) => {
          const state = buildNode(random)
          const bytes = JSON.stringify(planned(reversed(state), given))
          expect(bytes).toBe(JSON.stringify(planned(state, given)))
        }),
        { ...parameters, numRuns: Math.ceil(parameters.numRuns / 4) },
      ),
    timeout,
  )

  it(
    'carried out in any order that it allows, each step finds what it needs, and nothing is left to do (S26)',
    () => {
      let done = 0
      fc.assert(
        fc.property(randomNode, options, fc.infiniteStream(fc.nat(1_000_000)), (random, given, picks) => {
          const node = new SimulatedNode(buildNode(random))
          const plan = planned(node.state(), given)
          const undoing = runnable(plan).filter(undoes)
          const todo = new Map(undoing.map((operation) => [operation.id, operation]))
          while (todo.size > 0) {
            const ready = [...todo.values()].filter(({ after }) => !after.some((each) => todo.has(each)))
            const [pick] = picks.take(1)
            const next = ready[(pick ?? 0) % ready.length]
            if (next === undefined) throw new Error('operations wait for each other')
            node.carryOut(next)
            done += 1
            todo.delete(next.id)
          }
          expect(runnable(planned(node.state(), given)).filter(undoes)).toEqual([])
        }),
        parameters,
      )
      // The nodes are such that there is something to do.
      expect(done).toBeGreaterThan(parameters.numRuns / 3)
    },
    timeout,
  )
})

/** Every list whose order says nothing, the other way round. */
function reversed({ snapshot, mounts }: NodeState): NodeState {
  const { api, runtime } = snapshot
  const volumes = ['persistentVolumes', 'persistentVolumeClaims', 'volumeAttachments'] as const
  return {
    mounts,
    snapshot: {
      ...turned(snapshot, 'tree', 'processes', 'csiSockets', 'blockDevices'),
      ...(api && { api: turned(api, 'pods', ...volumes) }),
      ...(runtime && { runtime: turned(runtime, 'pods') }),
    },
  }
}

function turned<T extends object>(parts: T, ...lists: (keyof T)[]): T {
  const back = lists.flatMap((key) => (Array.isArray(parts[key]) ? [[key, parts[key].toReversed()]] : []))
  return { ...parts, ...Object.fromEntries(back) }
}
