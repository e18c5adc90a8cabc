/** `volctl explain driver/NAME`: sockets, registration, CSINode and CSIDriver objects, node plugin's pod, and what depends on it. */
import { describe, expect, it } from 'vitest'
import type { Explanation } from '../../src/core/explain/explanation.ts'
import type { CsiSocket } from '../../src/core/rpc/endpoints.ts'
import { stepsOf, told } from '../helpers/explaining.ts'
import { claimOf, DRIVER, type NodeBuilder, node, ROOT, uid } from '../helpers/node-builder.ts'
import { csiDriverObject } from '../helpers/objects.ts'

const LIVING = uid(2)
const PLUGIN = uid(3)

const [REGISTERED = expect.unreachable()] = node().build().snapshot.csiSockets ?? []
const DEAD: CsiSocket = { ...REGISTERED, registered: false, error: `registered, but the driver is dead: UNAVAILABLE` }
const SILENT: CsiSocket = { path: `plugins/${DRIVER}/csi.sock`, registered: false, error: 'UNAVAILABLE: refused' }

/** A pod with a volume of the driver, published and staged. */
const used = (): NodeBuilder => node().served(LIVING, 'web-0')

/** The node plugin's pod, with the driver's own directory or that of all drivers. */
function plugin(built: NodeBuilder, path = `${ROOT}/plugins/${DRIVER}`): NodeBuilder {
  return built.livingPod(PLUGIN, 'disk-node-x7', [{ name: 'socket', hostPath: { path } }])
}

function ask(built: NodeBuilder, sockets?: readonly CsiSocket[], what = `driver/${DRIVER}`): Explanation {
  if (sockets !== undefined) built.override = { ...built.override, csiSockets: sockets }
  return told(built, what)
}

const links = ({ chain }: Explanation): string[] => chain.map(({ kind, state }) => `${kind} ${state}`)

describe('a driver that works', () => {
  const answer = ask(plugin(used()))

  it('has every link, and what depends on it', () => {
    expect(answer.subject).toEqual({ kind: 'Driver', name: DRIVER })
    expect(links(answer)).toEqual([
      'NodePluginPod good',
      'Socket good',
      'Registration good',
      'CSINode good',
      'CSIDriver good',
    ])
    expect(answer.verdict).toEqual({
      state: 'nothing',
      message: 'nothing to do: the driver answers and is registered',
    })
    expect(answer.chain.map(({ name, says }) => `${name}: ${says}`)).toEqual([
      'default/disk-node-x7: Running',
      `${ROOT}/plugins/${DRIVER}/csi.sock: answers; stages volumes`,
      `${ROOT}/plugins_registry/${DRIVER}-reg.sock: CSI 1.0.0`,
      'node-1: lists the driver, node ID node-1',
      `${DRIVER}: volumes are attached`,
    ])
    expect(answer.volumes.map(({ volume, chain }) => [volume.persistentVolume, chain.length])).toEqual([['pv-1', 5]])
  })

  it('a pod that has the directory of all drivers is its own only where none has the driver’s', () => {
    const pods = (built: NodeBuilder): unknown[] => ask(built).chain.flatMap(({ pod }) => pod?.name ?? [])
    expect(pods(plugin(used(), `${ROOT}/plugins`))).toEqual(['disk-node-x7'])
    const both = plugin(used()).livingPod(uid(4), 'agent', [{ name: 'all', hostPath: { path: `${ROOT}/plugins/` } }])
    expect(pods(both)).toEqual(['disk-node-x7'])
    const other = used().livingPod(uid(4), 'agent', [{ name: 'all', hostPath: { path: '/var/lib' } }])
    expect(pods(other)).toEqual([])
    expect(links(ask(other))[0]).toBe('NodePluginPod unknown')
  })
})

describe('a driver that does not', () => {
  const broken = [
    {
      name: 'absent: no socket, and its volume is mounted',
      sockets: [],
      code: 'DriverUnavailable',
      says: /^CSI driver disk\.test is not registered on this node$/,
      bad: ['NodePluginPod bad', 'Socket bad'],
    },
    {
      name: 'registered and dead',
      sockets: [DEAD],
      code: 'DriverUnavailable',
      says: /does not answer on plugins\/disk\.test\/csi\.sock: registered, but the driver is dead/,
      bad: ['NodePluginPod bad', 'Socket bad'],
    },
    {
      name: 'a socket on which nobody answers',
      sockets: [SILENT],
      code: 'DriverUnavailable',
      says: /; no answer on plugins\/disk\.test\/csi\.sock/,
      bad: ['NodePluginPod bad', 'Socket bad'],
    },
    {
      name: 'answers, and no registrar announces it',
      sockets: [
        { ...REGISTERED, path: `plugins/${DRIVER}/csi.sock`, error: 'no registration socket announces this driver' },
      ],
      code: 'DriverRegistration',
      says: /answers, but is not registered with the kubelet: no registration socket/,
      bad: ['Registration bad'],
    },
    {
      name: 'two sockets',
      sockets: [
        REGISTERED,
        { ...DEAD, path: 'plugins_registry/old-reg.sock', error: 'disk.test is announced as well' },
      ],
      code: 'DriverRegistration',
      says: /answers, but \/var\/lib\/kubelet\/plugins_registry\/old-reg\.sock is not the socket in use/,
      bad: ['Registration bad'],
    },
  ] as const

  it.each(broken)('$name', ({ sockets, code, says, bad }) => {
    const answer = ask(used(), sockets)
    expect(answer.verdict).toMatchObject({ state: 'problem', code, message: expect.stringMatching(says) })
    expect(links(answer).filter((link) => link.endsWith(' bad'))).toEqual(bad)
    expect(stepsOf(answer).length).toBeGreaterThan(0)
  })

  it('where nobody looked, or the API did not answer, nothing is claimed (S3)', () => {
    const built = used()
      .with({ csiSockets: undefined as never })
      .withApi({
        errors: [{ resource: 'csinodes', status: 403, reason: 'Forbidden', message: 'x' }],
        csiNode: null,
      })
    const answer = ask(built)
    expect(links(answer)).toEqual(expect.arrayContaining(['Socket unknown', 'CSINode unknown']))
    expect(answer.verdict.code).not.toBe('DriverUnavailable')
    const silent = ask(node(), [{ ...SILENT, path: 'plugins/other/csi.sock' }])
    expect(silent.verdict.message).toBe('nothing to do: whether the driver answers is not known')
  })

  it('the pod that runs it is named, with the commands that show why', () => {
    const built = plugin(used())
    const containers = [{ name: 'driver', state: 'CONTAINER_EXITED' }] as const
    built.sandboxes = built.sandboxes.map((each) => (each.uid === PLUGIN ? { ...each, containers } : each))
    const answer = ask(built, [DEAD])
    expect(answer.chain[0]).toMatchObject({
      kind: 'NodePluginPod',
      state: 'bad',
      says: 'Running; container driver exited',
    })
    expect(stepsOf(answer)).toEqual(
      expect.arrayContaining([
        "why the driver's pod does not run as it should: kubectl describe pod -n default disk-node-x7",
        'what the driver says: kubectl logs -n default disk-node-x7 --all-containers',
      ]),
    )
  })

  it('with a kubelet that runs, these commands are the next steps, and said once', () => {
    const up = (built: NodeBuilder): NodeBuilder => {
      built.with({ kubelet: { running: true, mayReturn: false } })
      return built
    }
    const own = ask(up(plugin(used())), [DEAD])
    expect(own.summary.next?.map(({ command }) => command)).toEqual([
      'kubectl describe pod -n default disk-node-x7',
      'kubectl logs -n default disk-node-x7 --all-containers',
    ])
    const other = ask(up(used()), [DEAD])
    expect(other.summary.next?.map(({ command }) => command)).toEqual(['kubectl get daemonset -A'])
    expect([...own.notes, ...other.notes]).toEqual([])
  })

  it('pods wait for it: who, and for which volume', () => {
    const built = node().persistentVolume('pv-1').pod(LIVING, 'web-0', [claimOf()])
    const { volumes, waiting } = ask(built, [])
    expect(waiting).toMatchObject([{ code: 'DriverUnavailable', pod: { name: 'web-0' }, volume: { name: 'pv-1' } }])
    expect(volumes).toMatchObject([{ desired: 'wanted by pod default/web-0' }])
  })

  it('of the cluster’s volumes those are named that are here; one without its PersistentVolume is its attacher’s', () => {
    const { volumeAttachments = [] } = used().build().snapshot.api ?? {}
    const built = used().persistentVolume('pv-elsewhere').withApi({ volumeAttachments })
    expect(ask(built).volumes.map(({ volume }) => volume.name)).toEqual(['pv-1'])
    const lone = node().withApi({ volumeAttachments })
    expect(ask(lone, []).volumes).toMatchObject([
      { volume: { name: 'pv-1' }, chain: [{}, { name: volumeAttachments[0]?.metadata.name }] },
    ])
  })
})

it('a driver of the cluster that this node does not need is no problem', () => {
  const built = node().withApi({ csiDrivers: [csiDriverObject('other.test')] })
  const answer = ask(built, undefined, 'other.test')
  expect(answer.verdict.message).toBe('nothing to do: the driver is not on this node, and nothing here depends on it')
  expect(links(answer)).toEqual(['NodePluginPod absent', 'Socket absent', 'CSINode absent', 'CSIDriver good'])
})
