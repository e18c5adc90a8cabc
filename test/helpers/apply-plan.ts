/** Operations and plans that contain only what a test of apply gives; also for workers, so without vitest. */
import type { ApplyResult } from '../../src/core/plan/events.ts'
import type { Operation, Plan, Step } from '../../src/core/plan/plan.ts'

export function bareOperation(
  id: string,
  podUid: string,
  steps: readonly Step[],
  given: Partial<Operation> = {},
): Operation {
  return {
    id,
    kind: 'UnmountVolume',
    reason: 'PodGone',
    message: `operation ${id}`,
    pod: { uid: podUid },
    paths: steps.map(({ target }) => target),
    steps,
    after: [],
    rule: 'R440',
    ...given,
  }
}

export function barePlan(rootDir: string, operations: readonly Operation[], given: Partial<Plan> = {}): Plan {
  return {
    apiVersion: 'volctl.io/v1',
    kind: 'Plan',
    scope: 'node',
    node: 'node-1',
    rootDir,
    createdAt: '2026-11-21T12:00:00Z',
    volctlVersion: '0.0.0-test',
    inputs: {
      api: { server: 'https://api.test' },
      kubelet: { state: 'stopped' },
      actual: { mounts: 0, podDirs: 0 },
      runtime: { source: 'cri', pods: 0 },
      machine: { matches: true },
      pods: { listed: 0, onDisk: 0, gone: 0 },
      unjudged: [],
    },
    operations,
    waiting: [],
    problems: [],
    summary: { operations: {}, blocked: 0, waiting: 0, problems: 0, filtered: 0 },
    complete: true,
    ...given,
  }
}

/** How each operation ended: `done`, or `refused HeldBy`. */
export function statesOf({ outcomes }: ApplyResult): Record<string, string> {
  return Object.fromEntries(
    outcomes.map(({ id, state, code }) => [id, code === undefined ? state : `${state} ${code}`]),
  )
}
