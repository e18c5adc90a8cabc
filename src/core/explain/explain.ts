/**
 * All that is known about one pod, claim, PersistentVolume, VolumeAttachment, volume, driver, mount, path or device of a node: from the
 * same look, and by the same pass, as a plan. Pure: who holds it is asked of the live node alone (live-holders.ts).
 */

import type { Held } from '../holders/live-holders.ts'
import { defined } from '../lang/defined.ts'
import type { VolumeRow } from '../ledger/row.ts'
import type { Given } from '../plan/next-steps.ts'
import type { Decided } from '../reconcile/decisions.ts'
import { type Asked, asker } from './asked.ts'
import { type Concern, concernOf } from './concern.ts'
import { type DescribedVolume, describeVolume } from './describe-volume.ts'
import { driverChain } from './driver-chain.ts'
import { withWaiting } from './driver-target.ts'
import { brokenDriver, driverNotes, whyFine } from './driver-verdict.ts'
import type { Explanation } from './explanation.ts'
import { heldAt } from './held-at.ts'
import { byWorst } from './matters-most.ts'
import { narrowedPlan } from './narrowed-plan.ts'
import { nodeFacts } from './node-target.ts'
import { podNotes, podViews } from './pods.ts'
import { deadVerdict, doubtVerdict, nothingVerdict, verdictOf } from './verdict.ts'
import { becauseOf, untouchable } from './why-nothing.ts'

/** With the places at which holders are looked for. */
export interface Explained extends Held {
  readonly explanation: Explanation
}

/**
 * For several questions about one look.
 *
 * @param given what commands that are proposed are made of
 * @returns asks what a name, kind/name, a UID, an absolute path, or a device is; throws VolctlError NotFound, AmbiguousName
 */
export function explainer(
  decided: Decided,
  given: Given = { words: [], settleMs: decided.context.options.settleMs },
): (what: string) => Explained {
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
    const volumes = asked.scope.volumes.map((volume) => describe(volume, only))
    const explanation = explanationOf(decided, { what, asked, concern, volumes, given })
    return { explanation, ...heldAt(context, asked, explanation.operations) }
  }
}

interface Question {
  readonly what: string
  readonly asked: Asked
  readonly concern: Concern
  readonly volumes: readonly DescribedVolume[]
  readonly given: Given
}

function explanationOf(decided: Decided, { what, asked, concern, volumes, given }: Question): Explanation {
  const { context } = decided
  const { scope: _, ...plan } = narrowedPlan(decided.plan, concern, what, given)
  const isNode = asked.scope.node === true
  const views = volumes.map(({ view }) => view)
  const driver = asked.driver && withWaiting(asked.driver.view, concern.waiting)
  const chain = asked.driver && driver && driverChain(context, { ...asked.driver, view: driver })
  const broken = driver && chain && brokenDriver(context, driver, chain)
  const verdict = verdictOf(concern, plan.summary.causes ?? [], {
    dead: broken ?? deadVerdict([...asked.places, ...views.flatMap(({ places }) => places)]),
    untouchable: untouchable(context, asked.scope),
    ofPod: asked.scope.pods.length === 1,
    doubt: doubtVerdict(concern.decisions),
    nothing: nothingVerdict(driver ? { why: whyFine(driver) } : becauseOf(context, asked, volumes, concern)),
  })
  return {
    ...plan,
    kind: 'Explanation',
    what,
    subject: asked.subject,
    verdict,
    notes: [...podNotes(context, asked.scope.pods, concern), ...(broken && driver ? driverNotes(driver) : [])],
    identity: isNode ? nodeFacts(context, plan) : asked.identity,
    chain: chain ?? byWorst(views)[0]?.chain ?? [],
    ...defined({ driver }),
    // Of a node every one: they are counted.
    pods: isNode ? [] : podViews(context, asked.scope),
    volumes: views,
    places: asked.places,
    decisions: concern.decisions,
    holders: NOT_LOOKED,
  }
}

/** Of a snapshot, and of a node as a whole. */
const NOT_LOOKED: Explanation['holders'] = {
  known: false,
  processes: [],
  namespaces: [],
  loops: [],
  kernel: [],
  notes: ['who holds it is not part of a snapshot: run volctl explain on the node'],
}
