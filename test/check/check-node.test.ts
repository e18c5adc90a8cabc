/** When a node is not ok for a monitor, and when it is only busy. */
import { describe, expect, it } from 'vitest'
import schema from '../../schema/check.schema.json' with { type: 'json' }
import {
  checkOf,
  examine,
  failedCheck,
  gaugesOf,
  inBoth,
  type Trouble,
} from '../../src/core/explain/check/check-node.ts'
import type { Plan } from '../../src/core/plan/plan.ts'
import { decideNode } from '../../src/core/reconcile/plan-node.ts'
import type { NodeState } from '../../src/core/volumes/snapshot.ts'
import { recorded } from '../helpers/captures.ts'
import { schemaCheck } from '../helpers/closed-schema.ts'
import { claimOf, HOUR_AGO, NOW, type NodeBuilder, node, uid } from '../helpers/node-builder.ts'
import { planOptions } from '../helpers/plan-options.ts'
import { RUNNING } from '../reconcile/planned.ts'

const defects = schemaCheck(schema)
const POD = uid(7)
const GONE = uid(9)
const justNow = Date.parse(NOW) / 1000 - 5

const lookAt = (state: NodeState): ReturnType<typeof examine> =>
  examine(decideNode(state, planOptions({ orphans: true })))

function checkOn(built: NodeBuilder) {
  const check = checkOf(lookAt(built.build()))
  expect(defects(check)).toEqual([])
  return check
}

/** A node whose kubelet runs. */
const busy = (): NodeBuilder => node().with(RUNNING)

/** A pod there waits for its volume. @param seconds how long ago it was created; absent: nobody knows */
function waiting(seconds?: number, attached = false): NodeBuilder {
  const at = seconds === undefined ? undefined : ago(seconds)
  const times = { phase: 'Pending', metadata: { creationTimestamp: at }, status: { startTime: at } }
  return busy()
    .persistentVolume('pv-1', { attached })
    .pod(POD, 'web', [claimOf()], times as never)
}

const ago = (seconds: number): string => new Date(Date.parse(NOW) - seconds * 1000).toISOString()

const orphan = (built: NodeBuilder, mtime = HOUR_AGO): NodeBuilder => {
  built.dir(`pods/${GONE}`, mtime)
  return built.file(`pods/${GONE}/etc-hosts`, 'x', mtime)
}

it.each<{ name: string; built: () => NodeBuilder; line: string }>([
  { name: 'nothing wrong', built: busy, line: 'ok: 0 volumes' },
  {
    name: 'a directory that the kubelet is about to remove',
    built: () => orphan(busy(), justNow),
    line: 'ok: 0 volumes',
  },
  {
    name: 'a directory that the kubelet leaves',
    built: () => orphan(busy()),
    line: `not ok: 1 orphaned pod: ${GONE}`,
  },
  {
    name: 'a pod that was created an hour ago, and waits for its volume',
    built: () => waiting(3600),
    line: 'not ok: 1 volume or pod waits too long: default/web (NotAttached)',
  },
  {
    name: 'a pod that was created a minute ago, and waits for its volume',
    built: () => waiting(60),
    line: 'ok: 1 volume',
  },
  {
    name: 'a pod of which nobody knows since when it waits (S28)',
    built: () => waiting().with({ bootTime: undefined }),
    line: 'ok: 1 volume',
  },
  {
    name: 'a staged volume that the kubelet has forgotten',
    built: () => busy().persistentVolume('pv-1').staged('pv-1', '7:1'),
    line: 'not ok: 1 leaked device: pv-1',
  },
  {
    name: 'the device of a pod that is being torn down',
    built: () => busy().left(GONE).dir(`pods/${GONE}`, justNow),
    line: 'ok: 2 volumes',
  },
  {
    name: 'a mount that does not answer',
    built: () => busy().dead('x'),
    line: 'not ok: 1 dead mount: /var/lib/kubelet/x',
  },
  {
    name: 'the mount of a pod that lives, which does not answer: it is no error besides',
    built: () => busy().served(POD, 'web').dead(`pods/${POD}/volumes/kubernetes.io~csi/pv-1/mount`),
    line: `not ok: 1 dead mount: /var/lib/kubelet/pods/${POD.slice(0, 33)}...`,
  },
  {
    name: 'a driver that left with volumes of a pod that is gone: one obstacle, however much it blocks',
    built: () => {
      const built = orphan(busy().persistentVolume('pv-1').persistentVolume('pv-2'))
        .published(GONE, 'pv-1', '7:1')
        .published(GONE, 'pv-2', '7:2')
      built.drivers = []
      return built
    },
    line: `not ok: 1 orphaned pod, 1 obstacle: ${GONE}, ...`,
  },
  {
    name: 'a file system that has yet to grow',
    built: () => {
      const built = busy().served(POD, 'web')
      built.claims[0] = { ...built.claims[0], status: { phase: 'Bound', capacity: { storage: '1Mi' } } } as never
      return built
    },
    line: 'ok: 2 volumes',
  },
  {
    name: 'no list of pods',
    built: () => orphan(busy()).persistentVolume('pv-1').staged('pv-1', '7:1').unlisted('pods'),
    line: 'unknown: PodListIncomplete: the pod list is incomplete, so no pod counts as d...',
  },
  {
    name: 'no list of PersistentVolumes: no volume of its pods counts as leaked',
    built: () => waiting(60, true).staged('pv-1', '7:1').unlisted('persistentVolumes'),
    line: 'unknown: MayBeInUse: volume data of pod default/web: PersistentVolumeClaim de...',
  },
  {
    name: "the kubelet's directories not read",
    built: () => busy().served(POD, 'web').with({ tree: undefined }),
    line: 'unknown: ReadFailed: section tree is missing; what it would show is unknown',
  },
])('a node whose kubelet runs: $name', ({ built, line }) => {
  const check = checkOn(built())
  expect(check.line).toBe(line)
  expect(check.status).toBe(line.startsWith('ok') ? 'ok' : line.startsWith('not') ? 'notOk' : 'unknown')
})

it.each([
  { minutes: 11, line: 'not ok: 1 volume or pod waits too long: default/web (terminating)' },
  { minutes: 9, line: 'ok: 0 volumes' },
])('a pod that still runs $minutes minutes after its grace period', ({ minutes, line }) => {
  const ending = { metadata: { deletionTimestamp: ago(minutes * 60) } }
  expect(checkOn(busy().livingPod(POD, 'web', [], ending)).line).toBe(line)
})

describe('real nodes at rest', () => {
  it.each([
    ...['empty-dirs', 'forcedel-killed', 'forcedel-running', 'reboot', 'recreate'].map((each) => `${each}/after.json`),
    'healthy/node.json',
    'shared-root/node.json',
  ])('%s: ok', async (path) => expect(checkOf(lookAt(await recorded(path))).line).toMatch(/^ok: \d+ volumes$/))

  it.each(['stuck', 'subpath-leak'])('%s: what the kubelet leaves is not ok', async (folder) =>
    expect(checkOf(lookAt(await recorded(`${folder}/after.json`))).line).toMatch(
      /^not ok: \d errors, .*2 leaked devices: \S+ \(Mounted/,
    ),
  )
})

it('only what both looks show counts', () => {
  const [first, second] = [lookAt(orphan(busy()).build()), lookAt(busy().build())]
  expect(first.troubles).toHaveLength(1)
  expect(checkOf(inBoth(first, second)).status).toBe('ok')
  expect(checkOf(inBoth(second, first)).status).toBe('ok')
  expect(checkOf(inBoth(first, first)).status).toBe('notOk')
})

describe('the line', () => {
  const trouble = (what: string, kind: Trouble['kind'] = 'orphanedPod'): Trouble => ({ kind, key: what, what })
  const name = 'x'.repeat(200)
  const seen = lookAt(busy().build())
  const lineOf = (troubles: Trouble[], plan: Partial<Plan> = {}): string =>
    checkOf({ ...seen, troubles, decided: { ...seen.decided, plan: { ...seen.decided.plan, ...plan } } }).line
  const doubt = { severity: 'error', code: 'ReadFailed', message: `é\n${name}` } as const

  it.each<{ troubles: Trouble[]; plan?: Partial<Plan> }>([
    { troubles: [] },
    { troubles: [trouble(name)] },
    { troubles: [trouble('a\u001b[31m\nb\u202e'), trouble('ä', 'deadMount')] },
    {
      troubles: (['error', 'deadMount', 'orphanedPod', 'leakedDevice', 'blocked'] as const).map((kind) =>
        trouble(name, kind),
      ),
    },
    { troubles: [], plan: { problems: [doubt as never] } },
  ])('fits, in ASCII: %#', ({ troubles, plan }) => {
    const line = lineOf(troubles, plan)
    expect(line).toMatch(/^(ok|not ok|unknown): [ -~]+$/)
    expect(line.length).toBeLessThanOrEqual(80)
  })

  it('is cut at 80 characters, and no earlier', () => {
    const lengths = Array.from({ length: 99 }, (_, n) => lineOf([trouble('x'.repeat(n))]).length)
    expect(Math.max(...lengths)).toBe(80)
  })

  it('of a plan that is not complete, whatever its problems', () =>
    expect(lineOf([], { complete: false })).toBe('unknown: something that may matter could not be read'))

  it('of a failure', () => {
    const check = failedCheck('ApiUnreachable: x', '1')
    expect(check).toMatchObject({ status: 'unknown', line: 'unknown: ApiUnreachable: x', troubles: [] })
    expect(gaugesOf(check, undefined).match(/^volctl_\w+/gm)).toEqual([
      'volctl_build_info',
      'volctl_check_status',
      'volctl_check_timestamp_seconds',
    ])
  })
})

it('of a node that the plan refuses nobody knows what is wrong, whatever it looks like', () => {
  const built = orphan(busy()).with({ machineID: 'of-another-machine' })
  expect(checkOn(built)).toMatchObject({ status: 'unknown', line: expect.stringMatching(/^unknown: refused \(/) })
})
