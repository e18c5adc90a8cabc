/** A look of doctor at a live node where everything is as it should be, for a test to break. */
import { type Doctor, diagnose } from '../../src/core/explain/doctor/diagnose.ts'
import type { DoctorLook } from '../../src/core/explain/doctor/doctor-look.ts'
import { NOW, type NodeBuilder, node } from '../helpers/node-builder.ts'
import { planOptions } from '../helpers/plan-options.ts'

export interface Broken {
  readonly state?: NodeBuilder | 'none'
  readonly failures?: DoctorLook['failures']
  readonly host?: Partial<DoctorLook['host']>
}

/** A node as a live look has it. @param built with its volumes: what its Node says of them stays as it is now */
export function healthy(built = node()): NodeBuilder {
  const nodeInfo = { kubeletVersion: 'v1.36.2', containerRuntimeVersion: 'containerd://2.1.9' }
  return built
    .withNode(({ status }) => ({ status: { ...status, nodeInfo: { ...status?.nodeInfo, ...nodeInfo } } }))
    .withApi({ clockSkewMs: 300, user: 'kubernetes-admin', mayDeleteVolumeAttachments: true })
    .with({ kubelet: { running: true, mayReturn: true, unit: 'kubelet.service', pid: 812 } })
}

export function doctorOf({ state = healthy(), failures = {}, host }: Broken = {}): Doctor {
  const look: DoctorLook = {
    failures,
    ...(state !== 'none' && { state: state.build() }),
    credential: '/etc/kubernetes/admin.conf',
    host: { uid: 0, missingCapabilities: [], standing: [], ...host },
  }
  return diagnose(look, planOptions(), NOW)
}
