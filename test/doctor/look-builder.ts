/** A look of doctor at a live node where everything is as it should be, for a test to break. */
import { type Doctor, diagnose } from '../../src/core/explain/doctor/diagnose.ts'
import type { DoctorLook } from '../../src/core/explain/doctor/doctor-look.ts'
import type { NodeState } from '../../src/core/facts/actual/snapshot.ts'
import { NOW, node } from '../helpers/node-builder.ts'
import { planOptions } from '../helpers/plan-options.ts'

export interface Broken {
  readonly state?: NodeState | 'none'
  readonly failures?: DoctorLook['failures']
  readonly host?: Partial<DoctorLook['host']>
}

/** A node as a live look has it. */
export function healthy(
  change: (state: NodeState['snapshot']) => Partial<NodeState['snapshot']> = () => ({}),
  built = node(),
): NodeState {
  const nodeInfo = { kubeletVersion: 'v1.36.2', containerRuntimeVersion: 'containerd://2.1.9' }
  built.withNode(({ status }) => ({ status: { ...status, nodeInfo: { ...status?.nodeInfo, ...nodeInfo } } }))
  built.withApi({ clockSkewMs: 300, user: 'kubernetes-admin', mayDeleteVolumeAttachments: true })
  built.with({ kubelet: { running: true, mayReturn: true, unit: 'kubelet.service', pid: 812 } })
  const { snapshot, mounts } = built.build()
  return { snapshot: { ...snapshot, ...change(snapshot) }, mounts }
}

export function doctorOf({ state = healthy(), failures = {}, host }: Broken = {}): Doctor {
  const look: DoctorLook = {
    failures,
    ...(state !== 'none' && { state }),
    credential: '/etc/kubernetes/admin.conf',
    host: { uid: 0, missingCapabilities: [], standing: [], ...host },
  }
  return diagnose(look, planOptions(), NOW)
}
