/** The screen of `volctl doctor` of a node where several things are wrong. */
import { describe, expect, it } from 'vitest'
import { renderDoctor } from '../../../src/core/views/doctor-view.ts'
import { palette } from '../../../src/core/views/palette.ts'
import { PLAIN_SCREEN } from '../../../src/core/views/screen.ts'
import { UNICODE_SYMBOLS } from '../../../src/core/views/symbols.ts'
import { doctorOf, healthy } from '../../doctor/facts-builder.ts'

const NARROW = { ...PLAIN_SCREEN, symbols: UNICODE_SYMBOLS, width: 80, rows: 24 }
const away = {
  server: {
    is: 'silence' as const,
    code: 'ApiUnreachable',
    message: 'The API server https://api.test:6443 cannot be reached: ECONNREFUSED.',
    hint: 'Check that the API server is up.',
  },
}
const broken = doctorOf({
  state: healthy(() => ({ api: undefined }) as never),
  api: { rights: [] },
  failures: away,
  host: {
    mounts: 95_000,
    programs: { lsns: { message: 'lsns is not installed on this host', hint: 'Install util-linux.' } },
  },
})

describe('a node without an API server', () => {
  const text = renderDoctor(broken, NARROW, 'volctl plan')

  it('what is wrong, each with its next step; what is not known for one reason once', () =>
    expect(text).toMatchInlineSnapshot(`
      "Checks of node node-1 (/var/lib/kubelet), as of 2026-11-21T12:00:00Z

      API server
        ✗ failed   reachable: The API server https://api.test:6443 cannot be reached:
                   ECONNREFUSED.
                   → Check that the API server is up.
        ? unknown  verified: the API server did not answer
        ? unknown  list of pods, kubelet's own list: no list of pods was read
        ✓ ok       credential: kubernetes-admin, from /etc/kubernetes/admin.conf

      volctl on this host
        ✗ failed   programs lsns: lsns is not installed on this host; needed to find
                   mount namespaces in which a volume is still mounted
                   → Install util-linux.
        ✓ ok       privileges: root, with every capability that apply needs
        ✓ ok       namespaces: the node's mount, PID and user namespace, and its root
                   directory
        ✓ ok       programs: mount, umount, losetup, nsenter, stat, systemctl
        ✓ ok       trusted files: nothing is ignored

      Rights of the credential
        ? unknown  plan, DetachVolume, MountVolume, RemountVolume, ExpandVolume: the
                   API server did not say what this credential may do

      This node
        ? unknown  Node object, machine identity: the API server did not give the Node
                   object
        ✓ ok       node and root directory: node-1, /var/lib/kubelet
        ✓ ok       mount table: 1 mount, 0 of them below the root directory
        ✓ ok       root directory: 1 pod directory can be read

      Kubelet
        ? unknown  version, who attaches: the API server did not give the Node object
        ? unknown  CSI migration: the API server did not give the volumes of pods
        ✓ ok       state: kubelet.service, running; volctl then only cleans up
                   leftovers of orphaned pods that the kubelet ignores

      Host
        ? unknown  clock: the API server's clock is not known
        ! warning  mounts: 95000 mounts of 100000 (fs.mount-max)
                   → Look for a directory that is mounted into itself (volctl plan:
                     MountStorm), or raise fs.mount-max.
        ✓ ok       kernel limits: far from used up: fs.file-max,
                   user.max_mnt_namespaces
        ✓ ok       kernel: 6.12.0
        ✓ ok       free space /var/lib/kubelet: 47 GiB of 93 GiB (the root directory)

      Pods and container runtime
        ✓ ok       static pods: 0 manifests in /etc/kubernetes/manifests
        ✓ ok       container runtime: unix:///run/containerd/containerd.sock answers:
                   1 sandbox
        ✓ ok       processes of pods: 1 pod in /proc

      Volume drivers
        ✓ ok       CSI driver disk.test: plugins/disk.test/csi.sock answers,
                   registered; the CSINode was not read; no volume here needs it

      Not applicable here: CSIDriver objects, flexVolume

      Verdict: volctl plan cannot work here
      34 checks: 2 failed, 13 unknown, 1 warning, 16 ok, 2 not applicable
      Do first: reachable: Check that the API server is up.
      Then: volctl doctor
      "
    `))

  it('the verdict and what to do first are on the last screen, and no line is too long', () => {
    const lines = text.trimEnd().split('\n')
    const last = lines.slice(-23).join('\n')
    expect(last).toContain('Verdict: volctl plan cannot work here')
    expect(last).toContain('Do first: reachable: Check that the API server is up.')
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80)
  })

  it('colours add nothing but colour', async () => {
    const coloured = renderDoctor(broken, { ...NARROW, paint: await palette(true) }, 'volctl plan')
    expect(coloured).not.toBe(text)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control characters
    expect(coloured.replaceAll(/\u001b\[\d+m/g, '')).toBe(text)
  })

  it('without root, that comes first', () => {
    const doctor = doctorOf({ failures: away, api: { rights: [] }, host: { uid: 1000 } })
    expect(renderDoctor(doctor, NARROW, 'volctl plan')).toContain(
      '\nDo first: privileges: As root: sudo volctl doctor\n',
    )
  })

  it('a pipe gets each check in one line', () => {
    const lines = renderDoctor(broken, PLAIN_SCREEN, 'volctl plan').split('\n')
    expect(
      lines.filter((line) => / {2}x failed {3}reachable: The API server .+ECONNREFUSED\.$/.test(line)),
    ).toHaveLength(1)
  })

  it('-o wide has every check', () => {
    const wide = renderDoctor(broken, { ...NARROW, wide: true }, 'volctl plan')
    expect(text).toContain('Not applicable here:')
    expect(wide).not.toContain('Not applicable here:')
    expect(wide).toContain('- not applicable')
  })
})
