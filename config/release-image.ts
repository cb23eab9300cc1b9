/**
 * The image as an OCI archive that has the same bytes at each build: buildah follows the Dockerfile
 * with every time set to that of the commit, and the archive is written here, since buildah's own
 * has the time of the build, and its OCI form no health check.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { ReleaseError, runProgram } from './release-error.ts'

const OCI = 'application/vnd.oci.image'
const LABEL = 'org.opencontainers.image'

/** The images that the Dockerfile begins with, each by digest. */
export interface Bases {
  nodeImage: string
  debianImage: string
}

/** What an image is built from. */
export interface ImageRequest extends Bases {
  /** Such as linux/arm64; none for this machine's. */
  platforms: string[]
  /** The folder with the Dockerfile. */
  source: string
  /** A folder for what is made on the way. */
  workspace: string
  version: string
  revision: string
  epoch: string
}

interface Blob {
  mediaType: string
  digest: string
  size: number
}

interface Manifest extends Blob {
  platform: { architecture: string; os: string; variant?: string }
  config: Blob
  layers: Blob[]
}

/**
 * @returns null where no image is asked for
 * @throws ReleaseError when one of the two is missing, or not named by digest
 */
export function checkBases(nodeImage?: string, debianImage?: string): Bases | null {
  if (nodeImage === undefined && debianImage === undefined) return null
  for (const reference of [nodeImage, debianImage]) {
    if (/@sha256:[0-9a-f]{64}$/.test(reference ?? '')) continue
    throw new ReleaseError(
      `a base of the image has no digest: ${reference ?? 'one of the two is missing'}`,
      'name both as name@sha256:..., as "Pin the bases" in config/examples/README.md shows',
    )
  }
  return { nodeImage: nodeImage ?? '', debianImage: debianImage ?? '' }
}

/** Builds the image for each platform. @throws ReleaseError when buildah is missing or fails */
export function writeImage(archive: string, request: ImageRequest): void {
  const layout = join(request.workspace, 'layout')
  mkdirSync(join(layout, 'blobs/sha256'), { recursive: true })
  const { platforms } = request
  const places = platforms.length === 0 ? [null] : platforms
  const manifests = places.map((platform) => build(platform, layout, request))
  writeIndexes(layout, manifests, `postern:${request.version}`)
  const same = ['--sort=name', `--mtime=@${request.epoch}`, '--mode=u=rwX,go=rX', '--format=ustar']
  const files = readdirSync(layout).toSorted()
  const owner = ['--owner=0', '--group=0', '--numeric-owner']
  runProgram('tar', ['-c', ...same, ...owner, '-f', archive, '-C', layout, ...files])
}

function build(platform: string | null, layout: string, request: ImageRequest): Manifest {
  const { source, workspace, version, revision, epoch } = request
  const slug = (platform ?? 'own').replaceAll('/', '-')
  const tag = `localhost/postern-release:${process.pid}-${slug}`
  const folder = join(workspace, `image-${slug}`)
  const same = ['--pull=false', '--format=docker', `--timestamp=${epoch}`]
  const bases = { NODE_IMAGE: request.nodeImage, DEBIAN_IMAGE: request.debianImage }
  const labels = { version, revision }
  const args = [
    ...Object.entries(bases).map(([name, value]) => `--build-arg=${name}=${value}`),
    ...Object.entries(labels).map(([name, value]) => `--label=${LABEL}.${name}=${value}`),
    ...(platform === null ? [] : [`--platform=${platform}`]),
  ]
  runProgram('buildah', ['bud', ...same, ...args, '--tag', tag, '.'], { cwd: source })
  try {
    runProgram('buildah', ['push', '--disable-compression', '--format=v2s2', tag, `dir:${folder}`])
  } finally {
    runProgram('buildah', ['rmi', tag])
  }
  return store(layout, folder)
}

/** Settings of an image in Docker's form: those of OCI, and some of Docker's own. */
interface Settings {
  created: string
  architecture: string
  os: string
  variant?: string
  config: Record<string, unknown> & { Labels: Record<string, string> }
  rootfs: object
  history: { created_by?: string; comment?: string }[]
}

/** Stores an image of Docker's form as one of OCI's, with its health check. */
function store(layout: string, folder: string): Manifest {
  const blobOf = ({ digest }: Blob): Buffer =>
    readFileSync(join(folder, digest.replace('sha256:', '')))
  const image = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Manifest
  const settings = JSON.parse(String(blobOf(image.config))) as Settings
  const { created, architecture, os, variant, rootfs } = settings
  // without names of containers and images on the way and the version of buildah, which differ
  const history = settings.history.map((one) => ({ ...one, comment: undefined }))
  const Labels = { ...settings.config.Labels, 'io.buildah.version': undefined }
  const platform = { architecture, os, ...(variant === undefined ? {} : { variant }) }
  const own = {
    created,
    ...platform,
    config: { ...settings.config, Hostname: undefined, Labels },
    rootfs,
    history,
  }
  const config = put(layout, `${OCI}.config.v1+json`, JSON.stringify(own))
  const layers = image.layers.map((layer) =>
    put(layout, `${OCI}.layer.v1.tar+gzip`, gzipSync(blobOf(layer))),
  )
  const mediaType = `${OCI}.manifest.v1+json`
  const manifest = { schemaVersion: 2, mediaType, config, layers }
  return { ...put(layout, mediaType, JSON.stringify(manifest)), platform, config, layers }
}

/** What each reader begins with: Podman, containerd and newer Dockers, older Dockers. */
function writeIndexes(layout: string, manifests: Manifest[], name: string): void {
  const listed = manifests.map(({ mediaType, digest, size, platform }) => ({
    mediaType,
    digest,
    size,
    platform,
  }))
  const [first] = listed
  const mediaType = `${OCI}.index.v1+json`
  const index = { schemaVersion: 2, mediaType, manifests: listed }
  const entry = listed.length === 1 ? first : put(layout, mediaType, JSON.stringify(index))
  const annotations = {
    'io.containerd.image.name': `docker.io/library/${name}`,
    'org.opencontainers.image.ref.name': name,
  }
  const write = (file: string, content: object): void =>
    writeFileSync(join(layout, file), JSON.stringify(content))
  write('oci-layout', { imageLayoutVersion: '1.0.0' })
  write('index.json', { schemaVersion: 2, mediaType, manifests: [{ ...entry, annotations }] })
  const pathOf = ({ digest }: Blob): string => `blobs/${digest.replace(':', '/')}`
  const [own] = manifests
  if (own === undefined || manifests.length > 1) return
  const RepoTags = [name]
  write('manifest.json', [{ Config: pathOf(own.config), RepoTags, Layers: own.layers.map(pathOf) }])
}

function put(layout: string, mediaType: string, content: string | Buffer): Blob {
  const hash = createHash('sha256').update(content).digest('hex')
  writeFileSync(join(layout, 'blobs/sha256', hash), content)
  return { mediaType, digest: `sha256:${hash}`, size: Buffer.byteLength(content) }
}
