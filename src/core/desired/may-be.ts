/** Which volumes that have a device on this node a volume that could not be resolved may be (S4). */
import { CSI_PLUGIN, parseCsiUniqueName } from '../names/volume-names.ts'
import type { VolumeSpec } from './volume-spec.ts'

export type MayBe =
  /** None: it has no device, or is bound to nothing. */
  | { readonly of: 'none' }
  /** Exactly this one, which can't be used as the pod asks. */
  | { readonly of: 'itself'; readonly volume: VolumeSpec }
  /** Any of these. */
  | { readonly of: 'kinds'; readonly kinds: readonly DeviceKind[] }
  | { readonly of: 'any' }

export interface DeviceKind {
  /** Of a flexVolume its driver's name. */
  readonly plugin: string
  /** Of a CSI volume; undefined: any driver, or not known. */
  readonly driver?: string | undefined
}

export const NONE: MayBe = { of: 'none' }
export const ANY: MayBe = { of: 'any' }

/**
 * May it be one of these, which somebody is about to undo? What is known to be one volume alone counts as wanted under
 * its own name, and needs no question here.
 */
export function mayBeOne(mayBe: MayBe, { plugin, driver }: DeviceKind): boolean {
  if (mayBe.of === 'any') return true
  if (mayBe.of !== 'kinds') return false
  return mayBe.kinds.some(
    (kind) => kind.plugin === plugin && (driver === undefined || kind.driver === undefined || kind.driver === driver),
  )
}

/** The same by a volume's unique name. */
export function mayBeNamed(mayBe: MayBe, uniqueName: string): boolean {
  const csi = parseCsiUniqueName(uniqueName)
  if (csi !== undefined) return mayBeOne(mayBe, { plugin: CSI_PLUGIN, driver: csi.driver })
  if (mayBe.of !== 'kinds') return mayBe.of === 'any'
  return mayBe.kinds.some(({ plugin }) => uniqueName.startsWith(`${plugin}/`))
}
