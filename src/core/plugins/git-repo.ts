/** gitRepo: a plugin that Kubernetes has switched off; what it left is still taken down (P60). */
import { MOUNTED, notMounted } from './evidence.ts'
import { inlineOf, perPodFacts } from './facts.ts'
import { podVolumeDir } from './paths.ts'
import type { VolumePlugin } from './plugin.ts'

const NAME = 'kubernetes.io/git-repo'

export const gitRepo: VolumePlugin = {
  name: NAME,
  about: {
    tearDown: 'as an emptyDir on disk',
    setUp: 'never: Kubernetes has switched the plugin off',
  },
  attachability: 'notAttachable',
  deviceMountable: false,
  block: false,
  refreshes: false,
  reconstructs: true,
  tearDown: 'emptyDir',
  facts: (spec, context) => {
    const inline = inlineOf(spec)
    return inline?.gitRepo == null ? undefined : perPodFacts(NAME, inline.name, context)
  },
  podPath: podVolumeDir,
  globalPath: () => undefined,
  mountsOver: () => false,
  // A kubelet of an earlier version may have set it up, and the pod may live on.
  evidence: (inputs, { podUid, specName }) =>
    inputs.tree.has(`pods/${podUid}/plugins/kubernetes.io~git-repo/${specName}/ready`)
      ? MOUNTED
      : notMounted('its ready marker is missing'),
  setUp: () => ({
    steps: [],
    blocked: {
      code: 'PluginRemoved',
      message: 'gitRepo volumes are switched off in this version of Kubernetes (GitRepoVolumeDriver)',
      hint: 'Clone the repository in an init container into an emptyDir instead.',
    },
  }),
}
