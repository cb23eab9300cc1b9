/** The image of a release, its files laid out in a folder. */
import { NAME, sharedRelease } from '../release/released.ts'
import { must } from './engine.ts'

/** What the image says of itself, as `docker inspect` shows it. */
export interface ImageConfig {
  User: string
  Env: string[]
  Entrypoint: string[]
  Cmd: string[]
  Healthcheck: { Test: string[] }
  Volumes: Record<string, object>
  WorkingDir: string
  StopSignal: string
}

/** The image, its files laid out in a folder. */
export interface Image extends AsyncDisposable {
  config: ImageConfig
  /** Where its root stands on this machine. */
  root: string
}

/** Lays out the image that the release of this run has. */
export async function buildImage(): Promise<Image> {
  const { out, bases } = await sharedRelease()
  const archive = `${out}/${NAME}.oci.tar`
  const read = async (path: string): Promise<string> => await must('tar', ['-xOf', archive, path])
  const [{ Config = '' } = {}] = JSON.parse(await read('manifest.json')) as { Config?: string }[]
  const { config } = JSON.parse(await read(Config)) as { config: ImageConfig }
  const buildah = (...args: string[]) => must('buildah', args, bases?.env)
  const container = await buildah('from', `oci-archive:${archive}`)
  const root = await buildah('mount', container)
  return { config, root, [Symbol.asyncDispose]: async () => void (await buildah('rm', container)) }
}
