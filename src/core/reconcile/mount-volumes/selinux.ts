/** SELinux labels of wanted volumes, and what keeps a volume from being mounted with its own (C68, R304, R312, R824). */

import { said } from '../../messages/findings.ts'
import { aboutWanted, type PlanContext, podNameOf, startKubelet } from '../../rules/context.ts'
import { stagedStateFile } from '../../volumes/csi.ts'
import { csiPlaces, podPathOf, type VolumeToMount } from '../../volumes/desired-state.ts'
import type { Obstacle } from '../../volumes/finding.ts'
import { mountOptions } from '../../volumes/mount-options.ts'
import type { SetUpContext } from '../../volumes/plugin.ts'
import { evidenceOf, pluginNamed } from '../../volumes/registry.ts'
import { wantedLabel } from '../../volumes/selinux-label.ts'
import { CSI_PLUGIN } from '../../volumes/volume-names.ts'

/** The facts by which a plugin decides how to set up this volume. */
export function setUpContext(context: PlanContext, volume: VolumeToMount): SetUpContext {
  const { inputs, options } = context
  const wanted = wantedLabel(inputs, volume)
  // Where the label is unclear, `labelObstacle` says so.
  return { inputs, options, label: ('label' in wanted && wanted.label) || undefined }
}

/** Why the volume cannot be mounted with its label: a kubelet waits for that as well, unless it knows the label better. */
export function labelObstacle(context: PlanContext, volume: VolumeToMount): Obstacle | undefined {
  const wanted = wantedLabel(context.inputs, volume)
  if ('unclear' in wanted) {
    return {
      ...said('LeftToKubelet.label', { specName: volume.specName, unclear: wanted.unclear }),
      hint: startKubelet(context),
    }
  }
  // Where another pod has it, the volume is not unstaged whatever happens to this one.
  const first = firstOf(context, volume)
  if (first !== undefined && first.label !== wanted.label) {
    return said('SELinuxMismatch.otherPod', {
      pod: podNameOf(context, first.podUid),
      specName: volume.specName,
      label: labelText(first.label),
      wanted: labelText(wanted.label),
    })
  }
  const stateFile = stagedStateFile(context.inputs, volume)
  const staged = stateFile && recordAt(context, stateFile)?.label
  if (staged === undefined || staged === wanted.label) return undefined
  return {
    ...said('SELinuxMismatch.staged', {
      specName: volume.specName,
      label: labelText(staged),
      wanted: labelText(wanted.label),
    }),
    hint: 'Delete the pod and apply, so that the volume is unstaged; then create the pod again.',
  }
}

/**
 * R312: if several pods share a volume, the first one's label counts, which a kubelet knows from memory. Here that is a pod
 * that has the volume, otherwise the first of the list; a kubelet ignores a pod whose label is unclear.
 *
 * @returns undefined if this pod is the first
 */
function firstOf(context: PlanContext, volume: VolumeToMount): { podUid: string; label: string } | undefined {
  const { inputs, ledger } = context
  const all = ledger.row(volume.uniqueName)?.wanted ?? []
  if (all.length < 2 || inputs.snapshot.selinux?.enabled !== true) return undefined
  const having = all.filter((each) => evidenceOf(inputs, each).state !== 'notMounted')
  for (const each of [...having, ...all]) {
    if (each.podUid === volume.podUid) return undefined
    const wanted = wantedLabel(inputs, each)
    if ('label' in wanted) return { podUid: each.podUid, label: wanted.label }
  }
  return undefined
}

/** R824: a running pod keeps its volume; the kubelet would unmount it. */
export function reportLabel(context: PlanContext, volume: VolumeToMount): void {
  if (context.inputs.snapshot.selinux?.enabled !== true) return
  const wanted = wantedLabel(context.inputs, volume)
  const there = volume.plugin === CSI_PLUGIN ? recordAt(context, csiPlaces(volume).stateFile) : mountOf(context, volume)
  if (there === undefined || 'unclear' in wanted || there.label === wanted.label) return
  const path = context.inputs.absolute(there.path)
  const hint =
    'A kubelet would unmount the volume under the running pod: delete the pod at a convenient time; the new pod gets the right label.'
  context.findings.problem(
    'warning',
    said('SELinuxMismatch.mounted', { path, label: labelText(there.label), wanted: labelText(wanted.label) }),
    aboutWanted(context, volume, path),
    hint,
  )
}

/** A label and where it was found; the path is relative to the root directory. */
interface FoundLabel {
  readonly path: string
  readonly label: string
}

function recordAt({ inputs }: PlanContext, path: string): FoundLabel | undefined {
  const data = inputs.tree.stateFile(path)?.data
  return data && { path, label: data.seLinuxMountContext ?? '' }
}

/** For a plugin without records: the mount's option (R808, P135). An option of the PersistentVolume's own proves nothing. */
function mountOf({ inputs }: PlanContext, volume: VolumeToMount): FoundLabel | undefined {
  if (pluginNamed(volume.plugin).takesLabel === undefined) return undefined
  if (mountOptions(volume).some((option) => option.startsWith(CONTEXT))) return undefined
  const path = podPathOf(volume)
  const top = inputs.top(path)
  if (top === undefined) return undefined
  const option = top.superOptions.find((each) => each.startsWith(CONTEXT)) ?? ''
  return { path, label: option.slice(CONTEXT.length).replaceAll('"', '') }
}

const CONTEXT = 'context='

function labelText(label: string): string {
  return label === '' ? 'without an SELinux label' : `with the SELinux label ${label}`
}
