/** Facts of a live node where everything is as it should be, for a test to break. */
import type { Doctor } from '../../src/core/doctor/check.ts'
import { diagnose } from '../../src/core/doctor/diagnose.ts'
import type { ApiFacts, DoctorFacts, HostFacts, Purpose } from '../../src/core/doctor/facts.ts'
import type { NodeState } from '../../src/core/model/node-state.ts'
import { NOW, node } from '../helpers/node-builder.ts'
import { planOptions } from '../helpers/plan-options.ts'

const purposes: readonly Purpose[] = ['plan', 'DetachVolume', 'MountVolume', 'ExpandVolume']

const API: ApiFacts = {
  credential: { source: '/etc/kubernetes/admin.conf', server: 'https://api.test:6443' },
  user: 'kubernetes-admin',
  kubelet: { source: '/etc/kubernetes/kubelet.conf' },
  rights: purposes.map((purpose) => ({ right: { purpose, verb: 'get', resource: 'things' }, allowed: true })),
}

export const HOST: HostFacts = {
  uid: 0,
  missingCapabilities: [],
  standing: [],
  programs: {},
  hasSystemd: true,
  mountMax: 100_000,
  mounts: 40,
  limits: [
    { name: 'fs.file-max', used: 1400, most: 100_000 },
    { name: 'user.max_mnt_namespaces', used: 20, most: 128 },
  ],
  kernel: '6.12.0',
  rooms: [{ what: 'the root directory', path: '/var/lib/kubelet', free: 5e10, size: 1e11, freeInodes: 9, inodes: 10 }],
}

export interface Broken extends Omit<Partial<DoctorFacts>, 'api' | 'host' | 'state'> {
  readonly state?: NodeState | 'none'
  readonly api?: Partial<ApiFacts> | 'none'
  readonly host?: Partial<HostFacts>
}

export function facts({ state, api, host, ...rest }: Broken = {}): DoctorFacts {
  return {
    source: 'node',
    failures: {},
    ...rest,
    ...(state !== 'none' && { state: state ?? healthy() }),
    ...(api !== 'none' && { api: { ...API, ...api } }),
    host: { ...HOST, ...host },
  }
}

/** A node as a live look has it. */
export function healthy(
  change: (state: NodeState['snapshot']) => Partial<NodeState['snapshot']> = () => ({}),
): NodeState {
  const { snapshot, mounts } = node().build()
  const { api } = snapshot
  const info = {
    ...api?.node?.status?.nodeInfo,
    kubeletVersion: 'v1.36.2',
    containerRuntimeVersion: 'containerd://2.1.9',
  }
  const whole = {
    ...snapshot,
    kernelVersion: '6.12.0',
    kubelet: { running: true, mayReturn: true, unit: 'kubelet.service', pid: 812 },
    staticPods: { path: '/etc/kubernetes/manifests', readable: true, manifests: [] },
    api: api && {
      ...api,
      clockSkewMs: 300,
      podListCheck: { source: '/etc/kubernetes/kubelet.conf' },
      node: api.node && { ...api.node, status: { ...api.node.status, nodeInfo: info } },
    },
  } as NodeState['snapshot']
  return { snapshot: { ...whole, ...change(whole) }, mounts }
}

export function doctorOf(given: Broken = {}): Doctor {
  return diagnose(facts(given), planOptions(), NOW)
}
