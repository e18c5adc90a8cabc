/** S3, S12, S13, S20: what a directory holds that may be somebody's data. */

import { count } from '../base/text.ts'
import { bringBack, deadWords } from '../linux/mount-table.ts'
import { advice, volctl } from '../messages/command.ts'
import { said, saidOfAny } from '../messages/findings.ts'
import type { Obstacle } from '../volumes/finding.ts'
import { lostAtStart } from './context.ts'
import type { Judge } from './rule.ts'

/** No path leads past a dead mount on an emptyDir, so it goes only when a person says so (O41). */
export const deadMount: Judge = ({ covered, context: { inputs, options } }) => {
  if (covered === undefined) return undefined
  const { name, dir } = covered
  const path = inputs.absolute(dir)
  if (options.lazy.includes(path) || options.forceUnmount.includes(path)) return undefined
  const error = inputs.deadError(dir)
  return {
    ...said('DeadMount.emptyDir', { name, error: deadWords(error ?? '') }),
    hint: advice`${bringBack(inputs.top(dir), error)}, or take it off: ${volctl('plan', ...(options.orphans ? ['--orphans'] : []), '--lazy', path)}`,
  }
}

/** A file that the kubelet did not make is never deleted. */
export const strayFile: Judge = ({ stray, context }) => {
  if (stray === undefined) return undefined
  const { entry, target, why = 'was not created by the kubelet', isLost = false } = stray
  const isUnder = target !== undefined && entry.path.startsWith(`${target}/`)
  const path = context.inputs.absolute(entry.path)
  const found: Obstacle = saidOfAny(isUnder ? 'DataUnderMountPoint' : 'UnexpectedFile', 'stray', { path, why })
  return isLost ? lostAtStart(context, found) : found
}

/** A driver might delete files on or below a target that is not mounted, so it is not called (O12). */
export const uncoveredFiles: Judge = ({ uncovered, context: { inputs } }) => {
  const [first, ...others] = uncovered?.files ?? []
  if (uncovered === undefined || first === undefined) return undefined
  return said('DataUnderMountPoint.files', {
    target: inputs.absolute(uncovered.target),
    files: count(others.length + 1, 'file'),
    path: inputs.absolute(first.path),
  })
}

/** Data on disk or in memory (a tmpfs ends with its last mount, which may be a sub-path's) goes only with --orphans. */
export const losesData: Judge = ({ data, context: { inputs, options } }) => {
  if (data === undefined || options.orphans) return undefined
  const { name, memory, unread, files = [] } = data
  if (unread !== undefined)
    return said('DeletesData.unread', { path: inputs.absolute(unread.path), error: unread.error })
  if (memory.length > 0) return said('DeletesData.memory', { fsType: memory.at(-1)?.fsType, name })
  if (files.length === 0) return undefined
  const bytes = files.reduce((sum, { size = 0 }) => sum + size, 0)
  return said('DeletesData.files', { name, files: count(files.length, 'file'), bytes })
}

/** It is unknown whose unseen files are, and --orphans is only for files of an emptyDir. */
export const unread: Judge = ({ unread: found, context: { inputs } }) => {
  if (found === undefined || 'code' in found) return found
  return said('NodeUnreadable.incomplete', { path: inputs.absolute(found.path), error: found.error })
}
