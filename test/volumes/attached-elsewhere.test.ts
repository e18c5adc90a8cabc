/** Which other nodes have a volume (S30): by the attachment's name alone, whatever its PersistentVolume says now (R007). */
import { expect, it } from 'vitest'
import type { VolumeAttachment } from '../../src/core/kube/api/objects.ts'
import { apiObjects } from '../../src/core/volumes/api-objects.ts'
import { attachmentName } from '../../src/core/volumes/volume-names.ts'
import { DRIVER, node } from '../helpers/node-builder.ts'

const VOLUME = { driver: DRIVER, handle: 'vol-1' }

const attachment = (
  source: VolumeAttachment['spec']['source'],
  { handle = 'vol-1', driver = DRIVER, nodeName = 'node-2', attached = true } = {},
): VolumeAttachment => ({
  metadata: { name: attachmentName(handle, driver, nodeName), uid: `${handle}-${nodeName}` },
  spec: { attacher: driver, nodeName, source },
  status: { attached },
})

it.each<[string, VolumeAttachment, string[]]>([
  ['a PersistentVolume that is gone', attachment({ persistentVolumeName: 'pv-deleted' }), ['node-2']],
  ['a PersistentVolume made anew with another handle', attachment({ persistentVolumeName: 'pv-2' }), ['node-2']],
  ['none, the volume is inline (R835)', attachment({}), ['node-2']],
  ['not attached', attachment({ persistentVolumeName: 'pv-1' }, { attached: false }), []],
  ['this node', attachment({ persistentVolumeName: 'pv-1' }, { nodeName: 'node-1' }), []],
  ['another handle', attachment({ persistentVolumeName: 'pv-2' }, { handle: 'vol-2' }), []],
  [
    'an older handle of this very PersistentVolume',
    attachment({ persistentVolumeName: 'pv-1' }, { handle: 'old' }),
    [],
  ],
  ['another driver', attachment({ persistentVolumeName: 'pv-1' }, { driver: 'other.test' }), []],
])('attachment of %s', (_name, made, want) => {
  const built = node().persistentVolume('pv-1', { handle: 'vol-1' }).persistentVolume('pv-2', { handle: 'vol-2' })
  built.attachments.push(made)
  expect(apiObjects(built.build().snapshot).attachedElsewhere(VOLUME)).toEqual(want)
})

it('nodes are sorted and named once', () => {
  const built = node().persistentVolume('pv-1', { handle: 'vol-1' })
  for (const nodeName of ['node-4', 'node-3', 'node-3']) built.attach('pv-1', 'vol-1', nodeName)
  expect(apiObjects(built.build().snapshot).attachedElsewhere(VOLUME)).toEqual(['node-3', 'node-4'])
})
