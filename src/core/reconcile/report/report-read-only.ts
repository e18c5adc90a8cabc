/**
 * File systems that the kernel made read-only after an error, under pods that write. Everything else of the volume is as it was:
 * mounted, attached, its directories in place; only the super block's options tell.
 */
import type { VolumeToMount } from '../../desired/desired-state.ts'
import { allContainers } from '../../desired/pods.ts'
import { isPlainWord } from '../../lang/plain-word.ts'
import type { MountInfo } from '../../mountinfo/mount-table.ts'
import type { Findings } from '../../plan/draft.ts'
import { podName } from '../../plan/pod-name.ts'
import { mountOptions } from '../../plugins/mount-options.ts'
import { pluginNamed } from '../../plugins/registry.ts'
import { type PlanContext, podRefOf } from '../context/context.ts'

/** They are never anything else. */
const READ_ONLY_TYPES: ReadonlySet<string> = new Set(['iso9660', 'squashfs', 'erofs', 'cramfs', 'romfs'])

/** In a PersistentVolume's mount options; some FUSE drivers spell it out. */
const READ_ONLY_OPTIONS: ReadonlySet<string> = new Set(['ro', 'read-only', 'readonly'])

export function reportReadOnly(context: PlanContext, findings: Findings): void {
  const said = new Set<string>()
  for (const volume of context.desired.volumes) {
    if (volume.mode !== 'Filesystem' || context.classes.of(volume.podUid) === undefined || !asksToWrite(volume))
      continue
    const plugin = pluginNamed(volume.plugin)
    const path = plugin.podPath(volume)
    const mount = context.inputs.top(path)
    const why = mount === undefined ? undefined : whyReadOnly(mount)
    if (mount === undefined || why === undefined || said.has(`${volume.podUid} ${mount.dev}`)) continue
    said.add(`${volume.podUid} ${mount.dev}`)
    report(context, findings, volume, context.inputs.absolute(path), mount, why)
  }
  reportRoot(context, findings)
}

/** What shows that nothing can be written any more; undefined: nothing does. */
function whyReadOnly({ fsType, superOptions }: MountInfo): string | undefined {
  if (READ_ONLY_TYPES.has(fsType)) return undefined
  // ext4 of newer kernels keeps "rw", and says so in words of its own.
  return ['ro', 'emergency_ro', 'shutdown'].find((option) => superOptions.includes(option))
}

/** Does some container mount it to write, and does nothing in its source say that it is only read? */
function asksToWrite(volume: VolumeToMount): boolean {
  const { readOnly, persistentVolume, source, pod, podVolumeNames } = volume
  if (readOnly || mountOptions(volume, []).some((option) => READ_ONLY_OPTIONS.has(option))) return false
  const modes = persistentVolume?.spec.accessModes ?? []
  if (modes.length > 0 && modes.every((mode) => mode === 'ReadOnlyMany')) return false
  if (isReadOnlySource(volume)) return false
  if (source?.image !== undefined || source?.hostPath !== undefined) return false
  return allContainers(pod).some(({ volumeMounts }) =>
    volumeMounts?.some(({ name, readOnly: only }) => podVolumeNames.includes(name) && only !== true),
  )
}

/** The flag of the source itself, which some drivers heed where the kubelet does not. */
function isReadOnlySource(volume: VolumeToMount): boolean {
  const spec = volume.persistentVolume?.spec ?? {}
  return [...Object.values(spec), ...Object.values(volume.source ?? {})].some(
    (each: unknown) => (each as { readOnly?: unknown } | null)?.readOnly === true,
  )
}

function report(
  context: PlanContext,
  findings: Findings,
  volume: VolumeToMount,
  path: string,
  { dev, source, fsType, superOptions }: MountInfo,
  why: string,
): void {
  const pod = podName(podRefOf(context, volume.podUid))
  const onDisk = source.startsWith('/dev/') && isPlainWord(source)
  const seen = `the ${fsType} of ${volume.specName} on ${path} (${onDisk ? source : `${dev} ${source}`}) is read-only (${why} among its own options: ${superOptions.join(',')}), and pod ${pod} mounts it to write`
  const about = { pod: volume.podUid, volume: volume.specName, path }
  if (onDisk) {
    findings.problem(
      'error',
      'ReadOnlyFileSystem',
      `${seen}: the kernel turns a file system read-only after an error`,
      about,
      `Look for the error (dmesg | grep ${source.slice('/dev/'.length)}). Then end every pod that uses it, so that it is unmounted everywhere; check it (fsck ${source}) before it is mounted again.`,
    )
    return
  }
  // Of what a server or a daemon gives it may be meant so.
  findings.problem(
    'warning',
    'ReadOnlyFileSystem',
    seen,
    about,
    'Look in the log of what serves the file system; if it is meant so, say readOnly in the pod, or ro in mountOptions.',
  )
}

/** The kubelet's own disk, on which every emptyDir lies. */
function reportRoot({ inputs }: PlanContext, findings: Findings): void {
  const mount = mountOf(inputs, inputs.rootDir)
  const why = mount === undefined ? undefined : whyReadOnly(mount)
  if (mount === undefined || why === undefined) return
  findings.problem(
    'error',
    'ReadOnlyFileSystem',
    `the kubelet's root directory ${inputs.rootDir} lies on a file system that is read-only (${mount.source} on ${mount.mountPoint}, ${why} among its own options): nothing can be written for any pod, nor undone`,
    { path: inputs.rootDir },
    `Look for the error (dmesg), repair the disk, and mount it to write again (mount -o remount,rw ${mount.mountPoint}).`,
  )
}

/** The newest mount on the path, or on the nearest directory above. */
function mountOf({ mounts }: PlanContext['inputs'], path: string): MountInfo | undefined {
  for (let at = path; ; at = at.slice(0, at.lastIndexOf('/')) || '/') {
    const mount = mounts.top(at)
    if (mount !== undefined || at === '/') return mount
  }
}
