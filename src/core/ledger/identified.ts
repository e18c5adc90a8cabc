/** Which CSI volume a directory, a block map or an attachment of this node belongs to, and what proves it (S17). */
import { csiUniqueName } from '../names/volume-names.ts'

export interface CsiIdentity {
  readonly driver: string
  readonly handle: string
  readonly from: string
}

/** Undefined: the volume could not be identified, or is no CSI volume. */
export function identityOf(identified: Identified | undefined): CsiIdentity | undefined {
  return identified !== undefined && 'identity' in identified ? identified.identity : undefined
}

export function uniqueNameOf(identity: CsiIdentity | undefined): string | undefined {
  return identity && csiUniqueName(identity.driver, identity.handle)
}

export type Identified = { readonly identity: CsiIdentity } | { readonly unconfirmed: string; readonly hint: string }
