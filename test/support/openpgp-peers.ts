/** Other OpenPGP programs, as Debian packages them, and openpgp.js with its own defaults. */
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createMessage, decrypt, encrypt, readKey, readMessage, readPrivateKey } from 'openpgp'
import type { PrivateKey } from 'openpgp'
import { isInstalled, run, shortFolder, spawn } from './programs.ts'

export type Bytes = Uint8Array | string

export interface PeerAnswer {
  /** Null where it opened nothing. */
  text: Buffer | null
  /** How many signatures it found to be of the certificate. */
  valid: number
}

export interface PeerQuestion {
  message: Bytes
  /** Secret keys that open it. */
  secrets: readonly Bytes[]
  /** Whose signatures are looked for. */
  certificate: Bytes
  /** When; a program without `hasClock` asks the system's. */
  atMs: number
  /** Signatures after it are not valid; a program with `hasClock` needs none. */
  notAfterMs?: number
}

/** Kinds of keys, by primary key and subkey in the words of GnuPG. */
export const KEY_KINDS = {
  cv25519: ['ed25519', 'cv25519'],
  rsa2048: ['rsa2048', 'rsa2048'],
  rsa3072: ['rsa3072', 'rsa3072'],
  rsa4096: ['rsa4096', 'rsa4096'],
  p256: ['nistp256', 'nistp256'],
  p384: ['nistp384', 'nistp384'],
  p521: ['nistp521', 'nistp521'],
  bp256: ['brainpoolP256r1', 'brainpoolP256r1'],
  bp384: ['brainpoolP384r1', 'brainpoolP384r1'],
  bp512: ['brainpoolP512r1', 'brainpoolP512r1'],
} as const
export type KeyKind = keyof typeof KEY_KINDS

/** Ways to seal that not every program offers. */
export const FEATURES = [
  'plain',
  'zip',
  'zlib',
  'bzip2',
  'padded',
  'anonymous',
  'two signers',
  'text mode',
  'by pipe',
  '3des',
] as const
export type Feature = (typeof FEATURES)[number]
type Flags = Partial<Record<Feature, string[]>>

/** A key that a program made: armored, and what the program knows it by. */
export interface PeerKey {
  certificate: string
  secret: string
  id: string
}

export interface SealRequest {
  text: string
  /** Armored certificates. */
  to: readonly string[]
  signers: readonly PeerKey[]
  feature?: Feature | undefined
}

/** What of a program makes keys and messages; each call throws an Error with what it printed last. */
export interface PeerWriter {
  kinds: readonly KeyKind[]
  features: readonly Feature[]
  makeKey(kind: KeyKind, name: string): Promise<PeerKey>
  /** Signs with every signer and encrypts; gives the armored message. */
  seal(request: SealRequest): Promise<string>
}

export interface Peer {
  version: string
  hasClock: boolean
  writer?: PeerWriter
  open(question: PeerQuestion): Promise<PeerAnswer>
  /** Whether it encrypts to a certificate. */
  encrypts(certificate: Bytes, atMs: number): Promise<boolean>
}

/** More than any of them needs, but for a large key of RSA. */
const SECONDS = 30
const LONG_SECONDS = 120
let numbered = 0

/** A folder for what the programs are handed. */
class Shop {
  readonly folder: string
  readonly #made = new Map<string, Promise<string>>()
  readonly #ends: (() => void)[] = []

  constructor(folder: string) {
    this.folder = folder
  }

  onEnd(end: () => void): void {
    this.#ends.push(end)
  }

  end(): void {
    for (const end of this.#ends) end()
  }

  async file(content: Bytes): Promise<string> {
    const path = join(this.folder, `file-${++numbered}`)
    await writeFile(path, content)
    return path
  }

  files(all: readonly Bytes[]): Promise<string[]> {
    return Promise.all(all.map((one) => this.file(one)))
  }

  path(): string {
    return join(this.folder, `file-${++numbered}`)
  }

  /** A folder that is made once for its name. */
  once(name: string, make: (path: string) => Promise<void>): Promise<string> {
    const known = this.#made.get(name) ?? this.fresh(make)
    this.#made.set(name, known)
    return known
  }

  async fresh(make: (path: string) => Promise<void>): Promise<string> {
    const path = join(this.folder, `home-${++numbered}`)
    await mkdir(path, { mode: 0o700 })
    await make(path)
    return path
  }

  async run(program: string, args: string[], input: Bytes = '', seconds = SECONDS) {
    const env = { PATH: process.env['PATH'], HOME: this.folder, LC_ALL: 'C.UTF-8' }
    const options = { input, env, cwd: this.folder }
    const ran = await run('timeout', [String(seconds), program, ...args], options)
    return { isDone: ran.code === 0, stdout: ran.stdout, stderr: ran.stderr }
  }

  /** @throws Error with what the program printed last */
  async must(program: string, args: string[], input?: Bytes): Promise<string> {
    const { isDone, stdout, stderr } = await this.run(program, args, input, LONG_SECONDS)
    if (!isDone) throw new Error(stderr.trim().split('\n').at(-1)?.slice(0, 160) || 'no reason')
    return stdout.toString()
  }

  async version(program: string, ...args: string[]): Promise<string> {
    // the door to programs refuses one that is not there
    const ran = await run(program, args)
    return `${ran.stdout.toString()}${ran.stderr}`.split('\n')[0] ?? ''
  }
}

type Call = (args: string[], input: Bytes) => Promise<{ isDone: boolean; stdout: Buffer }>

const onceEach = (shop: Shop, program: string): Promise<Call> =>
  Promise.resolve((args, input) => shop.run(program, args, input))

/** PGPainless in one process for all calls, where Java is a JDK: a start takes it seconds. */
async function inOneJava(shop: Shop, program: string): Promise<Call> {
  if (!isInstalled('javac')) return await onceEach(shop, program)
  const source = join(import.meta.dirname, 'Pgpainless.java')
  const jars = '/usr/share/java/pgpainless-cli.jar:/usr/share/java/sop-java-picocli.jar'
  const java = spawn('java', ['-cp', jars, source], { stdio: ['pipe', 'pipe', 'ignore'] })
  const codes = createInterface({ input: java.stdout })[Symbol.asyncIterator]()
  shop.onEnd(() => java.stdin.end())
  return async (args, input) => {
    const out = shop.path()
    java.stdin.write(`${[await shop.file(input), out, ...args].join('\t')}\n`)
    const { value: code = '1' } = await codes.next()
    return { isDone: code === '0', stdout: await readFile(out) }
  }
}

/** A program with the stateless interface (draft-dkg-openpgp-stateless-cli), by its words of Debian 12. */
const sop =
  (program: string, kind: KeyKind, features: Feature[], start = onceEach) =>
  async (shop: Shop): Promise<Peer> => {
    const version = await shop.version(program, 'version')
    const call = await start(shop, program)
    const must = async (args: string[], input: Bytes): Promise<string> => {
      const { isDone, stdout } = await call(args, input)
      if (!isDone) throw new Error(`${program} ${args[0] ?? ''} failed`)
      return stdout.toString()
    }
    return {
      version,
      hasClock: false,
      writer: {
        kinds: [kind],
        features,
        async makeKey(_, name) {
          const secret = await must(['generate-key', name], '')
          return { certificate: await must(['extract-cert'], secret), secret, id: name }
        },
        async seal({ text, to, signers, feature }) {
          const as = feature === 'text mode' ? ['--as=text'] : []
          const keys = await shop.files(signers.map(({ secret }) => secret))
          const by = keys.map((key) => `--sign-with=${key}`)
          return await must(['encrypt', ...as, ...by, ...(await shop.files(to))], text)
        },
      },
      async open({ message, secrets, certificate, notAfterMs }) {
        const verifications = shop.path()
        const keys = await shop.files(secrets)
        const until = notAfterMs === undefined ? '' : new Date(notAfterMs).toISOString()
        const by = [
          `--verify-out=${verifications}`,
          `--verify-with=${await shop.file(certificate)}`,
          ...(until === '' ? [] : [`--verify-not-after=${until.replace('.000', '')}`]),
        ]
        const plain = await call(['decrypt', ...by, ...keys], message)
        const opened = plain.isDone ? plain : await call(['decrypt', ...keys], message)
        if (!opened.isDone) return { text: null, valid: 0 }
        const lines = plain.isDone ? await readFile(verifications, 'utf8') : ''
        return { text: opened.stdout, valid: lines.match(/^\d{4}-.+$/gm)?.length ?? 0 }
      },
      async encrypts(certificate) {
        return (await call(['encrypt', await shop.file(certificate)], 'x')).isDone
      },
    }
  }

const GPG_FLAGS: Flags = {
  plain: ['--compress-algo', 'none'],
  zip: ['--compress-algo', 'zip'],
  zlib: ['--compress-algo', 'zlib'],
  bzip2: ['--compress-algo', 'bzip2'],
  anonymous: ['--throw-keyids'],
  'two signers': [],
  'text mode': ['--textmode'],
  'by pipe': ['--compress-algo', 'none'],
  '3des': ['--cipher-algo', '3DES'],
}

function gpgWriter(shop: Shop): PeerWriter {
  const runGpg = async (args: string[], input?: Bytes): Promise<string> => {
    const home = await shop.once('gpg writer', () => Promise.resolve())
    const always = ['--homedir', home, '--batch', '--quiet', '--no-tty', '--trust-model=always']
    const loopback = ['--pinentry-mode=loopback', '--passphrase', '']
    return await shop.must('gpg', [...always, ...loopback, ...args], input)
  }
  return {
    kinds: Object.keys(KEY_KINDS) as KeyKind[],
    features: Object.keys(GPG_FLAGS) as Feature[],
    async makeKey(kind, name) {
      const [primary, subkey] = KEY_KINDS[kind]
      const made = await runGpg([
        '--status-fd=1',
        '--quick-generate-key',
        name,
        primary,
        'cert,sign',
        'never',
      ])
      const id = /KEY_CREATED \w ([0-9A-F]{40})/.exec(made)?.[1] ?? ''
      await runGpg(['--quick-add-key', id, subkey, 'encr', 'never'])
      const certificate = await runGpg(['--armor', '--export', id])
      return { certificate, secret: await runGpg(['--armor', '--export-secret-keys', id]), id }
    },
    async seal({ text, to, signers, feature = 'two signers' }) {
      const by = signers.flatMap(({ id }) => ['-u', id])
      const recipients = (await shop.files(to)).map((file) => `--recipient-file=${file}`)
      const flags = [...(GPG_FLAGS[feature] ?? []), ...by, ...recipients]
      return await runGpg(['--armor', ...flags, '--sign', '--encrypt'], text)
    },
  }
}

/** GnuPG, with a home for each set of keys. */
async function gpg(shop: Shop): Promise<Peer> {
  const home = (path: string): string[] => ['--homedir', path, '--batch', '--quiet', '--no-tty']
  const clock = (atMs: number): string[] => [
    '--trust-model=always',
    `--faked-system-time=${new Date(atMs).toISOString().replaceAll(/[-:]|\.\d+Z$/g, '')}!`,
  ]
  const homeOf = (secrets: readonly Bytes[]): Promise<string> =>
    shop.once(`gpg ${secrets.join(' ')}`, async (path) => {
      for (const secret of secrets) await shop.run('gpg', [...home(path), '--import'], secret)
    })
  return {
    version: await shop.version('gpg', '--version'),
    hasClock: true,
    writer: gpgWriter(shop),
    async open({ message, secrets, certificate, atMs }) {
      const path = await homeOf(secrets)
      const ring = shop.path()
      const rings = ['--keyring', ring]
      await shop.run(
        'gpg',
        [...home(path), '--no-default-keyring', ...rings, '--import'],
        certificate,
      )
      const args = [...home(path), ...rings, ...clock(atMs), '--status-fd=2', '--decrypt']
      const { stderr } = await shop.run('gpg', args, message)
      const valid = stderr.match(/^\[GNUPG:\] GOODSIG /gm)?.length ?? 0
      // it stops at a bad signature, before it reports whether the rest is whole
      const opened = await shop.run('gpg', ['--skip-verify', ...args], message)
      // its exit code is an error where it tried a key in vain, also where another one opened
      const isOkay = /DECRYPTION_OKAY/.test(opened.stderr) && !/_FAILED/.test(opened.stderr)
      return { text: opened.isDone || isOkay ? opened.stdout : null, valid }
    },
    async encrypts(certificate, atMs) {
      const path = await shop.once('gpg', () => Promise.resolve())
      const to = `--recipient-file=${await shop.file(certificate)}`
      const args = [...home(path), '--no-autostart', ...clock(atMs), to, '--encrypt']
      return (await shop.run('gpg', args, 'x')).isDone
    },
  }
}

/** Answers to the questions of `rnpkeys --expert`: algorithm, then curve. */
const RNP_EXPERT: Partial<Record<KeyKind, string>> = {
  cv25519: '22\n',
  p256: '19\n1\n',
  p384: '19\n2\n',
  p521: '19\n3\n',
  bp256: '19\n4\n',
  bp384: '19\n5\n',
  bp512: '19\n6\n',
}
const RNP_FLAGS: Flags = {
  plain: ['-z', '0'],
  zip: ['--zip', '-z', '6'],
  zlib: ['--zlib', '-z', '6'],
  bzip2: ['--bzip', '-z', '6'],
  'two signers': [],
  '3des': ['--cipher', 'TRIPLEDES'],
}

function rnpWriter(shop: Shop): PeerWriter {
  const runRnp = async (program: string, args: string[], input?: Bytes): Promise<string> => {
    const home = await shop.once('rnp writer', () => Promise.resolve())
    const always = ['--homedir', home, '--password', '', '--notty']
    return await shop.must(program, [...always, ...args], input)
  }
  return {
    kinds: [...(Object.keys(RNP_EXPERT) as KeyKind[]), 'rsa2048', 'rsa3072', 'rsa4096'],
    features: Object.keys(RNP_FLAGS) as Feature[],
    async makeKey(kind, name) {
      const expert = RNP_EXPERT[kind]
      const how = expert === undefined ? ['--numbits', kind.slice('rsa'.length)] : ['--expert']
      await runRnp('rnpkeys', ['--generate-key', '--userid', name, ...how], expert)
      const certificate = await runRnp('rnpkeys', ['--export-key', name])
      return {
        certificate,
        secret: await runRnp('rnpkeys', ['--export-key', '--secret', name]),
        id: name,
      }
    },
    async seal({ text, to, signers, feature = 'two signers' }) {
      // with files of the recipients it would read no key of the signers
      for (const file of await shop.files(to)) await runRnp('rnpkeys', ['--import-keys', file])
      const keys = await Promise.all(to.map((armoredKey) => readKey({ armoredKey })))
      const recipients = keys.flatMap((key) => ['-r', key.getFingerprint()])
      const by = signers.flatMap(({ id }) => ['-u', id])
      const flags = [...(RNP_FLAGS[feature] ?? []), ...by, ...recipients]
      const args = ['--encrypt', '--sign', '--armor', ...flags, '--output', '-']
      return await runRnp('rnp', args, text)
    },
  }
}

/** RNP, with a home for each set of keys. */
async function rnp(shop: Shop): Promise<Peer> {
  const importing = async (path: string, keys: readonly Bytes[]): Promise<void> => {
    for (const key of keys) {
      await shop.run('rnpkeys', ['--homedir', path, '--import', await shop.file(key)])
    }
  }
  const clock = (atMs: number): string[] => ['--current-time', String(Math.floor(atMs / 1000))]
  return {
    version: await shop.version('rnp', '--version'),
    hasClock: true,
    writer: rnpWriter(shop),
    async open({ message, secrets, certificate, atMs }) {
      const path = await shop.once(`rnp ${secrets.join(' ')}`, (at) => importing(at, secrets))
      const both = await shop.fresh(async (at) => {
        await cp(path, at, { recursive: true })
        await importing(at, [certificate])
      })
      const args = ['--homedir', both, ...clock(atMs), '--password', '', '--decrypt']
      const file = await shop.file(message)
      const { isDone, stdout, stderr } = await shop.run('rnp', [...args, file, '--output', '-'])
      const valid = stderr.match(/Good signature made/g)?.length ?? 0
      return { text: isDone || stdout.length > 0 ? stdout : null, valid }
    },
    async encrypts(certificate, atMs) {
      const path = await shop.once('rnp', () => Promise.resolve())
      const args = [
        '--homedir',
        path,
        ...clock(atMs),
        '--encrypt',
        '-f',
        await shop.file(certificate),
      ]
      return (await shop.run('rnp', [...args, '--output', '-'], 'x')).isDone
    },
  }
}

const SQ_SUITES: Partial<Record<KeyKind, string>> = {
  cv25519: 'cv25519',
  rsa3072: 'rsa3k',
  rsa4096: 'rsa4k',
}
const SQ_FLAGS: Flags = {
  plain: ['--compression', 'none'],
  zip: ['--compression', 'zip'],
  zlib: ['--compression', 'zlib'],
  bzip2: ['--compression', 'bzip2'],
  padded: ['--compression', 'pad'],
  'two signers': [],
  'by pipe': [],
}

/** Sequoia by its own command, beside `sqop`. */
async function sq(shop: Shop): Promise<Peer> {
  return {
    version: await shop.version('sq', '--version'),
    hasClock: false,
    writer: {
      kinds: Object.keys(SQ_SUITES) as KeyKind[],
      features: Object.keys(SQ_FLAGS) as Feature[],
      async makeKey(kind, name) {
        const id = shop.path()
        const suite = ['--cipher-suite', SQ_SUITES[kind] ?? '']
        await shop.must('sq', ['key', 'generate', '--userid', name, ...suite, '--export', id])
        const certificate = await shop.must('sq', ['key', 'extract-cert', id])
        return { certificate, secret: await readFile(id, 'utf8'), id }
      },
      async seal({ text, to, signers, feature = 'two signers' }) {
        const by = signers.flatMap(({ id }) => ['--signer-key', id])
        const recipients = (await shop.files(to)).flatMap((file) => ['--recipient-cert', file])
        const flags = [...(SQ_FLAGS[feature] ?? []), ...by, ...recipients]
        if (feature === 'by pipe') return await shop.must('sq', ['encrypt', ...flags], text)
        return await shop.must('sq', ['encrypt', ...flags, await shop.file(text)])
      },
    },
    async open({ message, secrets, certificate }) {
      const keys = (await shop.files(secrets)).flatMap((file) => ['--recipient-key', file])
      const out = shop.path()
      const args = [...keys, '--signer-cert', await shop.file(certificate), '-o', out]
      const { isDone, stderr } = await shop.run('sq', ['decrypt', ...args], message)
      if (!isDone) return { text: null, valid: 0 }
      const valid = Number(/(\d+) good signature/.exec(stderr)?.[1] ?? 0)
      return { text: await readFile(out), valid }
    },
    async encrypts(certificate) {
      const to = ['--recipient-cert', await shop.file(certificate)]
      return (await shop.run('sq', ['encrypt', ...to], 'x')).isDone
    },
  }
}

/** PGPy, by a script that its interpreter is handed. */
async function pgpy(shop: Shop): Promise<Peer> {
  const python = async (script: string, args: string[]) =>
    await shop.run('/usr/bin/python3', ['-W', 'ignore', '-c', script, ...args])
  const { stdout, isDone } = await python(PGPY_VERSION, [])
  if (!isDone) throw new Error('PGPy is not installed')
  return {
    version: `PGPy ${stdout.toString().trim()}`,
    hasClock: false,
    async open({ message, secrets, certificate }) {
      const paths = await shop.files([certificate, message, ...secrets])
      const ran = await python(PGPY_OPEN, paths)
      if (!ran.isDone) return { text: null, valid: 0 }
      const { text, valid } = JSON.parse(ran.stdout.toString()) as { text: string; valid: number }
      return { text: Buffer.from(text, 'hex'), valid }
    },
    async encrypts(certificate) {
      return (await python(PGPY_SEAL, [await shop.file(certificate)])).isDone
    },
  }
}

const PGPY_VERSION = `
import importlib.metadata, pgpy
print(importlib.metadata.version('PGPy'))
`
const PGPY_SEAL = `
import sys, pgpy
key, _ = pgpy.PGPKey.from_file(sys.argv[1])
key.encrypt(pgpy.PGPMessage.new('x'))
`
const PGPY_OPEN = `
import sys, json, pgpy
message = pgpy.PGPMessage.from_file(sys.argv[2])
opened = None
for path in sys.argv[3:]:
    secret, _ = pgpy.PGPKey.from_file(path)
    opened = secret.decrypt(message)
valid = 0
try:
    key, _ = pgpy.PGPKey.from_file(sys.argv[1])
    valid = len(list(key.verify(opened).good_signatures))
except Exception:
    pass
words = opened.message
words = words.encode('utf-8') if isinstance(words, str) else bytes(words)
print(json.dumps({'text': words.hex(), 'valid': valid}))
`

const isArmored = (bytes: Bytes): bytes is string => typeof bytes === 'string'

/** openpgp.js in this process, which must not have loaded our own profile. */
async function openpgpjs(): Promise<Peer> {
  const secretOf = (key: Bytes): Promise<PrivateKey> =>
    isArmored(key) ? readPrivateKey({ armoredKey: key }) : readPrivateKey({ binaryKey: key })
  const keyOf = (key: Bytes) =>
    isArmored(key) ? readKey({ armoredKey: key }) : readKey({ binaryKey: key })
  const file = new URL('../../node_modules/openpgp/package.json', import.meta.url)
  const { version } = JSON.parse(await readFile(file, 'utf8')) as { version: string }
  return {
    version: `openpgp.js ${version}`,
    hasClock: true,
    async open({ message, secrets, certificate, atMs }) {
      const decryptionKeys = await Promise.all(secrets.map(secretOf))
      const date = new Date(atMs)
      const opened = async (verificationKeys: Awaited<ReturnType<typeof keyOf>>[]) => {
        const options = { decryptionKeys, verificationKeys, date, format: 'binary' as const }
        return isArmored(message)
          ? await decrypt({ ...options, message: await readMessage({ armoredMessage: message }) })
          : await decrypt({ ...options, message: await readMessage({ binaryMessage: message }) })
      }
      try {
        const keys = await keyOf(certificate)
          .then((key) => [key])
          .catch(() => [])
        const { data, signatures } = await opened(keys)
        const verified = await Promise.allSettled(signatures.map((one) => one.verified))
        const valid = verified.filter(({ status }) => status === 'fulfilled').length
        return { text: Buffer.from(data as Uint8Array), valid }
      } catch {
        return { text: null, valid: 0 }
      }
    },
    async encrypts(certificate, atMs) {
      try {
        const message = await createMessage({ text: 'x' })
        await encrypt({ message, encryptionKeys: await keyOf(certificate), date: new Date(atMs) })
        return true
      } catch {
        return false
      }
    },
  }
}

const PEERS: Record<string, (shop: Shop) => Promise<Peer>> = {
  gpg,
  rnp,
  sq,
  sqop: sop('sqop', 'cv25519', ['two signers', 'text mode']),
  gosop: sop('gosop', 'rsa2048', ['text mode']),
  'pgpainless-cli': sop('pgpainless-cli', 'cv25519', ['two signers', 'text mode'], inOneJava),
  'openpgp.js': openpgpjs,
  pgpy,
}
/** Those that answer for a library each, and those that make keys and messages. */
export const PEER_NAMES = Object.keys(PEERS).filter((name) => name !== 'sq')
export const WRITER_NAMES = ['gpg', 'sq', 'sqop', 'rnp', 'gosop', 'pgpainless-cli']

/** Those of these names that are installed. */
export async function openPeers(
  names: readonly string[] = PEER_NAMES,
): Promise<{ peers: Map<string, Peer> } & AsyncDisposable> {
  const folder = await shortFolder()
  const shop = new Shop(folder.path)
  const peers = new Map<string, Peer>()
  for (const name of names) {
    const peer = await PEERS[name]?.(shop).catch(() => null)
    if (peer) peers.set(name, peer)
  }
  return {
    peers,
    [Symbol.asyncDispose]: async () => {
      shop.end()
      await folder[Symbol.asyncDispose]()
    },
  }
}
