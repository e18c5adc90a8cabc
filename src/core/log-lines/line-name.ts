/** Something that a line names. */

export const NAME_KINDS = [
  'podVolume',
  'volume',
  'attachment',
  'path',
  'device',
  'persistentVolume',
  'claim',
  'podUid',
  'pod',
  'driver',
  'node',
  'configMap',
  'secret',
] as const

/** podVolume: what a pod calls it, or its directory there; volume: its unique name. */
export type NameKind = (typeof NAME_KINDS)[number]

export interface LineName {
  readonly kind: NameKind
  readonly name: string
  /** Of a podVolume: UIDs and names of the pods that the line names. One of them has the volume. */
  readonly pods?: readonly string[]
}
