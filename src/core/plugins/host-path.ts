/** hostPath: the container gets the path itself; the kubelet only checks its type (P57-P59, O33). */
import type { ActualInputs } from '../actual/actual-inputs.ts'
import type { VolumeToMount } from '../desired/desired-state.ts'
import { sharedSourcesOf } from '../desired/shared-sources.ts'
import { defined } from '../lang/defined.ts'
import type { HostPath } from '../model/snapshot.ts'
import { notMounted, SATISFIED } from './evidence.ts'
import { perPodFacts, sharedSources, specNameOf } from './facts.ts'
import { judgeHostPath } from './host-path-type.ts'
import { mountOptionsObstacle } from './mount-options.ts'
import { PER_POD } from './per-pod.ts'
import type { MountEvidence, SetUp, VolumePlugin } from './plugin.ts'

const NAME = 'kubernetes.io/host-path'

export const hostPath: VolumePlugin = {
  ...PER_POD,
  name: NAME,
  source: 'hostPath',
  about: {
    tearDown: 'nothing is mounted; sub-path mounts of it are unmounted',
    setUp: 'the type of the path is checked as by the kubelet; the path is created if the type asks for that',
  },
  reconstructs: false,
  tearDown: 'nothing',
  refusesMountOptions: true,
  facts: (spec, context) =>
    sharedSources(spec).hostPath == null ? undefined : perPodFacts(NAME, specNameOf(spec), context),
  sourceText: ({ hostPath: source }) => (source == null ? undefined : `hostPath ${source.path}`),
  mountsOver: () => false,
  evidence,
  setUp: ({ inputs }, volume) => setUp(inputs, volume),
}

/** A path that was not looked at counts as good: a kubelet has checked it for every running pod. */
function evidence(inputs: ActualInputs, volume: VolumeToMount): MountEvidence {
  if (mountOptionsObstacle(volume) !== undefined)
    return notMounted('its PersistentVolume has mount options, which a hostPath cannot have')
  const verdict = verdictOn(inputs, volume)
  return verdict.state === 'good' ? SATISFIED : notMounted(verdict.why)
}

function setUp(inputs: ActualInputs, volume: VolumeToMount): SetUp {
  const { path, type } = sourceOf(volume)
  const verdict = verdictOn(inputs, volume)
  if (verdict.state !== 'bad')
    return { steps: [{ op: 'checkPath', target: path, ...defined({ detail: type || undefined }) }] }
  return {
    steps: [],
    blocked: {
      code: 'HostPathType',
      message: `hostPath ${path}: ${verdict.why}`,
      hint: verdict.hint,
    },
  }
}

function verdictOn(inputs: ActualInputs, volume: VolumeToMount): ReturnType<typeof judgeHostPath> {
  const { path, type } = sourceOf(volume)
  const found: HostPath | undefined = inputs.snapshot.hostPaths?.find((each) => each.path === path)
  return judgeHostPath(path, type, found)
}

function sourceOf(volume: VolumeToMount): { path: string; type: string } {
  const { path = '', type } = sharedSourcesOf(volume).hostPath ?? {}
  return { path, type: type ?? '' }
}
