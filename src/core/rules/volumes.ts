/** Which volume it is, who still shows it, and what can undo it (S16, S17, S24, S26). */

import { omitUndefined } from '../base/omit-undefined.ts'
import { registeredDriver, stages } from '../facts/actual/staged-volumes.ts'
import { whoMounted } from '../linux/mount-words.ts'
import type { Judge } from './rule.ts'

/** Nothing is undone under a name that may be another volume's. */
export const identityUnconfirmed: Judge = (_, { identified }) =>
  identified === undefined || 'identity' in identified
    ? undefined
    : { code: 'IdentityUnconfirmed', message: identified.unconfirmed, hint: identified.hint }

export const shownElsewhere: Judge = (_, { held }, { inputs }) => {
  if (held === undefined) return undefined
  const { by, target } = held
  const path = inputs.plain(by.mountPoint)
  return {
    code: 'HeldBy',
    message: `${path} shows the same file system as ${target} (${by.dev} ${by.root})`,
    hint: whoMounted(path),
  }
}

/** A mount or map that could not be identified may be of this volume, whose device is not known. */
export const mayBeMounted: Judge = (_, { unidentified }) => {
  const draft = unidentified?.()
  if (draft === undefined) return undefined
  return {
    code: 'IdentityUnconfirmed',
    message: `${draft.volume?.name}${draft.pod === undefined ? '' : ` of pod ${draft.pod.uid}`} is mounted or mapped on this node but could not be identified; it may be this volume`,
    ...omitUndefined({ hint: draft.blocked?.hint }),
  }
}

/** A driver, CSI or flexVolume, has to be called, and cannot be. */
export const driverUnavailable: Judge = (_, { call }) => (call?.kind === 'blocked' ? call.blocked : undefined)

/** No call of a driver that does not stage removes the mount, so the kernel must not, either (R444). */
export const stagedByNobody: Judge = (_, { call, device, mounts: [staged] = [] }, { inputs }) => {
  const driver = device?.identity?.driver
  if (call?.kind !== 'call' || driver === undefined || staged === undefined || staged.layers.length === 0)
    return undefined
  if (stages(registeredDriver(inputs, driver))) return undefined
  return {
    code: 'ForeignMount',
    message: `CSI driver ${driver} does not stage volumes, so the mount on ${staged.path} may not be its own`,
    hint: `Maybe an older version of the driver mounted it. ${whoMounted(staged.path)}`,
  }
}

/** An operation that has to come first is blocked. */
export const predecessor: Judge = ({ after }) => {
  const stuck = after.find((draft) => draft.blocked !== undefined)
  if (stuck === undefined) return undefined
  const what = stuck.volume?.name ?? stuck.paths[0] ?? ''
  return {
    code: 'Predecessor',
    message: `${stuck.kind} of ${what}${stuck.pod === undefined ? '' : ` of pod ${stuck.pod.uid}`} is blocked (${stuck.blocked?.code})`,
    hint: `Resolve ${stuck.kind} of ${what} first.`,
  }
}
