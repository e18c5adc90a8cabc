/** The CSI volume that an operation is about, as its pod wants it just now. */
import type { VolumeToMount } from '../../desired/desired-state.ts'
import type { CsiDriver } from '../../model/objects.ts'
import { StepFailed } from '../operation-error.ts'
import type { StepContext } from '../step-context.ts'

export interface WantedCsi {
  readonly volume: VolumeToMount
  readonly driver: string
  readonly handle: string
}

/** @throws StepFailed NoLongerWanted where the pod's volume is none of CSI, or of another driver than planned */
export function wantedCsi({ bringUp: { wanted }, operation }: StepContext): WantedCsi {
  const { driver, handle } = wanted ?? {}
  if (wanted === undefined || !driver || !handle || driver !== operation.volume?.driver) {
    throw new StepFailed(
      'NoLongerWanted',
      `${operation.volume?.name ?? 'the volume'} is not what was planned any more`,
      {
        hint: 'Plan again.',
      },
    )
  }
  return { volume: wanted, driver, handle }
}

const SELINUX = '/sys/fs/selinux/enforce'

/**
 * C68: such a volume is mounted with a label that only the host's policy tells; the kubelet would take one without it
 * for another mount.
 *
 * @throws StepFailed NotSupportedYet
 */
export function requireNoSelinux(run: StepContext, driver: CsiDriver | undefined): void {
  const { volume } = wantedCsi(run)
  const modes = volume.persistentVolume?.spec.accessModes ?? []
  const labelled = driver?.spec.seLinuxMount === true && modes.length === 1 && modes[0] === 'ReadWriteOncePod'
  if (!labelled || volume.mode === 'Block' || run.host.lstat(SELINUX) === undefined) return
  throw new StepFailed('NotSupportedYet', `${volume.specName} is to be mounted with an SELinux label on this node`, {
    hint: 'Start the kubelet: it mounts the volume.',
  })
}
