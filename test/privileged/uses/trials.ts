/** Trials: somebody uses a volume, volctl plans and applies, and what came of it for the volume and for its user. */
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { readLoops } from '../../../src/core/linux/block/device-use.ts'
import type { Plan, VolumeRef } from '../../../src/core/plan/plan.ts'
import { endEvents } from '../../e2e/scenarios/outcomes.ts'
import { unmountBelow } from '../../helpers/scenario.ts'
import { until } from '../../helpers/until.ts'
import { type Combination, grouped, negligible, type OperationName } from './combinations.ts'
import { begin, type Holding, Unavailable } from './holding.ts'
import { startTrialNode, type TrialNode } from './node.ts'
import { isFilled, makeSubject, type Subject } from './subjects.ts'

interface Outcome {
  readonly kind: OperationName
  readonly state: string
  readonly code: string | undefined
  readonly message: string
}

export interface Verdict extends Combination {
  /** Why it was not tried on this machine; all else is empty then. */
  readonly skipped?: string
  readonly outcomes: readonly Outcome[]
  /** Whether plan or apply named the use. */
  readonly isNamed: boolean
  /** How the use was hurt, in words; empty: it was not. */
  readonly hurt: string
}

/** In a line. */
export const nameOf = ({ kind, operation, use }: Combination): string => `${kind}, ${operation}, ${use}`

export function isDone({ outcomes, operation }: Verdict): boolean {
  return outcomes.some(({ kind }) => kind === operation) && outcomes.every(({ state }) => state === 'done')
}

/** What the plan called ready, and the apply did not do. */
export function undoneOf(each: Verdict): string[] {
  return each.outcomes.flatMap(({ kind, state, message }) =>
    state === 'failed' || state === 'refused' ? [`${nameOf(each)}: ${kind} ${state}: ${message}`] : [],
  )
}

/**
 * What must not be, in words; empty: all is well. A use is hurt neither by what was done nor by what was refused half-way,
 * a refusal names it, and where nobody uses anything all is done.
 */
export function wrongOf(verdict: Verdict): string {
  const { use, outcomes, isNamed, hurt, skipped } = verdict
  if (skipped !== undefined) return ''
  const what = outcomes.map(({ kind, state, code = '' }) => `${kind} ${state} ${code}`.trim()).join(', ')
  const why = outcomes.find(({ state }) => state !== 'done')?.message ?? ''
  const told = `${what || 'nothing was planned'}; ${why}`
  if (hurt !== '' && negligible(verdict) === undefined) return `hurt (${hurt}): ${told}`
  if (isDone(verdict)) return ''
  if (use === 'none') return `refused, and nobody uses it: ${told}`
  return isNamed ? '' : `refused, and the use is not named: ${told}`
}

interface Trial {
  readonly subject: Subject
  readonly holding: Holding
}

/** One group after another, each at once on the node: used, planned and applied, and asked. */
export async function applied(directory: string, combinations: readonly Combination[]): Promise<readonly Verdict[]> {
  await using node = await startTrialNode(directory)
  const verdicts: Verdict[] = []
  let number = 0
  for (const group of grouped(combinations)) {
    const trials: Trial[] = []
    try {
      const subjects: Subject[] = []
      for (const combination of group) subjects.push(await makeSubject(node, combination, ++number))
      for (const subject of subjects) {
        const holding = await begin(subject, node).catch((error: Error) => error)
        if (!(holding instanceof Error)) trials.push({ subject, holding })
        else if (!(holding instanceof Unavailable)) throw new Error(nameOf(subject.combination), { cause: holding })
        else verdicts.push({ ...subject.combination, skipped: holding.message, outcomes: [], isNamed: false, hurt: '' })
      }
      node.setVolumes(subjects.flatMap(({ volume }) => volume ?? []))
      const saidOf = await planAndApply(node)
      for (const { subject } of trials) if (isTaken(saidOf(subject))) subject.taken?.()
      verdicts.push(...(await Promise.all(trials.map((trial) => verdictOn(trial, saidOf(trial.subject))))))
    } finally {
      await cleanUp(node, trials)
    }
  }
  return verdicts
}

async function verdictOn({ subject, holding }: Trial, { outcomes, texts }: Said): Promise<Verdict> {
  const isDone = outcomes.every(({ state }) => state === 'done')
  const hurt = await holding.check(randomBytes(16).toString('hex')).catch((error: Error) => error.message)
  const isNamed = texts.some((text) => holding.names.some((name) => hasName(text, name)))
  return { ...subject.combination, outcomes, isNamed, hurt: hurt || lossOf(subject, isDone) }
}

function lossOf({ content }: Subject, done: boolean): string {
  return done || content === undefined || isFilled(content) ? '' : 'some of the content was deleted all the same'
}

/**
 * No loop device and no swap area may be left. A loop on a map has its file's name only while that is
 * mounted, and one on an image goes when nothing on it is mounted any more.
 */
async function cleanUp({ directory, root }: TrialNode, trials: readonly Trial[]): Promise<void> {
  const ended = await Promise.allSettled(trials.map(({ holding }) => holding.end()))
  const own = (): string[] =>
    readLoops().flatMap(({ device, backingFile }) => (backingFile.startsWith(`${directory}/`) ? [device] : []))
  const detach = (): void => {
    // A partition outlives the disk.
    for (const { subject } of trials) {
      if (subject.disk?.other !== undefined) spawnSync('partx', ['--delete', subject.disk.device])
    }
    for (const device of own()) spawnSync('losetup', ['--detach', device])
  }
  detach()
  unmountBelow(directory)
  detach()
  await until(() => own().length === 0)
  const pods = readdirSync(`${root}/pods`).filter((uid) => uid.startsWith('11111111-'))
  for (const path of [...pods.map((uid) => `pods/${uid}`), 'plugins/kubernetes.io']) {
    rmSync(`${root}/${path}`, { recursive: true, force: true })
  }
  const failed = ended.find(({ status }) => status === 'rejected')
  if (failed?.status === 'rejected') throw failed.reason
}

interface Said {
  readonly outcomes: readonly Outcome[]
  /** All that was said of it that is not done. */
  readonly texts: readonly string[]
}

/** @returns what was said of a subject by the plan, and by the apply after it */
async function planAndApply(node: TrialNode): Promise<(subject: Subject) => Said> {
  const plan = await node.plan()
  const ends = endEvents(await node.apply())
  return (subject) => {
    const operations = plan.operations.filter((each) => isOf(subject, each.pod?.uid, each.volume))
    const told = operations.map(({ id, kind, blocked }) => {
      const event = ends.find((each) => each.id === id)
      const outcome: Outcome = {
        kind: kind as OperationName,
        state: event?.type ?? 'missing',
        code: event?.code,
        message: [event?.message, event?.hint].filter(Boolean).join(' / '),
      }
      return { outcome, blocked }
    })
    return {
      outcomes: told.map(({ outcome }) => outcome),
      texts: [
        ...told.map(({ blocked }) => blocked?.message ?? ''),
        ...saidOf(subject, plan),
        ...told.map(({ outcome: { state, message } }) => (state === 'done' ? '' : message)),
      ],
    }
  }
}

/** Whether its disk is another machine's from now on, or its driver has ended the session to it. */
function isTaken({ outcomes }: Said): boolean {
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
