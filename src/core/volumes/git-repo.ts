/** gitRepo: a plugin that Kubernetes has disabled; volumes that it left are still removed (P60). */
import { MOUNTED, notMounted } from './evidence.ts'
import { perPod } from './facts.ts'
import { readyMarker } from './paths.ts'
import type { VolumePlugin } from './plugin.ts'

const NAME = 'kubernetes.io/git-repo'

export const gitRepo: VolumePlugin = {
  ...perPod(NAME, 'gitRepo'),
  about: {
    tearDown: 'as an emptyDir on disk',
    setUp: 'never: Kubernetes has disabled the plugin',
  },
  reconstructs: true,
  tearDown: 'emptyDir',
  mountsOver: () => false,
  // A kubelet of an earlier version may have set the volume up, and the pod may still run.
  evidence: (inputs, { podUid, specName }) =>
    inputs.tree.has(readyMarker(podUid, specName, NAME)) ? MOUNTED : notMounted('its ready marker is missing'),
  setUp: () => ({
    steps: [],
    blocked: {
      code: 'PluginUnsupported',
      message: 'gitRepo volumes are disabled in this version of Kubernetes (GitRepoVolumeDriver)',
      hint: 'Clone the repository in an init container into an emptyDir instead.',
    },
  }),
}
