/** The certificates of ClusterTrustBundles, as in a projected volume (P55). */
import { compareText } from '../lang/compare-text.ts'
import { ownValue } from '../lang/own-value.ts'
import type { ClusterTrustBundle, LabelSelector } from '../model/objects.ts'
import { matchesLabel } from './node-affinity.ts'

const BLOCK = /-----BEGIN ([^-\n]+)-----\n([\s\S]*?)\n?-----END \1-----/g
const LINE = /.{1,64}/g

/**
 * Every PEM block once, as CERTIFICATE, in the same order for the same certificates. The kubelet's order is random and changes
 * with every start, on purpose.
 */
export function trustAnchors(bundles: readonly ClusterTrustBundle[]): string {
  const anchors = bundles.flatMap(({ spec }) =>
    [...(spec.trustBundle ?? '').replaceAll('\r\n', '\n').matchAll(BLOCK)].map(([, , body = '']) => encoded(body)),
  )
  return [...new Set(anchors)].sort(compareText).map(pemBlock).join('')
}

/** The signer's bundles that the selector matches. Without a selector none match; an empty one matches all (P55). */
export function selectedBundles(
  bundles: readonly ClusterTrustBundle[],
  signerName: string,
  selector: LabelSelector | undefined,
): ClusterTrustBundle[] {
  return bundles.filter(
    ({ spec, metadata }) => spec.signerName === signerName && matchesSelector(selector, metadata.labels ?? {}),
  )
}

function matchesSelector(selector: LabelSelector | undefined, labels: Readonly<Record<string, string>>): boolean {
  if (selector == null) return false
  const { matchLabels = {}, matchExpressions = [] } = selector
  return (
    Object.entries(matchLabels).every(([key, value]) => ownValue(labels, key) === value) &&
    matchExpressions.every((requirement) => matchesLabel(requirement, ownValue(labels, requirement.key)))
  )
}

/** The block's bytes, without headers and line breaks. */
function encoded(body: string): string {
  const lines = body.split('\n').filter((line) => !line.includes(':'))
  return Buffer.from(lines.join(''), 'base64').toString('base64')
}

function pemBlock(base64: string): string {
  return `-----BEGIN CERTIFICATE-----\n${base64.match(LINE)?.join('\n') ?? ''}\n-----END CERTIFICATE-----\n`
}
