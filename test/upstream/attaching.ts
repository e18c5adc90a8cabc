/** The attach side (csi.md 11.3): volctl makes no attachments, waits for them, and deletes them by S21. */
import { by, byAll, not, type Table } from './verdict.ts'

const ATTACHES = not(
  'the attach/detach controller makes VolumeAttachments; volctl never does in node scope (contract, AttachVolume)',
)
const ASKS = not(
  'a question of the attach/detach controller about many volumes; volctl looks at each attachment when it needs it',
)
const FOUND = by('populator/volume-plugins', 'R010, R019, C31: plugin and unique name of a PersistentVolume')
const INLINE = by(
  'populator/volume-plugins',
  'R008, C32: an inline CSI volume has a made-up handle, and attaches under no CSIDriver',
)
const NO_SOURCE = by('populator/populate', 'P3 no plugin')
const REQUIRED = byAll(by('populator/volume-plugins', 'attachRequired', 'attachRequired unset', 'no CSIDriver'))
const UNATTACHED = by('reconcile/safety', 'not attached', '%s waits')
const ALLOCATABLE = not('the count of attachable volumes is for the scheduler; nothing of mounting reads it (C46, C69)')

export const ATTACHING: Table = {
  'pkg/volume/csi/csi_attacher_test.go': {
    TestAttacherAttach: {
      'attached under the computed name': by('reconcile/safety', 'is planned where the volume is attached and in use'),
      'of another handle, driver or node: not seen': by('desired/attached-elsewhere', 'attachment of %s'),
      'attachError: not attached': by('apply/csi-bring-up', 'an attachment with an error and without "attached"'),
      'the making of it': ATTACHES,
    },
    TestAttacherAttachWithInline: { 'PersistentVolume, inline, nothing, attachError': ATTACHES },
    TestAttacherWithCSIDriver: {
      'attachRequired false: none': by('populator/volume-plugins', 'attachRequired: false'),
      'true, unset, no CSIDriver: one': REQUIRED,
    },
    TestAttacherWaitForVolumeAttachmentWithCSIDriver: {
      'not attachable: nothing to wait for': by(
        'apply/csi-bring-up',
        'no device path is needed: a driver of which nothing is attached gets no publish context (C38)',
      ),
      'attachable, and no attachment': byAll(UNATTACHED, by('apply/csi-bring-up', 'no attachment any more')),
    },
    TestAttacherWaitForAttach: {
      attached: by(
        'apply/csi-bring-up',
        'is one call with the PersistentVolume’s own options, and what the attachment says',
      ),
      inline: INLINE,
      'no attachment': by('apply/csi-bring-up', 'no attachment any more'),
      'no source': NO_SOURCE,
    },
    TestAttacherWaitForAttachWithInline: { 'attached, inline, none': byAll(INLINE, UNATTACHED) },
    TestAttacherVolumesAreAttached: { 'mixtures of attached and not': ASKS },
    TestAttacherVolumesAreAttachedWithInline: { inline: ASKS },
    TestAttacherDetach: {
      'deleted, and gone': by('api/volume-attachments', 'is done when nobody holds it'),
      'not there: success': byAll(
        by('api/volume-attachments', 'whose answer was lost is looked at, not repeated'),
        by('apply/detach/detach', 'is done where the attachment is gone already'),
      ),
      'forbidden: failure, and it is still there': by(
        'api/volume-attachments',
        'is forbidden to a node and to the plan role',
      ),
    },
  },
  'pkg/volume/csi/csi_plugin_test.go': {
    TestPluginCanAttach: {
      inline: INLINE,
      'attachRequired true': by('populator/volume-plugins', 'attachRequired'),
      'no source': NO_SOURCE,
    },
    TestPluginFindAttachablePlugin: { inline: INLINE, PersistentVolume: REQUIRED, 'no source': NO_SOURCE },
    TestPluginCanDeviceMount: { inline: INLINE, PersistentVolume: FOUND, 'no source': NO_SOURCE },
    TestPluginFindDeviceMountablePluginBySpec: { inline: INLINE, PersistentVolume: FOUND, 'no source': NO_SOURCE },
    TestIsResourceExhaustError: { 'codes of attachError': ALLOCATABLE },
    TestGetNodeAllocatableUpdatePeriod: { 'none, unset, 60': ALLOCATABLE },
  },
}
