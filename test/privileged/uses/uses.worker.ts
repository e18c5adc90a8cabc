import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { readBackingFile, readLoops } from '../../../src/core/block/device-use.ts'
import { runScenario } from '../../helpers/scenario.ts'
import { unmountAllBelow } from '../../helpers/scene/mount-points.ts'
import { until } from '../../helpers/until.ts'
import type { Combination } from './combinations.ts'
import { begin, type Holding } from './holding.ts'
import { type TrialNode, withTrialNode } from './node.ts'
import { namesOthers, withoutOthersDisks } from './others-disks.ts'
import { isTaken, planAndApply } from './read-verdicts.ts'
import { isFilled, makeSubject, type Subject } from './subjects.ts'
import { Unavailable } from './unavailable.ts'
import { nameOf, type Verdict } from './verdicts.ts'

interface Trial {
  readonly subject: Subject
  readonly holding: Holding
}

await runScenario({
  /** One group after another, each at once on the node: used, applied to, and asked. */
  async apply(directory, [groups = '[]']) {
    return await onNode(directory, groups, async (node, trials) => {
      const names = new Set(trials.flatMap(({ holding }) => holding.names).map((name) => name.replace('/dev/', '')))
      const isOwn = (name: string): boolean => names.has(name) || name.startsWith(`${directory}/`)
      const saidOf = await withoutOthersDisks(isOwn, () => planAndApply(node))
      for (const { subject } of trials) if (isTaken(saidOf(subject))) subject.taken?.()
      return Promise.all(
        trials.map(async (trial) => {
          const { subject, holding } = trial
          const { outcomes, named } = saidOf(subject)
          const by = named(holding.names)
          const hurt =
            (await hurtOf(trial)) ||
            lossOf(
              subject,
              outcomes.every(({ state }) => state === 'done'),
            )
          const told = outcomes.map(({ message }) => message).join(' ')
          const disturbed = by === undefined && (namesOthers(told, isOwn) || isGivenAway(subject))
          return { ...subject.combination, outcomes, ...(by && { named: by }), hurt, ...(disturbed && { disturbed }) }
        }),
      )
    })
  },

  /** The same, but what volctl would do is done by plain commands. */
  async plain(directory, [groups = '[]']) {
    return await onNode(directory, groups, async (_, trials) => {
      for (const { subject } of trials) subject.takeAway()
      return Promise.all(
        trials.map(async (trial) => ({ ...trial.subject.combination, outcomes: [], hurt: await hurtOf(trial) })),
      )
    })
  },
})

async function hurtOf({ holding }: Trial): Promise<string> {
  return await holding.check(randomBytes(16).toString('hex')).catch((error: Error) => error.message)
}

/** Once its driver lets go of a loop device, another test may get it, before it is detached. */
function isGivenAway({ disk }: Subject): boolean {
  const file = disk === undefined ? undefined : readBackingFile(disk.device)
  return file !== undefined && file !== disk?.image
}

function lossOf({ content }: Subject, done: boolean): string {
  return done || content === undefined || isFilled(content) ? '' : 'some of the content was deleted all the same'
}

type Work = (node: TrialNode, trials: readonly Trial[]) => Promise<readonly Verdict[]>

async function onNode(directory: string, groups: string, work: Work): Promise<readonly Verdict[]> {
  return await withTrialNode(directory, async (node) => {
    const verdicts: Verdict[] = []
    let number = 0
    for (const group of JSON.parse(groups) as Combination[][]) {
      const trials: Trial[] = []
      try {
        const subjects: Subject[] = []
        for (const combination of group) subjects.push(await makeSubject(node, combination, ++number))
        for (const subject of subjects) {
          const holding = await begin(subject, node).catch((error: Error) => error)
          if (!(holding instanceof Error)) trials.push({ subject, holding })
          else if (!(holding instanceof Unavailable)) throw new Error(nameOf(subject.combination), { cause: holding })
          else verdicts.push({ ...subject.combination, skipped: holding.message, outcomes: [], hurt: '' })
        }
        await node.setVolumes(subjects.flatMap(({ volume }) => volume ?? []))
        verdicts.push(...(await work(node, trials)))
      } finally {
        await cleanUp(node, trials)
      }
    }
    return verdicts
  })
}

/**
 * Loop devices and swap areas are the machine's: none may be left. A loop on a map has its file's name only while that is
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
  unmountAllBelow(directory)
  detach()
  await until(() => own().length === 0)
  const pods = readdirSync(`${root}/pods`).filter((uid) => uid.startsWith('11111111-'))
  for (const path of [...pods.map((uid) => `pods/${uid}`), 'plugins/kubernetes.io']) {
    rmSync(`${root}/${path}`, { recursive: true, force: true })
  }
  const failed = ended.find(({ status }) => status === 'rejected')
  if (failed?.status === 'rejected') throw failed.reason
}
