/**
 * Fastify's option for listeners whose routes have no schemas of its kind: its compilers, which
 * would take half of a start to load, stay unloaded.
 */
export const NO_SCHEMAS = {
  compilersFactory: { buildValidator: refuseSchema, buildSerializer: refuseSchema },
}

function refuseSchema(): never {
  throw new Error('routes have no schemas here')
}
