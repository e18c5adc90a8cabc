/**
 * All that is known about one pod, claim, PersistentVolume, VolumeAttachment, volume, driver, mount, path or device of a node: from the
 * same look, and by the same pass, as a plan. Pure: who holds it is asked of the live node alone (live-holders.ts).
 */

import type { Held } from '../holders/live-holders.ts'
import { defined } from '../lang/defined.ts'
import type { VolumeRow } from '../ledger/row.ts'
import type { NodeState } from '../model/node-state.ts'
import type { PlanOptions } from '../plan/plan.ts'
import type { PlanContext } from '../reconcile/context/context.ts'
import { type Decided, planWithDecisions } from '../reconcile/decisions.ts'
import { adviceOn } from './advice.ts'
import { type Asked, asker } from './asked.ts'
import { cluesOn } from './clues.ts'
import { type Concern, concernOf } from './concern.ts'
import { type DescribedVolume, describeVolume } from './describe-volume.ts'
import { driverChain } from './driver-chain.ts'
import { type DriverTarget, withWaiting } from './driver-target.ts'
import { driverAdvice, driverVerdict } from './driver-verdict.ts'
import type { Explanation } from './explanation.ts'
import { heldAt } from './held-at.ts'
import { mattersMost } from './matters-most.ts'
import { nodeFacts } from './node-target.ts'
import { FROM_SNAPSHOT, OF_NODE } from './not-asked.ts'
import { podViews } from './pod-views.ts'
import { verdictOf } from './verdict.ts'
import { becauseOf, untouchable } from './why-nothing.ts'

/** With the places at which holders are looked for. */
export interface Explained extends Held {
  readonly explanation: Explanation
}

/**
 * @param what a name, kind/name, a UID, an absolute path, or a device
 * @throws VolctlError NotFound, AmbiguousName
 */
export function explain(state: NodeState, options: PlanOptions, what: string): Explained {
  return explainer(state, options)(what)
}

/** For several questions about one look: the pass is made once. */
export function explainer(state: NodeState, options: PlanOptions): (what: string) => Explained {
  const decided = planWithDecisions(state, options)
  const { context } = decided
  const ask = asker(context)
  const whole = new Map<VolumeRow, DescribedVolume>()
  const describe = (volume: VolumeRow, only: readonly string[]): DescribedVolume => {
    const described = whole.get(volume)
    if (described !== undefined && only.length === 0) return described
    const made = describeVolume(context, decided, volume, only)
    if (only.length === 0) whole.set(volume, made)
    return made
  }
  return (what) => {
    const asked = ask(what)
    const concern = concernOf(context, decided.plan, decided.decisions, asked.scope)
    const { only } = asked.scope
    const described = asked.scope.volumes.map((volume) => describe(volume, only))
    const explanation = explanationOf(decided, options, { what, asked, concern, volumes: described })
    return { explanation, ...heldAt(context, asked, explanation.operations) }
  }
}

function explanationOf(
  { plan, context }: Decided,
  options: PlanOptions,
  {
    what,
    asked,
    concern,
    volumes,
  }: { what: string; asked: Asked; concern: Concern; volumes: readonly DescribedVolume[] },
): Explanation {
  const { node, rootDir, bootID, createdAt, volctlVersion, complete, refused } = plan
  const isNode = asked.scope.node === true
  const all = new Set([...concern.before, ...concern.operations])
  const { first, clues, ...judged } =
    asked.driver === undefined
      ? ofThing(context, asked, { concern, volumes, options })
      : ofDriver(context, asked.driver, concern)
  return {
    apiVersion: 'volctl.io/v1',
    kind: 'Explanation',
    what,
    node,
    rootDir,
    ...defined({ bootID }),
    createdAt,
    volctlVersion,
    subject: asked.subject,
    identity: isNode ? nodeFacts(context, plan) : asked.identity,
    // Of a node every one: they are counted.
    pods: isNode ? [] : podViews(context, asked.scope),
    volumes: volumes.map(({ view }) => view),
    ...judged,
    places: asked.places,
    operations: plan.operations.filter((operation) => all.has(operation)),
    waiting: concern.waiting,
    problems: concern.problems,
    decisions: concern.decisions,
    holders: isNode ? OF_NODE : FROM_SNAPSHOT,
    advice: [...first, ...adviceOn(concern, plan, options, clues, judged.verdict)],
    complete,
    ...defined({ refused }),
  }
}

interface Judging {
  readonly concern: Concern
  readonly volumes: readonly DescribedVolume[]
  readonly options: PlanOptions
}

function ofThing(context: PlanContext, asked: Asked, { concern, volumes, options }: Judging) {
  const views = volumes.map(({ view }) => view)
  const verdict = verdictOf(concern, {
    nothing: becauseOf(context, asked, volumes, concern),
    untouchable: untouchable(context, asked.scope),
    places: [...asked.places, ...views.flatMap(({ places }) => places)],
  })
  const clues = cluesOn(context, asked.scope.pods, concern, options)
  return { chain: mattersMost(views)?.chain ?? [], verdict, first: [], clues }
}

function ofDriver(context: PlanContext, target: DriverTarget, concern: Concern) {
  const driver = withWaiting(target.view, concern.waiting)
  const chain = driverChain(context, { ...target, view: driver })
  const verdict = driverVerdict(context, driver, chain, concern)
  return { driver, chain, verdict, first: driverAdvice(driver, verdict), clues: { urgent: [], more: [] } }
}
