/** A root directory with real mounts, and an apply on it whose API and witnesses are fakes. */
import { mkdirSync, readFileSync } from 'node:fs'
import { applyPlan } from '../../../src/core/apply/apply-plan.ts'
import type { ApplyContext } from '../../../src/core/apply/operation/step.ts'
import type { MountTable } from '../../../src/core/linux/mount-table.ts'
import { parseMountinfo } from '../../../src/core/linux/parse-mountinfo.ts'
import type { ApplyResult } from '../../../src/core/plan/events.ts'
import type { Operation } from '../../../src/core/plan/plan.ts'
import type { ExpectedMount, Step } from '../../../src/core/volumes/steps.ts'
import { bareOperation, barePlan } from '../../helpers/apply-plan.ts'
import { liveContext } from '../../helpers/live-node.ts'
import { sh } from '../../helpers/scenario.ts'

export const readMounts = (): MountTable => parseMountinfo(readFileSync('/proc/self/mountinfo'))

export function makeDir(path: string): string {
  mkdirSync(path, { recursive: true })
  return path
}

export function tmpfs(path: string): string {
  sh('mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', makeDir(path))
  return path
}

export function podUid(n: number): string {
  return `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
}

export function volumeDir(root: string, pod: number, name: string, plugin = 'kubernetes.io~secret'): string {
  return `${root}/pods/${podUid(pod)}/volumes/${plugin}/${name}`
}

/** All layers that are on these paths now. */
export function expectNow(...paths: readonly string[]): ExpectedMount[] {
  const table = readMounts()
  return paths.map((path) => ({
    path,
    layers: table.at(path).map(({ id, dev, root, fsType, source }) => ({ id, dev, root, fsType, source })),
  }))
}

export function operation(id: string, pod: number, steps: readonly Step[], given: Partial<Operation> = {}): Operation {
  return bareOperation(id, podUid(pod), steps, given)
}

/** Unmounts one volume and removes its directory. */
export function unmount(id: string, pod: number, dir: string): Operation {
  const expects = expectNow(dir)
  const umounts = expects.flatMap(({ layers }) => layers.map((): Step => ({ op: 'umount', target: dir })))
  return operation(id, pod, [...umounts, { op: 'rmdir', target: dir }], { expects })
}

export function apply(
  root: string,
  operations: readonly Operation[],
  given: Partial<ApplyContext> = {},
): Promise<ApplyResult> {
  const plan = barePlan(root, operations)
  const context = liveContext(root, {
    freshPlan: plan,
    look: async () => barePlan(root, []),
    readMounts,
    ...given,
  })
  return applyPlan(plan, context, () => undefined)
}
