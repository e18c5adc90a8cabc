import { expect, it } from 'vitest'
import { howToStop } from '../../../src/core/rules/context.ts'
import type { KubeletSnapshot } from '../../../src/core/volumes/snapshot.ts'

const running: KubeletSnapshot = { running: true, mayReturn: true }

it.each<[name: string, kubelet: KubeletSnapshot | undefined, want: string]>([
  [
    'kubelet.service',
    { ...running, unit: 'kubelet.service' },
    'Stop the kubelet (systemctl stop kubelet.service) and plan again.',
  ],
  [
    'k3s server, which is the API server as well',
    { ...running, unit: 'k3s.service' },
    "Stop the kubelet (systemctl stop k3s.service) and plan again. k3s.service also runs this node's API server: plan with the --kubeconfig of another one.",
  ],
  [
    'down, but a timer may start it',
    { running: false, mayReturn: true, unit: 'kubelet.service' },
    'Stop the kubelet (systemctl stop kubelet.service), and stop whatever may start it, and plan again.',
  ],
  [
    'no unit: no process is named',
    { ...running, pid: 4711 },
    'Stop the kubelet (no unit of it is known: stop what runs it, so that it stays down) and plan again.',
  ],
])('a hint on the kubelet names the unit that runs it here: to stop: %s', (_, kubelet, want) =>
  expect(`${howToStop(kubelet)}`).toBe(want),
)
