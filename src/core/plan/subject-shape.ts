/** Whose a finding is, as JSON: one of the kinds of `plan/subject.ts`, known by its first field. */
import { about, named } from '../json/json-schema.ts'
import { fail, object, oneOf, optional, path, type Shape, schemaOf, text, withSchema } from '../json/shape.ts'
import type { Subject } from './subject.ts'

type Kind<Key extends string> = Extract<Subject, { readonly [K in Key]: unknown }>

/** In the order in which they are tried: a volume may have a pod. */
const KINDS: Readonly<Record<string, Shape<Subject>>> = {
  row: object<Kind<'row'>>({
    row: about('A volume: its unique name, else its plugin and pod, else its path. The same for the same state.', text),
    pod: optional(about("UID: one pod's part of the volume.", text)),
  }),
  pod: object<Exclude<Kind<'pod'>, Kind<'row'>>>({ pod: about('A pod as a whole: UID.', text) }),
  driver: object<Kind<'driver'>>({ driver: about('A CSI driver.', text) }),
  attachment: object<Kind<'attachment'>>({ attachment: about('A VolumeAttachment that is of no volume here.', text) }),
  path: object<Kind<'path'>>({ path: about('Of no volume.', path) }),
  node: object<Kind<'node'>>({ node: oneOf(true as const) }),
}

export const subject: Shape<Subject> = named(
  'subject',
  about(
    'Whose it is.',
    withSchema(
      (value, at) => {
        const given = typeof value === 'object' && value !== null ? value : {}
        const [, shape] = Object.entries(KINDS).find(([kind]) => kind in given) ?? []
        return shape === undefined ? fail(at, 'the subject of a finding', value) : shape(value, at)
      },
      (defs) => ({ anyOf: Object.values(KINDS).map((kind) => schemaOf(kind, defs)) }),
    ),
  ),
)
