/**
 * Runs the vectors with every program that speaks SOP (draft-dkg-openpgp-stateless-cli), with gpg and
 * with rnp: `node test/vectors/sop.ts [--markdown] [PROGRAM …]`. A program agrees with a message where
 * it opens the text that the vector names and verifies as many signatures, or opens nothing where the
 * vector names none; with a certificate where it encrypts to the usable, and not to the unusable.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readVector } from './format.ts'

const HERE = new URL('./', import.meta.url).pathname
const FOLDER = mkdtempSync(join(tmpdir(), 'vectors-'))
/** Longer than any of them takes. */
const TIMEOUT_MS = 20_000

interface Answer {
  /** Null where the program opened nothing. */
  text: Buffer | null
  /** How many signatures it found to be the signer's. */
  valid: number
}

interface SopMessage {
  body: string
  /** Names of files in `keys/`. */
  readers: string[]
  signer: string
  now: string
}

interface Program {
  version: string
  open(message: SopMessage): Answer
  /** Null where it is not asked. */
  encrypts(certificate: string): boolean
}

function run(command: string, args: string[], input: string | Buffer, env = {}) {
  const options = { input, timeout: TIMEOUT_MS, env: { ...process.env, ...env } }
  const { status, stdout, stderr } = spawnSync(command, args, options)
  return { isDone: status === 0, stdout, stderr: stderr.toString('latin1') }
}

const certificateFile = (name: string): string => join(HERE, `keys/${name}.asc`)
const secretFile = (name: string): string => join(HERE, `keys/${name}.secret.asc`)
let files = 0
function file(text: string): string {
  const path = join(FOLDER, String(++files))
  writeFileSync(path, text)
  return path
}

/** A program with the stateless interface. */
function sop(command: string): Program {
  return {
    version: execFileSync(command, ['version'], { encoding: 'utf8' }).split('\n')[0] ?? '',
    open({ body, readers, signer, now }) {
      const verifications = join(FOLDER, `verified-${++files}`)
      const verifying = [`--verify-with=${certificateFile(signer)}`, `--verify-not-after=${now}`]
      const out = command === 'gosop' || command === 'sqop' ? '--verify-out' : '--verifications-out'
      const keys = readers.map(secretFile)
      const args = ['decrypt', `${out}=${verifications}`, ...verifying, ...keys]
      const plain = run(command, args, body)
      const opened = plain.isDone ? plain : run(command, ['decrypt', ...keys], body)
      if (!opened.isDone) return { text: null, valid: 0 }
      const lines = plain.isDone ? readFileSync(verifications, 'utf8').match(/^\d{4}-.+$/gm) : []
      return { text: opened.stdout, valid: lines?.length ?? 0 }
    },
    encrypts: (certificate) => run(command, ['encrypt', file(certificate)], 'x').isDone,
  }
}

/** GnuPG with a home for each set of keys, at the time of the vector. */
function gpg(): Program {
  const homes = new Map<string, string>()
  const base = [
    '--batch',
    '--quiet',
    '--no-autostart',
    '--trust-model=always',
    '--pinentry-mode=loopback',
  ]
  const homeOf = (readers: string[], signer: string): string => {
    const name = `${readers.join(' ')}/${signer}`
    const known = homes.get(name)
    if (known !== undefined) return known
    const home = mkdtempSync(join(FOLDER, 'gpg-'))
    homes.set(name, home)
    const keys = [...readers.map(secretFile), certificateFile(signer)]
    run('gpg', ['--batch', '--quiet', '--import', ...keys], '', { GNUPGHOME: home })
    return home
  }
  return {
    version: execFileSync('gpg', ['--version'], { encoding: 'utf8' }).split('\n')[0] ?? '',
    open({ body, readers, signer, now }) {
      const home = homeOf(readers, signer)
      const at = `--faked-system-time=${now.replaceAll(/[-:]|Z$/g, '')}!`
      const args = ['--batch', '--trust-model=always', '--status-fd=2', at, '--decrypt']
      const { isDone, stdout, stderr } = run('gpg', args, body, { GNUPGHOME: home })
      const valid = stderr.match(/^\[GNUPG:\] VALIDSIG /gm)?.length ?? 0
      const isOpened = isDone || /DECRYPTION_OKAY/.test(stderr)
      return { text: isOpened && !/DECRYPTION_FAILED/.test(stderr) ? stdout : null, valid }
    },
    encrypts(certificate) {
      const home = mkdtempSync(join(FOLDER, 'gpg-'))
      const args = [...base, '--armor', `--recipient-file=${file(certificate)}`, '--encrypt']
      return run('gpg', args, 'x', { GNUPGHOME: home }).isDone
    },
  }
}

/** RNP, likewise. */
function rnp(): Program {
  const homeWith = (keys: string[]): string => {
    const home = mkdtempSync(join(FOLDER, 'rnp-'))
    for (const key of keys) run('rnpkeys', ['--homedir', home, '--import', key], '')
    return home
  }
  const homes = new Map<string, string>()
  return {
    version: execFileSync('rnp', ['--version'], { encoding: 'utf8' }).split('\n')[0] ?? '',
    open({ body, readers, signer, now }) {
      const name = `${readers.join(' ')}/${signer}`
      const keys = [...readers.map(secretFile), certificateFile(signer)]
      const home = homes.get(name) ?? homeWith(keys)
      homes.set(name, home)
      const at = String(Date.parse(now) / 1000)
      const args = [
        '--homedir',
        home,
        '--current-time',
        at,
        '--password',
        '',
        '--decrypt',
        file(body),
      ]
      const { isDone, stdout, stderr } = run('rnp', [...args, '--output', '-'], '')
      const valid = stderr.match(/Good signature made/g)?.length ?? 0
      return { text: isDone || stdout.length > 0 ? stdout : null, valid }
    },
    encrypts(certificate) {
      const home = homeWith([file(certificate)])
      const args = ['--homedir', home, '--encrypt', '-f', file(certificate), '--output', '-']
      return run('rnp', args, 'x').isDone
    },
  }
}

const PROGRAMS: Record<string, () => Program> = {
  gpg,
  rnp,
  sqop: () => sop('sqop'),
  gosop: () => sop('gosop'),
  'pgpainless-cli': () => sop('pgpainless-cli'),
}

/** What a vector says must come out, and whether a program agrees. */
function agreesOnMessage(program: Program, name: string): boolean {
  const { fields, body } = readVector(readFileSync(join(HERE, 'messages', name), 'utf8'))
  const field = new Map(fields)
  const words = (field.get('reader') ?? '')
    .split(' ')
    .filter((word) => word !== '' && word !== 'none')
  const signer = field.get('signer') ?? 'alice'
  const now = field.get('now') ?? ''
  const { text, valid } = program.open({ body, readers: words, signer, now })
  if (field.get('outcome') !== 'opened') return text === null
  const expected = field.get('text')
  const digest = field.get('text-sha256')
  const isText =
    text !== null &&
    (expected === undefined
      ? createHash('sha256').update(text).digest('hex') === digest
      : text.equals(Buffer.from(JSON.parse(expected) as string)))
  const signatures = (field.get('signatures') ?? '').split(' ')
  return isText && valid > 0 === signatures.includes('valid')
}

function agreesOnCertificate(program: Program, name: string): boolean {
  const { fields, body } = readVector(readFileSync(join(HERE, 'certificates', name), 'utf8'))
  return program.encrypts(body) === (new Map(fields).get('outcome') === 'usable')
}

const args = process.argv.slice(2)
const chosen = args.filter((arg) => !arg.startsWith('--'))
const SETS = {
  messages: { names: readdirSync(join(HERE, 'messages')).toSorted(), agrees: agreesOnMessage },
  certificates: {
    names: readdirSync(join(HERE, 'certificates')).toSorted(),
    agrees: agreesOnCertificate,
  },
}
if (args.includes('--markdown')) {
  process.stdout.write('| program | messages | certificates |\n| --- | --- | --- |\n')
}
try {
  for (const [name, start] of Object.entries(PROGRAMS)) {
    if (chosen.length > 0 && !chosen.includes(name)) continue
    let program
    try {
      program = start()
    } catch {
      process.stderr.write(`${name}: not installed\n`)
      continue
    }
    const differing: Record<string, string[]> = {}
    for (const [set, { names, agrees }] of Object.entries(SETS)) {
      differing[set] = names.filter((vector) => !agrees(program, vector))
    }
    print(name, program.version, differing)
  }
} finally {
  rmSync(FOLDER, { recursive: true, force: true })
}

function cell(set: keyof typeof SETS, differing: string[] = []): string {
  const { length } = SETS[set].names
  return `${length - differing.length} of ${length}`
}

function print(program: string, version: string, differing: Record<string, string[]>): void {
  const sets = ['messages', 'certificates'] as const
  if (args.includes('--markdown')) {
    const cells = sets.map((set) => cell(set, differing[set]))
    process.stdout.write(`| ${version} | ${cells.join(' | ')} |\n`)
    return
  }
  process.stdout.write(`${program} (${version})\n`)
  for (const set of sets) {
    const names = differing[set] ?? []
    process.stdout.write(`  ${set}: ${cell(set, names)} alike\n`)
    for (const one of names) process.stdout.write(`    otherwise: ${one}\n`)
  }
}
