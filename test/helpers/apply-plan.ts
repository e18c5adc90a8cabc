/** Operations and plans that contain only what a test of apply gives; also for workers, so without vitest. */

import type { VolumeAttachment } from '../../src/core/kube/api/objects.ts'
import type { ApplyResult, Outcome } from '../../src/core/plan/events.ts'
import type { Operation, OperationKind, Plan, VolumeRef } from '../../src/core/plan/plan.ts'
import type { Step } from '../../src/core/volumes/steps.ts'
import { CSI_PLUGIN, csiUniqueName } from '../../src/core/volumes/volume-names.ts'

/** Their operations are of no pod. */
const OF_NO_POD: readonly (OperationKind | undefined)[] = ['UnmountDevice', 'UnmapDevice', 'DetachVolume']

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
    ...(!OF_NO_POD.includes(given.kind) && { pod: { uid: podUid } }),
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

export const csiVolume = (handle = 'vol-1') => ({
  ...{ name: 'pv', plugin: CSI_PLUGIN, driver: 'disk.test', handle },
  ...{ uniqueName: csiUniqueName('disk.test', handle), mode: 'Filesystem' as const },
})

const ATTACHMENT = { name: 'csi-abc', uid: 'va-1', resourceVersion: '5' }

/** The attachment of such a volume. */
export function attachmentHere(
  given: Partial<VolumeAttachment['metadata']> = {},
  status: VolumeAttachment['status'] = { attached: true },
): VolumeAttachment {
  return {
    metadata: { ...ATTACHMENT, ...given },
    spec: { attacher: 'disk.test', nodeName: 'node-1', source: { persistentVolumeName: 'pv' } },
    status,
  }
}

export function detachOf(volume: VolumeRef, given: Partial<Operation> = {}): Operation {
  const steps = [{ op: 'deleteVolumeAttachment', target: `volumeattachments/${ATTACHMENT.name}` }] as const
  return bareOperation('detach', '', steps, {
    ...{ kind: 'DetachVolume', volume, paths: [], attachment: ATTACHMENT },
    ...given,
  })
}

/** `done`, or `refused HeldBy`. */
export function endOf({ state, code }: Outcome): string {
  return code === undefined ? state : `${state} ${code}`
}

/** How each operation ended. */
export function statesOf({ outcomes }: ApplyResult): Record<string, string> {
  return Object.fromEntries(outcomes.map((each) => [each.id, endOf(each)]))
}
