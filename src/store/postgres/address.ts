/** Parses the setting `store.url`: a database's host, port, login and TLS. */
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { OperatorError, resultOr } from '../../errors.ts'
import { isLoopback } from '../../util/local-door.ts'

/** A database of PostgreSQL, and the user for it. */
export type DatabaseAddress = ReturnType<typeof parseAddress>

const DEFAULT_PORT = 5432
/** Values of `sslmode` (PostgreSQL, 34.19.1). All but `disable` verify the server here. */
const TLS_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full']
/** Placeholder for an empty host, for which WHATWG rejects a user (`postgres://user@/database`). */
const NO_HOST = 'socket.invalid'
const PARAMETERS = ['host', 'port', 'sslmode', 'sslrootcert']

/**
 * Parses a URL: `postgres://user:password@host:port/database?sslmode=…&sslrootcert=FILE`, or
 * `postgres://user@/database?host=/folder/of/the/socket`.
 * @param caFile PEM file of the authorities that may have signed the server's certificate, in place
 *   of `sslrootcert`; undefined: the authorities of Node
 * @throws OperatorError `settings`, which never repeats the URL
 */
export function parseAddress(url: string, caFile?: string) {
  const { parameters, ...parts } = takeApart(url)
  if (![...parameters.keys()].every((name) => PARAMETERS.includes(name))) {
    throw wrong(`has a parameter other than ${PARAMETERS.join(', ')}`)
  }
  const socket = parameters.get('host')
  if (socket !== null && !(parts.host === '' && socket.startsWith('/'))) {
    throw wrong('has a parameter `host` that is no folder of a socket, or is beside a host')
  }
  const host = socket ?? parts.host
  if (host === '') throw wrong('names no host')
  const mode = parameters.get('sslmode')
  if (mode !== null && !TLS_MODES.includes(mode)) throw wrong('has an unknown sslmode')
  const isSocket = host.startsWith('/')
  // No data leaves the machine.
  const isNear = isSocket || isLoopback(host)
  if (mode === 'disable' && !isNear) {
    throw wrong('turns TLS off for a host that is not this machine')
  }
  const isPlain = isSocket || (isNear && (mode ?? 'disable') === 'disable')
  const ca = caFile ?? parameters.get('sslrootcert') ?? undefined
  return {
    ...parts,
    /** A host name, an IP address, or the absolute path of the folder that holds the socket. */
    host,
    port: portOf(parameters.get('port')) ?? parts.port,
    /** Null only for a socket or loopback: anywhere else the server must authenticate itself. */
    tls: isPlain ? null : { ca: ca === undefined ? undefined : readAuthorities(ca) },
  }
}

/** A database for people and logs, without the password. */
export function describeAddress({ host, port, database, user }: DatabaseAddress): string {
  const place = host.startsWith('/') ? host : `${isIP(host) === 6 ? `[${host}]` : host}:${port}`
  return `${database} at ${place} as ${user}`
}

/** A schema of a database for people and logs. */
export const describePlace = (address: DatabaseAddress, schema: string): string =>
  `${describeAddress(address)}, schema ${schema}`

/** The port beside a socket's folder, which names the socket. */
function portOf(text: string | null): number | null {
  if (text === null) return null
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw wrong('has a parameter `port` that is none')
}

function takeApart(text: string) {
  if (!/^postgres(ql)?:\/\//.test(text)) throw wrong('is no URL that begins with postgres://')
  if (/^\w+:\/\/([^/?#]*@)?[^/?#@]*,/.test(text))
    throw wrong('names several hosts, where one address must follow the primary')
  const url = URL.parse(text.replace(/^(postgres(?:ql)?:\/\/[^/?#]*@)\//, `$1${NO_HOST}/`))
  if (url === null) throw wrong('is no URL')
  // Mostly of a password with a raw `/`, the rest of which would be read as host and database.
  if (/[@#]/.test(url.pathname + url.search + url.hash))
    throw wrong('has a raw @ or # behind the host')
  const database = decoded(url.pathname.slice(1))
  const user = decoded(url.username)
  if (database === '' || database.includes('/')) throw wrong('names no database')
  if (user === '') throw wrong('names no user')
  const host = decoded(url.hostname).toLowerCase()
  return {
    host: host === NO_HOST ? '' : host.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? DEFAULT_PORT : Number(url.port),
    database,
    user,
    /** Undefined when none is given: the server may not ask for one. */
    password: url.password === '' ? undefined : decoded(url.password),
    parameters: url.searchParams,
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw wrong('has a percent sign that escapes nothing')
  }
}

function readAuthorities(file: string): string {
  const text = resultOr(() => readFileSync(file, 'utf8'), '')
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text
  throw wrong('names a file of authorities (sslrootcert, store.caFile) that holds none in PEM')
}

/** The message must never repeat the URL, which may hold a password. */
const wrong = (problem: string): OperatorError =>
  new OperatorError(
    'settings',
    `the settings are refused: store.url: ${problem}`,
    'give postgres://USER:PASSWORD@HOST:PORT/DATABASE, with `?sslrootcert=FILE` for a private ' +
      'authority, or postgres://USER@/DATABASE?host=FOLDER for a socket; escape other characters ' +
      'in user and password by percent signs',
  )
