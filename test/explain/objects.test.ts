/** What explain says of a claim, a PersistentVolume and a VolumeAttachment, as links of a chain. */
import { expect, it } from 'vitest'
import { ago } from '../helpers/cluster-builder.ts'
import { told } from '../helpers/explaining.ts'
import { type NodeBuilder, node, uid } from '../helpers/node-builder.ts'

/** Changes the first object of a list. */
function change(list: unknown[], part: Record<string, object>): void {
  const first = list[0] as Record<string, object>
  list[0] = {
    ...first,
    ...Object.fromEntries(Object.entries(part).map(([key, value]) => [key, { ...first[key], ...value }])),
  }
}

const GOING = { metadata: { deletionTimestamp: ago(5), finalizers: ['example.com/wait'] } }
const OBJECTS = ['PersistentVolumeClaim', 'PersistentVolume', 'VolumeAttachment']

it.each<{ name: string; of?: (built: NodeBuilder) => void; unwanted?: true; bad?: string; says: string }>([
  { name: 'all is well', says: 'bound to pv-1' },
  {
    name: 'the claim is being deleted',
    of: ({ claims }) => change(claims, GOING),
    ...{ bad: 'PersistentVolumeClaim', says: 'being deleted since' },
  },
  {
    name: 'the claim is not bound',
    of: ({ claims }) => change(claims, { status: { phase: 'Lost' } }),
    ...{ bad: 'PersistentVolumeClaim', says: 'Lost, ' },
  },
  {
    name: 'the PersistentVolume has failed',
    of: ({ volumes }) => change(volumes, { status: { phase: 'Failed' } }),
    ...{ bad: 'PersistentVolume', says: 'Failed; ' },
  },
  {
    name: 'the PersistentVolume is being deleted',
    of: ({ volumes }) => change(volumes, GOING),
    ...{ bad: 'PersistentVolume', says: 'being deleted' },
  },
  {
    name: 'the attachment failed',
    of: ({ attachments }) => change(attachments, { status: { attached: false, attachError: { message: 'no disk' } } }),
    ...{ bad: 'VolumeAttachment', says: 'not attached; no disk' },
  },
  {
    name: 'the attachment is being deleted',
    of: ({ attachments }) => change(attachments, GOING),
    ...{ bad: 'VolumeAttachment', says: 'attached; being deleted since' },
  },
  { name: 'the Node does not list it', of: ({ attached }) => void attached.splice(0), says: 'does not list it' },
  { name: 'no pod wants it', unwanted: true, bad: 'VolumeAttachment', says: 'no pod there wants it' },
])('$name', ({ of, unwanted, bad, says }) => {
  const built = unwanted ? node().persistentVolume('pv-1', { inUse: false }) : node().served(uid(2), 'web-0')
  of?.(built)
  for (const what of ['pvc/default/claim-pv-1', 'pv/pv-1', `va/${built.attachments[0]?.metadata.name}`]) {
    const { chain } = told(built, what)
    const links = chain.filter(({ kind }) => OBJECTS.includes(kind))
    expect(links).toHaveLength(OBJECTS.length)
    expect(links.map((link) => link.says).join('\n')).toContain(says)
    expect(links.flatMap(({ kind, state }) => (state === 'bad' ? kind : []))).toEqual(bad === undefined ? [] : [bad])
  }
})

it('what a volume was called before is found: a PersistentVolume that its attachment still names, a claim that it still names', () => {
  const anew = node().persistentVolume('pv-new', { handle: 'h', attached: false, inUse: true })
  anew.attach('pv-old', 'h').staged('h', '7:1')
  expect(told(anew, 'pv/pv-old').verdict.code).toBe('AttachmentUnclear')
  const other = node().served(uid(2), 'web-0')
  change(other.volumes, { spec: { claimRef: { namespace: 'default', name: 'claim-old', uid: 'another' } } })
  const { subject, verdict } = told(other, 'pvc/default/claim-old')
  expect(subject).toEqual({ kind: 'PersistentVolumeClaim', name: 'default/claim-old' })
  expect(verdict.code).toBe('VolumeUnresolved')
})
