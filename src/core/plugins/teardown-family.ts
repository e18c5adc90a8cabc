/**
 * How volumes come down, as far as plans differ (R437, P22, P42).
 *
 * csi: by the driver; emptyDir: content is data, and goes with --orphans alone (S13); projected: content is the kubelet's
 * own; mount: unmounted, by a driver where there is one, and removed when empty; nothing: the kubelet sets nothing up.
 */
export type TeardownFamily = 'csi' | 'emptyDir' | 'projected' | 'mount' | 'nothing'

/** What the kubelet mounts on a directory of these families; anything else there is not the volume. */
export function allowedFsTypes(family: TeardownFamily): readonly string[] | undefined {
  if (family === 'emptyDir') return ['tmpfs', 'hugetlbfs']
  return family === 'projected' ? ['tmpfs'] : undefined
}
