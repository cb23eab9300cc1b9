/** Releases of the sources as they stand, by `npm run release` in copies that are committed. */
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { VERSION } from '../../src/config/version.ts'
import { createBases, must, whyNot, type Bases } from '../container/engine.ts'
import { onceInRun } from '../support/run-folder.ts'

export const NAME = `postern-${VERSION}`
const AUTHOR = ['-c', 'user.name=Tests', '-c', 'user.email=tests@example.org']

/** A release, and what it was made of. */
export interface Release {
  out: string
  /** Null where no image is built. */
  bases: Bases | null
  sources: string
}

/** The release that all tests of a run share. */
export async function sharedRelease(): Promise<Release> {
  const folder = await onceInRun('release', async (at) => {
    const sources = join(at, 'sources')
    const listed = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
    for (const file of (await must('git', listed)).split('\0').filter(existsSync)) {
      cpSync(file, join(sources, file))
    }
    const git = (...args: string[]) => must('git', ['-C', sources, ...args])
    await git('init', '--quiet')
    await git('add', '--all')
    await git(...AUTHOR, 'commit', '--quiet', '--message=sources')
    const bases = (await whyNot()) === null ? await createBases(at) : null
    writeFileSync(join(at, 'bases.json'), JSON.stringify(bases))
    await release(sources, ['--out', join(at, 'out'), ...imageOf(bases)], bases?.env)
  })
  const bases = JSON.parse(readFileSync(join(folder, 'bases.json'), 'utf8')) as Bases | null
  return { out: join(folder, 'out'), bases, sources: join(folder, 'sources') }
}

/**
 * Makes a release of what is committed in a folder.
 * @throws Error with what was printed when it is refused
 */
export async function release(sources: string, args: string[], own = {}, umask = 22) {
  const command = ['-c', `umask ${umask}; exec "$@"`, 'sh', process.execPath, 'config/release.ts']
  return await must('sh', [...command, ...args], own, sources)
}

/** The arguments that name base images; none where there are no bases. */
export const imageOf = (bases: Bases | null): string[] =>
  bases === null ? [] : ['--node-image', bases.nodeImage, '--debian-image', bases.debianImage]
