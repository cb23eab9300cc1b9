import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { apiError, type SandboxApiError } from '../api-error.ts'

/** Finds the world that a path, with its query, is for, and the path below it. */
export type WorldFinder<W> = (url: string) => { world: W | null; path: string }

export const noSuchWorld = (): SandboxApiError =>
  apiError('not_found', 'no such world; `worlds` of the control lists them')

/** Lets a listener route by the paths below each world's own. */
export function worldRouting<W>(find: WorldFinder<W>) {
  const found = new WeakMap<object, W>()
  return {
    /** Gives the path below the world's own; for Fastify's option of that name. */
    rewriteUrl: (request: Pick<IncomingMessage, 'url'>): string => {
      const { world, path } = find(request.url ?? '/')
      if (world !== null) found.set(request, world)
      return path
    },
    /** The world of a request as it was found on arrival, or null when there is none of the name. */
    worldOf: ({ raw }: FastifyRequest): W | null => found.get(raw) ?? null,
    /** The same. @throws SandboxApiError `not_found` when there is none */
    requireWorld: ({ raw }: FastifyRequest): W => {
      const world = found.get(raw)
      if (world === undefined) throw noSuchWorld()
      return world
    },
  }
}
