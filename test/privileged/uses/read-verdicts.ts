/** Plans and applies, and finds what was said of each trial. */
import type { Plan, VolumeRef } from '../../../src/core/plan/plan.ts'
import type { OperationName } from './combinations.ts'
import type { TrialNode } from './node.ts'
import type { Subject } from './subjects.ts'
import type { Outcome, Verdict } from './verdicts.ts'

const ENDS: ReadonlySet<string> = new Set(['done', 'failed', 'refused', 'blocked', 'skipped', 'interrupted'])

export interface Said {
  readonly outcomes: readonly Outcome[]
  named(names: readonly string[]): Verdict['named']
}

/** @returns what was said of a subject by the plan, and by the apply after it */
export async function planAndApply(node: TrialNode): Promise<(subject: Subject) => Said> {
  const plan = await node.plan()
  const { events } = await node.apply()
  return (subject) => {
    const operations = plan.operations.filter((each) => isOf(subject, each.pod?.uid, each.volume))
    const told = operations.map(({ id, kind, blocked }) => {
      const event = events.find((each) => each.id === id && ENDS.has(each.type))
      const outcome: Outcome = {
        kind: kind as OperationName,
        state: event?.type ?? 'missing',
        code: event?.code,
        message: [event?.message, event?.hint].filter(Boolean).join(' / '),
      }
      return { outcome, blocked }
    })
    const texts = [
      ...told.flatMap(({ outcome: { kind }, blocked }) =>
        blocked ? [{ by: kind, planned: true, text: blocked.message }] : [],
      ),
      ...saidOf(subject, plan).map((text) => ({ by: 'a problem', planned: true, text })),
      ...told.flatMap(({ outcome: { kind, state, message } }) =>
        state === 'done' ? [] : [{ by: kind, planned: false, text: message }],
      ),
    ]
    return {
      outcomes: told.map(({ outcome }) => outcome),
      named: (names) => texts.find(({ text }) => names.some((name) => hasName(text, name))),
    }
  }
}

/** Whether its disk is another machine's from now on, or its driver has ended the session to it. */
export function isTaken({ outcomes }: Said): boolean {
  return outcomes.some(({ kind, state }) => state === 'done' && TAKES_DISK.has(kind))
}

const TAKES_DISK: ReadonlySet<OperationName> = new Set(['DetachVolume', 'UnmapVolume', 'UnmapDevice'])

function saidOf(subject: Subject, { problems, waiting }: Plan): string[] {
  const isBelow = (path: string | undefined): boolean => path?.includes(`/${subject.podUid}`) === true
  return [
    ...problems.filter(
      ({ about }) => isOf(subject, about.pod, { name: about.volume ?? '' } as NamedVolume) || isBelow(about.path),
    ),
    ...waiting.filter(({ pod, volume }) => isOf(subject, pod?.uid, volume)),
  ].map(({ message }) => message)
}

type NamedVolume = Pick<VolumeRef, 'name' | 'handle'>

/** What is staged and has no pod may have its handle alone for a name. */
function isOf({ podUid, name, volume }: Subject, uid: string | undefined, of: NamedVolume | undefined): boolean {
  const handle = volume?.csi?.handle
  return uid === podUid || of?.name === name || (handle !== undefined && [of?.name, of?.handle].includes(handle))
}

/** As a whole: not loop1 where loop12 is meant. */
function hasName(text: string, name: string): boolean {
  const at = text.indexOf(name)
  if (at < 0) return false
  return !/[\w-]/.test(text[at + name.length] ?? '') || hasName(text.slice(at + 1), name)
}
