/** A certificate authority made for one test server, and what it signs (RFC 5280, P-256). */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { isIP } from 'node:net'
import { bits, boolean, integer, numbered, objectId, octets, sequence, set, utcTime, utf8 } from './der.ts'

const DAY = 86_400_000
const ECDSA_WITH_SHA256 = sequence(objectId('1.2.840.10045.4.3.2'))
const SERVER_AUTH = objectId('1.3.6.1.5.5.7.3.1')
const CLIENT_AUTH = objectId('1.3.6.1.5.5.7.3.2')

export interface KeyAndCertificate {
  readonly key: string
  readonly certificate: string
}

export interface Authority {
  readonly certificate: string
  /** A server certificate for these host names and IPv4 addresses. */
  server(hosts: readonly string[]): KeyAndCertificate
  /** A client certificate; Kubernetes reads the user from CN and the groups from O. */
  client(user: string, groups: readonly string[]): KeyAndCertificate
}

export function createAuthority(name: string): Authority {
  const authorityKey = generate()
  const issuer = distinguishedName(name, [])
  let serial = 1
  const issue = (subject: Buffer, key: KeyPair, extensions: readonly Buffer[]): KeyAndCertificate => ({
    key: key.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    certificate: certificate({ serial: serial++, issuer, subject, key, signer: authorityKey.privateKey, extensions }),
  })
  const own = issue(issuer, authorityKey, [
    extension('2.5.29.19', true, sequence(boolean(true))),
    extension('2.5.29.15', true, bits(Buffer.from([0x04]), 2)),
  ])
  return {
    certificate: own.certificate,
    server: (hosts) =>
      issue(distinguishedName('volctl test API server', []), generate(), [
        extension('2.5.29.37', false, sequence(SERVER_AUTH)),
        extension('2.5.29.17', false, sequence(...hosts.map(alternativeName))),
      ]),
    client: (user, groups) =>
      issue(distinguishedName(user, groups), generate(), [extension('2.5.29.37', false, sequence(CLIENT_AUTH))]),
  }
}

interface KeyPair {
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
}

function generate(): KeyPair {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' })
}

interface CertificateFields {
  readonly serial: number
  readonly issuer: Buffer
  readonly subject: Buffer
  readonly key: KeyPair
  readonly signer: KeyObject
  readonly extensions: readonly Buffer[]
}

function certificate({ serial, issuer, subject, key, signer, extensions }: CertificateFields): string {
  const validity = sequence(utcTime(new Date(Date.now() - DAY)), utcTime(new Date(Date.now() + 30 * DAY)))
  const publicKey = key.publicKey.export({ type: 'spki', format: 'der' })
  const signed = sequence(
    numbered(0, integer(2)),
    integer(serial),
    ECDSA_WITH_SHA256,
    issuer,
    validity,
    subject,
    publicKey,
    numbered(3, sequence(...extensions)),
  )
  const signature = sign('sha256', signed, signer)
  const text = sequence(signed, ECDSA_WITH_SHA256, bits(signature)).toString('base64').replaceAll(/.{64}/g, '$&\n')
  return `-----BEGIN CERTIFICATE-----\n${text.trimEnd()}\n-----END CERTIFICATE-----\n`
}

function distinguishedName(commonName: string, organizations: readonly string[]): Buffer {
  const attribute = (id: string, value: string): Buffer => set(sequence(objectId(id), utf8(value)))
  return sequence(...organizations.map((value) => attribute('2.5.4.10', value)), attribute('2.5.4.3', commonName))
}

function extension(id: string, critical: boolean, value: Buffer): Buffer {
  return sequence(objectId(id), ...(critical ? [boolean(true)] : []), octets(value))
}

function alternativeName(host: string): Buffer {
  return isIP(host) === 4
    ? numbered(7, Buffer.from(host.split('.').map(Number)), false)
    : numbered(2, Buffer.from(host), false)
}
