/** From a line to the cause: every known sentence on a node in that state, and what is said of names that are nothing there. */
import { describe, expect, it } from 'vitest'
import { nodeScope } from '../../src/core/log-lines/explain-line.ts'
import type { LineAnswer } from '../../src/core/log-lines/line-explanation.ts'
import { askedNode } from '../../src/core/log-lines/node-names.ts'
import { parseLine } from '../../src/core/log-lines/parse-line.ts'
import { planWithDecisions } from '../../src/core/reconcile/decisions.ts'
import { DRIVER, type NodeBuilder, node, ROOT, uid } from '../helpers/node-builder.ts'
import { planOptions } from '../helpers/plan-options.ts'
import { CASES, type Case } from './cases.ts'
import { GONE, LINES, LIVING } from './lines.ts'
import * as nodes from './nodes.ts'

function answered(line: string, built: NodeBuilder) {
  const state = built.build()
  return nodeScope(askedNode(state, planWithDecisions(state, planOptions()))).answer(parseLine(line))
}

const ask = (line: string, built: NodeBuilder): LineAnswer => answered(line, built).answer

const saying = (answer: LineAnswer, kind: string): string[] =>
  answer.names.filter((name) => name.kind === kind).map(({ name, says }) => `${name}: ${says}`)

describe('a known sentence is explained by the thing that it is about', () => {
  it.each(Object.entries(CASES) as [keyof typeof LINES, Case][])('%s', (name, { node: make, ask: about, verdict }) => {
    // The first line that names something: kernels and schedulers name nothing of a pod.
    const lines = LINES[name].map((line) => answered(line, make())).filter(({ answer }) => answer.main !== undefined)
    const [{ answer, explained } = { answer: undefined, explained: undefined }] = lines.filter(
      (each) => each.answer.main?.ask === about,
    )
    expect(
      lines.map((each) => each.answer.main?.ask),
      `${name} is not about ${about}`,
    ).toContain(about)
    expect(answer?.sentence?.name).toBe(name)
    const found = explained?.explanation.verdict
    expect([found?.state, found?.code].filter((each) => each !== undefined).join(' ')).toBe(verdict)
  })
})

describe('what a line names, and is not there', () => {
  const [orphanLine = ''] = LINES.OrphanedPodVolumes

  it('a UID that exists nowhere: the directory was removed meanwhile', () => {
    const answer = ask(orphanLine, node())
    expect(answer.main).toBeUndefined()
    expect(saying(answer, 'podUid')).toEqual([
      `${GONE}: no such pod of this node in the API or on its disk: the directory was removed meanwhile, or it is another node's`,
    ])
  })

  it('where the API could not be read whole, that is said', () => {
    const built = node()
    built.overrideApi = { errors: [{ resource: 'pods', status: 403, reason: 'Forbidden', message: 'x' }] }
    expect(saying(ask(orphanLine, built), 'podUid')[0]).toContain('not everything in the API could be read')
  })

  it('another node: run volctl there', () => {
    const line = LINES.DetachStuck[1]?.replaceAll('node-1', 'node-7') ?? ''
    expect(ask(line, nodes.unwanted()).otherNode).toEqual({
      name: 'node-7',
      says: 'the line is about node node-7, and this one is node-1: run volctl explain there',
    })
  })

  it.each([
    { host: 'worker-9.example.com', other: 'worker-9.example.com' },
    { host: 'node-2', other: 'node-2' },
    { host: 'node-10', other: 'node-10' },
    { host: 'NODE-1', other: undefined },
    { host: 'node-1.example.com', other: undefined },
  ])('a line written on $host: another node is $other', ({ host, other }) => {
    const { answer, explained } = answered(orphanLine.replace(' node-1 ', ` ${host} `), nodes.orphan())
    expect(answer.otherNode?.name).toBe(other)
    expect(answer.main?.ask).toBe(`pod/${GONE}`)
    expect(explained === undefined).toBe(other !== undefined)
  })

  it('a line of another node: what the API knows is found, what is local to a node is not looked for', () => {
    const line = `Nov 22 20:01:02 node-2 kubelet[812]: E1122 20:01:02.1 812 x.go:1] MountVolume.MountDevice failed for volume "pv-1" : driver name ${DRIVER} not found: ${ROOT}/pods/${uid(5)}/volumes /dev/loop1`
    const { answer, explained } = answered(line, nodes.unmounted())
    expect(answer.otherNode).toEqual({
      name: 'node-2',
      says: 'this line was written on node-2, and this is node-1: run volctl there',
    })
    expect(explained).toBeUndefined()
    expect(answer.main?.ask).toBe('pv/pv-1')
    for (const kind of ['device', 'path', 'driver'])
      expect(saying(answer, kind)[0]).toMatch(/: it is on node-2, and was not looked for here$/)
  })

  it('a line of a controller on another host that names this node is about this one', () => {
    const line = `Nov 22 20:01:02 master-1 kube-controller-manager[1]: ${LINES.DetachStuck[1]}`
    expect(ask(line, nodes.unwanted()).otherNode).toBeUndefined()
  })

  it('a line of the kubelet of this node in which a driver calls the node otherwise is about this one', () => {
    const line = `Nov 22 20:01:02 node-1 kubelet[812]: Could not attach volume "pv-1" to node "i-0abc"`
    expect(answered(line, nodes.unmounted()).explained).toBeDefined()
  })

  it.each([
    'rpc error: code = Aborted desc = An operation with the given Volume ID vol-fs1 already exists',
    'kubernetes.io/csi: detachment for VolumeAttachment for volume [vol-fs1] failed: x',
    'AttachVolume.Attach failed for volume "vol-fs1" : x',
    'failed to attach volume vol-fs1: x',
  ])("a driver's own name of a volume is that volume: %s", (line) => {
    const { main } = ask(line, node().persistentVolume('pv-9', { handle: 'vol-fs1' }))
    expect(main).toMatchObject({ ask: 'volume/vol-fs1', subject: { kind: 'Volume' } })
  })

  it('both nodes of a Multi-Attach error', () => {
    expect(ask(LINES.MultiAttachError[1] ?? '', nodes.elsewhere()).otherNode).toEqual({
      name: 'node-2',
      says: 'node node-2 has the volume, and this one, node-1, waits for the volume: what keeps the volume is on node-2; run volctl explain there too',
    })
    const here = LINES.MultiAttachError[1]
      ?.replace('from node "node-1"', 'from node "node-3"')
      .replace('to node node-2', 'to node node-1')
    expect(ask(here ?? '', nodes.orphan()).otherNode?.says).toBe(
      'node node-3 waits for the volume, and this one, node-1, has the volume: what keeps the volume is here',
    )
    const both = `E1122 20:01:02.1 1 x.go:1] "x" node="node-1" nodes=["node-1","node-4"] volumeName="kubernetes.io/csi/${DRIVER}^pv-1"`
    expect(ask(both, nodes.orphan()).otherNode?.says).toContain('run volctl explain on both')
  })

  it('a driver: answering, or without a socket; and one that nobody has', () => {
    const [line = ''] = LINES.DriverNotInList
    expect(saying(ask(line, nodes.unmounted()), 'driver')[0]).not.toContain('not registered')
    expect(saying(ask(line, nodes.withoutDriver()), 'driver')[0]).toMatch(/^disk\.test: .*CSI driver disk\.test/)
    expect(saying(ask(line.replaceAll(DRIVER, 'other.test'), nodes.unmounted()), 'driver')).toEqual([
      'other.test: no CSI driver of this name in the API or on this node',
    ])
  })

  it('a config map that does not exist, and one that no pod refers to', () => {
    const line = `MountVolume.SetUp failed for volume "config" : configmap "web-config" not found`
    expect(saying(ask(line, nodes.contentMissing()), 'configMap')).toEqual(['web-config: does not exist in the API'])
    expect(saying(ask(line, node()), 'configMap')).toEqual(['web-config: no pod of this node refers to it now'])
  })

  it('several pods of one name: which there are', () => {
    const built = nodes.unattached().livingPod(uid(3), 'other', [{ name: 'data', emptyDir: {} }])
    const [volume] = ask('kubelet: MountVolume.SetUp failed for volume "data" : x', built).names
    expect(volume).toMatchObject({ found: true, says: expect.stringContaining('is ambiguous') })
  })
})

it('of many alike three are named, with the command that lists them', () => {
  const built = Array.from({ length: 9 }, (_, n) => uid(20 + n)).reduce(
    (all, pod, n) => all.livingPod(pod, `web-${n}`, [{ name: 'data', emptyDir: {} }]),
    node(),
  )
  const [volume] = ask('kubelet: MountVolume.SetUp failed for volume "data" : x', built).names
  expect(volume?.says).toMatch(
    /^is ambiguous here: (?:volume\/default\/web-\d\/data \(.*?\), ){3}and 6 more; volctl explain volume\/data lists them$/,
  )
})

describe('a trouble that volctl does not look for', () => {
  it('is not called well where nothing is to be done', () => {
    const { main, names } = ask(LINES.FileSystemErrors[0] ?? '', nodes.healthy())
    expect(main).toMatchObject({
      unchecked: true,
      verdict: { state: 'nothing' },
      says: expect.stringContaining('volctl does not check file systems'),
    })
    expect(names.map(({ says }) => says).join()).not.toContain('as it should be')
  })

  it('is left to the verdict where something is to be done, or where volctl looks', () => {
    expect(ask(LINES.FileSystemErrors[0] ?? '', nodes.unmounted()).main).not.toHaveProperty('unchecked')
    expect(ask(LINES.TargetBusy[1] ?? '', nodes.healthy()).main).not.toHaveProperty('unchecked')
  })
})

describe('a line that nobody knows', () => {
  it('is answered by what its names are, and says so', () => {
    const answer = ask(
      `E1122 20:01:02.1 812 x.go:1] "Something new" podUID="${GONE}" path="${ROOT}/pods/${GONE}/volumes"`,
      nodes.orphan(),
    )
    expect(answer.sentence).toBeUndefined()
    expect(answer.main).toMatchObject({ found: true, verdict: { code: 'PodGone' } })
  })
})

it('without a node the meaning is there, and nothing is made up of the names', () => {
  const { answer } = nodeScope(undefined).answer(parseLine(LINES.TargetBusy[0] ?? ''))
  expect(answer).toMatchObject({ sentence: { name: 'TargetBusy' }, names: [] })
  expect(answer.main).toBeUndefined()
})

describe('advice has the names of the line in it', () => {
  const next = (line: string, built = node()): string => ask(line, built).sentence?.next ?? ''

  it.each([
    ['kernel: EXT4-fs error (device sdq): ext4_find_entry: reading directory lblock 0', 'on /dev/sdq while nothing'],
    ['kernel: print_req_error: I/O error, dev sdq, sector 8', 'smartctl -a /dev/sdq'],
    ['kernel: sd 2:0:0:0: [sdq] tag#3 reservation conflict', 'sg_persist -r /dev/sdq'],
    ['mount: /m: wrong fs type, bad option, bad superblock on /dev/sdq', 'what is on /dev/sdq (blkid'],
    ['mount: /m: wrong fs type, bad option, bad superblock on /dev/$(reboot)', 'what is on the device (blkid'],
    ['PersistentVolume "pv-7": can\'t use volume plugins for (volume.Spec){}', 'kubectl get pv pv-7 -o yaml'],
    ['10.0.0.7:6789,10.0.0.8:6789:/a: Protocol not supported', 'rpcinfo -p 10.0.0.7)'],
    ['AttachVolume.Attach failed for volume "d" : rpc error: code = FailedPrecondition desc = x', 'of its controller'],
    ['MountVolume.SetUp failed for volume "d" : rpc error: code = FailedPrecondition desc = x', 'its pod on node-1'],
  ])('%s: %s', (line, words) => expect(next(line)).toContain(words))

  it('or what the node knows of the volume that the line is about', () => {
    const line = `MountVolume.SetUp failed for volume "pv-1" pod "web-0" (UID: "${LIVING}") : structure needs cleaning`
    expect(next(line, nodes.healthy())).toContain(' on /dev/loop1 while nothing')
  })

  it('also the driver, in what is meant', () =>
    expect(
      ask(`x "kubernetes.io/csi/disk.test^v" rpc error: code = DeadlineExceeded desc = x`, node()).sentence?.means,
    ).toContain('The CSI driver disk.test did not answer'))
})

it("the texts name this node's own unit", () => {
  const built = nodes.contentMissing()
  built.override = { kubelet: { running: true, mayReturn: true, unit: 'k3s-agent.service' } }
  expect(ask(LINES.ContentNotSynced[0] ?? '', built).sentence?.next).toContain('journalctl -u k3s-agent.service')
})
