/** S9: whose pod a cgroup is of, where kubelets run in containers: recorded lines, and real cgroups where they can be made. */
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { containersAround, podsOfCgroup } from '../../src/core/linux/pod-cgroups.ts'
import { scanProcesses } from '../../src/core/node/kubelet/scan-processes.ts'
import { moveInto, noCgroups, placeOf } from '../helpers/cgroup.ts'
import { describeUnless } from '../privileged/describe-unless.ts'
import { holdByShell } from '../privileged/holder.ts'
import { fixture } from './helpers/fixture.ts'

const OUTER = '6c1a4e95-6bb6-11e6-bc26-28d2444e470d'
const INNER = '0b8c0a3e-3f0e-4a51-9a80-6a3f0e9c1d77'
const DEEPEST = '11111111-2222-4333-8444-555555555555'
const A = 'a'.repeat(64)
const B = 'b'.repeat(64)
const escaped = (uid: string): string => uid.replaceAll('-', '_')

/** A pod's cgroup as the systemd driver has it, below a slice. */
const slice = (uid: string, prefix = ''): string =>
  `${prefix}kubepods.slice/${prefix}kubepods-burstable.slice/${prefix}kubepods-burstable-pod${escaped(uid)}.slice`
const group = (uid: string): string => `kubepods/burstable/pod${uid}`

describe('S9: podsOfCgroup', () => {
  it.each<[name: string, text: string, own: readonly string[], nested: readonly string[]]>([
    [
      'kind in docker, cgroupfs outside',
      `0::/docker/${A}/kubelet.slice/${slice(INNER, 'kubelet-')}/cri-containerd-${B}.scope`,
      [],
      [INNER],
    ],
    ['systemd-nspawn', `0::/machine.slice/systemd-nspawn@n.service/payload/${slice(INNER)}`, [], [INNER]],
    // A node in a pod.
    [
      'kind in a pod, systemd outside, cgroupfs inside',
      `0::/${slice(OUTER)}/cri-containerd-${A}.scope/kubelet/${group(INNER)}/${B}`,
      [OUTER],
      [INNER],
    ],
    [
      'docker in docker: a container of a pod is its pod',
      `0::/${slice(OUTER)}/cri-containerd-${A}.scope/docker/${B}`,
      [OUTER],
      [],
    ],
    [
      'v1, not every hierarchy has the inner one',
      `3:cpu:/${group(OUTER)}/${A}/${group(INNER)}/${B}\n1:name=systemd:/${group(OUTER)}/${A}`,
      [OUTER],
      [INNER],
    ],
    // This node's own: wherever it isn't sure.
    [
      "kind's own slice at the top",
      `0::/kubelet.slice/${slice(INNER, 'kubelet-')}/cri-containerd-${A}.scope`,
      [INNER],
      [],
    ],
    ['--cgroup-root, systemd', `0::/my.slice/my-node.slice/${slice(INNER, 'my-node-')}/crio-${A}.scope`, [INNER], []],
    // Cgroup namespaces: the path begins where the namespace does.
    ['beside the namespace', `0::/../../${slice(INNER)}/cri-containerd-${A}.scope`, [INNER], []],
    [
      'beside, in a container there',
      `0::/../docker-${A}.scope/kubelet.slice/${slice(INNER, 'kubelet-')}/x.scope`,
      [],
      [INNER],
    ],
    ['without a kubelet', `0::/docker/${A}/pod${INNER}`, [], []],
  ])('%s', (_name, text, own, nested) => {
    expect(podsOfCgroup(text)).toEqual({ own, nested })
  })

  it.each([
    { name: 'docker', one: `0::/docker/${A}/init.scope` },
    { name: 'a pod', one: `0::/${group(OUTER)}/${A}/init.scope` },
    { name: 'docker in a pod', one: `0::/${slice(OUTER)}/cri-containerd-${A}.scope/docker/${B}` },
  ])('of a node that is itself in $name, seen from outside its cgroup namespace, its pods are its own', ({ one }) => {
    const bases = containersAround(one)
    const root = bases[0] ?? ''
    expect(podsOfCgroup(`0::${root}/kubelet/${group(INNER)}/${B}`, bases)).toEqual({ own: [INNER], nested: [] })
    const deeper = `0::${root}/kubelet/${group(INNER)}/${B}/docker/${A}/${group(DEEPEST)}/${B}`
    expect(podsOfCgroup(deeper, bases)).toEqual({ own: [INNER], nested: [DEEPEST] })
    // Control: what lies beside the node is not its own.
    expect(podsOfCgroup(`0::/docker/${'c'.repeat(64)}/${group(INNER)}/${B}`, bases)).toEqual({
      own: [],
      nested: [INNER],
    })
    expect(podsOfCgroup(`0::${root}/kubelet/${group(INNER)}/${B}`).own).not.toContain(INNER)
  })

  it.each(['0::/init.scope', '0::/', '0::/../../init.scope', '1:name=systemd:/', ''])(
    '%s is in no container',
    (text) => {
      expect(containersAround(text)).toEqual([])
    },
  )
})

describeUnless(noCgroups, 'S9: real cgroups', () => {
  it('a process of a pod of a kubelet in a container is of a pod of the node that is that container, and of no other node', async ({
    skip,
  }) => {
    skip(spawnSync('unshare', ['-C', 'true']).status !== 0, 'this machine allows no cgroup namespaces')
    const container = `/docker/${randomBytes(32).toString('hex')}`
    const { pid, end } = await holdByShell(':')
    using _ = moveInto(`${container}/kubelet/${group(INNER)}/${B}`, pid)
    const from = (cgroup: string): string => {
      const script = `echo $$ > "$0/cgroup.procs" && unshare -C cat /proc/${pid}/cgroup`
      const { status, stdout, stderr } = spawnSync('sh', ['-c', script, placeOf(cgroup)], { encoding: 'utf8' })
      if (status !== 0) throw new Error(stderr)
      return stdout
    }
    try {
      expect(podsOfCgroup(from(container))).toEqual({ own: [INNER], nested: [] })
      expect(podsOfCgroup(from('/docker'))).toEqual({ own: [], nested: [INNER] })
      expect(podsOfCgroup(readFileSync(`/proc/${pid}/cgroup`, 'utf8'))).toEqual({ own: [], nested: [INNER] })
    } finally {
      await end()
    }
  })
})

const ROOTS = 'Uid:\t0\t0\t0\t0\nNSpid:\t812\n'

const inKind = `0::/system.slice/docker-${A}.scope/kubelet.slice/${slice(INNER, 'kubelet-')}/cri-containerd-${B}.scope\n`
const files = {
  '1/cgroup': '0::/init.scope\n',
  '1/comm': 'systemd\n',
  '900/cgroup': `0::/${slice(OUTER)}/cri-containerd-${B}.scope\n`,
  '901/cgroup': inKind,
  '902/cgroup': `0::/${slice(OUTER)}/cri-containerd-${A}.scope/kubelet/${group(DEEPEST)}/${B}\n`,
}
const docker = `0::/system.slice/docker-${A}.scope\n`
const kubelet = (comm: string, status = ROOTS) => ({
  '812/cgroup': docker,
  '812/comm': `${comm}\n`,
  '812/cmdline': `/usr/bin/${comm}\0`,
  '812/status': status,
})
it.each<{ name: string; more: Record<string, string>; podUids: string[]; nestedUids: string[] }>([
  {
    name: 'are no pods of it, and keep alive the one that they run in',
    more: { '900/cgroup': '' },
    podUids: [OUTER],
    nestedUids: [INNER, DEEPEST],
  },
  {
    name: 'one that has a process of this node too is its own',
    more: { '903/cgroup': `0::/${group(INNER)}/${A}\n` },
    podUids: [INNER, OUTER],
    nestedUids: [DEEPEST],
  },
  {
    name: 'are its own pods where the kubelet is',
    more: kubelet('k3s-server'),
    podUids: [INNER, OUTER],
    nestedUids: [DEEPEST],
  },
  {
    name: "a kubelet that is not root's does not make them its own",
    more: kubelet('kubelet', 'Uid:\t0\t65534\t0\t0\nNSpid:\t812\n'),
    podUids: [OUTER],
    nestedUids: [INNER, DEEPEST],
  },
])('S9: the processes of a node with a nested kubelet: $name', ({ more, podUids, nestedUids }) => {
  using proc = fixture({ ...files, ...more })
  using scan = scanProcesses(proc.path)
  expect(scan.pods).toEqual({ podUids: podUids.sort(), nestedUids: nestedUids.sort() })
})
