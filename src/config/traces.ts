/**
 * Where traces go, by OpenTelemetry's own variables (its specifications "OTLP exporter" and
 * "environment variables"). An empty variable counts as unset.
 */
import { z } from 'zod'
import { isWebUrl } from '../api/common.ts'
import { resultOr } from '../errors.ts'
import type { Problem } from './problems.ts'
import { isPlainHttp } from './urls.ts'
import { VERSION } from './version.ts'

/** A collector of traces. */
export type TraceTarget = NonNullable<ReturnType<typeof readTraces>['target']>

type Pairs = [name: string, value: string][]

/**
 * Reads `key=value,key=value`, whose values are percent-encoded (W3C Baggage).
 * @returns null where it is malformed
 */
export function pairsOf(text: string): Pairs | null {
  const parts = text.split(',').filter((part) => !/^ *$/.test(part))
  const pairs = parts.flatMap((part): Pairs => {
    const [, name, encoded = ''] = /^ *([!#-'*+.0-9A-Z^-z|~-]+) *= *([!-~]*) *$/.exec(part) ?? []
    const value = resultOr(() => decodeURIComponent(encoded), null)
    return name === undefined || value === null ? [] : [[name, value]]
  })
  return pairs.length === parts.length ? pairs : null
}

const PAIRS = 'expected key=value, separated by commas, with values percent-encoded'
const HEADERS = `${PAIRS}, of visible ASCII`
const NO_FILES = 'is not supported: name a private authority’s file in NODE_EXTRA_CA_CERTS'
const URL_EXPECTED = 'expected an http or https URL without credentials, which are headers'
const SAMPLER =
  'expected always_on, always_off or traceidratio, or one of these with parentbased_ before it'
const RATIOS: Record<string, number | undefined> = { always_on: 1, always_off: 0 }

const pairs = z.string().refine((text) => pairsOf(text) !== null, PAIRS)
const absent = z.never(NO_FILES).optional()

/** Each by its name after `OTEL_`. */
const Variables = z.object({
  EXPORTER_OTLP_ENDPOINT: z.string().refine(isWebUrl, URL_EXPECTED),
  EXPORTER_OTLP_PROTOCOL: z
    .literal('http/json', 'expected http/json, the one protocol that Postern has')
    .optional(),
  EXPORTER_OTLP_HEADERS: pairs
    .refine((text) => pairsOf(text)?.every(([, value]) => /^[ -~]*$/.test(value)), HEADERS)
    .optional(),
  EXPORTER_OTLP_TIMEOUT: z
    .stringFormat('milliseconds', /^[1-9]\d{0,5}$/, 'expected milliseconds, from 1 to 999999')
    .default('10000'),
  EXPORTER_OTLP_CERTIFICATE: absent,
  EXPORTER_OTLP_CLIENT_KEY: absent,
  EXPORTER_OTLP_CLIENT_CERTIFICATE: absent,
  TRACES_EXPORTER: z.literal('otlp', 'expected otlp or none').optional(),
  TRACES_SAMPLER: z
    .stringFormat('sampler', /^(parentbased_)?(always_on|always_off|traceidratio)$/, SAMPLER)
    .default('parentbased_always_on'),
  TRACES_SAMPLER_ARG: z
    .stringFormat('ratio', /^(?:0(?:\.\d+)?|1(?:\.0+)?|\.\d+)$/, 'expected a number from 0 to 1')
    .default('1'),
  SERVICE_NAME: z.string().optional(),
  RESOURCE_ATTRIBUTES: pairs.default(''),
})

/**
 * Reads the variables.
 * @returns `target` null: there are no traces; `headers`: a secret, for `pairsOf`
 */
export function readTraces(env: Readonly<Record<string, string>>) {
  /** The variable for traces alone counts before that for every signal. */
  const find = (name: string): string | undefined =>
    [`OTEL_${name.replace('_OTLP_', '_OTLP_TRACES_')}`, `OTEL_${name}`].find(
      (place) => (env[place] ?? '') !== '',
    )
  const given = Object.keys(Variables.shape).flatMap((name) => {
    const place = find(name)
    return place === undefined ? [] : [{ name, place, text: env[place] }]
  })
  const values = Object.fromEntries(given.map(({ name, text }) => [name, text]))
  const isOff = env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true'
  const { EXPORTER_OTLP_ENDPOINT: endpoint, TRACES_EXPORTER: exporter } = values
  const none = { target: null, headers: undefined }
  if (endpoint === undefined || isOff || exporter === 'none') return { ...none, problems: [] }
  const { data, error } = Variables.safeParse(values)
  if (data === undefined) {
    const problems = error.issues.map(({ path: [name], message }): Problem => {
      return { place: given.find((one) => one.name === name)?.place ?? '', path: '', message }
    })
    return { ...none, problems }
  }
  const { EXPORTER_OTLP_HEADERS: headers, SERVICE_NAME: service, TRACES_SAMPLER: sampler } = data
  const url = new URL(data.EXPORTER_OTLP_ENDPOINT)
  const isBase = find('EXPORTER_OTLP_ENDPOINT') === 'OTEL_EXPORTER_OTLP_ENDPOINT'
  if (isBase) url.pathname = url.pathname.replace(/\/*$/, '/v1/traces')
  const ratio = RATIOS[sampler.replace('parentbased_', '')] ?? Number(data.TRACES_SAMPLER_ARG)
  const resource = new Map([
    ['service.name', 'postern'],
    ['service.version', VERSION],
    ...(pairsOf(data.RESOURCE_ATTRIBUTES) ?? []),
    ...(service === undefined ? [] : [['service.name', service] as const]),
  ])
  const target = {
    /** Where batches are POSTed to. */
    url: url.href,
    timeoutMs: Number(data.EXPORTER_OTLP_TIMEOUT),
    /** Attributes of the process that makes the spans. */
    resource: [...resource],
    /** `ratio`: the part of traces that is recorded, 0 to 1; `followsParent`: unless the caller decided. */
    sampler: { ratio, followsParent: sampler.startsWith('parentbased_') },
    /** Whether `OTEL_EXPORTER_OTLP_HEADERS` travel in the clear. */
    showsHeaders: headers !== undefined && isPlainHttp(url.href),
  }
  return { target, headers, problems: [] }
}
