/**
 * A volume that could not be resolved may be one that has a device on this node: which (S4)?
 *
 * At most its source is known. A readable source shows which plugins and drivers the volume can belong to. A volume without a
 * readable source may be any.
 */

import { CSI_PLUGIN, parseCsiUniqueName } from '../names/volume-names.ts'
import type { VolumeSpec } from './volume-spec.ts'

export type MayBe =
  /** No volume on this node: this one has no device, or its claim is not bound. */
  | { readonly of: 'none' }
  /** Exactly this volume, which cannot be used as the pod asks. */
  | { readonly of: 'itself'; readonly volume: VolumeSpec }
  /** Any volume of these plugins and drivers. */
  | { readonly of: 'kinds'; readonly kinds: readonly DeviceKind[] }
  | { readonly of: 'any' }

export interface DeviceKind {
  /** For a flexVolume the driver's name. */
  readonly plugin: string
  /** For a CSI volume; undefined: any driver, or not known. */
  readonly driver?: string | undefined
}

export const NONE: MayBe = { of: 'none' }
export const ANY: MayBe = { of: 'any' }

/**
 * May the volume be one of this kind, whose device is about to be unstaged, unmapped or detached? A volume that is known
 * (`itself`) counts as wanted under its own name, and is not asked about here.
 */
export function mayBeOne(mayBe: MayBe, { plugin, driver }: DeviceKind): boolean {
  if (mayBe.of === 'any') return true
  if (mayBe.of !== 'kinds') return false
  return mayBe.kinds.some(
    (kind) => kind.plugin === plugin && (driver === undefined || kind.driver === undefined || kind.driver === driver),
  )
}

/** The same for a volume's unique name. */
export function mayBeNamed(mayBe: MayBe, uniqueName: string): boolean {
  const csi = parseCsiUniqueName(uniqueName)
  if (csi !== undefined) return mayBeOne(mayBe, { plugin: CSI_PLUGIN, driver: csi.driver })
  if (mayBe.of !== 'kinds') return mayBe.of === 'any'
  return mayBe.kinds.some(({ plugin }) => uniqueName.startsWith(`${plugin}/`))
}
