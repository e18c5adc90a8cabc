/** What a line is answered with on a node: what its names are there first, then what it says. */
import { describe, expect, it } from 'vitest'
import { isLine, type LookedNode, lineAnswer } from '../../src/core/cli/line-answers.ts'
import { explainLine, type LineExplanation } from '../../src/core/explain/log-lines/explain-line.ts'
import { parseLine } from '../../src/core/explain/log-lines/log-line.ts'
import { PLAIN_SCREEN, type Screen, screenLines } from '../../src/core/views/screen.ts'
import { explainer } from '../helpers/explaining.ts'
import { claimOf, DRIVER, type NodeBuilder, node, ROOT, uid } from '../helpers/node-builder.ts'
import { planOptions } from '../helpers/plan-options.ts'

const GONE = uid(9)
const LIVING = uid(1)

/** Nodes in the states that lines are about: a deleted pod's volume, */
const orphan = (): NodeBuilder => node().left(GONE)
/** and that of web-0, which is attached, and not mounted; */
const wanted = (attached = true): NodeBuilder =>
  node().persistentVolume('pv-1', { attached }).pod(LIVING, 'web-0', [claimOf()], { phase: 'Pending' })
const unattached = (): NodeBuilder => wanted(false)
const withoutDriver = (): NodeBuilder => wanted().with({ csiSockets: [] })
/** one that is attached, and that no pod of this node wants; */
const unwanted = (): NodeBuilder => node().persistentVolume('pv-1')

/** and a config map that web-0 wants, and that does not exist. */
function contentMissing(): NodeBuilder {
  const config = { name: 'config', configMap: { name: 'web-config' } }
  const missing = { resource: 'configmaps', namespace: 'default', name: 'web-config' }
  return node()
    .pod(LIVING, 'web-0', [config], { phase: 'Pending' })
    .withApi({ errors: [{ ...missing, status: 404, reason: 'NotFound', message: 'not found' }] })
}

const UNIQUE = `kubernetes.io/csi/${DRIVER}^pv-1`
const TARGET = `${ROOT}/pods/${GONE}/volumes/kubernetes.io~csi/pv-1/mount`
const ORPHANED = `orphaned pod "${GONE}" found, but volume paths are still present on disk`
const MANY = `Nov 22 20:01:02 node-1 kubelet[812]: E1122 20:01:02.123456     812 kubelet_volumes.go:263] "There were many similar errors. Turn up verbosity to see them." err=${JSON.stringify(ORPHANED)} numErrs=1`
const BUSY = `Nov 22 20:01:02 node-1 kubelet[812]: E1122 20:01:02.123456     812 nestedpendingoperations.go:348] Operation for "{volumeName:${UNIQUE} podName:${GONE} nodeName:}" failed. No retries permitted until 2026-11-22 20:03:04 +0000 UTC (durationBeforeRetry 2m2s). Error: UnmountVolume.TearDown failed for volume "data" (UniqueName: "${UNIQUE}") pod "${GONE}" (UID: "${GONE}") : kubernetes.io/csi: Unmounter.TearDownAt failed: rpc error: code = Internal desc = unmount failed: exit status 32\\nUnmounting arguments: ${TARGET}\\nOutput: umount: ${TARGET}: target is busy.`
const NOT_REGISTERED = `MountVolume.MountDevice failed for volume "pv-1" : driver name ${DRIVER} not found in the list of registered CSI drivers`
const multiAttach = (wants: string, has: string): string =>
  `W1122 20:01:02.123456       1 reconciler.go:360] Multi-Attach error for volume "pv-1" (UniqueName: "${UNIQUE}") from node "${wants}" Volume is already exclusively attached to node ${has} and can't be attached to another`
const inUse = (on: string): string =>
  `I1122 20:01:02.1 1 reconciler.go:227] "Cannot detach volume because it is still mounted" node="${on}" volumeName="${UNIQUE}"`

function answered(line: string, built: NodeBuilder) {
  const state = built.build()
  const explain = explainer(state, planOptions())
  return explainLine(parseLine(line), { state, explain })
}

const ask = (line: string, built: NodeBuilder): LineExplanation => answered(line, built).answer

const saying = ({ names }: LineExplanation, kind: string): string[] =>
  names.filter((name) => name.kind === kind).map(({ name, says }) => `${name}: ${says}`)

describe('what the line is about', () => {
  it.each([
    { line: MANY, built: orphan, about: `pod/${GONE}`, verdict: 'operation PodGone' },
    { line: BUSY, built: orphan, about: `volume/${GONE}/pv-1`, verdict: 'operation PodGone' },
    { line: NOT_REGISTERED, built: withoutDriver, about: 'pv/pv-1', verdict: 'waiting DriverUnavailable' },
    { line: inUse('node-1'), built: unwanted, about: `volume/${UNIQUE}`, verdict: 'operation NotWanted' },
    {
      line: `MountVolume.SetUp failed for volume "config" pod "web-0" (UID: "${LIVING}") : configmap "web-config" not found`,
      built: contentMissing,
      about: `volume/${LIVING}/config`,
      verdict: 'blocked ContentMissing',
    },
    {
      line: '"Error syncing pod, skipping" err="unmounted volumes=[data], unattached volumes=[]: context deadline exceeded" pod="default/web-0"',
      built: unattached,
      about: 'pod/default/web-0',
      verdict: 'waiting NotAttached',
    },
  ])('$line', ({ line, built, about, verdict }) => {
    const { main } = ask(line, built())
    expect([main?.ask, `${main?.verdict?.state} ${main?.verdict?.code}`]).toEqual([about, verdict])
  })
})

describe('what a line names, and is not there', () => {
  it('a UID that exists nowhere: the directory was removed meanwhile', () => {
    const answer = ask(MANY, node())
    expect(answer.main).toBeUndefined()
    expect(saying(answer, 'podUid')).toEqual([
      `${GONE}: no such pod of this node in the API or on its disk: the directory was removed meanwhile, or it is another node's`,
    ])
  })

  it('where the API could not be read whole, that is said', () => {
    expect(saying(ask(MANY, node().unlisted('pods')), 'podUid')[0]).toContain('not everything in the API could be read')
  })

  it('another node: run volctl there', () =>
    expect(ask(inUse('node-7'), unwanted()).otherNode).toEqual({
      name: 'node-7',
      says: 'the line is about node node-7, and this one is node-1: run volctl explain there',
    }))

  it.each([
    { host: 'worker-9.example.com', other: 'worker-9.example.com' },
    { host: 'node-10', other: 'node-10' },
    { host: 'NODE-1', other: undefined },
    { host: 'node-1.example.com', other: undefined },
  ])('a line written on $host: another node is $other', ({ host, other }) => {
    const { answer, explained } = answered(MANY.replace(' node-1 ', ` ${host} `), orphan())
    expect(answer.otherNode?.name).toBe(other)
    const own = other === undefined ? `pod/${GONE}` : undefined
    expect([answer.main?.ask, explained?.explanation.what]).toEqual([own, own])
  })

  it('a line of another node: nothing is looked for here', () => {
    const line = `Nov 22 20:01:02 node-2 kubelet[812]: E1122 20:01:02.1 812 x.go:1] ${NOT_REGISTERED}`
    const { sentence, otherNode, main, names } = ask(line, wanted())
    expect({ sentence, otherNode, main, names }).toEqual({
      sentence: expect.objectContaining({ next: expect.stringContaining('spec.nodeName=node-2') }),
      otherNode: {
        name: 'node-2',
        says: 'this line was written on node-2, and this is node-1: run volctl there',
      },
      names: [],
    })
  })

  it('a line of another host’s kubelet is that node’s, whatever it names; of what has a second name only the one that is found is shown', () => {
    const line = `Nov 22 20:01:02 node-2 kubelet[1]: ${inUse('node-1')}`
    expect(ask(line, unwanted()).otherNode?.name).toBe('node-2')
    expect(ask(BUSY, orphan()).names.filter(({ found }) => !found)).toEqual([])
  })

  it('a line of a controller on another host that names this node is about this one', () =>
    expect(
      ask(`Nov 22 20:01:02 master-1 kube-controller-manager[1]: ${inUse('node-1')}`, unwanted()).otherNode,
    ).toBeUndefined())

  it.each([
    'AttachVolume.Attach failed for volume "vol-fs1" : x',
    'rpc error: code = Aborted desc = An operation with the given Volume ID vol-fs1 already exists',
  ])("a driver's own name of a volume is that volume: %s", (line) =>
    expect(ask(line, node().persistentVolume('pv-9', { handle: 'vol-fs1' })).main).toMatchObject({
      ask: 'volume/vol-fs1',
      subject: { kind: 'Volume' },
    }),
  )

  it('of another node beside this one the names are looked for here', () =>
    expect(ask(multiAttach('node-1', 'node-2'), unattached()).otherNode).toBeUndefined())

  it('of many alike it is said what lists them', () => {
    const built = [1, 2].reduce(
      (all, n) => all.livingPod(uid(20 + n), `web-${n}`, [{ name: 'data', emptyDir: {} }]),
      node(),
    )
    expect(ask('kubelet: MountVolume.SetUp failed for volume "data" : x', built).names).toMatchObject([
      { found: true, says: 'is ambiguous here: volctl explain volume/data lists what has this name' },
    ])
  })
})

it("the advice names this node's own unit", () => {
  const built = contentMissing().with({ kubelet: { running: true, mayReturn: true, unit: 'k3s-agent.service' } })
  const line =
    'MountVolume.SetUp failed for volume "c" : failed to sync configmap cache: timed out waiting for the condition'
  expect(`${ask(line, built).sentence?.next}`).toContain('journalctl -u k3s-agent.service')
})

/** As the command asks. */
function asking(built: NodeBuilder, whole: LookedNode['whole'] = async ({ explanation }) => explanation) {
  const state = built.build()
  const explain = explainer(state, planOptions())
  return async (): Promise<LookedNode> => ({ state, explain, whole })
}

const TERMINAL: Screen = { ...PLAIN_SCREEN, width: 80, rows: 24 }
const drawn = async (line: string, built: NodeBuilder, screen = TERMINAL): Promise<string> =>
  (await lineAnswer(line, asking(built))).draw(screen)

describe('on a screen', () => {
  it('all of a long line fits a terminal, and -o wide has the whole explanation', async () => {
    const screen = await drawn(BUSY, orphan())
    expect(screenLines(screen, 80), screen).toBeLessThanOrEqual(23)
    expect(screen).toMatch(/\nMore: volctl explain \S+\nNext: volctl apply .*\n.*\n$/)
    expect(await drawn(BUSY, orphan(), { ...TERMINAL, wide: true })).toContain('Identity:')
  })

  it('unknown, of another node', async () => {
    const line = `E1122 20:01:02.123456       1 x.go:1] "Something new" node="node-7" volumeName="${UNIQUE}"`
    expect(await drawn(line, unwanted(), PLAIN_SCREEN)).toMatchInlineSnapshot(`
      "The line is about node node-7, and this one is node-1: run volctl explain there.

      volctl does not know this sentence:
        Something new
      "
    `)
  })

  it('names what holds the thing open', async () => {
    const processes = [1, 2, 3, 4].map((pid) => ({ pid, command: 'sh', holds: [] }))
    const held = asking(orphan(), async ({ explanation }) => ({
      ...explanation,
      holders: { ...explanation.holders, known: true, processes },
    }))
    const { draw } = await lineAnswer(BUSY, held)
    expect(draw(TERMINAL)).toContain('  Held by: sh (pid 1); sh (pid 2); sh (pid 3); sh (pid 4); ')
  })
})

describe('WHAT is a line, or a name', () => {
  it.each([
    'Warning  FailedMount  2m  kubelet  x',
    '{"msg":"x"}',
    'stat /var/lib/x: transport endpoint is not connected',
    'my pod',
    '/a/b/mount: transport endpoint is not connected',
    'kubernetes.io/csi: mounter.SetUpAt failed',
  ])('%s: a line', (text) => expect(isLine(text)).toBe(true))

  it.each([
    'web-0',
    'shop/web-0',
    '/srv/a directory/with blanks',
    'path//srv/a directory',
    'kubernetes.io/vsphere-volume/[store] kubevols/disk.vmdk',
    '',
    'volume/a b',
  ])('%j: a name', (text) => expect(isLine(text)).toBe(false))
})

it('what begins volctl again in another namespace goes through', async () => {
  const again = new Error('again')
  await expect(lineAnswer(BUSY, () => Promise.reject(again))).rejects.toBe(again)
})

it('rows of one line are one', async () => {
  const rows = `\n${ORPHANED.replace(/ found.*/, '')} found, but failed to rmdir() volume at path /x: mount failed: exit status 32\nMounting command: mount\n\tdirectory not empty\n`
  expect((await lineAnswer(rows, asking(node()))).value).toMatchObject({ names: [{ kind: 'podUid' }] })
})
