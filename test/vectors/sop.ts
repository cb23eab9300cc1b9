/**
 * Runs the vectors with every program that speaks SOP (draft-dkg-openpgp-stateless-cli), with gpg,
 * rnp and openpgp.js: `node test/vectors/sop.ts [--markdown] [PROGRAM …]`. A program agrees with a message where
 * it opens the text that the vector names and verifies as many signatures, or opens nothing where the
 * vector names none; with a certificate where it encrypts to the usable, and not to the unusable.
 */
import { execFileSync, spawnSync } from '../support/programs.ts'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readVector, type Vector } from './format.ts'
import { openpgpjs } from './openpgpjs.ts'

const HERE = new URL('./', import.meta.url).pathname
const FOLDER = mkdtempSync(join(tmpdir(), 'vectors-'))
/** More than any of them needs. */
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

export interface Program {
  version: string
  open(message: SopMessage): Answer | Promise<Answer>
  /** Whether it accepts the time of the vector; SOP has no option for it when it encrypts. */
  hasClock: boolean
  encrypts(certificate: string, now: string): boolean | Promise<boolean>
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
    hasClock: false,
    encrypts: (certificate) => run(command, ['encrypt', file(certificate)], 'x').isDone,
  }
}

const fakedTime = (now: string): string => `--faked-system-time=${now.replaceAll(/[-:]|Z$/g, '')}!`

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
      const args = ['--batch', '--trust-model=always', '--status-fd=2', fakedTime(now), '--decrypt']
      const { stderr } = run('gpg', args, body, { GNUPGHOME: home })
      const valid = stderr.match(/^\[GNUPG:\] GOODSIG /gm)?.length ?? 0
      // it stops at a bad signature, before it reports whether the rest is whole
      const opened = run('gpg', ['--skip-verify', ...args], body, { GNUPGHOME: home })
      // its exit code is an error where it tried a key in vain, also where another one opened
      const isOkay = /DECRYPTION_OKAY/.test(opened.stderr) && !/_FAILED/.test(opened.stderr)
      return { text: opened.isDone || isOkay ? opened.stdout : null, valid }
    },
    hasClock: true,
    encrypts(certificate, now) {
      const home = mkdtempSync(join(FOLDER, 'gpg-'))
      const args = [
        ...base,
        fakedTime(now),
        '--armor',
        `--recipient-file=${file(certificate)}`,
        '--encrypt',
      ]
      return run('gpg', args, 'x', { GNUPGHOME: home }).isDone
    },
  }
}

const secondsOf = (now: string): string => String(Date.parse(now) / 1000)

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
      const args = [
        '--homedir',
        home,
        '--current-time',
        secondsOf(now),
        '--password',
        '',
        '--decrypt',
        file(body),
      ]
      const { isDone, stdout, stderr } = run('rnp', [...args, '--output', '-'], '')
      const valid = stderr.match(/Good signature made/g)?.length ?? 0
      return { text: isDone || stdout.length > 0 ? stdout : null, valid }
    },
    hasClock: true,
    encrypts(certificate, now) {
      const home = homeWith([file(certificate)])
      const at = ['--homedir', home, '--current-time', secondsOf(now)]
      const args = [...at, '--encrypt', '-f', file(certificate), '--output', '-']
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
  'openpgp.js': () => openpgpjs((name) => join(HERE, `keys/${name}`)),
}

/** The difference between a program and a vector; null where it agrees. */
type Difference = string | null

async function compareMessage(program: Program, vector: Vector): Promise<Difference> {
  const field = new Map(vector.fields)
  const readers = wordsOf(field.get('reader'))
  const signer = field.get('signer') ?? 'alice'
  const now = field.get('now') ?? ''
  const { text, valid } = await program.open({ body: vector.body, readers, signer, now })
  if (field.get('outcome') !== 'opened') return text === null ? null : 'opens it'
  if (text === null) return 'does not open it'
  const expected = field.get('text')
  const isText =
    expected === undefined
      ? createHash('sha256').update(text).digest('hex') === field.get('text-sha256')
      : text.equals(Buffer.from(JSON.parse(expected) as string))
  if (!isText) return 'opens another text'
  const isValid = wordsOf(field.get('signatures')).includes('valid')
  if (valid > 0 === isValid) return null
  return isValid ? 'finds no valid signature' : 'finds a valid signature'
}

async function compareCertificate(program: Program, { fields, body }: Vector): Promise<Difference> {
  const field = new Map(fields)
  const isUsable = field.get('outcome') === 'usable'
  if ((await program.encrypts(body, field.get('now') ?? '')) === isUsable) return null
  return isUsable ? 'does not encrypt to it' : 'encrypts to it'
}

/** Not for vectors with an earlier copy, nor for those that depend on a time that cannot be given. */
function isAsked({ hasClock }: Program, { fields }: Vector): boolean {
  const field = new Map(fields)
  const isTimed = (field.get('expires') ?? 'never') !== 'never' || field.has('not-before')
  return !field.has('known') && (hasClock || !isTimed)
}

const wordsOf = (field = ''): string[] =>
  field.split(' ').filter((word) => word !== '' && word !== 'none')

const args = process.argv.slice(2)
const chosen = args.filter((arg) => !arg.startsWith('--'))
const isMarkdown = args.includes('--markdown')
/** Every vector of a folder, by the name of its file. */
function vectorsIn(folder: string): [name: string, vector: Vector][] {
  return readdirSync(join(HERE, folder))
    .toSorted()
    .map((name) => [name, readVector(readFileSync(join(HERE, folder, name), 'utf8'))])
}

const SETS = [
  { set: 'messages', vectors: vectorsIn('messages'), compare: compareMessage },
  { set: 'certificates', vectors: vectorsIn('certificates'), compare: compareCertificate },
]
if (isMarkdown) {
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
    await answer(name, program)
  }
} finally {
  rmSync(FOLDER, { recursive: true, force: true })
}

/** Runs all vectors with a program, and prints its row or its list. */
async function answer(name: string, program: Program): Promise<void> {
  const cells: string[] = []
  const lines: string[] = []
  for (const { set, vectors, compare } of SETS) {
    const asked = vectors.filter(([, vector]) => isAsked(program, vector))
    const differing: string[] = []
    for (const [vector, content] of asked) {
      const difference = await compare(program, content)
      if (difference !== null) differing.push(`    ${vector}: ${difference}`)
    }
    const cell = `${asked.length - differing.length} of ${asked.length}`
    cells.push(cell)
    lines.push(`  ${set}: ${cell} alike`, ...differing)
  }
  if (isMarkdown) process.stdout.write(`| ${program.version} | ${cells.join(' | ')} |\n`)
  else process.stdout.write(`${[`${name} (${program.version})`, ...lines].join('\n')}\n`)
}
