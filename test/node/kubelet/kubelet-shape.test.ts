import { describe, expect, it } from 'vitest'
import { runningKubelets } from '../../../src/core/node/kubelet/find-kubelet.ts'
import { isKubeletByFlags, MAY_BE_KUBELET } from '../../../src/core/node/kubelet/kubelet-flags.ts'
import { fixture } from '../helpers/fixture.ts'

const FILES = {
  'etc/node.yaml': 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n',
  'etc/kubelet-like.yaml': 'kind: KubeProxyConfiguration\n',
}

it.each<{ command: string; is: boolean }>([
  { command: 'agent --kubeconfig=/k --root-dir=/r', is: true },
  { command: 'agent --kubeconfig=/k --container-runtime-endpoint=unix:///run/c.sock', is: true },
  { command: 'agent --bootstrap-kubeconfig=/b --kubeconfig=/k', is: true },
  { command: 'agent --kubeconfig=/k --config=/etc/node.yaml', is: true },
  { command: 'agent --kubeconfig=/k --config=/not/there/kubelet.yaml', is: true },
  { command: 'agent --kubeconfig=/k --node_labels=a=b', is: true },
  { command: 'agent kubelet --kubeconfig=/k', is: true },
  { command: 'agent --container-runtime-endpoint=unix:///c --pod-manifest-path=/m', is: true },
  { command: 'agent --kubeconfig=/k', is: false },
  { command: 'agent --kubeconfig=/k --config=/etc/kubelet-like.yaml', is: false },
  { command: 'agent --container-runtime-endpoint=unix:///c', is: false },
  { command: 'kube-proxy --kubeconfig=/k --hostname-override=n', is: false },
  { command: '/usr/bin/sudo /usr/bin/volctl plan --kubeconfig /k --root-dir /r', is: false },
  { command: 'unshare -p -f agent --kubeconfig=/k --root-dir=/r', is: false },
  { command: 'supervisor /usr/bin/kubelet --kubeconfig=/k --root-dir=/r', is: false },
])('S11: isKubeletByFlags: $command: $is', ({ command, is }) => {
  using root = fixture(FILES)
  const args = command.split(' ')
  expect(isKubeletByFlags(args, '/etc', root.path)).toBe(is)
  // Nothing is lost by looking at few.
  if (is) expect(`${args.join('\0')}\0`).toMatch(MAY_BE_KUBELET)
})

describe('S8: kubelets by their flags', () => {
  const process = (pid: number, command: string, parent = 1) => {
    const args = command.split(' ')
    return { pid, parent, comm: args[0] ?? '', args, workingDirectory: '/', byFlags: args[0] !== 'kubelet' }
  }
  const FLAGS = '--kubeconfig=/k --root-dir=/r --hostname-override=n'
  const pids = (...processes: Parameters<typeof runningKubelets>[0]) => runningKubelets(processes).map(({ pid }) => pid)

  it('are none beside the one that they start', () => {
    expect(pids(process(2, `supervise kubelet ${FLAGS}`), process(3, `kubelet ${FLAGS}`, 2))).toEqual([3])
    expect(pids(process(2, `supervise agent ${FLAGS}`), process(3, `agent ${FLAGS}`, 2))).toEqual([3])
    expect(pids(process(2, `supervise agent ${FLAGS}`), process(3, `kubelet ${FLAGS}`, 1))).toEqual([3])
    expect(pids(process(2, `agent ${FLAGS}`))).toEqual([2])
  })

  it('are others with another root directory or name', () => {
    expect(pids(process(2, `agent ${FLAGS}`), process(3, `kubelet ${FLAGS.replace('/r', '/s')}`))).toEqual([2, 3])
    expect(pids(process(2, `agent ${FLAGS}`), process(3, `agent ${FLAGS.replace('=n', '=m')}`))).toEqual([2, 3])
  })
})
