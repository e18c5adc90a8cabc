import { describe, expect, it } from 'vitest'
import type { Explanation } from '../../../src/core/explain/explanation.ts'
import { renderExplanation } from '../../../src/core/views/explain-view.ts'
import { PLAIN_SCREEN, palette, type Screen } from '../../../src/core/views/screen.ts'
import { explain } from '../../helpers/explaining.ts'
import { type NodeBuilder, node, ROOT, uid } from '../../helpers/node-builder.ts'
import { planOptions } from '../../helpers/plan-options.ts'

const TERMINAL: Screen = { ...PLAIN_SCREEN, width: 80, rows: 24 }
const WIDE: Screen = { ...PLAIN_SCREEN, wide: true }
const GONE = uid(9)
const answerOf = (built: NodeBuilder, what: string): Explanation =>
  explain(built.build(), planOptions(), what).explanation
const orphan = (): NodeBuilder => {
  const built = node().persistentVolume('pv-1').published(GONE, 'pv-1', '7:1')
  built.drivers = []
  return built
}

it('a volume of a pod that is gone, on 80 columns', () =>
  expect(renderExplanation(answerOf(orphan(), 'pv-1'), TERMINAL)).toMatchInlineSnapshot(`
    "PersistentVolume pv-1 on node node-1 is stuck: CSI driver disk.test is not
    registered on this node
      + good    claim default/claim-pv-1 -> PV pv-1
      x bad     attachment csi-9e2fb3c5 (attached; no pod there wants it) -> pod
                mount of pod 00000000
          1 deleted pod keeps volumes: 00000000 (2 operations)
        -> Nothing of the driver is on this node; where it is to run:
           kubectl get daemonset -A; gone for good:
           volctl plan --driver-gone disk.test

    Volume pv-1:
      Plugin       kubernetes.io/csi, driver disk.test
      Handle       pv-1 (from vol_data.json)
      Unique name  kubernetes.io/csi/disk.test^pv-1
      Claim        default/claim-pv-1
      PV           pv-1, ReadWriteOnce
      Desired      not wanted: left over from pod
                   00000000-0000-4000-8000-000000000009, which was deleted from the
                   API
      Attached     csi-9e2fb3c5b211bba9090aab2b91792a2c085013adda155002ad137d87b6e4f64a
                   (attached), in volumesAttached, in volumesInUse

    Code: DriverUnavailable (volctl explain DriverUnavailable)

    2 operations: 2 wait for disk.test
    Next: volctl explain driver/disk.test  # says what is wrong, and what to do
    "
  `))

it('a pod that lives, on 80 columns', () => {
  const volumes = [
    { name: 'cache', emptyDir: {} },
    { name: 'host', hostPath: { path: '/srv' } },
  ]
  const built = node().livingPod(uid(2), 'web', volumes)
  built.dir(`pods/${uid(2)}/volumes/kubernetes.io~empty-dir/cache`)
  built.file(`pods/${uid(2)}/plugins/kubernetes.io~empty-dir/cache/ready`)
  expect(renderExplanation(answerOf(built, 'default/web'), TERMINAL)).toMatchInlineSnapshot(`
    "Pod default/web on node node-1: nothing to do: the pod is in the API and meant
    to run, and its 2 volumes are as they should be
      Volume cache:
      + good    pod mount

    Volumes: 2 as they should be (1 empty-dir, 1 host-path)
    "
  `)
})

describe('holders', () => {
  const held: Explanation['holders'] = {
    known: true,
    processes: [
      {
        pid: 4711,
        command: 'nginx',
        holds: [
          { what: 'cwd', path: '/data' },
          ...[1, 2, 3, 4, 5, 6].map((n) => ({ what: 'file', path: `/data/${n}` })),
        ],
        container: 'web',
        pod: { namespace: 'default', name: 'web-0', uid: uid(2) },
      },
      { pid: 7, command: 'bash', holds: [{ what: 'cwd', path: `${ROOT}/pods` }] },
    ],
    namespaces: [{ pid: 4711, command: 'nginx', mountPoints: ['/data'] }],
    loops: [{ device: '/dev/loop3', backingFile: '/data/image' }],
    kernel: ['device dm-3, which is built on 8:1'],
    notes: ['volctl does not run as root: the open files and mounts of 12 processes cannot be read'],
  }
  const shown = (holders: Explanation['holders']): string =>
    renderExplanation({ ...answerOf(orphan(), 'pv-1'), holders }, WIDE)
      .split('Held by:\n')[1]
      ?.split('\n\n')[0] ?? ''

  it('each with what it holds, its container and pod', () =>
    expect(shown(held)).toMatchInlineSnapshot(`
    "  nginx (pid 4711), container web of pod default/web-0
        cwd         /data
        file        /data/1
                    /data/2
                    /data/3
                    /data/4
                    and 2 more
      bash (pid 7)
        cwd         /var/lib/kubelet/pods
      mount namespace of nginx (pid 4711)
        mounted on  /data
      /dev/loop3, backed by /data/image
      device dm-3, which is built on 8:1
      volctl does not run as root: the open files and mounts of 12 processes cannot be read"
  `))

  it('nobody, as far as can be seen', () => {
    const nobody = { ...held, processes: [], namespaces: [], loops: [], kernel: [] }
    expect(shown({ ...nobody, notes: [] })).toBe('  nobody')
    expect(shown(nobody)).toMatch(/^ {2}nobody, as far as visible\n {2}volctl does not run as root: /)
  })
})

it('wide: every path, decision and meaning', () => {
  const text = renderExplanation(answerOf(orphan(), 'pv-1'), WIDE)
  expect(text).toContain(`NodeUnpublishVolume ${ROOT}/pods/${GONE}/volumes/kubernetes.io~csi/pv-1/mount\n`)
  expect(text).toContain('\nDecisions:\n')
  expect(text).toContain('blocked: DriverUnavailable: ')
})

it('in a pipe no line is broken, and the colours change no letter', async () => {
  const answer = answerOf(orphan(), 'pv-1')
  const plain = renderExplanation(answer, PLAIN_SCREEN)
  expect(plain).toContain(` is stuck: ${answer.verdict.message}\n`)
  const painted = renderExplanation(answer, { ...PLAIN_SCREEN, paint: await palette(true) })
  expect(painted).not.toBe(plain)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the colours' own.
  expect(painted.replaceAll(/\u001b\[\d+m/g, '')).toBe(plain)
})
