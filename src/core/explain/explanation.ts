/**
 * All that is known about one thing of a node: the node's plan narrowed to it, and what it is made of. Data, drawn by a view
 * (contract, `volctl explain`). Fields are stable once released; new ones may come.
 */
import { ALL_CODES } from '../messages/codes.ts'
import { EXPLAINED_STATES } from '../plan/kinds.ts'
import { volume } from '../plan/operation-shape.ts'
import { WHOLE_PLAN } from '../plan/plan.ts'
import { about, maybe, named } from '../trust/json-schema.ts'
import { flag, hint, integer, keyOf, list, object, oneOf, optional, type ShapeOf, text } from '../trust/shape.ts'
import { args, codeOf, pod } from '../volumes/finding.ts'
import { LINKS, SUBJECTS } from './kinds.ts'

const subjectShape = object({
  kind: keyOf(SUBJECTS),
  name: about('namespace/name, a name, a unique name, "major:minor" or an absolute path.', text),
})

export interface Subject extends ShapeOf<typeof subjectShape> {}

const fact = named(
  'fact',
  object({ label: text, value: text, from: about('e.g. "API", "vol_data.json", "mount table"', text) }),
)

/** One thing that is known, and where it was learned. */
export interface Fact extends ShapeOf<typeof fact> {}

const podView = object({
  pod,
  class: oneOf('Desired', 'Frozen', 'Finished', 'Gone'),
  rule: text,
  why: about('Why volctl takes it for this.', text),
  listed: about('It is in the API.', flag),
  phase: optional(text),
  deletedAt: maybe('RFC 3339.', text),
  signsOfLife: about('What shows that it runs; empty: nothing does.', list(text)),
})

export interface PodView extends ShapeOf<typeof podView> {}

const mount = object({
  id: integer,
  dev: about('"major:minor"', text),
  root: text,
  fsType: text,
  source: text,
  readOnly: flag,
})

export interface MountView extends ShapeOf<typeof mount> {}

const place = object({
  path: text,
  state: about('In words: "mounted", "an empty directory".', text),
  exists: about('Something is mounted or on disk there.', flag),
  mounts: about('Oldest first.', list(mount)),
  loops: maybe('Loop devices that hold it.', list(text)),
  dead: maybe('What a probe of the mount answered, where it is dead.', text),
})

/** One path on this node that was asked about, and what is there. */
export interface Place extends ShapeOf<typeof place> {}

const link = object({
  kind: keyOf(LINKS),
  name: about('Of the object, or an absolute path.', text),
  /** absent: not there, and not needed. */
  state: oneOf('good', 'bad', 'unknown', 'absent'),
  says: about('Why.', text),
  pod: maybe('Whose mount, map or sub-path it is.', pod),
})

/** One link of the chain from a claim to what a container sees, or of that from a driver's pod to its objects. */
export interface Link extends ShapeOf<typeof link> {}

const links = list(named('link', link))

const verdict = named(
  'verdict',
  object({
    state: about(
      'operation: volctl would act; nothing: it is as it should be, or not volctl’s to change.',
      oneOf(...EXPLAINED_STATES),
    ),
    message: text,
    args,
    code: optional(codeOf(ALL_CODES)),
    rule: optional(text),
  }),
)

/** In one line what becomes of it: the worst that is to be said. */
export interface Verdict extends ShapeOf<typeof verdict> {}

const deadMount = object({ path: text, dead: text })

export interface DeadMount extends ShapeOf<typeof deadMount> {}

const volumeView = object({
  volume,
  desired: about('Why it is wanted, or why by nobody.', text),
  chain: about('From the claim to the pods’ sub-paths; of a volume without a claim the part that it has.', links),
  dead: maybe('The first mount of it, or below it, that a probe found dead, and the answer.', deadMount),
  verdict,
})

export interface VolumeView extends ShapeOf<typeof volumeView> {}

const HOLDER = { pid: integer, command: text, container: optional(text), pod: optional(pod) }

const processView = object({
  ...HOLDER,
  holds: about(
    'cwd, root, file, map or device: how, and on which path as the process sees it.',
    list(object({ what: text, path: text })),
  ),
})

export interface ProcessView extends ShapeOf<typeof processView> {}

const holders = object({
  known: about('false: nobody looked; `notes` says why.', flag),
  processes: list(processView),
  namespaces: about(
    'Other mount namespaces that still have something of it mounted.',
    list(object({ ...HOLDER, mountPoints: list(text) })),
  ),
  loops: list(object({ device: text, backingFile: text })),
  kernel: about('What the kernel has on its devices, in words.', list(text)),
  notes: about('What could not be seen.', list(text)),
})

export interface HoldersView extends ShapeOf<typeof holders> {}

const { scope: _scope, ...PLAN } = WHOLE_PLAN

/** Operations, with what has to come before them, waits and problems are those that concern the thing, in the order of the plan. */
export const explanationShape = object({
  ...PLAN,
  kind: oneOf('Explanation'),
  what: about('As it was asked.', text),
  identity: about('What it is, and where that was learned.', list(fact)),
  verdict,
  notes: about('What to know or do that no plan says.', list(hint)),
  subject: about('What was asked about.', subjectShape),
  pods: list(podView),
  volumes: list(volumeView),
  chain: about('Of the volume that matters most, or of the driver; empty: there is none.', links),
  places: about('What lies at the path, or on the device, that was asked about.', list(place)),
  holders: about('Who keeps it busy.', holders),
})

export interface Explanation extends ShapeOf<typeof explanationShape> {}
