/** X.509 certificates for servers of the tests (RFC 5280), by node:crypto alone. */
import { generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'

/** PEM texts of a server's key and certificate. */
export interface Identity {
  key: string
  cert: string
}

interface Pair {
  privateKey: KeyObject
  publicKey: KeyObject
}

/** A certificate authority of the test's own. */
export class Authority {
  readonly cert: string
  readonly #pair = makePair()

  /** @param to its last day, `YYYYMMDD` */
  constructor(to = '20400101') {
    const by = { name: 'test', key: this.#pair.privateKey }
    this.cert = certificate(this.#pair, {
      subject: 'test',
      by,
      extension: IS_AUTHORITY,
      days: ['20200101', to],
    })
  }

  /**
   * A server's certificate.
   * @param name a subject alternative name such as `IP:127.0.0.1`
   * @param days `YYYYMMDD`, the first and the last
   */
  issue(name: string, days: [from: string, to: string] = ['20200101', '20400101']): Identity {
    const by = { name: 'test', key: this.#pair.privateKey }
    return identity(name, { subject: 'server', by: () => by, days })
  }

  /** A certificate that vouches for itself alone. */
  selfSigned(name: string): Identity {
    return identity(name, { subject: 'self', by: (key) => ({ name: 'self', key }) })
  }
}

interface Issuer {
  name: string
  key: KeyObject
}
interface Terms {
  subject: string
  by: Issuer
  extension: Buffer
  days?: [string, string]
}

function identity(
  name: string,
  o: { subject: string; by: (own: KeyObject) => Issuer; days?: [string, string] },
): Identity {
  const pair = makePair()
  const terms = { ...o, by: o.by(pair.privateKey), extension: alternativeName(name) }
  const key = pair.privateKey.export({ type: 'sec1', format: 'pem' }) as string
  return { key, cert: certificate(pair, terms) }
}

const makePair = (): Pair => generateKeyPairSync('ec', { namedCurve: 'P-256' })

/** The tags of DER that a certificate needs (X.690). */
const TAG = { boolean: 1, integer: 2, bits: 3, octets: 4, oid: 6, utf8: 12, time: 24 }
const [SEQUENCE, SET] = [0x30, 0x31]

function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const body = Buffer.concat(parts)
  const { length } = body
  const size = length < 128 ? [length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), body])
}

const oid = (hex: string): Buffer => der(TAG.oid, Buffer.from(hex, 'hex'))
const ECDSA_WITH_SHA256 = der(SEQUENCE, oid('2a8648ce3d040302'))
const COMMON_NAME = oid('550403')
const TRUE = der(TAG.boolean, Buffer.from([0xff]))
const IS_AUTHORITY = der(SEQUENCE, oid('551d13'), TRUE, der(TAG.octets, der(SEQUENCE, TRUE)))

const nameOf = (name: string): Buffer =>
  der(SEQUENCE, der(SET, der(SEQUENCE, COMMON_NAME, der(TAG.utf8, Buffer.from(name)))))

/** @param name `DNS:…` or `IP:…` of version 4 */
function alternativeName(name: string): Buffer {
  const [kind, value = ''] = name.split(/:(.*)/)
  const general =
    kind === 'IP'
      ? der(0x87, Buffer.from(value.split('.').map(Number)))
      : der(0x82, Buffer.from(value))
  return der(SEQUENCE, oid('551d11'), der(TAG.octets, der(SEQUENCE, general)))
}

function certificate({ publicKey }: Pair, { subject, by, extension, days }: Terms): string {
  const [from, to] = days ?? ['20200101', '20400101']
  const body = der(
    SEQUENCE,
    der(0xa0, der(TAG.integer, Buffer.from([2]))),
    der(TAG.integer, Buffer.from([1]), randomBytes(8)),
    ECDSA_WITH_SHA256,
    nameOf(by.name),
    der(SEQUENCE, ...[from, to].map((day) => der(TAG.time, Buffer.from(`${day}000000Z`)))),
    nameOf(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(SEQUENCE, extension)),
  )
  const signature = der(TAG.bits, Buffer.from([0]), sign('sha256', body, by.key))
  const text = der(SEQUENCE, body, ECDSA_WITH_SHA256, signature).toString('base64')
  const lines = text.match(/.{1,64}/g) ?? []
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}
