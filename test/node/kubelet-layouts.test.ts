/** Where each distribution leaves word of its stopped kubelet: unit, drop-ins, environment and configuration files (S8, N16, N23). */
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findKubelet, startableKubelets } from '../../src/core/node/kubelet/find-kubelet.ts'
import { kubeletConfig } from '../../src/core/node/kubelet/kubelet-config.ts'
import { fixture } from './helpers/fixture.ts'

interface Layout {
  readonly name: string
  readonly files: Readonly<Record<string, string>>
  readonly want: Readonly<Record<string, string>>
  /** Of the kubelet's configuration file. */
  readonly config?: { readonly path: string; readonly want: Readonly<Record<string, unknown>> }
}

const K0S = {
  rootDir: '/var/lib/k0s/kubelet',
  kubeconfig: '/var/lib/k0s/kubelet.conf',
  runtimeEndpoint: 'unix:///run/k0s/containerd.sock',
}

const LAYOUTS: readonly Layout[] = [
  {
    name: 'k0s, a controller that is a worker as well',
    files: {
      'etc/systemd/system/k0scontroller.service':
        '[Service]\nExecStart=/usr/local/bin/k0s controller --config=/etc/k0s/k0s.yaml --enable-worker --kubelet-root-dir=/var/lib/kubelet\n',
    },
    want: { ...K0S, unit: 'k0scontroller.service', rootDir: '/var/lib/kubelet' },
  },
  {
    name: 'OpenShift, whose kubelet.conf is no kubeconfig',
    files: {
      'etc/systemd/system/kubelet.service':
        '[Service]\nEnvironmentFile=/etc/os-release\nEnvironmentFile=-/etc/kubernetes/kubelet-env\nExecStart=/usr/local/bin/kubenswrapper \\\n    /usr/bin/kubelet \\\n      --config=/etc/kubernetes/kubelet.conf \\\n      --bootstrap-kubeconfig=/etc/kubernetes/kubeconfig \\\n      --kubeconfig=/var/lib/kubelet/kubeconfig \\\n      --container-runtime-endpoint=/var/run/crio/crio.sock \\\n      --node-labels=node.openshift.io/os_id=$ID --v=$KUBELET_LOG_LEVEL\n',
      'etc/systemd/system/kubelet.service.d/10-mco-default-env.conf': '[Service]\nEnvironment="KUBELET_LOG_LEVEL=2"\n',
      'etc/systemd/system/kubelet.service.d/20-nodenet.conf': '[Service]\nEnvironment="KUBELET_NODE_IP=10.0.0.9"\n',
      'etc/os-release': 'NAME="Red Hat Enterprise Linux CoreOS"\nID="rhel"\n',
      'etc/kubernetes/kubelet.conf': 'kind: KubeletConfiguration\nstaticPodPath: /etc/kubernetes/manifests\n',
    },
    want: { rootDir: '/var/lib/kubelet', kubeconfig: '/var/lib/kubelet/kubeconfig' },
    config: {
      path: '/etc/kubernetes/kubelet.conf',
      want: { staticPodPath: '/etc/kubernetes/manifests' },
    },
  },
]

describe('S8: a stopped kubelet', () => {
  it.each(LAYOUTS)('$name', ({ files, want, config }) => {
    using root = fixture(files)
    const found = startableKubelets(root.path)
    expect(found).toHaveLength(1)
    expect(found[0]).toMatchObject({ ...want, standalone: false })
    expect(findKubelet([], {}, root.path)).toEqual(found[0])
    expect(found[0]?.flags.get('config')).toBe(config?.path)
    if (config === undefined) return
    const flags = new Map([['config', join(root.path, config.path)]])
    expect(kubeletConfig(flags, '/')).toEqual(config.want)
  })

  it.each([
    { enabled: ['rke2-agent.service'], want: ['rke2-agent.service'] },
    { enabled: ['rke2-server.service'], want: ['rke2-server.service'] },
    { enabled: [], want: ['rke2-server.service', 'rke2-agent.service'] },
  ])('RKE2 brings two units, and $enabled are enabled', ({ enabled, want }) => {
    const unit = (kind: string) => `[Service]\nExecStart=/usr/local/bin/rke2 ${kind} --data-dir /data/rke2\n`
    using root = fixture({
      'usr/local/lib/systemd/system/rke2-server.service': unit('server'),
      'usr/local/lib/systemd/system/rke2-agent.service': unit('agent'),
      ...Object.fromEntries(enabled.map((name) => [`etc/systemd/system/multi-user.target.wants/${name}`, ''])),
    })
    const found = startableKubelets(root.path)
    expect(found.map(({ unit: name }) => name)).toEqual(want)
    expect(found[0]?.kubeconfig).toBe('/data/rke2/agent/kubelet.kubeconfig')
  })
})
