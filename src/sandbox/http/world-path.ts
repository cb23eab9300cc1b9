/** The worlds of a sandbox at one address: each below a path of its own, the main one also at the root. */

/** Where the path of a world begins. */
export const WORLDS_PREFIX = '/worlds/'

const BELOW_WORLD = /^\/worlds\/([^/?]*)([^]*)$/

/** What a path asks for. */
export interface WorldPath {
  /** Null at the root. */
  world: string | null
  /** Below the world's own path, with the query. */
  path: string
}

/** Splits the path of a request, with its query, into the name of a world and the rest. */
export function splitWorldPath(url: string): WorldPath {
  const [, world, rest = ''] = BELOW_WORLD.exec(url) ?? []
  if (world === undefined) return { world: null, path: url }
  return { world, path: rest.startsWith('/') ? rest : `/${rest}` }
}

const MEDIA = /^\/media\/([^/?]+)/

/** The id in the path of a file, or null for any other path. */
export function mediaIdIn(path: string): string | null {
  return MEDIA.exec(path)?.[1] ?? null
}
