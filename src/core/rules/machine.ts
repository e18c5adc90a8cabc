/** S1: whether the Node object is this host's, by their ids. */

import { said } from '../messages/findings.ts'
import { leaseIsAlive } from '../node/kubelet/signs-of-life.ts'
import { ON_NODE } from '../plan/draft.ts'
import type { IdentityContradiction, IdentityField, PlanInputs, PlanOptions } from '../plan/plan.ts'
import type { ActualInputs } from '../volumes/on-disk/actual-inputs.ts'
import type { NodeSnapshot } from '../volumes/snapshot.ts'
import type { PlanContext } from './context.ts'

/**
 * One pair of ids has to agree, and none may contradict unless accepted. The boot id counts only while a kubelet is alive, which
 * has reported its boot. After a reboot a stopped kubelet leaves another boot id in the Node.
 */
export function machineOf({ snapshot }: ActualInputs, options: PlanOptions): PlanInputs['machine'] {
  const accepted = options.acceptIdentity ?? []
  const contradictions = pairsOf(snapshot).flatMap(({ field, node, host, says }): IdentityContradiction[] => {
    if (says !== 'contradicts' || node === undefined || host === undefined) return []
    const isAccepted = accepted.some((each) => plain(each) === plain(node))
    return [{ field, node, host, accepted: isAccepted || undefined }]
  })
  const { machineID, systemUUID, bootID } = snapshot
  return {
    matches: idsAgree(snapshot) && contradictions.every((each) => each.accepted === true),
    contradictions: contradictions.length > 0 ? contradictions : undefined,
    machineID,
    systemUUID,
    bootID,
  }
}

export function idsAgree(snapshot: NodeSnapshot): boolean {
  return pairsOf(snapshot).some(({ field, says }) => field !== 'bootID' && says === 'agrees')
}

function pairsOf(snapshot: NodeSnapshot) {
  const ids = snapshot.api?.node?.status?.nodeInfo
  const fields: IdentityField[] = ['machineID', 'systemUUID']
  if (kubeletOfThisBoot(snapshot)) fields.push('bootID')
  return fields.map((field) => {
    const [node, host] = [ids?.[field], snapshot[field]]
    return { field, node, host, says: compareIds(field, node, host) }
  })
}

/** True if a kubelet runs, or if one of this name has renewed the lease since this boot and nothing shows that it stopped. */
function kubeletOfThisBoot({ kubelet, api, bootTime, capturedAt }: NodeSnapshot): boolean {
  if (kubelet === undefined) return false
  if (kubelet.running) return true
  const boot = Date.parse(bootTime ?? '')
  return kubelet.mayReturn && boot > 0 && leaseIsAlive(api, { now: Date.parse(capturedAt), since: boot })
}

/** The plan reports what was accepted; the journal records the option. */
export function reportAccepted({ findings }: PlanContext, machine: PlanInputs['machine']): void {
  for (const { field, node, host } of (machine.contradictions ?? []).filter(({ accepted }) => accepted)) {
    findings.problem('warning', said('IdentityAccepted', { id: ID_WORDS[field], node, host }), ON_NODE)
  }
}

// Whether two ids belong to one machine or to two, or prove nothing (S1). Pure.

/**
 * What a pair of ids proves. Firmware and kubelet differ in case and dashes; and SMBIOS before 2.6 stored the first three
 * groups of its UUID in the other byte order, so a machine may report either.
 */
export function compareIds(
  field: IdentityField,
  one: string | undefined,
  other: string | undefined,
): 'agrees' | 'contradicts' | 'nothing' {
  const [a, b] = [plain(one), plain(other)]
  // Values that vendors leave in their firmware, or that come with an image: many machines have them.
  const isUnusable = (id: string): boolean =>
    REPEATED.test(id) || PLACEHOLDERS.has(id) || PLACEHOLDERS.has(swapped(id)) || WORDS.has(id)
  // Boot ids come from the kernel: placeholders are not expected.
  if ([a, b].some((id) => id === '' || (field !== 'bootID' && isUnusable(id)))) return 'nothing'
  return a === b || (field === 'systemUUID' && swapped(a) === b) ? 'agrees' : 'contradicts'
}

const ID_WORDS: Readonly<Record<IdentityField, string>> = {
  machineID: 'machine ID',
  systemUUID: 'system UUID',
  bootID: 'boot ID',
}

function plain(id: string | undefined): string {
  return (id ?? '')
    .trim()
    .replace(/^\{(.*)\}$/, '$1')
    .toLowerCase()
    .replaceAll('-', '')
}

/** With the bytes of each of the first three groups in reverse order. */
function swapped(hex: string): string {
  if (!/^[0-9a-f]{32}$/.test(hex)) return hex
  const turn = (from: number, to: number): string => (hex.slice(from, to).match(/../g) ?? []).reverse().join('')
  return `${turn(0, 8)}${turn(8, 12)}${turn(12, 16)}${hex.slice(16)}`
}

/** Up to four bytes, repeated: zeros, `ffff…`, `fefe…`, `dead beef`. */
const REPEATED = /^(?:([0-9a-f])\1{31}|([0-9a-f]{2})\2{15}|([0-9a-f]{4})\3{7}|([0-9a-f]{8})\4{3})$/

/**
 * Ids of unprogrammed boards, from the lists of inventory programs: GLPI and FusionInventory, FOG, fwupd.
 * The last two are machine ids that came with images (CentOS 7 and Ubuntu 18.04 of footloose).
 */
const PLACEHOLDERS: ReadonlySet<string> = new Set(
  [
    '03000200-0400-0500-0006-000700080009',
    '00010203-0405-0607-0809-0a0b0c0d0e0f',
    '01020304-0506-0708-090a-0b0c0d0e0f10',
    '01234567-89ab-cdef-0123-456789abcdef',
    '12345678-1234-1234-1234-123456789abc',
    '12345678-1234-1234-1234-123456789012',
    '12345678-1234-5678-1234-567812345678',
    '12345678-1234-5678-90ab-cddeefaabbcc',
    '12345678-9abc-def0-1234-56789abcdef0',
    '11111111-2222-3333-4444-555555555555',
    '11112222-3333-4444-5555-666677778888',
    '00112233-4455-6677-8899-aabbccddeeff',
    'fedcba98-7654-3210-fedc-ba9876543210',
    '76543210-fedc-ba98-7654-3210fedcba98',
    'ffffff00-ffff-ffff-ffff-ffffffffffff',
    '00000000-0000-0000-0000-000000000001',
    '4c4c4544-0000-1010-8010-c4c04f313233',
    '4c4c4544-0000-2010-8020-80c04f202020',
    'deadbeef-dead-beef-dead-beefdeadbeef',
    'f32e0af35637b5dfcbedcb0a1de8dca1',
    'ebb19c6b226f48fa86a541fd060e8762',
  ].map((id) => id.replaceAll('-', '')),
)

/** In the form that `plain` gives. */
const WORDS: ReadonlySet<string> = new Set([
  ...[
    'uninitialized',
    'not settable',
    'not present',
    'not applicable',
    'not available',
    'not specified',
    'notsettable',
  ],
  ...['to be filled by o.e.m.', 'to be filled by oem', 'default string', 'system serial number', 'system uuid'],
  ...['unknown', 'undefined', 'none', 'n/a', 'na', 'null', '0', '0x0', '(none)', 'invalid', 'empty', 'oem'],
])
