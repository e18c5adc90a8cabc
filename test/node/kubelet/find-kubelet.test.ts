import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SafetyRefusal } from '../../../src/core/messages/findings.ts'
import {
  findKubelet,
  kubeletsSeen,
  runningKubelets,
  startableKubelets,
} from '../../../src/core/node/kubelet/find-kubelet.ts'
import { kubeletConfig } from '../../../src/core/node/kubelet/kubelet-config.ts'
import { parseKubeletFlags } from '../../../src/core/node/kubelet/kubelet-flags.ts'
import { readServiceUnit, splitWords } from '../../../src/core/node/kubelet/systemd-unit.ts'
import { fixture } from '../helpers/fixture.ts'

const KUBEADM = {
  'lib/systemd/system/kubelet.service':
    '[Unit]\nDescription=kubelet\n[Service]\nExecStart=/usr/bin/kubelet\nRestart=always\n',
  'usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf': `
# Note: written by the package
[Service]
Environment="KUBELET_KUBECONFIG_ARGS=--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf"
Environment="KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml"
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
EnvironmentFile=-/etc/default/kubelet
ExecStart=
ExecStart=/usr/bin/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS \\
  $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS
`,
  'var/lib/kubelet/kubeadm-flags.env':
    'KUBELET_KUBEADM_ARGS="--container-runtime-endpoint=unix:///run/crio.sock --hostname-override=Node-A"\n',
  'etc/default/kubelet': '# extra\nKUBELET_EXTRA_ARGS=--root-dir=/data/kubelet\n',
}

const RANCHER = '/var/lib/rancher/k3s/agent'

interface Layout {
  readonly name: string
  readonly files: Readonly<Record<string, string>>
  readonly want: Readonly<Record<string, string>>
  readonly flags?: Readonly<Record<string, string>>
  /** Of the kubelet's configuration file. */
  readonly config?: Readonly<Record<string, unknown>>
}

describe('S8: a stopped kubelet', () => {
  it.each<Layout>([
    {
      name: 'kubeadm: unit, drop-ins and environment files',
      files: KUBEADM,
      want: {
        source: 'unit kubelet.service',
        rootDir: '/data/kubelet',
        nodeName: 'node-a',
        kubeconfig: '/etc/kubernetes/kubelet.conf',
      },
      flags: { config: '/var/lib/kubelet/config.yaml' },
    },
    {
      name: 'k3s, whose flags are in a configuration file',
      files: {
        'etc/systemd/system/k3s-agent.service':
          "[Service]\nExecStart=/usr/local/bin/k3s \\\n    agent \\\n\t'--kubelet-arg' 'max-pods=50' \\\n",
        'etc/rancher/k3s/config.yaml': 'node-name: Edge-1\nkubelet-arg:\n  - root-dir=/data/k3s\n  - max-pods=10\n',
      },
      want: {
        rootDir: '/data/k3s',
        nodeName: 'edge-1',
        kubeconfig: `${RANCHER}/kubelet.kubeconfig`,
        staticPodPath: `${RANCHER}/pod-manifests`,
        runtimeEndpoint: 'unix:///run/k3s/containerd/containerd.sock',
      },
      flags: { 'max-pods': '50' },
    },
    {
      name: 'k0s, a controller that is a worker as well',
      files: {
        'etc/systemd/system/k0scontroller.service':
          '[Service]\nExecStart=/usr/local/bin/k0s controller --config=/etc/k0s/k0s.yaml --enable-worker --kubelet-root-dir=/var/lib/kubelet\n',
      },
      want: {
        unit: 'k0scontroller.service',
        rootDir: '/var/lib/kubelet',
        kubeconfig: '/var/lib/k0s/kubelet.conf',
        runtimeEndpoint: 'unix:///run/k0s/containerd.sock',
      },
    },
    {
      name: 'OpenShift, whose kubelet.conf is no kubeconfig',
      files: {
        'etc/systemd/system/kubelet.service':
          '[Service]\nEnvironmentFile=/etc/os-release\nEnvironmentFile=-/etc/kubernetes/kubelet-env\nExecStart=/usr/local/bin/kubenswrapper \\\n    /usr/bin/kubelet \\\n      --config=/etc/kubernetes/kubelet.conf \\\n      --bootstrap-kubeconfig=/etc/kubernetes/kubeconfig \\\n      --kubeconfig=/var/lib/kubelet/kubeconfig \\\n      --container-runtime-endpoint=/var/run/crio/crio.sock \\\n      --node-labels=node.openshift.io/os_id=$ID --v=$KUBELET_LOG_LEVEL\n',
        'etc/systemd/system/kubelet.service.d/10-mco-default-env.conf':
          '[Service]\nEnvironment="KUBELET_LOG_LEVEL=2"\n',
        'etc/systemd/system/kubelet.service.d/20-nodenet.conf': '[Service]\nEnvironment="KUBELET_NODE_IP=10.0.0.9"\n',
        'etc/os-release': 'NAME="Red Hat Enterprise Linux CoreOS"\nID="rhel"\n',
        'etc/kubernetes/kubelet.conf': 'kind: KubeletConfiguration\nstaticPodPath: /etc/kubernetes/manifests\n',
      },
      want: { rootDir: '/var/lib/kubelet', kubeconfig: '/var/lib/kubelet/kubeconfig' },
      flags: { config: '/etc/kubernetes/kubelet.conf' },
      config: { staticPodPath: '/etc/kubernetes/manifests' },
    },
  ])('of $name', ({ files, want, flags = {}, config }) => {
    using root = fixture(files)
    const [kubelet, ...others] = startableKubelets(root.path)
    expect(others).toEqual([])
    expect(kubelet).toMatchObject({ ...want, standalone: false })
    expect(findKubelet([], {}, root.path)).toEqual(kubelet)
    // A distribution's own --config is none of its kubelet's.
    expect({ config: undefined, ...Object.fromEntries(kubelet?.flags ?? []) }).toMatchObject({
      config: undefined,
      ...flags,
    })
    if (config === undefined) return
    expect(kubeletConfig(new Map([['config', join(root.path, flags.config ?? '')]]), '/')).toEqual(config)
  })

  it('is not looked for in a masked unit', () => {
    using root = fixture(KUBEADM)
    using masked = fixture({ 'etc/systemd/system/x': '' })
    symlinkSync('/dev/null', join(masked.path, 'etc/systemd/system/kubelet.service'))
    expect(startableKubelets(masked.path)).toEqual([])
    expect(readServiceUnit('kubelet.service', root.path)?.args[0]).toBe('/usr/bin/kubelet')
  })

  it('loses with an empty setting what was set before', () => {
    const lines = ['[Service]', 'Environment=A=1', 'Environment=', 'ExecStart=/usr/bin/kubelet $A', '']
    using root = fixture({ 'etc/systemd/system/kubelet.service': lines.join('\n') })
    expect(readServiceUnit('kubelet.service', root.path)?.args).toEqual(['/usr/bin/kubelet'])
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

it.each([
  [`a  b\tc`, ['a', 'b', 'c']],
  [`"a b" 'c d'`, ['a b', 'c d']],
  [`--x="a b" ''`, ['--x=a b', '']],
  [`a\\ b`, ['a b']],
  ['', []],
])('splitWords: %s', (text, want) => expect(splitWords(text)).toEqual(want))

describe('S8: several kubelets', () => {
  const processes = [
    {
      pid: 10,
      workingDirectory: '/',
      comm: 'kubelet',
      args: ['/usr/bin/kubelet', '--kubeconfig=/k', '--hostname-override=a'],
    },
    {
      pid: 20,
      workingDirectory: '/',
      comm: 'k3s-server',
      args: ['/usr/local/bin/k3s', 'server', '--kubelet-arg', 'root-dir=/data/k3s', '--node-name=b'],
    },
  ]
  const running = runningKubelets(processes)

  it('are refused until one is named', () => {
    expect(() => findKubelet(running, {})).toThrow(SafetyRefusal)
    expect(() => findKubelet(running, {})).toThrow(/2 kubelets .*process 10 .*process 20/)
    expect(findKubelet(running, { rootDir: '/data/k3s' })?.pid).toBe(20)
    expect(findKubelet(running, { nodeName: 'A' })?.pid).toBe(10)
    expect(findKubelet(running, { rootDir: '/elsewhere' })).toBeUndefined()
  })

  it('S35: the one that volctl has stopped stays the one, masked or beside others, until one runs', () => {
    using root = fixture({ 'etc/systemd/system/k3s.service': '[Service]\nExecStart=/usr/local/bin/k3s server\n' })
    symlinkSync('/dev/null', join(root.path, 'etc/systemd/system/kubelet.service'))
    const [stopped] = running
    expect(findKubelet([], { stopped }, root.path)).toBe(stopped)
    expect(findKubelet(running, { stopped, nodeName: 'b' }, root.path)?.pid).toBe(20)
  })
})

describe('S8: a child of the kubelet before its own program begins', () => {
  const kubelet = { pid: 10, parent: 1, workingDirectory: '/', comm: 'kubelet', args: ['kubelet', '--kubeconfig=/k'] }
  const child = { ...kubelet, pid: 30, parent: 10 }
  /** It has the name still, and the program's arguments already. */
  const almostMount = { ...child, args: ['mount', '-t', 'tmpfs', 'tmpfs', '/x'] }
  const pids = async (...looks: (readonly (typeof kubelet)[])[]) => {
    const [first, ...others] = looks
    let left = others
    const next = () => {
      const [now, ...rest] = left
      left = rest
      return now ?? []
    }
    using seen = await kubeletsSeen(first, next)
    return { pids: seen.kubelets.map(({ pid }) => pid), notTaken: left.length }
  }

  it('is none, in the first look', async () => {
    expect(await pids([kubelet, child], [])).toEqual({ pids: [10], notTaken: 1 })
    // The order of /proc says nothing: pids begin anew.
    expect(await pids([{ ...child, pid: 5 }, kubelet])).toEqual({ pids: [10], notTaken: 0 })
  })

  it('is none in the next look where it has other arguments by now', async () => {
    expect(await pids([kubelet, almostMount], [kubelet], [])).toEqual({ pids: [10], notTaken: 1 })
    expect(await pids([kubelet, almostMount], [kubelet, { ...almostMount, pid: 31 }], [kubelet])).toMatchObject({
      pids: [10],
    })
  })

  it('a second kubelet is one in every look', async () => {
    const second = { ...kubelet, pid: 11, args: ['kubelet', '--root-dir=/r'] }
    const looks = Array.from({ length: 4 }, () => [kubelet, second])
    expect(await pids(...looks)).toEqual({ pids: [10, 11], notTaken: 1 })
    // Not started by the first.
    expect(await pids(...looks.map(() => [kubelet, { ...child, parent: 1 }]))).toMatchObject({ pids: [10, 30] })
  })
})

describe('runningKubelets', () => {
  const of = (comm: string, args: readonly string[], workingDirectory = '/') =>
    runningKubelets([{ pid: 7, comm, args, workingDirectory }])

  it.each([
    ['one without an API server', 'kubelet', ['kubelet'], { standalone: true }],
    [
      'k3s, its name set anew',
      'k3s-agent',
      ['/usr/local/bin/k3s agent'],
      { rootDir: '/var/lib/kubelet', standalone: false },
    ],
  ])('knows %s', (_name, comm, args, want) => {
    expect(of(comm, args)).toMatchObject([{ pid: 7, ...want }])
  })

  it.each([
    { name: 'a helper of k3s', comm: 'k3s', args: ['k3s', 'kubectl'] },
    { name: 'a program named alike', comm: 'kubelet-helper', args: ['/usr/bin/kubelet-helper'] },
  ])('leaves out $name', ({ comm, args }) => expect(of(comm, args)).toEqual([]))

  it('takes its paths as relative to its own working directory', () => {
    expect(of('kubelet', ['kubelet', '--root-dir=k', '--kubeconfig=../conf'], '/srv/node')).toMatchObject([
      { rootDir: '/srv/node/k', kubeconfig: '/srv/conf' },
    ])
  })
})

describe('kubeletConfig', () => {
  it('goes from file over drop-ins to flags', () => {
    using dir = fixture({
      'config.yaml':
        'kind: KubeletConfiguration\nstaticPodPath: manifests\nhealthzPort: 1\ncontainerRuntimeEndpoint: unix:///a\nstaticPodURLHeader: {x: [secret]}\n',
      'conf.d/20.conf': 'healthzPort: 3\n',
      'conf.d/sub/10.conf': '{"kind": "KubeletConfiguration", "containerRuntimeEndpoint": "unix:///b"}',
      'conf.d/10.conf': 'healthzPort: 2\nenableControllerAttachDetach: false\n',
      'conf.d/30.txt': 'healthzPort: 4\n',
    })
    const flags = parseKubeletFlags(['--config=config.yaml', '--config-dir=conf.d', '--pod-manifest-path=/m'])
    expect(kubeletConfig(flags, dir.path)).toEqual({
      staticPodPath: '/m',
      healthzPort: 3,
      containerRuntimeEndpoint: 'unix:///b',
      enableControllerAttachDetach: false,
    })
    expect(kubeletConfig(new Map(), dir.path)).toEqual({})
  })

  it('says whether the volumes of pods that have ended are kept, the flag before the file (R710)', () => {
    using dir = fixture({ 'config.yaml': 'keepTerminatedPodVolumes: true\n' })
    const of = (...args: string[]) => kubeletConfig(parseKubeletFlags(args), dir.path).keepTerminatedPodVolumes
    expect(of('--config=config.yaml')).toBe(true)
    expect(of('--config=config.yaml', '--keep-terminated-pod-volumes=false')).toBe(false)
    expect(of('--keep-terminated-pod-volumes')).toBe(true)
    expect(of('--keep-terminated-pod-volumes=1')).toBe(true)
    expect(of()).toBeUndefined()
  })

  it('takes relative paths of a file from its directory, those of flags from the working directory (N11)', () => {
    using dir = fixture({
      'etc/config.yaml': 'staticPodPath: manifests\nvolumePluginDir: ../exec\n',
      'etc/conf.d/10.conf': 'staticPodPath: more\n',
      'etc/empty.yaml': 'staticPodPath: ""\nvolumePluginDir: ""\n',
    })
    const of = (...args: string[]) => kubeletConfig(parseKubeletFlags(args), dir.path)
    expect(of('--config=etc/config.yaml')).toEqual({
      staticPodPath: join(dir.path, 'etc/manifests'),
      volumePluginDir: join(dir.path, 'exec'),
    })
    expect(of('--config-dir=etc/conf.d')).toEqual({ staticPodPath: join(dir.path, 'etc/conf.d/more') })
    expect(of('--config=etc/config.yaml', '--pod-manifest-path=m', '--volume-plugin-dir=e')).toEqual({
      staticPodPath: join(dir.path, 'm'),
      volumePluginDir: join(dir.path, 'e'),
    })
    expect(of('--config=etc/config.yaml', '--pod-manifest-path=')).toEqual({ volumePluginDir: join(dir.path, 'exec') })
    expect(of('--config=etc/empty.yaml')).toEqual({})
  })

  it.each([
    { name: 'is missing', text: undefined, says: 'ENOENT' },
    { name: 'is empty', text: '', says: 'empty' },
  ])('fails with one line where the file $name', ({ text, says }) => {
    using dir = fixture(text === undefined ? {} : { 'config.yaml': text })
    expect(() => kubeletConfig(parseKubeletFlags(['--config=config.yaml']), dir.path)).toThrow(says)
  })
})
