/** What pods want, by what it is looked up by: each index is made with the first question. */
import type { DesiredState, VolumeToMount } from '../desired/desired-state.ts'
import type { VolumeSpec } from '../desired/volume-spec.ts'
import { csiGlobalDir } from '../names/volume-names.ts'
import type { PodUid } from '../plan/subject.ts'

export class Wanted {
  readonly #desired: DesiredState
  #byUniqueName: ReadonlyMap<string, readonly VolumeToMount[]> | undefined
  #byPlugin: ReadonlyMap<string, readonly WantedSpec[]> | undefined
  #specs: ReadonlySet<string> | undefined
  #staged: ReadonlySet<string> | undefined

  constructor(desired: DesiredState) {
    this.#desired = desired
  }

  /** Of all pods that want it. */
  of(uniqueName: string): readonly VolumeToMount[] {
    this.#byUniqueName ??= Map.groupBy(this.#desired.volumes, (volume) => volume.uniqueName)
    return this.#byUniqueName.get(uniqueName) ?? []
  }

  /** Of one plugin, including volumes that cannot be used as their pods ask (S4). */
  ofPlugin(plugin: string): readonly WantedSpec[] {
    this.#byPlugin ??= Map.groupBy([...this.#desired.volumes, ...this.#known()], (volume) => volume.plugin)
    return this.#byPlugin.get(plugin) ?? []
  }

  /** Has a pod a volume of this plugin and spec name among those. */
  has(podUid: PodUid, plugin: string, specName: string): boolean {
    this.#specs ??= new Set([...this.#desired.volumes, ...this.#known()].map(keyOf))
    return this.#specs.has(keyOf({ podUid, plugin, specName }))
  }

  /** Is this the staging directory of a wanted CSI volume; relative to the root directory. */
  stagesIn(directory: string): boolean {
    this.#staged ??= new Set(
      this.#desired.volumes.flatMap(({ driver, handle }) =>
        driver !== undefined && handle !== undefined ? csiGlobalDir(driver, handle) : [],
      ),
    )
    return this.#staged.has(directory)
  }

  #known(): WantedSpec[] {
    return this.#desired.unresolved.flatMap(({ podUid, mayBe }) =>
      mayBe.of === 'itself' ? [{ ...mayBe.volume, podUid }] : [],
    )
  }
}

function keyOf({ podUid, plugin, specName }: Pick<WantedSpec, 'podUid' | 'plugin' | 'specName'>): string {
  return `${podUid} ${plugin} ${specName}`
}

/** A volume that a pod wants, whether or not it can be used as the pod asks. */
export interface WantedSpec extends VolumeSpec {
  readonly podUid: PodUid
}
