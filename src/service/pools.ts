import { X509Certificate } from 'node:crypto'
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'
import { buildConnector, EnvHttpProxyAgent, Pool, type Dispatcher } from 'undici'
import { OperatorError } from '../errors.ts'
import { isLoopback } from '../util/local-door.ts'
import { onlyOnce } from '../util/scheduling.ts'
import type { UpstreamLimits } from './limits.ts'
import { readingPastContinue } from '../util/past-continue.ts'

/** Egress proxies, as their environment variables would name them. */
export type EgressProxies = Partial<Record<'httpsProxy' | 'httpProxy' | 'noProxy', string>>

/** Calls under way in a pool, and those that wait for a connection. */
export type PoolLoad = Record<'busy' | 'waiting', number>

/** A pool that is made for its first call: with its queue it holds 30 KB, and a bot at rest needs one. */
export interface LazyPool {
  readonly dispatcher: Dispatcher
  load(): PoolLoad
  /** Ends its connections, and the calls on them. */
  end(): Promise<void>
}

/**
 * Connections of our own, apart from every other in the process; polls never block calls. `checks` are
 * shared by all bots of the process that reach the service in the same way: the check of a bot at
 * rest then needs no connection of its own.
 */
export type Pools = Record<'calls' | 'polls' | 'media' | 'checks', LazyPool>

/** By the way to the service. */
const checkPools = new Map<string, { pool: LazyPool; users: number }>()

function shared(way: string, make: () => LazyPool): LazyPool {
  const one = checkPools.get(way) ?? { pool: make(), users: 0 }
  checkPools.set(way, one)
  one.users += 1
  return {
    get dispatcher() {
      return one.pool.dispatcher
    },
    load: () => one.pool.load(),
    end: onlyOnce(async () => {
      one.users -= 1
      if (one.users > 0) return
      checkPools.delete(way)
      await one.pool.end()
    }),
  }
}

/**
 * Makes the pools. Nothing that undici could add is on: no redirects, no cache, no retries, no
 * decompression, no HTTP/2, no pipelining; the environment is not read.
 * @param o `origin` scheme and host; `ca` PEM certificates that are trusted beside the default
 *   roots; `proxy` is left out for a loopback origin, as it can only lead away from it
 * @throws OperatorError `settings` when `ca` holds no certificate
 */
export function createPools(o: {
  origin: string
  ca: string | undefined
  proxy: EgressProxies | undefined
  limits: UpstreamLimits
}): Pools {
  const secureContext = secureContextFor(o.ca)
  // a resumed session would pass over a certificate that has expired since
  const tls = { secureContext, rejectUnauthorized: true, maxCachedSessions: 0 }
  const { httpProxy = '', httpsProxy = '', noProxy = '' } = o.proxy ?? {}
  const isDirect = (httpProxy === '' && httpsProxy === '') || isLoopback(new URL(o.origin).hostname)
  const lazily = (connections: number): LazyPool => {
    const options = {
      connections,
      pipelining: 1,
      allowH2: false,
      headersTimeout: o.limits.callMs,
      bodyTimeout: o.limits.stallMs,
      maxHeaderSize: o.limits.maxHeaderBytes,
      keepAliveMaxTimeout: o.limits.idleMs,
      connect: buildConnector({ ...tls, allowH2: false, timeout: o.limits.connectMs }),
    }
    const made = new Map<string, Pool>()
    const pool = (origin: string | URL, own: { connect?: buildConnector.connector }): Pool => {
      const connect = readingPastContinue(own.connect ?? options.connect)
      const one = new Pool(origin, { ...options, ...own, connect })
      made.set(String(origin), one)
      return one
    }
    const proxied = (): Dispatcher =>
      new EnvHttpProxyAgent({
        ...options,
        httpProxy,
        httpsProxy,
        noProxy,
        connectTimeout: o.limits.connectMs,
        requestTls: tls,
        proxyTls: tls,
        // undici's own would drop the bounds where it forwards plain http, and wait 300 s for a tunnel
        factory: pool,
        clientFactory: (origin: string | URL, own: object) =>
          new Pool(origin, { ...options, headersTimeout: o.limits.connectMs, ...own }),
      })
    let dispatcher: Dispatcher | null = null
    return {
      get dispatcher() {
        return (dispatcher ??= isDirect ? pool(o.origin, {}) : proxied())
      },
      load: () => loadOf(made.values()),
      end: async () => await dispatcher?.destroy(),
    }
  }
  return {
    // the reader of each answer counts its bytes
    calls: lazily(o.limits.connections),
    checks: shared(JSON.stringify(o), () => lazily(o.limits.checkConnections)),
    polls: lazily(o.limits.pollConnections),
    media: lazily(o.limits.mediaConnections),
  }
}

/** By the PEM of authorities that are trusted beside the default roots. */
const secureContexts = new Map<string, WeakRef<SecureContext>>()

/** Cached: parsing all roots again would slow each connection down, and needs a megabyte each. */
function secureContextFor(ca: string | undefined): SecureContext {
  const known = secureContexts.get(ca ?? '')?.deref()
  if (known !== undefined) return known
  const made = createSecureContext({
    minVersion: 'TLSv1.2',
    ...(ca !== undefined && { ca: [...getCACertificates('default'), readable(ca)] }),
  })
  secureContexts.set(ca ?? '', new WeakRef(made))
  return made
}

function loadOf(pools: Iterable<Pool>): PoolLoad {
  const load = { busy: 0, waiting: 0 }
  for (const { stats } of pools) {
    load.busy += stats.running
    load.waiting += stats.pending
  }
  return load
}

/** Node accepts any text as a certificate and silently trusts none of it. */
function readable(ca: string): string {
  try {
    void new X509Certificate(ca)
    return ca
  } catch (error) {
    const hint = 'name a file with certificates in PEM'
    throw new OperatorError('settings', 'upstream.caFile holds no certificate', hint, {
      cause: error,
    })
  }
}
