/** Which CSI volume a directory, a block map or an attachment of this node belongs to, and what proves it (S17). */

export interface CsiIdentity {
  readonly driver: string
  readonly handle: string
  readonly from: string
}

export type Identified = { readonly identity: CsiIdentity } | { readonly unconfirmed: string; readonly hint: string }
