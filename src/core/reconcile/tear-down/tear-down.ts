/** The one way in which volumes of pods, maps and devices are torn down; each kind gives its parts. */
import { isByKubelet } from '../../codes/codes.ts'
import { defined } from '../../lang/defined.ts'
import { deadWords } from '../../mountinfo/mount-words.ts'
import { type Draft, expectedMount, type Findings, messageOnPod, type Wait } from '../../plan/draft.ts'
import type { Operation, OperationKind, Step, VolumeRef } from '../../plan/plan.ts'
import type { Subject } from '../../plan/subject.ts'
import type { Facts } from '../../rules/rule.ts'
import { judged } from '../../rules/rules.ts'
import type { PlanContext } from '../context/context.ts'
import type { Stack } from '../context/layers.ts'
import { gone, stateOf } from '../context/pod-facts.ts'
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
export interface Parts extends Pick<Draft, 'reason' | 'message' | 'rule'>, Facts {
  /** Torn down before the volume's own mounts. */
  readonly subPaths?: SubPathWork
  readonly steps: readonly Step[]
  /** Absolute; default: the paths of the steps. The first path names the operation. */
  readonly paths?: readonly string[]
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
    }),
  }
  findings.addUnlessWaiting(judged(context, draft, parts), wait, 'S11')
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
