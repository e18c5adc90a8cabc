/**
 * Every sentence that volctl knows, by name. A line is a frame (an operation that failed) around a cause. The cause may be specific
 * (a driver that is not registered) or common to many lines (an error number, a code of gRPC). Specific causes come first, then
 * general ones, then the frame; of each the innermost, wherever its table stands.
 */

import { ANSWERS } from './answers.ts'
import { APPLICATIONS, APPLICATIONS_IN_GENERAL } from './applications.ts'
import { ATTACHING } from './attaching.ts'
import { CAUSES } from './causes.ts'
import { CLOUDS, CLOUDS_IN_GENERAL } from './clouds.ts'
import { CONTENT } from './content.ts'
import { DRIVERS } from './drivers.ts'
import { ENGINES } from './engines.ts'
import { ERRORS, VAGUE } from './errors.ts'
import { EXPANDING } from './expanding.ts'
import { FRAMES } from './frames.ts'
import { KERNEL } from './kernel.ts'
import { KUBELET } from './kubelet.ts'
import { NETWORK_DISKS } from './network-disks.ts'
import { NEWS } from './news.ts'
import { ORPHANS } from './orphans.ts'
import { PODS } from './pods.ts'
import { PROVISIONING } from './provisioning.ts'
import { RUNTIME } from './runtime.ts'
import type { Sentence } from './sentence.ts'
import type { LineSeverity } from './severity.ts'
import { SHARES } from './shares.ts'
import { outward, plainText, type Said, Ways } from './ways.ts'
import { WRAPPERS } from './wrappers.ts'

export const SENTENCES = {
  ...ORPHANS,
  ...SHARES,
  ...NETWORK_DISKS,
  ...CONTENT,
  ...APPLICATIONS,
  ...DRIVERS,
  ...ATTACHING,
  ...CLOUDS,
  ...KERNEL,
  ...CAUSES,
  ...PROVISIONING,
  ...EXPANDING,
  ...RUNTIME,
  ...PODS,
  ...KUBELET,
  ...WRAPPERS,
  ...FRAMES,
  ...ENGINES,
  ...NEWS,
  ...ANSWERS,
  ...ERRORS,
  ...CLOUDS_IN_GENERAL,
  ...APPLICATIONS_IN_GENERAL,
  ...VAGUE,
} as const

/** What any program may fail with. */
const GENERAL = { ...ANSWERS, ...ERRORS, ...CLOUDS_IN_GENERAL, ...APPLICATIONS_IN_GENERAL, ...VAGUE } as const

export type SentenceName = keyof typeof SENTENCES

const NAMES = Object.keys(SENTENCES) as SentenceName[]
const WAYS = new Ways(NAMES.map((name) => [name, sentenceOf(name).says]))

/** What a line says, without its header; of an event also its reason. */
export interface Spoken {
  readonly said: string
  readonly program?: string
  /** The file of the program's source: often all that says who speaks. */
  readonly source?: string
  readonly reason?: string
  readonly severity?: LineSeverity
}

/** Those that a line says, the most telling first; empty: nobody knows it. */
export function sentencesIn({ said, program = '', source = '', reason = '', severity }: Spoken): SentenceName[] {
  const text = ofWhom(plainText(`${source} ${program}: ${reason} ${said}`))
  const isTrouble = severity === 'error' || severity === 'fatal' || severity === 'warning' || CALL_FAILED.test(text)
  const rank = ({ of }: Said<SentenceName>): number => (isTrouble && Object.hasOwn(NEWS, of) ? LAST : rankOf(of))
  const isError = (severity === 'error' || severity === 'fatal') && FAILURE.test(text)
  const found = WAYS.in(text)
    .filter(({ of }) => !isError || !Object.hasOwn(NEWS, of))
    .toSorted((a, b) => rank(a) - rank(b) || outward(a, b))
  const [first] = found
  // What such a line says in passing ("no such file or directory", of a file that is made then) is no failure.
  const saysLittle = first === undefined || (rank(first) !== OWN && sentenceOf(first.of).harmless !== true)
  if (severity === 'debug') return isDetail(text, saysLittle) ? ['Informational'] : found.map(({ of }) => of)
  const isNews =
    severity === 'info' ? !TROUBLE.test(text) : ROUTINE.test(program) && !SYSTEM_TROUBLE.test(text) && !DUMP.test(said)
  return saysLittle && isNews ? ['Informational'] : found.map(({ of }) => of)
}

/** At level debug "could not …" is a step of many, after which another way is taken: what failed is said at another level. */
function isDetail(text: string, saysLittle: boolean): boolean {
  return saysLittle ? !CALL_FAILED.test(text) : !TROUBLE.test(text)
}

/** With all that any sentence may say. */
export function sentenceOf(name: SentenceName): Sentence {
  return SENTENCES[name]
}

/** What any program may fail with: of what it speaks, the words of the line say. */
export function isGeneral(name: SentenceName): boolean {
  return Object.hasOwn(GENERAL, name)
}

/** What was being done when it failed, and no cause. */
export function isFrame(name: SentenceName): boolean {
  return sentenceOf(name).frame === true
}

/** Words in which somebody may report a failure at level info. */
const TROUBLE =
  /(?<!std)err(?!ing\b|(?:or)?[=:] ?(?:null|nil|<nil>))|fail|cannot|can not|unable|could not|couldnt|cant|timed? ?out|refus|denied|not found|invalid|stuck|lost|dead|panic/

/** At level error it is one: what such a line says besides ("starting …", "already …") does not make it harmless. */
const FAILURE = /\b(?:failed|failure|failing|cannot|could not|couldnt|unable|error|not allowed)\b/

/** Who writes without a level, and mostly what is as it should be. */
const ROUTINE = /^(?:kernel|multipathd?|iscsid|tcmu-runner|systemd|systemd-udevd|udevd)$/

const SYSTEM_TROUBLE = new RegExp(
  `${TROUBLE.source}|abort|bad|beyond|cheat|block|bug|conflict|corrupt|damage|degraded|down|exceed|exited|full|hung|kill|mismatch|missing|not |offline|oops|recovery mode|reject|reset|shut|stale|out.of|repeated|too |unknown|unsupported|warn|wrong|\\+0x|call trace`,
)

/** Then what a driver says besides, such as "not staged", is why it refuses; and a program, why it failed. */
const CALL_FAILED = /rpc error(?:: code =| of the \w+:) (?!ok\b)|\berror=(?!null|nil|<nil>|\s)/

/** Bytes that the kernel prints of what it found damaged: the lines before say where. */
const DUMP = /^(?:[\da-f]{8}:? )?(?:[\da-f]{2} ){8}/

const RPC = 'rpc error: code = '

/** A code of gRPC is a driver's, unless the line says that another was called. */
const CALLED: readonly (readonly [who: RegExp, whose: string])[] = [
  [
    /runtime service failed|\bcri-?o\b|containerd|oci runtime|\bsandbox|running task found|(?:create|run|stop|kill|remove|start)(?:pod)?(?:sandbox|container)|podsandbox|containerstatus|listcontainers|image ?pull|pull(?:ing)? (?:and unpack )?image/,
    'of the runtime',
  ],
  [
    /open replica|backend with address|controller=longhorn|instance manager|cannot find process|\bio_engine\b/,
    'of the engine',
  ],
  [/etcdserver|error from server|kube-apiserver|failed to (?:list|watch) \*/, 'of the api'],
]

/** A status of gRPC whose head was cut off, or which a program wrote in its own way. */
const BARE_STATUS =
  /(?<!code = )\b(deadlineexceeded|aborted|unavailable|failedprecondition|resourceexhausted|permissiondenied|unauthenticated|notfound|alreadyexists|outofrange|invalidargument|unimplemented|internal|unknown)(?= desc = )/g

function ofWhom(given: string): string {
  const text = given.replace(BARE_STATUS, 'rpc error: code = $1')
  if (!text.includes(RPC)) return text
  const whose = CALLED.find(([who]) => who.test(text))?.[1]
  if (whose === undefined) return text
  // Those inside it are of whomever that one called.
  return text.replace(RPC, `rpc error ${whose}: `).replaceAll(RPC, 'rpc error within: ')
}

const OWN = 0
const LAST = 6

/** Specific causes, waits that have a cause elsewhere, causes of any program, vague words, what failed around them, then who speaks. */
function rankOf(name: SentenceName): number {
  if (sentenceOf(name).speaker === true) return 5
  if (isFrame(name)) return 4
  if (Object.hasOwn(VAGUE, name)) return 3
  if (isGeneral(name)) return 2
  return sentenceOf(name).envelope === true ? 1 : OWN
}
