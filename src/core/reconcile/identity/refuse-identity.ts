/** S1: the Node object must be this host's, and its name that of this host's kubelet. Otherwise the whole plan is refused. */

import type { ActualInputs } from '../../actual/actual-inputs.ts'
import { volctl } from '../../lang/command.ts'
import { defined } from '../../lang/defined.ts'
import type { NodeSnapshot } from '../../model/snapshot.ts'
import { canonicalNodeName } from '../../node/kubelet/canonical-node-name.ts'
import { parseKubeletFlags } from '../../node/kubelet/kubelet-flags.ts'
import { leaseIsAlive } from '../../node/kubelet/signs-of-life.ts'
import { otherName } from '../../node/other-name.ts'
import { type Findings, ON_NODE } from '../../plan/draft.ts'
import type { IdentityContradiction, PlanInputs, PlanOptions, Refusal } from '../../plan/plan.ts'
import { compareBootIds, compareIds, ID_WORDS, type IdComparison, isSameText } from './machine-ids.ts'

/**
 * One pair of ids has to agree, and none may contradict unless accepted. The boot id counts only while a kubelet is alive, which
 * has reported its boot. After a reboot a stopped kubelet leaves another boot id in the Node.
 */
export function machineOf({ snapshot }: ActualInputs, options: PlanOptions): PlanInputs['machine'] {
  const { node, host, pairs } = pairsOf(snapshot)
  const accepted = options.acceptIdentity ?? []
  const contradictions = pairs.flatMap(([field, says]): IdentityContradiction[] => {
    const [theirs, ours] = [node?.[field], host[field]]
    if (says !== 'contradicts' || theirs === undefined || ours === undefined) return []
    const isAccepted = accepted.some((each) => isSameText(each, theirs))
    return [{ field, node: theirs, host: ours, ...(isAccepted && { accepted: true }) }]
  })
  const agrees = pairs.some(([field, says]) => field !== 'bootID' && says === 'agrees')
  const { machineID, systemUUID, bootID } = snapshot
  return {
    matches: agrees && contradictions.every((each) => each.accepted === true),
    ...(contradictions.length > 0 && { contradictions }),
    ...defined({ machineID, systemUUID, bootID }),
  }
}

type Ids = Readonly<Partial<Record<IdentityContradiction['field'], string>>>

function pairsOf(snapshot: NodeSnapshot): {
  readonly node: Ids | undefined
  readonly host: Ids
  readonly pairs: readonly (readonly [IdentityContradiction['field'], IdComparison])[]
} {
  const node = snapshot.api?.node?.status?.nodeInfo
  const host: Ids = snapshot
  const bootIds = kubeletOfThisBoot(snapshot) ? compareBootIds(node?.bootID, host.bootID) : 'nothing'
  return {
    node,
    host,
    pairs: [
      ['machineID', compareIds('machineID', node ?? {}, host)],
      ['systemUUID', compareIds('systemUUID', node ?? {}, host)],
      ['bootID', bootIds],
    ],
  }
}

/** True if a kubelet runs, or if one of this name has renewed the lease since this boot and nothing shows that it stopped. */
function kubeletOfThisBoot({ kubelet, api, bootTime, capturedAt }: NodeSnapshot): boolean {
  if (kubelet === undefined) return false
  if (kubelet.running) return true
  const boot = Date.parse(bootTime ?? '')
  return kubelet.mayReturn && boot > 0 && leaseIsAlive(api, { now: Date.parse(capturedAt), since: boot })
}

export function refuseWrongMachine(inputs: ActualInputs, machine: PlanInputs['machine']): Refusal | undefined {
  const { api, nodeName } = inputs.snapshot
  if (api === undefined) return undefined
  if (api.node === null) {
    return {
      rule: 'S1',
      code: 'WrongMachine',
      message: `the API server ${api.server} has no node ${nodeName}`,
      hint: 'Check --context and --node: this may be the API of another cluster.',
    }
  }
  const name = refuseOtherName(inputs)
  if (name !== undefined || machine.matches) return name
  const info = api.node?.status?.nodeInfo
  const agrees = pairsOf(inputs.snapshot).pairs.some(([field, says]) => field !== 'bootID' && says === 'agrees')
  if (agrees) return contradicted(inputs, machine)
  return {
    rule: 'S1',
    code: 'WrongMachine',
    message:
      api.node === undefined
        ? `node ${nodeName} of ${api.server} was not read, so it is not known whether it is this machine`
        : `nothing proves that node ${nodeName} of ${api.server} is this machine: the Node has machineID ${info?.machineID ?? '-'} and systemUUID ${info?.systemUUID ?? '-'}, this host has ${machine.machineID ?? '-'} and ${machine.systemUUID ?? '-'}`,
    hint: 'Check --context and --node: this may be the API of another cluster with a node of the same name.',
  }
}

function contradicted({ snapshot }: ActualInputs, { contradictions = [] }: PlanInputs['machine']): Refusal {
  const open = contradictions.filter(({ accepted }) => accepted !== true)
  const differences = open.map(({ field, node, host }) => `its ${field} is ${node}, this host's is ${host}`)
  const flags = open.flatMap(({ node }) => ['--accept-identity', node])
  const boots = open.some(({ field }) => field === 'bootID')
    ? ' A kubelet that has just started reports its boot ID a few seconds later: plan again.'
    : ''
  return {
    rule: 'S1',
    code: 'WrongMachine',
    message: `node ${snapshot.nodeName} of ${snapshot.api?.server} may be another machine: ${differences.join('; ')}`,
    hint: `A cloned machine has the ids of its original: check --context and --node.${boots} If this is the right machine: ${volctl('plan', ...flags)}`,
  }
}

/** Refuses a --node other than the name of this host's kubelet, if that name is known. */
function refuseOtherName({ snapshot }: ActualInputs): Refusal | undefined {
  const { nodeName, kubelet, api } = snapshot
  const flag = parseKubeletFlags(kubelet?.args ?? []).get('hostname-override')
  const own = kubelet?.nodeName ?? (flag ? canonicalNodeName(flag) : undefined)
  if (own === undefined || own === canonicalNodeName(nodeName)) return undefined
  if (kubelet?.nodeNameFrom === 'hostname') {
    // Some clouds name the nodes, with or without a domain: the hostname that the kubelet reported decides.
    const { labels } = api?.node?.metadata ?? {}
    const addresses = (api?.node?.status?.addresses ?? []).filter(({ type }) => type === 'Hostname')
    const hostnames = [nodeName, labels?.['kubernetes.io/hostname'], ...addresses.map(({ address }) => address)]
    if (hostnames.some((name) => name !== undefined && firstLabel(name) === firstLabel(own))) return undefined
  }
  return otherName(nodeName, own)
}

function firstLabel(name: string): string {
  return canonicalNodeName(name).split('.')[0] ?? ''
}

/** The plan reports what was accepted; the journal records the option. */
export function reportAccepted(machine: PlanInputs['machine'], findings: Findings): void {
  for (const { field, node, host } of (machine.contradictions ?? []).filter(({ accepted }) => accepted)) {
    findings.problem(
      'warning',
      'IdentityAccepted',
      `the Node's ${ID_WORDS[field]} ${node} differs from this host's ${host}, and was accepted with --accept-identity`,
      ON_NODE,
    )
  }
}
