/** What a finding belongs to. Set where the finding is created; never inferred later. */
import { about, maybe, named } from '../trust/json-schema.ts'
import { list, object, oneOf, optional, path, type Shape, text } from '../trust/shape.ts'

/**
 * One volume on one node. Of this node's plan: its unique name, else its plugin and its name within its pod, else its path. Of a
 * cluster's: the node before that. Stable for the same state.
 */
export type RowKey = string

/** The UID under which the pod's directory is. */
export type PodUid = string

/**
 * What an operation, a wait, a problem or a decision is about: a volume, or one pod's part of it; a pod as a whole; a CSI driver; a
 * VolumeAttachment or an absolute path that is no volume's; the node. Of a cluster's plan also a volume on each of several nodes, nodes,
 * an object of the API, one of its lists, or the API itself.
 */
export type Subject =
  | { readonly row: RowKey; readonly pod?: PodUid }
  | { readonly pod: PodUid }
  | { readonly driver: string }
  | { readonly attachment: string }
  | { readonly path: string }
  | { readonly node: true }
  | { readonly rows: readonly RowKey[] }
  | { readonly nodes: readonly string[] }
  /** namespace/name */
  | { readonly claim: string }
  | { readonly list: string }
  | { readonly api: true }

export const THE_NODE: Subject = { node: true }

export function rowOf(subject: Subject | undefined): RowKey | undefined {
  return subject !== undefined && 'row' in subject ? subject.row : undefined
}

/** Each volume on a node that it is about. */
export function rowsOf(subject: Subject | undefined): readonly RowKey[] {
  if (subject === undefined) return []
  return 'row' in subject ? [subject.row] : 'rows' in subject ? subject.rows : []
}

/** True if both are of one volume, maybe of two pods. */
export function areOfOneRow(a: Subject | undefined, b: Subject | undefined): boolean {
  const row = rowOf(a)
  return row !== undefined && row === rowOf(b)
}

/** The pod whose part of a volume it is, or that it is about as a whole. */
export function podOf(subject: Subject | undefined): PodUid | undefined {
  return subject !== undefined && 'pod' in subject ? subject.pod : undefined
}

const row = about(
  'A volume: its unique name, else its plugin and pod, else its path; in a cluster\'s plan "NODE UNIQUE-NAME", else "NODE va/NAME". The same for the same state.',
  text,
)

const fields = object({
  row: optional(row),
  pod: maybe("UID: one pod's part of the volume; without one, the pod as a whole.", text),
  driver: maybe('A CSI driver.', text),
  attachment: maybe('A VolumeAttachment that is of no volume here.', text),
  path: maybe('Of no volume.', path),
  node: optional(oneOf(true as const)),
  rows: maybe('A volume on each of these nodes.', list(row)),
  claim: maybe('namespace/name', text),
  nodes: optional(list(text)),
  list: maybe('A list of the API, by its plural name.', text),
  api: optional(oneOf(true as const)),
})

export const subject = named('subject', about('Whose it is: at least one of these.', fields as Shape<Subject>))
