/** What WHAT may be: names, prefixes, paths, devices; several things of a name, and none. */
import { describe, expect, it } from 'vitest'
import { didYouMean, nearNames } from '../../src/core/base/text.ts'
import { typedQuestion } from '../../src/core/explain/kinds.ts'
import { VolctlError } from '../../src/core/messages/findings.ts'
import { attachmentName } from '../../src/core/volumes/volume-names.ts'
import { told as ask, explain } from '../helpers/explaining.ts'
import { claimOf, DRIVER, type NodeBuilder, node, ROOT, uid } from '../helpers/node-builder.ts'
import { planOptions } from '../helpers/plan-options.ts'
import { thrownBy } from '../kube/connect.ts'

const POD = uid(2)

const errorOf = (built: NodeBuilder, what: string) => thrownBy(() => ask(built, what))

/** A pod and a claim of one name; two pods with a volume of one name. */
function twins(): NodeBuilder {
  const built = node()
    .persistentVolume('pv-1')
    .persistentVolume('pv-2')
    .livingPod(POD, 'web', [claimOf()])
    .livingPod(uid(3), 'db', [claimOf('pv-2')])
    .livingPod(uid(4), 'claim-pv-1')
  return built
}

it('objects without UID, in a snapshot of another tool, are in the way of no question', () => {
  const { snapshot, mounts } = twins().build()
  const text = JSON.stringify(snapshot, (key, value) =>
    key === 'uid' && /^(?!0000)/.test(String(value)) ? undefined : value,
  )
  const state = { snapshot: JSON.parse(text), mounts }
  // The second might be the beginning of a UID.
  for (const what of ['nosuch', 'abc1234']) {
    const error = thrownBy(() => explain(state, planOptions(), what))
    expect(error).toMatchObject({ code: 'NotFound' })
  }
})

describe('a name of several things', () => {
  it('lists them, each with what to ask instead, and what was asked then is found', () => {
    const error = errorOf(twins(), 'data')
    expect(error).toMatchObject({ code: 'AmbiguousName', exit: 1 })
    expect(error.message).toMatch(/^"data" is ambiguous on node node-1: /)
    expect(error.message).toContain('volume of pod default/web')
    expect(`${error.hint}`).toMatch(/^Name one of them: volctl explain volume\//)
    expect(ask(twins(), String(error.hint).replace(/^.*explain /, '')).subject.kind).toBe('Volume')
  })

  it('a volume that its record names is that one, whatever is mounted for a deleted pod', () => {
    const built = node().persistentVolume('pv-1').staged('pv-1', '7:1').published(uid(9), 'pv-1', '8:32')
    const { subject, verdict } = ask(built, 'pv-1')
    expect([subject.kind, verdict.message]).toEqual(['PersistentVolume', expect.stringContaining('(8:32) and not')])
  })

  it('a prefix settles it', () => {
    const { message } = errorOf(twins(), 'default/claim-pv-1')
    expect(message).toContain('pod/default/claim-pv-1')
    expect(message).toContain('pvc/default/claim-pv-1')
    expect(ask(twins(), 'pod/default/claim-pv-1').subject.kind).toBe('Pod')
    expect(ask(twins(), 'pvc/claim-pv-1').subject).toEqual({
      kind: 'PersistentVolumeClaim',
      name: 'default/claim-pv-1',
    })
    expect(ask(twins(), 'volume/default/web/data').volumes).toMatchObject([{ desired: 'wanted by pod default/web' }])
  })

  it('a pod that was replaced by one of its name, and what is left of the old one: both', () => {
    const built = node().livingPod(POD, 'web').running(uid(9), 'web')
    built.dir(`pods/${uid(9)}`)
    for (const what of ['default/web', 'web', 'pod/web', 'pod/default/web']) {
      const answer = ask(built, what)
      expect(answer.subject, what).toEqual({ kind: 'Pod', name: 'default/web' })
      expect(answer.pods, what).toMatchObject([
        { pod: { uid: POD }, class: 'Desired' },
        { pod: { uid: uid(9) }, class: 'Frozen' },
      ])
      expect(answer.verdict.message, what).toContain(uid(9))
    }
    expect(ask(built, uid(9)).pods).toMatchObject([{ class: 'Frozen' }])
  })

  it('a namespace may be called like a kind', () => {
    const built = node().livingPod(POD, 'web', [], { metadata: { namespace: 'pv' } })
    expect(ask(built, 'pv/web').subject).toEqual({ kind: 'Pod', name: 'pv/web' })
  })
})

describe('a name of nothing', () => {
  it('says what was searched, and the nearest names', () => {
    const error = errorOf(twins(), 'default/wep')
    expect(error).toMatchObject({ code: 'NotFound', exit: 1 })
    expect(error.message).toMatch(
      /^"default\/wep" was not found on node node-1; searched: 4 pods, 2 claims, 2 PersistentVolumes/,
    )
    expect(error.hint).toContain('default/web')
  })

  it('says what could not be read (S3)', () => {
    expect(errorOf(twins().unlisted('persistentVolumes'), 'pv/pvc-123').message).toContain(
      'not all persistentvolumes could be read',
    )
  })

  it('is no path where it is a number behind another kind than that of a device', () =>
    expect(errorOf(twins(), 'pod/8:0').message).toMatch(/^"pod\/8:0" was not found on node node-1/))

  it.each(['qqqqqqqqqqqq', 'node/node-1', 'node-1'])('%s: without anything like it, what may be asked', (what) =>
    expect(`${errorOf(twins().livingPod(uid(5), 'etcd-node-1'), what).hint}`).toMatch(
      /^Give NAMESPACE\/POD.* of the node: volctl status$/,
    ),
  )

  it.each(['', 'pv/', '/', '..', 'pvc//', '\u001b[31m', '9999:0', 'volume/'.repeat(300)])('%j is answered', (what) => {
    try {
      expect(ask(twins(), what).subject.name).not.toBe('')
    } catch (error) {
      expect(error).toBeInstanceOf(VolctlError)
      expect((error as VolctlError).hint).toBeTruthy()
    }
  })
})

describe('as people type it', () => {
  it.each<{ words: readonly string[]; namespace?: string; want: string }>([
    { words: ['pod', 'web-0'], namespace: 'shop', want: 'pod/shop/web-0' },
    { words: ['pods', 'shop/web-0'], want: 'pods/shop/web-0' },
    { words: ['po', 'po/web-0'], namespace: 'shop', want: 'po/shop/web-0' },
    { words: ['po/shop/web-0'], namespace: 'shop', want: 'po/shop/web-0' },
    { words: ['web-0'], namespace: 'shop', want: 'shop/web-0' },
    { words: ['persistentvolumeclaim/data'], namespace: 'shop', want: 'persistentvolumeclaim/shop/data' },
    { words: ['PVC', 'data'], namespace: 'shop', want: 'PVC/shop/data' },
    { words: ['pv', 'pv-1'], namespace: 'shop', want: 'pv/pv-1' },
    { words: ['volumeattachment.storage.k8s.io/csi-1'], want: 'volumeattachment.storage.k8s.io/csi-1' },
    { words: ['driver', 'disk.test'], namespace: 'shop', want: 'driver/disk.test' },
    { words: ['/var/lib/kubelet'], namespace: 'shop', want: '/var/lib/kubelet' },
  ])('$words in $namespace', ({ words, namespace, want }) => expect(typedQuestion(words, namespace)).toBe(want))

  it.each<{ words: readonly string[]; namespace?: string; says: RegExp }>([
    { words: ['service', 'n1'], says: /^two words were given, and "service" is no kind/ },
    { words: ['pod', 'shop/web-0'], namespace: 'other', says: /names namespace shop, and --namespace is other/ },
  ])('$words in $namespace is refused', ({ words, namespace, says }) =>
    expect(() => typedQuestion(words, namespace)).toThrow(says),
  )

  it.each([
    'po/default/web',
    'persistentvolumeclaim/default/claim-pv-2',
    'persistentvolumes/pv-1',
    `volumeattachments.storage.k8s.io/${attachmentName('pv-1', DRIVER, 'node-1')}`,
    'csidriver.storage.k8s.io/disk.test',
    'disk.test',
  ])('%s', (what) => expect(ask(twins(), what).subject.name).not.toBe(''))

  it('the beginning of a UID or of an attachment’s name, where only one thing has it', () => {
    const OTHER = 'c2d7ef9e-8edc-489d-a368-953a89324db0'
    const built = twins().livingPod(OTHER, 'other')
    for (const what of ['c2d', 'c2d7ef9e-8edc', 'pod/c2d7', OTHER])
      expect(ask(built, what).pods[0]?.pod.uid).toBe(OTHER)
    const name = attachmentName('pv-1', DRIVER, 'node-1')
    expect(ask(built, name.slice(0, 10)).subject).toEqual({ kind: 'VolumeAttachment', name })
    const { code, message } = errorOf(built, '00000000-0000')
    expect(code).toBe('AmbiguousName')
    expect(message).toContain(`pod/default/web (default/web, in the API, Desired)`)
    for (const what of ['c2', 'c2d7ef9f', 'pvc/c2d7']) expect(errorOf(built, what).code).toBe('NotFound')
  })

  it('a pod that is called like the beginning of a UID is the pod', () => {
    const built = node().livingPod('cafe0000-8edc-489d-a368-953a89324db0', 'web').livingPod(uid(3), 'cafe')
    expect(ask(built, 'cafe').pods[0]?.pod.uid).toBe(uid(3))
  })
})

it.each([
  { what: 'default/wbe', want: 'pod/default/web' },
  { what: 'pod/claim-pv-2', want: 'pvc/default/claim-pv-2' },
  { what: 'pv/claim-pv-2', want: 'pvc/default/claim-pv-2' },
  { what: 'shop/web', want: 'pod/default/web' },
  { what: 'pvc/shop/claim-pv-2', want: 'pvc/default/claim-pv-2' },
  { what: 'driver/disk.tset', want: 'driver/disk.test' },
])('did you mean: $what: $want', ({ what, want }) => {
  const { code, hint = '' } = errorOf(twins(), what)
  expect(code).toBe('NotFound')
  expect(hint).toMatch(new RegExp(`^Did you mean ${want.replaceAll('.', '\\.')}[,?]`))
  expect(ask(twins(), want).subject.name).not.toBe('')
})

describe('paths', () => {
  const volume = `pods/${POD}/volumes/kubernetes.io~csi/pv-1`
  const built = (): NodeBuilder =>
    twins()
      .published(POD, 'pv-1', '7:1')
      .staged('pv-1', '7:1')
      .file(`pods/${POD}/etc-hosts`, 'x')
      .entry({ path: 'plugins/disk.test/csi.sock', type: 'socket' })

  it.each([
    { path: volume, volumes: 1, pods: [POD] },
    { path: `${volume}/vol_data.json`, volumes: 1, pods: [POD] },
    { path: `${volume}/mount/a/b`, volumes: 1, pods: [POD] },
    { path: `pods/${POD}/volumes/kubernetes.io~csi`, volumes: 1, pods: [POD] },
    { path: `pods/${POD}/volumes`, volumes: 1, pods: [POD] },
    { path: `pods/${POD}`, volumes: 1, pods: [POD] },
    { path: `pods/${POD}/etc-hosts`, volumes: 0, pods: [POD] },
    { path: `pods/${POD}/../${POD}//volumes/.`, volumes: 1, pods: [POD] },
    { path: 'plugins/kubernetes.io/csi', volumes: 1, pods: [POD] },
    { path: 'pods', volumes: 0, pods: [] },
    { path: 'plugins/disk.test/csi.sock', volumes: 0, pods: [] },
  ])('$path', ({ path, volumes, pods }) => {
    const answer = ask(built(), `${ROOT}/${path}`)
    expect(answer.volumes).toHaveLength(volumes)
    expect(answer.pods.map(({ pod }) => pod.uid)).toEqual(pods)
    expect(answer.places).toHaveLength(1)
  })

  it('the root directory by another name: the kubelet’s own, or another mount of it', () => {
    const other = built().with({
      kubelet: { running: false, mayReturn: false, args: ['--root-dir=/data/kubelet/', '-v=2'] },
    })
    expect(ask(other, `/data/kubelet/${volume}`).subject.name).toBe(`${ROOT}/${volume}`)
    const bound = built().mountLine('/mnt/kubelet', ROOT, '254:0', 'ext4', '/dev/vda')
    expect(ask(bound, `/mnt/kubelet/${volume}`).subject.name).toBe(`${ROOT}/${volume}`)
  })

  it('elsewhere: another mount of the same file system, a hostPath, a mount that is nobody’s', () => {
    const other = built()
      .mountLine('/mnt/copy', '/', '7:1', 'ext4', '/dev/loop1')
      .mountLine('/mnt/x', '/', '8:1', 'xfs', '/dev/sda1')
      .livingPod(uid(5), 'host', [{ name: 'h', hostPath: { path: '/srv/data' } }])
    expect(ask(other, '/mnt/copy').volumes).toMatchObject([{ volume: { handle: 'pv-1' } }])
    expect(ask(other, '/srv/data/a').volumes).toMatchObject([{ volume: { plugin: 'kubernetes.io/host-path' } }])
    expect(ask(other, '/mnt/x')).toMatchObject({
      volumes: [],
      verdict: { state: 'nothing' },
      subject: { kind: 'Mount' },
    })
  })

  it('a directory beside a volume on the same file system, and a device that is not there, are nobody’s', () => {
    const other = built()
      .mountLine('/data', '/', '8:1', 'xfs', '/dev/sda1')
      .mount(`pods/${POD}/volumes/kubernetes.io~local-volume/pv-l`, { dev: '8:1', root: '/vol', fsType: 'xfs' })
    expect(ask(other, '/data/vol/a').volumes).toMatchObject([{ volume: { name: 'pv-l' } }])
    expect(errorOf(other, '/data/else').message).toContain('inside the xfs on /data')
    other.mountLine('/dev', '/', '0:6', 'devtmpfs', 'devtmpfs')
    other.mount('plugins/kubernetes.io/csi/volumeDevices/publish/pv-1/x', {
      dev: '0:6',
      root: '/loop7',
      fsType: 'devtmpfs',
      type: 'file',
    })
    expect(errorOf(other, '/dev/loop9').message).toContain('inside the devtmpfs on /dev')
    expect(ask(other, '/dev').volumes).toEqual([])
  })

  it('a path of nothing says where it lies, and what is near', () => {
    expect(errorOf(built(), '/srv/other').message).toContain('inside the ext4 on /')
    const error = errorOf(built(), `${ROOT}/pods/${uid(7)}/volumes`)
    expect(error.code).toBe('NotFound')
    expect(error.hint).toContain(`${ROOT}/pods/`)
  })
})

describe('devices', () => {
  const built = (): NodeBuilder => {
    const made = twins().published(POD, 'pv-1', '7:1').staged('pv-1', '7:1')
    made.loops = [
      { name: '/dev/loop1', backingFile: '/srv/pv-1.img' },
      { name: '/dev/loop5', backingFile: '/srv/x' },
    ]
    return made
  }

  it.each(['/dev/loop1', '7:1', 'device/loop1', 'dev/7:1', 'device//dev/loop1'])('%s', (what) => {
    const answer = ask(built(), what)
    expect(answer.subject.kind).toBe('Device')
    expect(answer.volumes).toMatchObject([{ volume: { handle: 'pv-1' } }])
  })

  it('one that is not there', () =>
    expect(errorOf(built(), '9:9').message).toContain('no mount and no loop device has this number'))
})

it.each([
  { text: 'web-0', names: ['web-1', 'db', 'web-01', 'shop/web-0'], near: ['shop/web-0', 'web-01', 'web-1'] },
  { text: 'p', names: ['a', 'b', 'pp'], near: [] },
  { text: 'WEB', names: ['web'], near: ['web'] },
  { text: 'wbe', names: ['web', 'abc'], near: ['web'] },
  { text: 'postgers-0', names: ['postgres-0', 'redis-0'], near: ['postgres-0'] },
  { text: 'postgers-1', names: ['postgres-0'], near: [] },
])('names near $text', ({ text, names, near }) => expect(nearNames(text, names, 5).toSorted()).toEqual(near.toSorted()))

it('the nearest name is asked about alone, and several that are equally near together', () => {
  expect(didYouMean('NODE-1', ['node-10', 'node-1', 'node-11'])).toBe('Did you mean node-1? ')
  expect(didYouMean('umount', ['unmount', 'mount', 'detach'])).toBe('Did you mean mount or unmount? ')
})
