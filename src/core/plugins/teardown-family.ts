/**
 * How volumes are torn down, as far as plans differ (R437, P22, P42).
 *
 * csi: by the driver; emptyDir: the content is data, deleted only with --orphans (S13); projected: the kubelet made the content;
 * mount: unmounted, by a driver if there is one, and removed when empty; nothing: the kubelet sets nothing up.
 */
export type TeardownFamily = 'csi' | 'emptyDir' | 'projected' | 'mount' | 'nothing'

/** Types that the kubelet mounts on a directory of these families; any other mount there is foreign. */
export function allowedFsTypes(family: TeardownFamily): readonly string[] | undefined {
  if (family === 'emptyDir') return ['tmpfs', 'hugetlbfs']
  return family === 'projected' ? ['tmpfs'] : undefined
}
