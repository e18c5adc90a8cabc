/** The flags of all commands. What a command makes of those of a pass: options.ts. */
import { Args, Flags, type Interfaces } from '@oclif/core'
import type { WaitCondition } from '../explain/status/wait-rows.ts'
import { DEFAULT_JOURNAL_DIR } from '../node/read-lazily-detached.ts'

type More = Partial<Pick<Interfaces.BooleanFlag<boolean>, 'char' | 'aliases' | 'helpGroup' | 'exclusive' | 'dependsOn'>>

const text = (helpValue: string, summary: string, more?: More) => Flags.string({ helpValue, summary, ...more })
const texts = (helpValue: string, summary: string, more?: More) =>
  Flags.string({ multiple: true, multipleNonGreedy: true, helpValue, summary, ...more })
const isOn = (summary: string, more?: More) => Flags.boolean({ summary, ...more })

/** What stands behind a command without a flag: never standard input, of which oclif would else take a line. */
export const argument = (name: string, description: string, options?: readonly string[]) =>
  Args.string({ name, description, ignoreStdin: true, options })
/** The same, of several. */
export const manyArguments = (name: string, description: string) =>
  Args.string({ name, description, ignoreStdin: true, multiple: true })

/** The contract's forms of an answer; `apply` adds ndjson, `check` prometheus. */
const OUTPUT_FORMATS = ['table', 'wide', 'json', 'yaml'] as const
/** The same and `name`, of commands whose answer is about things that have names. */
const NAMED_FORMATS = [...OUTPUT_FORMATS, 'name'] as const
export const CHECK_FORMATS = ['table', 'json', 'yaml', 'prometheus'] as const
export type OutputFormat = (typeof NAMED_FORMATS)[number] | 'ndjson' | 'prometheus'

function outputFlag(formats: readonly OutputFormat[] = OUTPUT_FORMATS): Interfaces.OptionFlag<OutputFormat> {
  // All but what is drawn for people.
  const stable = formats.filter((format) => format !== 'table' && format !== 'wide')
  return Flags.custom<OutputFormat>({
    char: 'o',
    options: formats,
    default: 'table',
    helpValue: formats.join('|'),
    summary: `Output format: ${formats.join(', ')}. Scripts can rely on ${stable.join(', ').replace(/, (?!.*, )/, ' and ')}.`,
    noCacheDefault: false,
  })()
}

/** `--verbose`, which prints more in some commands than in others. */
const verboseFlag = (summary: string) => isOn(summary, { char: 'v' })

/** What only the pass over a node has. */
const ofNode = { exclusive: ['cluster'] }

const watch = isOn(
  'Look again and again until nothing is left, or Ctrl-C: drawn in place on a terminal; elsewhere printed when it has changed.',
  { char: 'w', exclusive: ['snapshot', 'cluster'] },
)

/** Where to read from: the API and the node. */
export const apiFlags = {
  kubeconfig: text(
    'PATH',
    "Kubeconfig to use, or in-cluster: the Pod's own service account. Default: KUBECONFIG, then the usual places on a node, the kubelet's own included.",
  ),
  context: text('NAME', 'Context of the kubeconfig. Default: its current context.'),
}

export const placeFlags = {
  ...apiFlags,
  node: text('NAME', "The node's name. Default: found from the kubelet."),
  'root-dir': text('PATH', "The kubelet's root directory. Default: found from the kubelet.", ofNode),
  'runtime-endpoint': text(
    'URL',
    "The container runtime's socket. Default: the kubelet's, CONTAINER_RUNTIME_ENDPOINT, /etc/crictl.yaml, the usual places.",
    ofNode,
  ),
  'host-root': text(
    'PATH',
    "Where the node's / is mounted, if volctl runs in a container; volctl then enters the host's namespaces.",
    ofNode,
  ),
}

/** In place of the flags that say where to read from. @param does what the command does, at the beginning of a sentence */
function snapshotFlag(does: string) {
  return text('FILE', `${does} from a snapshot instead of this node; needs no privileges and no API server.`, {
    exclusive: ['kubeconfig', 'context', 'host-root', 'runtime-endpoint'],
  })
}

const selection = { helpGroup: 'SELECTION' }
const override = { helpGroup: 'SAFETY OVERRIDES' }
const overrideOfNode = { ...override, ...ofNode }

/** Which of the things of a node a command is about. */
const naming = {
  pod: texts(
    '[NS/]NAME|UID',
    'Only this pod (name, UID or its beginning), and the devices that it is the last to use. Repeatable.',
    selection,
  ),
  namespace: texts('NS', 'Only pods of this namespace. Repeatable.', { ...selection, char: 'n' }),
  volume: texts('NAME', 'Only this volume. Repeatable.', selection),
  'ignore-not-found': isOn(
    'Do not fail if nothing on this node, or in this cluster, has a name that was given.',
    selection,
  ),
}

/** What changes what a pass over a node would do: which operations are wanted, and which single safety check is overridden. */
const what = {
  orphans: isOn('Also delete emptyDir data and directories of orphaned pods.', { ...selection, ...ofNode }),
  remount: isOn(
    'Also update config maps, secrets and tokens in mounted volumes (RemountVolume). Without this flag: blocked as NotAsked.',
    { ...selection, ...ofNode },
  ),
  expand: isOn(
    'Also grow file systems to the size that their claims request (ExpandVolume). Without this flag: blocked as NotAsked.',
    { ...selection, ...ofNode },
  ),
}
const which = {
  only: text('LIST', 'Only these kinds or groups of operations, separated by commas.', selection),
  skip: text('LIST', 'Leave out these kinds or groups of operations, and what depends on them.', selection),
  ...naming,
}
const whatIf = {
  settle: text(
    'DUR',
    'How long the kubelet must have been stopped; while it runs, how long a leftover must be unchanged (default 2m).',
    selection,
  ),
  'force-unmount': texts(
    'PATH',
    'Unmount PATH by force (umount -f): breaks a connection to the server that no other mount shares. Repeatable.',
    overrideOfNode,
  ),
  lazy: texts(
    'PATH',
    'Detach PATH lazily (umount -l): only a mount that is proven dead and not held open. Repeatable.',
    overrideOfNode,
  ),
  'driver-gone': texts(
    'NAME',
    'This CSI or flexVolume driver will not come back: unmount without calling it. The plan says what then stays undone. Repeatable.',
    overrideOfNode,
  ),
  handle: texts(
    'VOLUME=HANDLE',
    'The CSI volume handle of a volume whose vol_data.json is lost. Repeatable.',
    overrideOfNode,
  ),
  device: texts(
    'VOLUME=DEVICE',
    'The device of a volume to be unstaged, unmapped or detached whose device is unknown; "none" if the volume has no device on this node. Repeatable.',
    overrideOfNode,
  ),
  'accept-outage': text(
    'N',
    'Proceed although the API server seems to have lost or rolled back pods; N is the number of orphaned pods in the plan.',
    override,
  ),
  'accept-identity': texts(
    'VALUE',
    "Proceed although this ID of the Node object, as in the refusal, is not this machine's. Repeatable.",
    overrideOfNode,
  ),
  'accept-insecure-api': isOn(
    'Proceed although the kubeconfig does not verify the API server (insecure-skip-tls-verify, http://): anyone on the network path could answer.',
    override,
  ),
}

/** Flags of both `plan` and `apply`. */
export const planFlags = { ...what, ...which, ...whatIf }

/** Of the commands that have both passes, the whole cluster's in place of the one name of a node's. */
export const clusterFlags = {
  cluster: isOn(
    "The attach/detach controller's pass over all nodes, from the API server alone: needs no node and no root.",
    { helpGroup: 'CLUSTER' },
  ),
  'node-gone': texts(
    'NAME',
    'With --cluster: you made sure that the machine of this node, deleted or not ready, does not run. Repeatable.',
    { helpGroup: 'CLUSTER', dependsOn: ['cluster'] },
  ),
}

const passFlags = {
  ...placeFlags,
  node: texts(
    'NAME',
    "The node's name. Default: found from the kubelet. With --cluster: only these nodes, separated by commas; repeatable.",
  ),
  ...planFlags,
  ...clusterFlags,
}

/** `--journal DIR` */
function journalFlag(does: string) {
  return text('DIR', `${does} Default: ${DEFAULT_JOURNAL_DIR}.`)
}

export const baseFlags = {
  'no-color': isOn('No colour, on a terminal either. Also: NO_COLOR, FORCE_COLOR.'),
  verbose: verboseFlag('Print on standard error what was read and how long that took.'),
}

export const DEFAULTS = { timeout: '2m', parallel: '8', 'max-downtime': '4m', last: '20' } as const

export const applyFlags = {
  output: outputFlag([...OUTPUT_FORMATS, 'ndjson']),
  yes: isOn(
    'Do not ask for confirmation. Required where only one end is a terminal; without any terminal apply never asks.',
    { char: 'y', aliases: ['auto-approve'] },
  ),
  'no-wait': isOn(
    'Do not wait for the settle time of a kubelet that has just stopped. Without this flag apply waits, with a countdown.',
    ofNode,
  ),
  'stop-kubelet': isOn(
    "Stop the kubelet's systemd unit, wait for the settle time, apply, and start it again, whatever happens. If nothing needs that, nothing is stopped.",
    { exclusive: ['no-wait', 'cluster'] },
  ),
  'max-downtime': text(
    'DUR',
    `With --stop-kubelet: how long the kubelet may be stopped (default ${DEFAULTS['max-downtime']}); then systemd starts it.`,
    { dependsOn: ['stop-kubelet'] },
  ),
  parallel: text('N', `Operations in progress at once (default ${DEFAULTS.parallel}).`, ofNode),
  timeout: text(
    'DUR',
    `Limit for one operation; an operation that hangs is abandoned and named (default ${DEFAULTS.timeout}).`,
  ),
  journal: journalFlag(
    'Directory to write the journal to; created if missing. Apply does nothing that it could not record first: where the disk is full or read-only, name another.',
  ),
  verbose: verboseFlag('Print on standard error what was read, how long that took, and each step of the operations.'),
  ...passFlags,
}

export const checkFlags = {
  output: outputFlag(CHECK_FORMATS),
  snapshot: snapshotFlag('Check'),
  ...placeFlags,
  confirm: text(
    'DUR',
    'If something is wrong or unknown, look again after this time; only what still is counts (default 15s, with -o prometheus 0; 0: do not).',
  ),
  timeout: text('DUR', 'Give up after this time; the result is then unknown (default 60s).'),
}

export const doctorFlags = { output: outputFlag(), snapshot: snapshotFlag('Check'), ...placeFlags }

export const explainFlags = {
  output: outputFlag(NAMED_FORMATS),
  snapshot: snapshotFlag('Explain'),
  verbose: verboseFlag('Print on standard error what was read, how long that took, and each decision with its rule.'),
  namespace: text('NS', 'The namespace of a pod or claim that is named without one.', { char: 'n' }),
  ...placeFlags,
  // What narrows a plan would only hide a part of the answer.
  ...what,
  ...whatIf,
}

export const journalFlags = {
  output: outputFlag(['table', 'json']),
  journal: journalFlag('Directory to read the journal from.'),
  last: text('N', `The last N applies (default ${DEFAULTS.last}); 0 for all.`),
  plan: text('ID', 'Only applies of this plan: its ID, or the beginning of the ID.'),
}

export const planCommandFlags = {
  output: outputFlag(NAMED_FORMATS),
  snapshot: snapshotFlag('Plan'),
  out: text('FILE', 'Save the plan to FILE (mode 0600) for volctl apply FILE. The plan is printed as well.'),
  'detailed-exitcode': isOn('Exit with status 2 if there are operations; see EXIT STATUS in volctl-plan(8).'),
  verbose: verboseFlag(
    'Fold nothing; print on standard error what was read, how long that took, and each decision with its rule.',
  ),
  watch,
  ...passFlags,
}

export const snapshotFlags = {
  output: Flags.string({
    char: 'o',
    helpValue: 'FILE',
    summary: 'Write to FILE, gzipped if its name ends in .gz. Default: standard output.',
  }),
  cluster: isOn('Of the whole cluster, from the API server alone: without a node and without root.'),
  ...placeFlags,
}

export const statusFlags = {
  output: outputFlag(NAMED_FORMATS),
  snapshot: snapshotFlag('Answer'),
  verbose: verboseFlag(
    'Show good volumes, too. Print on standard error what was read, how long that took, and each decision with its rule.',
  ),
  watch,
  ...placeFlags,
  namespace: naming.namespace,
  volume: naming.volume,
  'ignore-not-found': naming['ignore-not-found'],
  settle: whatIf.settle,
}

const WAIT_CONDITIONS: readonly WaitCondition[] = ['mounted', 'unmounted', 'detached', 'in-sync']

export const waitFlags = {
  output: outputFlag(['table', 'json']),
  for: Flags.string({
    required: true,
    options: WAIT_CONDITIONS,
    helpValue: WAIT_CONDITIONS.join('|'),
    summary: 'What to wait for.',
  }),
  timeout: text('DUR', 'How long to wait (default 2m3s); 0 looks once.'),
  ...naming,
  ...placeFlags,
}
