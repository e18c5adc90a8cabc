/** Fills a configMap, secret, downwardAPI or projected volume, or updates its content (P46-P56; S23). */
import { posix } from 'node:path'
import { contentBytes } from '../../desired/content-bytes.ts'
import { nestedMountPoints } from '../../desired/nested-mount-points.ts'
import { isNoContent } from '../../desired/payload-entries.ts'
import { errorMessage } from '../../errors/errors.ts'
import { StepFailed } from '../../errors/operation-error.ts'
import type { Undo } from '../../errors/undo.ts'
import { diskFailure } from '../../files/disk-failure.ts'
import { placeOf } from '../../mountinfo/linked-mounts.ts'
import { containingMount } from '../../mountinfo/location.ts'
import type { MountInfo } from '../../mountinfo/mount-table.ts'
import type { Step } from '../../plan/plan.ts'
import { contentObstacle } from '../../plugins/content-obstacle.ts'
import { pluginNamed } from '../../plugins/registry.ts'
import { describeMount } from '../operation/expected-mounts.ts'
import { makeDirectory } from '../operation/make-directory.ts'
import type { StepContext } from '../operation/step-context.ts'
import { takeBack } from '../operation/take-back.ts'
import { fetchContent } from './fetch-content.ts'

export async function writeContent({ target }: Step, run: StepContext): Promise<readonly Undo[]> {
  const { wanted } = run.bringUp
  const source = wanted?.source
  if (wanted === undefined || source === undefined)
    throw new StepFailed('NoLongerWanted', `the content of ${target} is not known`, { hint: 'Plan again.' })
  const files = contentBytes(source, await fetchContent(wanted, run.context.cluster))
  if (isNoContent(files)) {
    const { code, message, hint } = contentObstacle(wanted, files)
    throw new StepFailed(code, message, hint === undefined ? {} : { hint })
  }
  const directory = posix.dirname(target)
  const { id: mountId } = mountOf(directory, pluginNamed(wanted.plugin).mountsOver(wanted), run)
  return run.host.writeAtomically(placeOf(run.around.table, directory), {
    mountId,
    files,
    nested: nestedOf(wanted),
    fsGroup: wanted.pod.spec.securityContext?.fsGroup,
    say: run.say,
  })
}

function nestedOf({ pod, podVolumeNames }: NonNullable<StepContext['bringUp']['wanted']>): string[] {
  try {
    return podVolumeNames.flatMap((name) => nestedMountPoints(name, pod))
  } catch (error) {
    throw new StepFailed('InvalidVolume', errorMessage(error), { hint: "Correct the pod's volumeMounts." })
  }
}

/** Secrets are written only to a tmpfs (P22). Content on disk is written only if nothing is mounted there. */
function mountOf(directory: string, inMemory: boolean, { around }: StepContext): MountInfo {
  const top = around.table.top(directory)
  const mount = containingMount(around.table, directory)
  if (mount !== undefined && (inMemory ? top?.fsType === 'tmpfs' : top === undefined)) return mount
  const found = top === undefined ? 'nothing is mounted there' : `${describeMount(top)} is there`
  throw new StepFailed('ForeignMount', `${directory}: ${found}, but ${inMemory ? 'a tmpfs' : 'no mount'} is expected`, {
    hint: 'Plan again, and look at what has changed.',
  })
}

/** Writes the empty file "ready", which marks an emptyDir as set up (P21). */
export async function writeMarker(step: Step, run: StepContext): Promise<readonly Undo[]> {
  const directories = makeDirectory({ op: 'mkdir', target: posix.dirname(step.target) }, run)
  if (run.host.lstat(step.target)?.type === 'file') return directories
  try {
    run.host.createFile(step.target, 0o644)
  } catch (error) {
    const hint = 'Look at what is there, then plan again.'
    throw await takeBack(
      directories,
      diskFailure('WriteFailed', `${step.target} could not be written`, error, hint),
      run,
    )
  }
  return [...directories, { what: step.target, back: () => run.host.unlink(step.target) }]
}
