/** What the planner makes of a volume that a pod wants and does not have, ready to be applied to a fixture. */

import type { PodVolumeSource } from '../../src/core/model/objects.ts'
import type { Operation } from '../../src/core/plan/plan.ts'
import { desiredStateOfPods } from '../../src/core/populator/populate.ts'
import { type NodeBuilder, uid } from '../helpers/node-builder.ts'
import { plan } from '../reconcile/planned.ts'
import type { Fixture } from './apply-fixture.ts'

export interface Wanted {
  readonly fsGroup?: number
  /** Is the volume in volumesAttached and volumesInUse. */
  readonly attached: boolean
  readonly built: NodeBuilder
}

/** The pod that wants it, by number. */
export const WANTING = uid(2)

/** One operation a pod that wants the volume `v`, which the fixture knows of from then on. */
export function wantVolume(
  fixture: Fixture,
  source: Partial<PodVolumeSource>,
  { fsGroup, attached, built }: Wanted,
): Operation {
  built.pod(WANTING, 'app', [{ name: 'v', ...source }])
  const pod = built.pods.at(-1)
  if (pod === undefined) throw new Error('no pod')
  if (fsGroup !== undefined) Object.assign(pod.spec, { securityContext: { fsGroup } })
  const api = () => built.build().snapshot.api ?? ({} as never)
  if (attached) built.inUse.push(...desiredStateOfPods([pod], api()).volumes.map(({ uniqueName }) => uniqueName))
  const state = built.build()
  if (attached) Object.assign(state.snapshot.api?.node?.status ?? {}, listed(built.inUse))
  const made = plan({ build: () => state } as NodeBuilder)
  fixture.witness = { listed: new Set([WANTING]), alive: new Set(), apiPods: [pod] }
  fixture.volumes = [...desiredStateOfPods([pod], state.snapshot.api as never).volumes]
  const [operation] = made.operations
  if (operation === undefined || made.operations.length !== 1) throw new Error(JSON.stringify(made.waiting))
  return operation
}

function listed(names: readonly string[]): object {
  return { volumesInUse: names, volumesAttached: names.map((name) => ({ name, devicePath: '' })) }
}
