/** nfs: a mount for each pod (P62-P65). */
import { isIPv6 } from 'node:net'
import type { SharedSources } from '../kube/api/objects.ts'
import { isReadOnlyFor, podVolumeDir, sharedSourcesOf } from './desired-state.ts'
import { mountOptions } from './mount-options.ts'
import type { VolumePlugin } from './plugin.ts'

export const nfs: VolumePlugin<NonNullable<SharedSources['nfs']>> = {
  name: 'kubernetes.io/nfs',
  source: 'nfs',
  about: { tearDown: 'unmounted, even if its server is dead', setUp: 'mounted with its options' },
  reconstructs: true,
  tearDown: 'mount',
  sourceText: ({ server, path }) => `NFS ${server}:${path}`,
  setUp: ({ inputs }, volume) => {
    const found = sharedSourcesOf(volume).nfs
    if (found == null) return { steps: [] }
    const target = inputs.absolute(podVolumeDir(volume))
    const given = mountOptions(volume, isReadOnlyFor(volume, found.readOnly) ? ['ro'] : [])
    const options = given.length === 0 ? undefined : given
    const source = `${isIPv6(found.server) ? `[${found.server}]` : found.server}:${found.path}`
    return {
      steps: [
        { op: 'mkdir', target, mode: '0750' },
        { op: 'mount', target, source, fsType: 'nfs', options },
      ],
    }
  },
}
