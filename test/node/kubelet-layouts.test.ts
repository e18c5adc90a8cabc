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

const RKE2 = {
  rootDir: '/var/lib/kubelet',
  kubeconfig: '/var/lib/rancher/rke2/agent/kubelet.kubeconfig',
  staticPodPath: '/var/lib/rancher/rke2/agent/pod-manifests',
  runtimeEndpoint: 'unix:///run/k3s/containerd/containerd.sock',
}
const K0S = {
  rootDir: '/var/lib/k0s/kubelet',
  kubeconfig: '/var/lib/k0s/kubelet.conf',
  runtimeEndpoint: 'unix:///run/k0s/containerd.sock',
}

const LAYOUTS: readonly Layout[] = [
  {
    name: 'RKE2, a server',
    files: {
      'usr/local/lib/systemd/system/rke2-server.service':
        '[Service]\nType=notify\nEnvironmentFile=-/etc/default/%N\nExecStartPre=-/sbin/modprobe overlay\nExecStart=/usr/local/bin/rke2 server\n',
      'etc/rancher/rke2/config.yaml': 'node-name: CP-1\nkubelet-arg:\n  - "max-pods=200"\n',
    },
    want: { ...RKE2, unit: 'rke2-server.service', nodeName: 'cp-1' },
  },
  {
    name: 'RKE2, an agent with directories of its own',
    files: {
      'usr/lib/systemd/system/rke2-agent.service':
        '[Service]\nExecStart=/usr/bin/rke2 agent --data-dir /data/rke2 --kubelet-arg=root-dir=/data/kubelet\n',
    },
    want: {
      ...RKE2,
      unit: 'rke2-agent.service',
      rootDir: '/data/kubelet',
      kubeconfig: '/data/rke2/agent/kubelet.kubeconfig',
      staticPodPath: '/data/rke2/agent/pod-manifests',
    },
  },
  {
    name: 'k0s, a worker',
    files: {
      'etc/systemd/system/k0sworker.service':
        '[Service]\nStartLimitInterval=5\nExecStart=/usr/local/bin/k0s worker --data-dir=/var/lib/k0s --token-file=/etc/k0s/token --kubelet-extra-args="--hostname-override=W-1 --v=2"\n',
    },
    want: { ...K0S, unit: 'k0sworker.service', nodeName: 'w-1' },
  },
  {
    name: 'k0s, a controller that is a worker as well',
    files: {
      'etc/systemd/system/k0scontroller.service':
        '[Service]\nExecStart=/usr/local/bin/k0s controller --config=/etc/k0s/k0s.yaml --enable-worker --kubelet-root-dir=/var/lib/kubelet\n',
    },
    want: { ...K0S, unit: 'k0scontroller.service', rootDir: '/var/lib/kubelet' },
  },
  {
    name: 'EKS, Amazon Linux 2',
    files: {
      'etc/systemd/system/kubelet.service':
        '[Service]\nSlice=runtime.slice\nExecStartPre=/sbin/iptables -P FORWARD ACCEPT -w 5\nExecStart=/usr/bin/kubelet \\\n    --config /etc/kubernetes/kubelet/kubelet-config.json \\\n    --kubeconfig /var/lib/kubelet/kubeconfig \\\n    --container-runtime-endpoint unix:///run/containerd/containerd.sock \\\n    $KUBELET_ARGS $KUBELET_EXTRA_ARGS\n',
      'etc/systemd/system/kubelet.service.d/10-kubelet-args.conf':
        "[Service]\nEnvironment='KUBELET_ARGS=--node-ip=10.0.0.7 --hostname-override=ip-10-0-0-7.ec2.internal --v=2'\n",
      'etc/systemd/system/kubelet.service.d/30-kubelet-extra-args.conf':
        "[Service]\nEnvironment='KUBELET_EXTRA_ARGS=--node-labels=eks.amazonaws.com/nodegroup=a'\n",
      'etc/kubernetes/kubelet/kubelet-config.json':
        '{"kind":"KubeletConfiguration","apiVersion":"kubelet.config.k8s.io/v1beta1","cgroupDriver":"systemd","featureGates":{"SELinuxMount":true}}',
    },
    want: {
      rootDir: '/var/lib/kubelet',
      kubeconfig: '/var/lib/kubelet/kubeconfig',
      nodeName: 'ip-10-0-0-7.ec2.internal',
    },
    config: {
      path: '/etc/kubernetes/kubelet/kubelet-config.json',
      want: { cgroupDriver: 'systemd', featureGates: { SELinuxMount: true } },
    },
  },
  {
    name: 'EKS, Amazon Linux 2023',
    files: {
      'etc/systemd/system/kubelet.service':
        '[Service]\nEnvironmentFile=/etc/eks/kubelet/environment\nExecStart=/usr/bin/kubelet $NODEADM_KUBELET_ARGS\n',
      'etc/eks/kubelet/environment':
        'NODEADM_KUBELET_ARGS="--config=/etc/kubernetes/kubelet/config.json --config-dir=/etc/kubernetes/kubelet/config.json.d --hostname-override=i-0abc --kubeconfig=/var/lib/kubelet/kubeconfig"\n',
      'etc/kubernetes/kubelet/config.json':
        '{"kind":"KubeletConfiguration","containerRuntimeEndpoint":"unix:///run/containerd/containerd.sock"}',
    },
    want: { rootDir: '/var/lib/kubelet', kubeconfig: '/var/lib/kubelet/kubeconfig', nodeName: 'i-0abc' },
    config: {
      path: '/etc/kubernetes/kubelet/config.json',
      want: { containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock' },
    },
  },
  {
    name: 'OpenShift, whose kubelet.conf is no kubeconfig',
    files: {
      'etc/systemd/system/kubelet.service':
        '[Service]\nEnvironmentFile=/etc/os-release\nEnvironmentFile=-/etc/kubernetes/kubelet-env\nExecStart=/usr/local/bin/kubenswrapper \\\n    /usr/bin/kubelet \\\n      --config=/etc/kubernetes/kubelet.conf \\\n      --bootstrap-kubeconfig=/etc/kubernetes/kubeconfig \\\n      --kubeconfig=/var/lib/kubelet/kubeconfig \\\n      --container-runtime-endpoint=/var/run/crio/crio.sock \\\n      --node-labels=node.openshift.io/os_id=$ID --v=$KUBELET_LOG_LEVEL\n',
      'etc/systemd/system/kubelet.service.d/10-mco-default-env.conf': '[Service]\nEnvironment="KUBELET_LOG_LEVEL=2"\n',
      'etc/systemd/system/kubelet.service.d/20-nodenet.conf': '[Service]\nEnvironment="KUBELET_NODE_IP=10.0.0.9"\n',
      'etc/os-release': 'NAME="Red Hat Enterprise Linux CoreOS"\nID="rhel"\n',
      'etc/kubernetes/kubelet.conf':
        'kind: KubeletConfiguration\nstaticPodPath: /etc/kubernetes/manifests\ncgroupDriver: systemd\n',
    },
    want: { rootDir: '/var/lib/kubelet', kubeconfig: '/var/lib/kubelet/kubeconfig' },
    config: {
      path: '/etc/kubernetes/kubelet.conf',
      want: { staticPodPath: '/etc/kubernetes/manifests', cgroupDriver: 'systemd' },
    },
  },
  {
    name: 'Bottlerocket',
    files: {
      'usr/lib/systemd/system/kubelet.service': '[Service]\nExecStart=/usr/bin/kubelet\n',
      'etc/systemd/system/kubelet.service.d/exec-start.conf':
        '[Service]\nExecStart=\nExecStart=/usr/bin/kubelet \\\n    --cloud-provider "external" \\\n    --kubeconfig /etc/kubernetes/kubelet/kubeconfig \\\n    --config /etc/kubernetes/kubelet/config \\\n    --hostname-override "br-1" \\\n    --root-dir /var/lib/kubelet\n',
      'etc/kubernetes/kubelet/config': 'kind: KubeletConfiguration\n',
    },
    want: { rootDir: '/var/lib/kubelet', kubeconfig: '/etc/kubernetes/kubelet/kubeconfig', nodeName: 'br-1' },
    config: { path: '/etc/kubernetes/kubelet/config', want: {} },
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
    const unit = (kind: string) => `[Service]\nExecStart=/usr/local/bin/rke2 ${kind}\n`
    using root = fixture({
      'usr/local/lib/systemd/system/rke2-server.service': unit('server'),
      'usr/local/lib/systemd/system/rke2-agent.service': unit('agent'),
      ...Object.fromEntries(enabled.map((name) => [`etc/systemd/system/multi-user.target.wants/${name}`, ''])),
    })
    expect(startableKubelets(root.path).map(({ unit: name }) => name)).toEqual(want)
  })

  it('none is on a k0s controller that is no worker', () => {
    using root = fixture({
      'etc/systemd/system/k0scontroller.service': '[Service]\nExecStart=/usr/local/bin/k0s controller\n',
    })
    expect(startableKubelets(root.path)).toEqual([])
  })
})
