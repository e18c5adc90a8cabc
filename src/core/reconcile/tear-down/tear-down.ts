/** The one way in which volumes of pods, maps and devices are torn down; each kind gives its parts. */
import { causeOf, isByKubelet } from '../../codes/codes.ts'
import { defined } from '../../lang/defined.ts'
import type { MountInfo } from '../../mountinfo/mount-table.ts'
import { deadWords } from '../../mountinfo/mount-words.ts'
import { type Draft, expectedMount, type Findings, messageOnPod, type Obstacle, type Wait } from '../../plan/draft.ts'
import type { Operation, OperationKind, Step, VolumeRef } from '../../plan/plan.ts'
import type { Subject } from '../../plan/subject.ts'
import type { PlanContext } from '../context/context.ts'
import { lostAtStart } from '../context/hints.ts'
import { foreignObstacle, layerObstacle, type Stack } from '../context/layers.ts'
import { gone, stateOf } from '../context/pod-facts.ts'
import { predecessorObstacle } from '../obstacles/device-obstacles.ts'
import type { PodClass } from '../pods/pod-classes.ts'
import type { SubPathWork } from './sub-path-steps.ts'

export interface TearDown {
  readonly kind: OperationKind
  /** The pod whose volume it is; undefined: a device's. */
  readonly pod?: PodClass
  readonly volume: VolumeRef
  readonly subject: Subject
  readonly wait: Wait | undefined
}

/** What one kind of volume gives. */
export interface Parts extends Pick<Draft, 'reason' | 'message' | 'rule'> {
  /** Torn down before the volume's own mounts. */
  readonly subPaths?: SubPathWork
  readonly steps: readonly Step[]
  /** Absolute; default: the paths of the steps. The first path names the operation. */
  readonly paths?: readonly string[]
  /** Mounts to be removed; undefined: nothing is ever mounted here. */
  readonly mounts?: readonly Stack[] | undefined
  /** File systems that may be mounted there; undefined: any. */
  readonly allowed?: readonly string[] | undefined
  /** Mounts in its directories that are not its own. */
  readonly foreign?: readonly MountInfo[]
  /** A kubelet that starts deletes all that it finds there, in such a mount too (O40). */
  readonly emptiedByKubelet?: boolean
  /** Other obstacles of this kind. @param removes ids of the mounts to be removed */
  readonly obstacle?: (removes: ReadonlySet<number>) => Obstacle | undefined
  /** Operations that come first. */
  readonly after?: readonly Draft[]
  readonly deletes?: Operation['deletes'] | undefined
  readonly kubeletWould?: string | undefined
}

/** Adds the operation, or what it waits for. @param partsOf not called where it only waits for some time to pass */
export function tearDown(
  context: PlanContext,
  findings: Findings,
  { kind, pod, volume, subject, wait }: TearDown,
  partsOf: () => Parts,
): void {
  const about = { ...defined({ pod: pod?.ref }), volume, subject }
  if (wait !== undefined && !isByKubelet(wait.code)) {
    findings.wait(kind, wait, 'S11', about)
    return
  }
  const parts = partsOf()
  const { reason, message, rule, subPaths, steps, paths, mounts, after = [], deletes, kubeletWould } = parts
  const all = [...(subPaths?.mounts ?? []), ...(mounts ?? [])].filter(({ layers }) => layers.length > 0)
  const removes = new Set<number>()
  for (const { layers } of all) for (const { id } of layers) removes.add(id)
  const draft: Draft = {
    kind,
    reason,
    ...(pod === undefined ? { message } : messageOnPod(gone(pod), message, stateOf(pod))),
    ...about,
    steps,
    paths: [...new Set(paths ?? targetsOf(steps))],
    after: [...after],
    rule,
    removes,
    ...defined({
      deletes,
      expects: mounts && all.map(({ path, layers }) => expectedMount(path, layers)),
      kubeletWould,
      dead: deadAmong(context, all),
      blocked: obstacleTo(context, parts, removes),
    }),
  }
  findings.addUnlessWaiting(draft, wait, 'S11')
}

function deadAmong({ inputs }: PlanContext, stacks: readonly Stack[]): Operation['dead'] {
  const dead = stacks.flatMap(({ path }) => {
    const error = inputs.deadError(inputs.relative(path))
    return error === undefined ? [] : [{ path, error: deadWords(error) }]
  })
  return dead.length === 0 ? undefined : dead
}

/** A loop device is not a path of the volume. */
export function targetsOf(steps: readonly Step[]): string[] {
  return steps.filter(({ op }) => op !== 'losetup -d').map(({ target }) => target)
}

/** First whether these mounts are the volume's, last the operations that have to come first. */
function obstacleTo(
  context: PlanContext,
  { subPaths, foreign = [], mounts = [], allowed, emptiedByKubelet = false, obstacle, after = [] }: Parts,
  removes: ReadonlySet<number>,
): Obstacle | undefined {
  const found = foreignObstacle(context, foreign) ?? stacksObstacle(context, mounts, allowed)
  const isLost = emptiedByKubelet && found !== undefined && causeOf(found.code) === 'foreign'
  return (
    subPaths?.obstacle ??
    (isLost ? lostAtStart(context, found, 'everything in it') : found) ??
    obstacle?.(removes) ??
    predecessorObstacle(after)
  )
}

function stacksObstacle(
  context: PlanContext,
  stacks: readonly Stack[],
  allowed: readonly string[] | undefined,
): Obstacle | undefined {
  return stacks
    .map(({ path, layers }) => layerObstacle(context, path, layers, allowed))
    .find((each) => each !== undefined)
}
