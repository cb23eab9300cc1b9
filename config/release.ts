/**
 * Makes what somebody installs, from the last commit: package, image, SBOM, notes, checksums and
 * their signature, the same from the same commit. `config/README.md` describes it.
 */
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { ReleaseError, runProgram } from './release-error.ts'
import { checkBases, writeImage } from './release-image.ts'
import { sign } from './release-signature.ts'

const ROOT = join(import.meta.dirname, '..')
const USAGE = `npm run release -- --out DIR [options]

  --out DIR               an empty folder, or one that is made
  --node-image REF        base images of the Dockerfile, each by digest (name@sha256:...):
  --debian-image REF      both for an image, none for a release without one
  --platform PLATFORM     of the image, such as linux/arm64; repeat it for more (this machine's)
  --sign-with KEY         a file with a secret key (sq), or a key's fingerprint or address (gpg)
  --tag TAG               v and the version: refuses another one, and one without its date
`

/** The files of a release are readable for all, whoever makes it. */
process.umask(0o022)

const workspace = mkdtempSync(join(tmpdir(), 'postern-release-'))
try {
  release(readOptions())
} catch (error) {
  if (!(error instanceof ReleaseError)) throw error
  process.stderr.write(`release: ${error.message}\nhint: ${error.hint}\n`)
  process.exitCode = 1
} finally {
  rmSync(workspace, { recursive: true, force: true })
}

function release(options: Options): void {
  if (options.out === undefined) throw new ReleaseError('--out is missing', USAGE)
  const out = resolve(process.env['INIT_CWD'] ?? '.', options.out)
  if (existsSync(out) && readdirSync(out).length > 0) {
    throw new ReleaseError(`${out} is not empty`, 'name a new folder, so that nothing old is in it')
  }
  const bases = checkBases(options['node-image'], options['debian-image'])
  const leftOut: string[] = []
  const source = join(workspace, 'source')
  const commit = copyCommit(source, leftOut)
  const { name, version } = readJson(join(source, 'package.json'))
  const notes = notesOf(readFileSync(join(source, 'CHANGELOG.md'), 'utf8'), version)
  checkTag(options.tag, version, notes)

  mkdirSync(out, { recursive: true })
  const base = join(out, `${name.replace(/^@/, '').replace('/', '-')}-${version}`)
  pack(source, out)
  copyFileSync(join(source, 'dist/sbom.cdx.json'), `${base}.cdx.json`)
  writeFileSync(`${base}.md`, notes)
  if (bases === null) {
    leftOut.push('the image: name its bases with --node-image and --debian-image')
  } else {
    const platforms = options.platform ?? []
    writeImage(`${base}.oci.tar`, { ...bases, platforms, source, workspace, version, ...commit })
  }
  const sums = join(out, 'SHA256SUMS')
  writeFileSync(
    sums,
    readdirSync(out)
      .toSorted()
      .map((file) => sumOf(out, file))
      .join(''),
  )
  if (options['sign-with'] === undefined) leftOut.push('the signature: name a key with --sign-with')
  else sign(sums, options['sign-with'])
  if (/not released yet/.test(notes)) {
    leftOut.push(`the date of ${version}: CHANGELOG.md calls it not released yet`)
  }
  process.stdout.write(readFileSync(sums, 'utf8'))
  for (const one of leftOut) process.stderr.write(`left out: ${one}\n`)
}

interface Options {
  out?: string
  'node-image'?: string
  'debian-image'?: string
  platform?: string[]
  'sign-with'?: string
  tag?: string
}

function readOptions(): Options {
  const one = { type: 'string' } as const
  const own = { out: one, 'sign-with': one, tag: one }
  const image = {
    'node-image': one,
    'debian-image': one,
    platform: { ...one, multiple: true as const },
  }
  try {
    return parseArgs({ options: { ...own, ...image } }).values
  } catch (error) {
    throw new ReleaseError((error as Error).message, USAGE)
  }
}

interface Commit {
  revision: string
  /** Seconds since 1970, to which every time in the files is set. */
  epoch: string
}

/** Writes the files of the last commit into a folder, each with the mode that git gives it. */
function copyCommit(folder: string, leftOut: string[]): Commit {
  const git = (...args: string[]): string => runProgram('git', args, { cwd: ROOT }).trim()
  const changed = git('status', '--porcelain').split('\n').filter(Boolean)
  if (changed.length > 0) {
    leftOut.push(`what is not committed, in ${changed.length} files: a release is of a commit`)
  }
  const archive = join(workspace, 'source.tar')
  const asStored = ['-c', 'tar.umask=0022', '-c', 'core.autocrlf=false']
  git(...asStored, 'archive', '--format=tar', `--output=${archive}`, 'HEAD')
  mkdirSync(folder)
  runProgram('tar', ['-x', '-p', '-f', archive, '-C', folder])
  const [revision = '', epoch = ''] = git('log', '-1', '--format=%H %ct').split(' ')
  return { revision, epoch }
}

function readJson(path: string): { name: string; version: string } {
  return JSON.parse(readFileSync(path, 'utf8')) as { name: string; version: string }
}

/** The part of the changelog about a version. */
function notesOf(changelog: string, version: string): string {
  const parts = changelog.split(/^(?=## )/m)
  const part = parts.find((one) => one.startsWith(`## ${version},`))
  if (part !== undefined) return `${part.trim()}\n`
  throw new ReleaseError(
    `CHANGELOG.md has no part about ${version}`,
    `add one that begins with "## ${version}, " and the date`,
  )
}

function checkTag(tag: string | undefined, version: string, notes: string): void {
  if (tag === undefined) return
  if (tag !== `v${version}`) {
    throw new ReleaseError(`the tag ${tag} is not v${version}`, 'package.json has the version')
  }
  if (!/^## \S+, \d{4}-\d\d-\d\d$/m.test(notes)) {
    throw new ReleaseError(
      `CHANGELOG.md has no date for ${version}`,
      `begin its part with "## ${version}, " and the date as 2026-12-31, and commit it`,
    )
  }
}

/** Builds with the libraries of the lock file, and the Node among them. */
function pack(source: string, out: string): void {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(npm_(?!config_)|NODE_ENV$)/.test(name),
  )
  const path = [join(source, 'node_modules/.bin'), process.env['PATH'] ?? ''].join(delimiter)
  const options = { cwd: source, env: { ...Object.fromEntries(kept), PATH: path } }
  const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts']
  runProgram('npm', ['ci', '--include=dev', '--include=optional', ...quiet], options)
  runProgram('npm', ['run', 'prepack'], options)
  const manifest = join(source, 'package.json')
  const whole = readFileSync(manifest, 'utf8')
  writeFileSync(manifest, trimmed(whole))
  runProgram('npm', ['pack', '--ignore-scripts', '--pack-destination', out], options)
  writeFileSync(manifest, whole)
}

/** The manifest without entries for a clone alone, and without the one that forbids to publish it. */
function trimmed(manifest: string): string {
  const read = JSON.parse(manifest) as Record<string, unknown>
  for (const name of ['private', 'scripts', 'devDependencies', 'allowScripts']) delete read[name]
  return `${JSON.stringify(read, null, 2)}\n`
}

function sumOf(folder: string, file: string): string {
  const hash = createHash('sha256').update(readFileSync(join(folder, file)))
  return `${hash.digest('hex')}  ${file}\n`
}
