import { describe, expect, it } from 'vitest'
import { type CodeExplanation, explainCode } from '../../../src/core/explain/explain-code.ts'
import type { Explanation } from '../../../src/core/explain/explanation.ts'
import { renderCode, renderExplanation } from '../../../src/core/views/explain-view.ts'
import { PLAIN_SCREEN, type Screen } from '../../../src/core/views/screen.ts'
import { told as answerOf } from '../../helpers/explaining.ts'
import { type NodeBuilder, node, ROOT, uid } from '../../helpers/node-builder.ts'

const WIDE: Screen = { ...PLAIN_SCREEN, wide: true }
const GONE = uid(9)
const orphan = (): NodeBuilder => {
  const built = node().persistentVolume('pv-1').published(GONE, 'pv-1', '7:1')
  built.drivers = []
  return built
}

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
      "  nginx (pid 4711), container web of pod default/web-0; cwd /data; file /data/1, /data/2, /data/3, /data/4, and 2 more
        bash (pid 7); cwd /var/lib/kubelet/pods
        mount namespace of nginx (pid 4711); mounted on /data
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

it('wide: every step, and its meaning', () => {
  const text = renderExplanation(answerOf(orphan(), 'pv-1'), WIDE)
  expect(text).toContain(`NodeUnpublishVolume ${ROOT}/pods/${GONE}/volumes/kubernetes.io~csi/pv-1/mount\n`)
  expect(text).toContain('blocked: DriverUnavailable: ')
})

it('a code in several places', () =>
  expect(
    renderCode(explainCode('DriverUnavailable') as CodeExplanation, { ...PLAIN_SCREEN, width: 80 }),
  ).toMatchInlineSnapshot(`
    "DriverUnavailable

    Meaning:     A driver is not registered or not installed here, or its socket
                 does not answer.
    Appears in:  blocked: an operation is blocked by it, in a plan or when an apply
                 looks again
                 waiting: someone else has to act first
                 problem: a plan reports it
    What to do:  Bring the driver's node plugin back (its DaemonSet; a flexVolume's
                 program), and look at its log. If it is gone for good:
                 volctl plan --driver-gone NAME
    Rules:       S16, P87
    "
  `))
