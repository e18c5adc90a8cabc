import { describe, expect, it } from 'vitest'
import { podUidsOfCgroup } from '../../src/core/linux/pod-cgroups.ts'
import { scanProcesses } from '../../src/core/node/kubelet/scan-processes.ts'
import { fixture } from '../node/helpers/fixture.ts'

const UID = '6c1a4e95-6bb6-11e6-bc26-28d2444e470d'
const UNDERSCORES = UID.replaceAll('-', '_')
const STATIC = '424bed75717cd804f583d8658065a8f4'
const ID = 'a'.repeat(64)

it.each([
  { name: 'v2, cgroupfs, burstable', text: `0::/kubepods/burstable/pod${UID}/${ID}` },
  { name: 'v2, cgroupfs, besteffort, static', text: `0::/kubepods/besteffort/pod${STATIC}/${ID}`, want: [STATIC] },
  {
    name: 'v2, systemd, burstable',
    text: `0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod${UNDERSCORES}.slice/cri-containerd-${ID}.scope`,
  },
  {
    name: 'v2, systemd, guaranteed, the pod level itself',
    text: `0::/kubepods.slice/kubepods-pod${UNDERSCORES}.slice`,
  },
  {
    name: 'v1, several hierarchies',
    text: `12:memory:/kubepods/burstable/pod${UID}/${ID}\n1:name=systemd:/kubepods/burstable/pod${UID}/${ID}\n`,
  },
  { name: 'v1, a comma in the controllers', text: `4:cpu,cpuacct:/kubepods/besteffort/pod${UID}/${ID}` },
  { name: 'hybrid', text: `11:pids:/kubepods/pod${UID}/${ID}\n0::/system.slice/kubelet.service` },
  {
    name: 'cgroupRoot, as kind has it',
    text: `0::/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice/kubelet-kubepods-burstable-pod${UNDERSCORES}.slice/cri-containerd-${ID}.scope`,
  },
  {
    name: 'a cgroup that a container made, with a line end in its name that is not one of the file',
    text: `0::/kubepods/burstable/pod${UID}/${ID}/a\rb`,
  },
  { name: "another cgroup namespace's prefix", text: `0::/../../kubelet/kubepods/pod${UID}/${ID}` },
  {
    name: 'a pod in a pod: both live',
    text: `0::/kubepods/burstable/pod${UID}/${ID}/kubelet/kubepods/besteffort/pod${STATIC}/${ID}`,
    want: [UID, STATIC],
  },
  {
    name: "a static manifest's own uid, cgroupfs",
    text: `0::/kubepods/burstable/podmy-own-uid/${ID}`,
    want: ['my-own-uid'],
  },
  {
    name: "a static manifest's own uid, systemd: both readings",
    text: '0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podmy_uid.slice/x.scope',
    want: ['my-uid', 'my_uid'],
  },
  {
    name: "a runtime's own rendering",
    text: `0::/kubepods-burstable-pod${UNDERSCORES}.slice:cri-containerd:${ID}`,
  },
  { name: 'the QoS level', text: '0::/kubepods/burstable', want: [] },
  { name: 'podman, outside of kubepods', text: `0::/machine.slice/libpod-${ID}.scope/pod${UID}`, want: [] },
  { name: 'nothing', text: '', want: [] },
])('S9: podUidsOfCgroup: $name', ({ text, want = [UID] }) => expect(podUidsOfCgroup(text)).toEqual(want))

const ROOTS = 'Uid:\t0\t0\t0\t0\nNSpid:\t812\n'

describe('scanProcesses', () => {
  it("unites the pods of all processes, and picks root's own kubelets and runtimes (S32)", () => {
    using proc = fixture({
      '1/cgroup': '0::/init.scope\n',
      '1/comm': 'systemd\n',
      '812/cgroup': '0::/system.slice/kubelet.service\n',
      '812/comm': 'kubelet\n',
      '812/cmdline': '/usr/bin/kubelet\0--root-dir=/srv/k\0',
      '812/status': ROOTS,
      '813/comm': 'kubelet\n',
      '813/cmdline': '/tmp/kubelet\0',
      '813/status': 'Uid:\t0\t65534\t0\t0\nNSpid:\t813\n',
      '813/cgroup': '0::/\n',
      // A pod of uid 0 with hostPID.
      '814/comm': 'kubelet\n',
      '814/cmdline': 'kubelet\0',
      '814/status': ROOTS,
      '814/cgroup': `0::/kubepods/pod${UID}/${ID}\n`,
      '820/comm': 'containerd\n',
      '820/cgroup': '0::/system.slice/containerd.service\n',
      '820/cmdline': '/usr/bin/containerd\0',
      '820/status': ROOTS,
      '821/comm': 'containerd\n',
      '821/cmdline': 'containerd\0',
      '821/status': 'Uid:\t0\t0\t0\t0\nNSpid:\t821\t7\n',
      '821/cgroup': '0::/\n',
      // One that does not say whose it is.
      ...{ '822/comm': 'crio\n', '822/cmdline': 'crio\0', '822/status': 'NSpid:\t822\n', '822/cgroup': '0::/\n' },
      '900/cgroup': `0::/kubepods/pod${UID}/${ID}\n`,
      '900/comm': 'pause\n',
      '901/cgroup': `0::/kubepods/pod${UID}/${ID}\n`,
      '902/cgroup': `0::/kubepods/pod${STATIC}/${ID}\n`,
      '903/comm': 'kubelet\n',
      '903/cmdline': '',
      'self/comm': 'kubelet\n',
    })
    using scan = scanProcesses(proc.path)
    expect(scan.pods?.podUids).toEqual([STATIC, UID])
    const { kubelets, runtimes } = scan
    expect(kubelets).toMatchObject([{ pid: 812, comm: 'kubelet', args: ['/usr/bin/kubelet', '--root-dir=/srv/k'] }])
    expect(runtimes).toMatchObject([{ pid: 820, comm: 'containerd', args: ['/usr/bin/containerd'] }])
    expect([kubelets.length, runtimes.length]).toEqual([1, 1])
  })

  it('says when nothing could be seen', () => {
    expect(scanProcesses('/nowhere').pods).toBeUndefined()
  })
})
