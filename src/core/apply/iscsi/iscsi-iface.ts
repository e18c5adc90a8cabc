/** The iSCSI interface through which a volume's target is logged in to (P74). */

import { StepFailed } from '../../errors/operation-error.ts'
import type { Undo } from '../../errors/undo.ts'
import type { IscsiTarget } from '../../names/iscsi-target.ts'
import { firstLineOf } from '../operation/step-command.ts'
import type { StepContext } from '../operation/step-context.ts'
import { takeBack } from '../operation/take-back.ts'
import { deleteIface } from './iscsi-step.ts'
import { iscsiadm, SESSION_EXISTS } from './iscsiadm.ts'

/**
 * Checks that the interface exists. If the volume has an initiator name of its own, the interface is cloned for it.
 *
 * @throws StepFailed IscsiFailed
 */
export async function prepareIface(target: IscsiTarget, run: StepContext): Promise<readonly Undo[]> {
  const { initIface, iface, initiatorName } = target
  const shown = await iscsiadm(['-m', 'iface', '-I', initIface, '-o', 'show'], run)
  if (shown.status !== 0) throw ifaceFailed(`iSCSI interface ${initIface} could not be read`, firstLineOf(shown))
  if (iface === initIface) return []
  const settings = new Map([...settingsOf(shown.stdout, initIface), ['iface.initiatorname', initiatorName]])
  const made = await iscsiadm(['-m', 'iface', '-I', iface, '-o', 'new'], run)
  if (made.status === SESSION_EXISTS) return []
  if (made.status !== 0) throw ifaceFailed(`iSCSI interface ${iface} could not be created`, firstLineOf(made))
  const undo: Undo = {
    what: `iSCSI interface ${iface}`,
    back: async () => {
      const kept = await deleteIface(iface, run)
      if (kept !== undefined) throw new Error(kept)
    },
  }
  try {
    for (const [name, value] of [...settings].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
      const set = await iscsiadm(['-m', 'iface', '-I', iface, '-o', 'update', '-n', name, '-v', value], run)
      if (set.status !== 0) throw ifaceFailed(`${name} of iSCSI interface ${iface} could not be set`, firstLineOf(set))
    }
    return [undo]
  } catch (error) {
    throw await takeBack([undo], error, run)
  }
}

/** The settings to copy to a clone: all but the interface's name. @throws StepFailed IscsiFailed */
function settingsOf(shown: string, iface: string): [string, string][] {
  return shown.split('\n').flatMap((line): [string, string][] => {
    if (!line.startsWith('iface.') || line.includes('<empty>')) return []
    const [name = '', equals, value = '', ...more] = line.trim().split(/\s+/)
    if (equals !== '=' || value === '' || value.startsWith('-') || more.length > 0)
      throw ifaceFailed(`iSCSI interface ${iface} has a setting that cannot be copied`, line.trim())
    return name === 'iface.iscsi_ifacename' ? [] : [[name, value]]
  })
}

function ifaceFailed(what: string, why: string): StepFailed {
  return new StepFailed('IscsiFailed', `${what}: ${why}`, {
    hint: 'See iscsiadm -m iface, and check that iscsid runs; then plan again.',
  })
}
