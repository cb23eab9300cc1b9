/**
 * What builds the image without a container engine's daemon or a registry: stand-ins for its base
 * images, made of the Node, the npm and the few system programs of this machine.
 */
import {
  chmodSync,
  constants,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { isInstalled, run } from '../support/programs.ts'

const NODE_IMAGE = 'docker.io/library/node:24-bookworm-slim'
const DEBIAN_IMAGE = 'docker.io/library/debian:bookworm-slim'
/** What the Dockerfile may call beside Node and npm: programs that every Debian has. */
const SYSTEM = ['sh', 'env', 'find', 'install', 'rm']
/** npm's cache, that of this machine, in the container that builds. */
const CACHE = '/var/cache/npm'
const AUTHORITIES = '/etc/ssl/certs/ca-certificates.crt'
const PROGRAMS = ['buildah', 'unshare', 'nsenter', 'setpriv']

/** Why no image can be built and run here, or null. */
export async function whyNot(): Promise<string | null> {
  if (process.platform !== 'linux') return 'containers need Linux'
  const missing = PROGRAMS.filter((program) => !isInstalled(program))
  if (missing.length > 0) return `not installed: ${missing.join(', ')}`
  if (process.getuid?.() !== 0) return 'mounting needs root'
  const { code } = await run('unshare', ['--mount', '--pid', '--fork', 'true'])
  return code === 0 ? null : 'namespaces cannot be made here'
}

/** Base images, and the settings with which buildah builds over them here. */
export interface Bases {
  nodeImage: string
  debianImage: string
  env: Record<string, string>
}

/** Makes stand-ins for the base images in a store of their own. */
export async function createBases(folder: string): Promise<Bases> {
  const cache = await must('npm', ['config', 'get', 'cache'])
  mkdirSync(cache, { recursive: true })
  const [storage, containers] = [join(folder, 'storage.conf'), join(folder, 'containers.conf')]
  // vfs copies where others mount, and so works on any file system.
  const places = `graphroot = "${join(folder, 'root')}"\nrunroot = "${join(folder, 'run')}"`
  writeFileSync(storage, `[storage]\ndriver = "vfs"\n${places}\n`)
  writeFileSync(containers, `[containers]\nvolumes = ["${cache}:${CACHE}"]\n`)
  const paths = { CONTAINERS_STORAGE_CONF: storage, CONTAINERS_CONF: containers }
  const env = { ...paths, BUILDAH_ISOLATION: 'chroot' }
  const buildah = (...args: string[]) => must('buildah', args, env)
  const byDigest = async (image: string): Promise<string> => {
    const inspected = await buildah('inspect', '--type', 'image', image)
    const { FromImageDigest } = JSON.parse(inspected) as { FromImageDigest: string }
    return `${image.replace(/:[^:]*$/, '')}@${FromImageDigest}`
  }
  await buildNodeImage(buildah)
  await buildDebianImage(buildah)
  return { nodeImage: await byDigest(NODE_IMAGE), debianImage: await byDigest(DEBIAN_IMAGE), env }
}

async function buildNodeImage(buildah: (...args: string[]) => Promise<string>): Promise<void> {
  const container = await buildah('from', 'scratch')
  const root = await buildah('mount', container)
  for (const program of SYSTEM) await copyProgram(root, findProgram(program), `/bin/${program}`)
  await copyProgram(root, process.execPath, '/usr/local/bin/node')
  for (const library of await linkedTo(bundler())) await copyProgram(root, library, library)
  const packages = join(root, 'usr/local/lib/node_modules')
  cpSync(npmFolder(), join(packages, 'npm'), { recursive: true })
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'))
  symlinkSync('/bin', join(root, 'usr/bin'))
  addUsersAndFolders(root)
  const env = ['PATH=/usr/local/bin:/usr/bin:/bin', `npm_config_cache=${CACHE}`]
  if (existsSync(AUTHORITIES)) {
    put(root, AUTHORITIES, readFileSync(AUTHORITIES, 'utf8'))
    env.push(`NODE_EXTRA_CA_CERTS=${AUTHORITIES}`)
  }
  await buildah('config', ...env.flatMap((one) => ['--env', one]), container)
  await buildah('commit', '--rm', container, NODE_IMAGE)
}

/** A Debian: a shell and perl, which each has, and what apt is linked to, which Node is too. */
async function buildDebianImage(buildah: (...args: string[]) => Promise<string>): Promise<void> {
  const container = await buildah('from', 'scratch')
  const root = await buildah('mount', container)
  for (const program of ['sh', 'perl']) {
    await copyProgram(root, findProgram(program), `/usr/bin/${program}`)
  }
  for (const library of await linkedTo(process.execPath)) await copyProgram(root, library, library)
  addUsersAndFolders(root)
  await buildah('config', '--env', 'PATH=/usr/local/bin:/usr/bin:/bin', container)
  await buildah('commit', '--rm', container, DEBIAN_IMAGE)
}

function addUsersAndFolders(root: string): void {
  put(root, '/etc/passwd', 'root:x:0:0::/root:/bin/sh\nnode:x:1000:1000::/home/node:/bin/sh\n')
  put(root, '/etc/group', 'root:x:0:\nnode:x:1000:\n')
  for (const path of ['usr/local/bin', 'var/lib', 'tmp']) {
    mkdirSync(join(root, path), { recursive: true })
  }
  chmodSync(join(root, 'tmp'), 0o1777)
}

/** Copies a program and what it is linked to, each library to the place where it is looked for. */
async function copyProgram(root: string, from: string, to: string): Promise<void> {
  const libraries = await linkedTo(from)
  for (const [source, target] of [[from, to], ...libraries.map((path) => [path, path])]) {
    const at = join(root, target ?? '')
    mkdirSync(dirname(at), { recursive: true })
    if (!existsSync(at)) copyFileSync(source ?? '', at, constants.COPYFILE_FICLONE)
  }
}

async function linkedTo(file: string): Promise<string[]> {
  const linked = await must('ldd', [file])
  return [...linked.matchAll(/(\/\S+) \(0x/g)].map(([, path]) => String(path))
}

/** What builds the bundle: its libraries are on every Debian. */
function bundler(): string {
  const folder = realpathSync('node_modules/@rolldown')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const binding = files.find((name) => name.endsWith('.node'))
  if (binding === undefined) throw new Error('rolldown has no binding for this machine')
  return join(folder, binding)
}

function put(root: string, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

function findProgram(name: string): string {
  const places = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, name))
  const found = places.find((place) => statSync(place, { throwIfNoEntry: false })?.isFile())
  if (found === undefined) throw new Error(`${name} is not on the path`)
  return realpathSync(found)
}

const npmFolder = (): string => dirname(dirname(findProgram('npm')))

/** Runs a program to its end. @returns what it wrote @throws Error with that when it fails */
export async function must(program: string, args: string[], own = {}, cwd = '.'): Promise<string> {
  const env = { ...process.env, ...own }
  const { code, stdout, stderr } = await run(program, args, { env, cwd })
  if (code === 0) return String(stdout).trim()
  throw new Error(`${program} ${args.join(' ')} ended with ${code}: ${stderr.slice(-2000)}`)
}
