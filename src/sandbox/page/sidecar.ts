/** What the page does with the sidecar and the bot that run beside the sandbox. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { bearerOf, botIdOf } from '../../api/bot.ts'
import { apiError, ControlError } from '../api-error.ts'
import { readInput } from '../control/input.ts'
import { addressesOf, type ControlledWorld } from '../control/routes.ts'
import type { Transcript, TranscriptCall } from '../transcript.ts'
import { valuesOf } from '../../util/local-door.ts'
import type { BotTraffic } from './bot-traffic.ts'

/** What can be started anew. */
export type Restartable = 'sidecar' | 'bot'

/** A sidecar that runs in the process of a sandbox. */
export interface PageSidecar {
  /** Address of the bot's door, without `/bot/v1`. */
  botUrl: string
  /** Whether it does its job, and why not; `sinceMs` by the machine's clock. */
  readiness: () => Promise<{
    ready: boolean
    reasons: { code: string; message: string; hint: string; sinceMs: number }[]
  }>
  /** What can be started anew, and how. Each resolves once it runs. */
  restarts: Map<Restartable, () => Promise<void>>
}

/** What runs beside the world of a request; null where nothing does. */
export interface Attached {
  botTraffic: BotTraffic | null
  sidecar: PageSidecar | null
}

const RestartInput = z.strictObject({ what: z.enum(['sidecar', 'bot']) })
const ReplayInput = z.strictObject({ to: z.enum(['sidecar', 'service']), n: z.int().min(1) })
const REPLAY_MS = 10_000

/**
 * Adds `GET /sidecar`, whether it is ready and what can be started anew; `POST /restart`; and
 * `POST /replay`, which sends a recorded call again with the bot's token of now: call `n` of the
 * traffic to the sidecar, or call `n` of the transcript to the service.
 */
export function addSidecarRoutes(
  app: FastifyInstance,
  runningFor: (request: FastifyRequest) => Attached & { world: ControlledWorld },
): void {
  app.get('/sidecar', (request) => describeSidecar(runningFor(request)))
  app.post('/restart', (request) => restart(runningFor(request), request.body))
  app.post('/replay', (request) => replay(runningFor(request), request.body))
}

async function describeSidecar({ sidecar }: Attached) {
  if (sidecar === null) return { ok: true, result: null }
  const { botUrl, restarts } = sidecar
  const { ready, reasons } = await sidecar.readiness()
  return { ok: true, result: { botUrl, ready, reasons, restarts: [...restarts.keys()] } }
}

async function restart({ sidecar }: Attached, body: unknown) {
  const { what } = readInput('POST /restart', RestartInput, body)
  const start = sidecar?.restarts.get(what)
  if (start === undefined) throw new ControlError(`the ${what} is not run by this process`)
  await start().catch((error: unknown) => {
    throw new ControlError(`the ${what} did not start: ${(error as Error).message}`)
  })
  return { ok: true, result: { restarted: what } }
}

async function replay(
  { world, botTraffic, sidecar }: Attached & { world: ControlledWorld },
  body: unknown,
) {
  const { to, n } = readInput('POST /replay', ReplayInput, body)
  const { bots, transcript } = world.live.world
  const [recorded, base] =
    to === 'sidecar'
      ? [fromTraffic(botTraffic, n), sidecar?.botUrl]
      : [fromTranscript(transcript, n), addressesOf(world).url]
  if (recorded === null || base === undefined) {
    throw apiError('not_found', 'no call of a bot is recorded under this number')
  }
  const token = bots.get(recorded.botId)?.token ?? ''
  return { ok: true, result: await sendAgain(base, recorded, token) }
}

/** The call of the bot whose traffic is watched, or null. */
function fromTraffic(traffic: BotTraffic | null, n: number) {
  const exchange = traffic?.list(n - 1).find((one) => one.n === n)
  if (traffic === null || exchange?.kind !== 'call') return null
  const { method, path, request: body } = exchange
  return { botId: traffic.botId, method, path, body }
}

/** The call of any bot, or null. */
function fromTranscript(transcript: Transcript, n: number) {
  const call = transcript.list(n - 1).find((one) => one.n === n)
  if (call?.by !== 'api') return null
  const { method, path, body, headers } = call
  const botId = botIdOf(bearerOf(valuesOf(headers, 'authorization')[0]) ?? '')
  return botId === null ? null : { botId, method, path, body }
}

/** @throws ControlError when it cannot be sent, or is not answered in time */
async function sendAgain(
  base: string,
  { method, path, body }: Pick<TranscriptCall, 'method' | 'path' | 'body'>,
  token: string,
): Promise<{ status: number }> {
  if (/^\/bot\/v1\/media\b/.test(path)) {
    throw new ControlError('a file is not recorded, so it cannot be sent again')
  }
  // A request line may hold any URL: only paths of this address are replayed.
  const target = path.startsWith('/') ? new URL(base + path) : null
  if (target?.origin !== new URL(base).origin) {
    throw new ControlError('the path leads elsewhere, so it is not sent again')
  }
  try {
    const response = await fetch(target, {
      method,
      redirect: 'manual',
      signal: AbortSignal.timeout(REPLAY_MS),
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === '' ? {} : { body }),
    })
    await response.body?.cancel()
    return { status: response.status }
  } catch {
    throw new ControlError('it was sent again, and not answered within 10 seconds')
  }
}
