/** Which CSI volume something on this node is of, and what shows it (S17). */

export interface CsiIdentity {
  readonly driver: string
  readonly handle: string
  readonly from: string
}

export type Identified = { readonly identity: CsiIdentity } | { readonly unconfirmed: string; readonly hint: string }
