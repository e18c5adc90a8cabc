/** The content of a configMap, secret, downwardAPI or projected volume, from objects that were just read (S26). */

import { ownValue } from '../base/collections.ts'
import { compareText } from '../base/text.ts'
import type { ClusterTrustBundle, ConfigMap, Node, Pod, PodVolumeSource, Secret } from '../kube/api/objects.ts'
import { type Lookup, mapFound, NOT_READ } from './api-lookup.ts'
import { downwardApiText } from './downward-api-value.ts'
import { matchesLabel } from './node-affinity.ts'
import {
  type BundleSource,
  foundContent,
  type NoContent,
  noContent,
  type PayloadFile,
  payloadFiles,
  type TokenSource,
  valuesOf,
} from './payload-entries.ts'
import { podNamespace } from './pods.ts'

/** The objects that a volume's sources name, as the API gave them. */
export interface FreshObjects {
  /** With all of its annotations. */
  readonly pod: Pod
  readonly node: Node | undefined
  readonly configMaps: ReadonlyMap<string, Lookup<ConfigMap>>
  readonly secrets: ReadonlyMap<string, Lookup<Secret>>
  readonly tokens: ReadonlyMap<TokenSource, Lookup<string>>
  /** For a source with a name: that bundle or none; for one with a signer: all bundles of the signer. */
  readonly trustBundles: ReadonlyMap<BundleSource, Lookup<readonly ClusterTrustBundle[]>>
}

export function contentBytes(
  source: PodVolumeSource,
  fresh: FreshObjects,
): ReadonlyMap<string, PayloadFile<Buffer>> | NoContent {
  const { pod, node, configMaps, secrets, tokens, trustBundles } = fresh
  return payloadFiles<Buffer>(source, pod, {
    configMap: (name) => mapFound(configMaps.get(name) ?? NOT_READ, configMapBytes),
    secret: (name) => mapFound(secrets.get(name) ?? NOT_READ, ({ data }) => decoded(data)),
    downwardApi: (item) => Buffer.from(downwardApiText(item, pod, node)),
    token: (each) => Buffer.from(tokenText(each, pod, tokens.get(each))),
    trustBundle: (each) => Buffer.from(bundleText(each, trustBundles.get(each))),
    certificate: () => noContent('unknown', 'a certificate of the pod, which only the kubelet requests'),
  })
}

/** A key in both comes from `data` (P47). */
function configMapBytes({ data, binaryData }: ConfigMap): ReadonlyMap<string, Buffer> {
  return new Map([...decoded(binaryData), ...valuesOf(data, (text) => Buffer.from(text))])
}

function decoded(base64: Readonly<Record<string, string>> | undefined): ReadonlyMap<string, Buffer> {
  return valuesOf(base64, (text) => Buffer.from(text, 'base64'))
}

function tokenText({ audience }: TokenSource, pod: Pod, found: Lookup<string> = NOT_READ): string {
  const what = `a token of service account ${podNamespace(pod)}/${pod.spec.serviceAccountName ?? ''}${audience ? ` for ${audience}` : ''}`
  return foundContent(what, found) ?? noContent('missing', `${what}: the account or the pod does not exist`)
}

function bundleText(
  { name, signerName, labelSelector, optional = false }: BundleSource,
  found: Lookup<readonly ClusterTrustBundle[]> = NOT_READ,
): string {
  if (!name && !signerName) return noContent('invalid', 'a clusterTrustBundle source has neither name nor signerName')
  const what = name ? `ClusterTrustBundle ${name}` : `ClusterTrustBundles of signer ${signerName}`
  const all = foundContent(what, found) ?? []
  // The signer's that the selector matches.
  const isSelected = ({ spec, metadata }: ClusterTrustBundle): boolean =>
    spec.signerName === signerName && matchesSelector(labelSelector, metadata.labels ?? {})
  const bundles = name ? all : all.filter(isSelected)
  if (bundles.length > 0 || optional) return trustAnchors(bundles)
  return noContent('missing', name ? `${what} does not exist` : `no ClusterTrustBundle of signer ${signerName} matches`)
}

const BLOCK = /-----BEGIN ([^-\n]+)-----\n([\s\S]*?)\n?-----END \1-----/g
const LINE = /.{1,64}/g

/**
 * The certificates of ClusterTrustBundles, as in a projected volume (P55).
 * Every PEM block once, as CERTIFICATE, in the same order for the same certificates. The kubelet's order is random and changes
 * with every start, on purpose.
 */
function trustAnchors(bundles: readonly ClusterTrustBundle[]): string {
  const anchors = bundles.flatMap(({ spec }) =>
    [...(spec.trustBundle ?? '').replaceAll('\r\n', '\n').matchAll(BLOCK)].map(([, , body = '']) => encoded(body)),
  )
  return [...new Set(anchors)].sort(compareText).map(pemBlock).join('')
}

/** Without a selector none match; an empty one matches all (P55). */
function matchesSelector(selector: BundleSource['labelSelector'], labels: Readonly<Record<string, string>>): boolean {
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
