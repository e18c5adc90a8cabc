/** The interface that an iSCSI volume is logged in to through (P74). */

import { StepFailed } from '../../errors/operation-error.ts'
import type { Undo } from '../../errors/undo.ts'
import type { IscsiTarget } from '../../names/iscsi-target.ts'
import { firstLineOf } from '../operation/step-command.ts'
import type { StepContext } from '../operation/step-context.ts'
import { takeBack } from '../operation/take-back.ts'
import { deleteIface } from './iscsi-step.ts'
import { iscsiadm, SESSION_EXISTS } from './iscsiadm.ts'

/**
 * Is the interface there; where the volume has an initiator's name of its own, it is cloned under the volume's name.
 *
 * @throws StepFailed LoginFailed
 */
export async function prepareIface(target: IscsiTarget, run: StepContext): Promise<readonly Undo[]> {
  const { initIface, iface, initiatorName } = target
  const shown = await iscsiadm(['-m', 'iface', '-I', initIface, '-o', 'show'], run)
  if (shown.status !== 0) throw ifaceFailed(`iSCSI interface ${initIface} could not be read`, firstLineOf(shown))
  if (iface === initIface) return []
  const settings = new Map([...settingsOf(shown.stdout, initIface), ['iface.initiatorname', initiatorName]])
  const made = await iscsiadm(['-m', 'iface', '-I', iface, '-o', 'new'], run)
  if (made.status === SESSION_EXISTS) return []
  if (made.status !== 0) throw ifaceFailed(`iSCSI interface ${iface} could not be made`, firstLineOf(made))
  const undo: Undo = {
    what: `iSCSI interface ${iface}`,
    back: async () => {
      const stays = await deleteIface(iface, run)
      if (stays !== undefined) throw new Error(stays)
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

/** Its name is the one thing that a clone does not take over. @throws StepFailed LoginFailed */
function settingsOf(shown: string, iface: string): [string, string][] {
  return shown.split('\n').flatMap((line): [string, string][] => {
    if (!line.startsWith('iface.') || line.includes('<empty>')) return []
    const [name = '', equals, value = '', ...more] = line.trim().split(/\s+/)
    if (equals !== '=' || value === '' || value.startsWith('-') || more.length > 0)
      throw ifaceFailed(`iSCSI interface ${iface} has a setting that cannot be taken over`, line.trim())
    return name === 'iface.iscsi_ifacename' ? [] : [[name, value]]
  })
}

function ifaceFailed(what: string, words: string): StepFailed {
  return new StepFailed('LoginFailed', `${what}: ${words}`, {
    hint: 'See iscsiadm -m iface, and whether iscsid runs; then plan again.',
  })
}
