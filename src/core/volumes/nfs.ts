/** nfs: a mount for each pod (P62-P65). */
import { isIPv6 } from 'node:net'
import type { SharedSources } from '../kube/api/objects.ts'
import type { Step } from '../plan/plan.ts'
import { isReadOnlyFor, podVolumeDir, sharedSourcesOf, type VolumeToMount } from './desired-state.ts'
import { mountOptions } from './mount-options.ts'
import type { VolumePlugin } from './plugin.ts'

export const nfs: VolumePlugin<NonNullable<SharedSources['nfs']>> = {
  name: 'kubernetes.io/nfs',
  source: 'nfs',
  about: { tearDown: 'unmounted, even if its server is dead', setUp: 'mounted with its options' },
  reconstructs: true,
  tearDown: 'mount',
  sourceText: ({ server, path }) => `NFS ${server}:${path}`,
  setUp: (context, volume) => ({ steps: setUpSteps(volume, context.inputs.absolute(podVolumeDir(volume))) }),
}

function setUpSteps(volume: VolumeToMount, target: string): Step[] {
  const source = sharedSourcesOf(volume).nfs
  if (source == null) return []
  const options = mountOptions(volume, isReadOnlyFor(volume, source.readOnly) ? ['ro'] : [])
  const server = isIPv6(source.server) ? `[${source.server}]` : source.server
  return [
    { op: 'mkdir', target, mode: '0750' },
    {
      op: 'mount',
      target,
      source: `${server}:${source.path}`,
      fsType: 'nfs',
      options: options.length === 0 ? undefined : options,
    },
  ]
}
