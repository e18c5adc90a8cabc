/** Whose a finding is, as JSON: one of the kinds of `plan/subject.ts`, known by its first field. */
import { about, named } from '../json/json-schema.ts'
import { fail, list, object, oneOf, optional, path, type Shape, schemaOf, text, withSchema } from '../json/shape.ts'
import type { ClusterSubject, Subject } from './subject.ts'

type Kind<Of, Key extends string> = Extract<Of, { readonly [K in Key]: unknown }>

/** What a pod is to a volume, and the two kinds that both scopes have. */
const pod = optional(about("UID: one pod's part of the volume.", text))
const POD = {
  pod: object<Exclude<Kind<Subject, 'pod'>, Kind<Subject, 'row'>>>({ pod: about('A pod as a whole: UID.', text) }),
}
const DRIVER = { driver: object<Kind<Subject, 'driver'>>({ driver: about('A CSI driver.', text) }) }

/** In the order in which they are tried: a volume may have a pod. */
const KINDS: Readonly<Record<string, Shape<Subject>>> = {
  row: object<Kind<Subject, 'row'>>({
    row: about('A volume: its unique name, else its plugin and pod, else its path. The same for the same state.', text),
    pod,
  }),
  ...POD,
  ...DRIVER,
  attachment: object<Kind<Subject, 'attachment'>>({
    attachment: about('A VolumeAttachment that is of no volume here.', text),
  }),
  path: object<Kind<Subject, 'path'>>({ path: about('Of no volume.', path) }),
  node: object<Kind<Subject, 'node'>>({ node: oneOf(true as const) }),
}

const row = about('A volume on a node: "NODE UNIQUE-NAME", else "NODE va/NAME". The same for the same state.', text)

const CLUSTER_KINDS: Readonly<Record<string, Shape<ClusterSubject>>> = {
  row: object<Kind<ClusterSubject, 'row'>>({ row, pod }),
  rows: object<Kind<ClusterSubject, 'rows'>>({ rows: about('A volume on each of these nodes.', list(row)) }),
  ...POD,
  ...DRIVER,
  claim: object<Kind<ClusterSubject, 'claim'>>({ claim: about('namespace/name', text) }),
  persistentVolume: object<Kind<ClusterSubject, 'persistentVolume'>>({
    persistentVolume: text,
    nodes: about('To which it is attached.', list(text)),
  }),
  nodes: object<Exclude<Kind<ClusterSubject, 'nodes'>, Kind<ClusterSubject, 'persistentVolume'>>>({
    nodes: list(text),
  }),
  list: object<Kind<ClusterSubject, 'list'>>({ list: about('A list of the API, by its plural name.', text) }),
  api: object<Kind<ClusterSubject, 'api'>>({ api: oneOf(true as const) }),
}

/** Of a node's plan. */
export const subject = subjectShape('subject', KINDS)

/** Of a cluster's plan. */
export const clusterSubject = subjectShape('clusterSubject', CLUSTER_KINDS)

function subjectShape<Of>(name: string, kinds: Readonly<Record<string, Shape<Of>>>): Shape<Of> {
  return named(
    name,
    about(
      'Whose it is.',
      withSchema(
        (value, at) => {
          const given = typeof value === 'object' && value !== null ? value : {}
          const [, shape] = Object.entries(kinds).find(([kind]) => kind in given) ?? []
          return shape === undefined ? fail(at, 'the subject of a finding', value) : shape(value, at)
        },
        (defs) => ({ anyOf: Object.values(kinds).map((kind) => schemaOf(kind, defs)) }),
      ),
    ),
  )
}
