/**
 * File systems that the kernel made read-only after an error, under pods that write. Everything else about the volume is
 * unchanged: mounted, attached, its directories in place; only the superblock's options show the error.
 */

import { isOnDisk } from '../../linux/mount-table.ts'
import { advice, commandLine, PIPE } from '../../messages/command.ts'
import { said } from '../../messages/findings.ts'
import { aboutWanted, type PlanContext, podNameOf } from '../../rules/context.ts'
import { readOnlyPlace, whyReadOnly } from '../../rules/foreign-mounts.ts'
import { podPathOf, type VolumeToMount } from '../../volumes/desired-state.ts'
import { mountOptions } from '../../volumes/mount-options.ts'
import { allContainers } from '../../volumes/pods.ts'

/** In a PersistentVolume's mount options; some FUSE drivers write it in full. */
const READ_ONLY_OPTIONS: ReadonlySet<string> = new Set(['ro', 'read-only', 'readonly'])

export function reportReadOnly(context: PlanContext): void {
  const { inputs, desired, findings } = context
  const reported = new Set<string>()
  for (const volume of desired.volumes) {
    const { mode, podUid, specName } = volume
    const mount = mode === 'Filesystem' ? inputs.top(podPathOf(volume)) : undefined
    const why = mount && whyReadOnly(mount)
    if (mount === undefined || why === undefined || !asksToWrite(volume)) continue
    const { source, fsType, superOptions, dev } = mount
    if (reported.has(`${podUid} ${dev}`)) continue
    reported.add(`${podUid} ${dev}`)
    const path = inputs.absolute(podPathOf(volume))
    // A server or daemon may make its file system read-only on purpose.
    const isDisk = isOnDisk(mount)
    const hint = isDisk
      ? advice`Look for the error (${commandLine('dmesg', PIPE, 'grep', source.slice('/dev/'.length))}). Then delete every pod that uses the file system, so that it is unmounted everywhere, and check it (${commandLine('fsck', source)}) before it is mounted again.`
      : 'Read the log of the server or daemon of this file system; if read-only is intended, set readOnly in the pod, or ro in mountOptions.'
    const about = aboutWanted(context, volume, path)
    findings.problem(
      isDisk ? 'error' : 'warning',
      said('ReadOnlyFileSystem.volume', {
        fsType,
        specName,
        path,
        source: isDisk ? source : `${dev} ${source}`,
        option: why,
        superOptions: superOptions.join(','),
        pod: podNameOf(context, podUid),
        cause: isDisk ? ': the kernel makes a file system read-only after an error' : '',
      }),
      about,
      hint,
    )
  }
  // The kubelet's own disk, where every emptyDir is.
  const { rootDir } = inputs
  const root = readOnlyPlace(inputs, rootDir)
  if (root !== undefined) findings.problem('error', root, { path: rootDir, subject: { path: rootDir } }, root.hint)
}

/** True if a container mounts the volume for writing, and nothing in the volume's source says read-only. */
function asksToWrite(volume: VolumeToMount): boolean {
  const { readOnly, persistentVolume, source, pod, podVolumeNames } = volume
  if (readOnly || mountOptions(volume).some((option) => READ_ONLY_OPTIONS.has(option))) return false
  const modes = persistentVolume?.spec.accessModes ?? []
  if (modes.length > 0 && modes.every((mode) => mode === 'ReadOnlyMany')) return false
  if (isReadOnlySource(volume)) return false
  if (source?.image !== undefined || source?.hostPath !== undefined) return false
  return allContainers(pod).some(({ volumeMounts }) =>
    volumeMounts?.some(({ name, readOnly: only }) => podVolumeNames.includes(name) && only !== true),
  )
}

/** The flag of the source itself, which some drivers respect and the kubelet does not. */
function isReadOnlySource(volume: VolumeToMount): boolean {
  const spec = volume.persistentVolume?.spec ?? {}
  return [...Object.values(spec), ...Object.values(volume.source ?? {})].some(
    (each: unknown) => (each as { readOnly?: unknown } | null)?.readOnly === true,
  )
}
