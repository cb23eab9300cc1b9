/** Bots that send as fast as they are answered, in a process of their own, which ends with its parent. */
import { connectionOf, type BenchBot } from './bench-bots.ts'
import { startChild } from './processes.ts'

/** A connection of a bot to a sidecar. */
export interface Lane {
  url: string
  bot: BenchBot
}

export interface Load extends AsyncDisposable {
  pid: number
  start(lanes: readonly Lane[]): Promise<void>
  /** @returns sends that were answered with 201 since the start, a second */
  stop(): Promise<number>
}

interface Request {
  lanes: readonly Lane[]
}

export function startLoad(): Load {
  const child = startChild('load-process.ts')
  const ask = async (lanes: readonly Lane[]) => await child.ask({ lanes } satisfies Request)
  return {
    ...child,
    start: async (lanes) => void (await ask(lanes)),
    stop: async () => (await ask([])) as number,
  }
}

if (import.meta.main) {
  let end = new AbortController()
  let running: Promise<void>[] = []
  let [startedAt, sent] = [0, 0]
  const run = async ({ url, bot }: Lane, { signal }: AbortController): Promise<void> => {
    using connection = connectionOf({ url }, bot)
    while (!signal.aborted) if (await connection.ask()) sent++
  }
  const obey = async ({ lanes }: Request): Promise<void> => {
    const perSecond = (sent / (performance.now() - startedAt)) * 1000
    end.abort()
    await Promise.all(running)
    end = new AbortController()
    ;[startedAt, sent] = [performance.now(), 0]
    running = lanes.map((lane) => run(lane, end))
    process.send?.(perSecond)
  }
  process.on('disconnect', () => process.exit(0))
  process.on('message', (request: Request) => void obey(request))
}
